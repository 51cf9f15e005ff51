"""How things look on the page: numbers, times and names, each with the exact value beside what is read."""

import json
import unicodedata
from datetime import datetime
from typing import Any, Final

from markupsafe import Markup

from bestbefore.service.sentences import counted, time_words

LONGEST: Final = 60
"""How many characters of a name are shown; the whole is a click away."""

_PICTURES: Final = 0x2400  # where Unicode has pictures of control characters


def number(value: float | None, fact: str, unit: str = "") -> Markup:
    """Return a number as it is read, in an element that has its exact value and says which fact it is.

    >>> number(0.21354, "arms.0.mean")
    Markup('<data value="0.21354" data-fact="arms.0.mean">0.214</data>')
    """
    if value is None:
        return Markup('<span class="none">none yet</span>')
    return Markup('<data value="{}" data-fact="{}">{}</data>{}').format(json.dumps(value), fact, read(value), unit)


def read(value: float) -> str:
    """Return a number as it is read: whole ones with thin groups, others with three decimals at most.

    >>> read(12345), read(0.5), read(0.00004), read(3.0)
    ('12,345', '0.5', '4e-05', '3')
    """
    if isinstance(value, int) or value == int(value):
        return f"{int(value):,}"
    return f"{value:.2g}" if abs(value) < 0.001 else f"{value:.3f}".rstrip("0").rstrip(".")


def moment(text: str | None, fact: str) -> Markup:
    """Return a time, in UTC."""
    if text is None:
        return Markup('<span class="none">none</span>')
    when = datetime.fromisoformat(text)
    return Markup('<time datetime="{}" data-fact="{}">{}</time>').format(text, fact, f"{when:%d %b, %H:%M:%S} UTC")


def lasting(seconds: float) -> str:
    """Return how long something lasts, in its two largest units.

    >>> lasting(3725), lasting(59), lasting(200000), lasting(-5)
    ('1 h 2 min', '59 s', '2 d 7 h', 'over')
    """
    if seconds <= 0:
        return "over"
    units, left, parts = (("d", 86400), ("h", 3600), ("min", 60), ("s", 1)), int(seconds), list[str]()
    for unit, size in units:
        if left >= size or parts or unit == "s":
            parts.append(f"{left // size} {unit}")
            left %= size
    return " ".join(part for part in parts[:2] if not (part.startswith("0 ") and len(parts) > 1))


def text_of(arm: Any) -> str:
    """Return the name of an arm as text: strings as they are, others as JSON; what is not to be seen is made visible.

    >>> text_of("a\\x1b\\u202eb"), text_of(("storm", 3))
    ('a␛\\\\u202eb', '["storm", 3]')
    """
    text = arm if isinstance(arm, str) else json.dumps(arm, ensure_ascii=False)
    return "".join(map(_visible, text))


def _visible(letter: str) -> str:
    kind = unicodedata.category(letter)
    if ord(letter) < 0x20:
        return chr(_PICTURES + ord(letter))
    if kind in ("Cc", "Cf", "Co", "Cs", "Zl", "Zp") and letter not in "\u200c\u200d":  # joiners belong to some scripts
        return f"\\u{ord(letter):04x}"
    return letter


def name(arm: Any, place: str = "") -> Markup:
    """Return a name: shortened if it is long, with the whole a click away; `place` makes its id.

    Letters of any direction stay within it.
    """
    if not is_long(arm):
        return Markup('<bdi class="name">{}</bdi>').format(label(arm))
    return Markup(
        '<details class="name" id="name-{}"><summary><bdi>{}</bdi></summary><bdi class="whole">{}</bdi></details>'
    ).format(place, label(arm), text_of(arm))


def label(arm: Any) -> str:
    """Return a name for where only text can stand: shortened."""
    text = text_of(arm)
    return text[: LONGEST - 1].rstrip() + "…" if is_long(arm) else text or "(empty)"


def is_long(arm: Any) -> bool:
    """Say whether a name is shortened where it is shown."""
    return len(text_of(arm)) > LONGEST


def told(value: Any, fact: str, text: str) -> Markup:
    """Return a fact in words of one's own; with "length", how many there are of it."""
    if text == "length":
        return Markup('<data value="{}" data-fact="{}" data-length>{}</data>').format(value, fact, read(value))
    return Markup('<data value="{}" data-fact="{}">{}</data>').format(json.dumps(value), fact, text)


def window(facts: dict[str, Any]) -> Markup:
    """Return a stream's window."""
    text = time_words(facts["window"]) if facts["by_time"] else counted(facts["window"], "arrival")
    return told(facts["window"], "window", text)


def most(value: float, of: str) -> Markup:
    """Return the highest of the totals, where an axis ends."""
    return Markup('<data value="{}" data-most="{}">{}</data>').format(json.dumps(value), of, read(value))


def zero(value: float = 0) -> Markup:
    """Return where an axis begins."""
    return Markup('<data value="{}" data-zero>{}</data>').format(json.dumps(value), read(value))
