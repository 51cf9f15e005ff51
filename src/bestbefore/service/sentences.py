"""What is promised of a stream's answer, and why, as a sentence that a person reads."""

from typing import Any, Final

_UNITS: Final = (("day", 86400), ("hour", 3600), ("minute", 60), ("second", 1))

_VOID: Final = {
    "arms": "Nothing is promised any more: more arms have arrived than the {arms} that the guarantee is for.",
    "most": "Nothing is promised now: more than {most} arms are valid, for which the tests are not made.",
    "withdrawn": "Nothing is promised now: an arm was withdrawn in whose favour others may have been let go. "
    "That lasts until its window is over.",
    "irregular": "Nothing is promised now: the test of an arm that is valid was cut short, or got rewards after it.",
}
_HOW: Final = {
    "weak": " at any one time that you fix beforehand",
    "strong": " at all times at once, up to {arms} arrivals",
    "anytime": " at all times at once",
}


def sentence(promise: dict[str, Any], facts: dict[str, Any]) -> str:
    """Return the sentence for what is promised."""
    return {"certificates": _certificates, "tests": _tests, "player": _player, "seeker": _seeker, "own": _own}[
        promise["kind"]
    ](promise, facts)


def window_words(facts: dict[str, Any]) -> str:
    """Return the window as words.

    >>> window_words({"window": 86400.0, "by_time": True}), window_words({"window": 50, "by_time": False})
    ('the last 24 hours', 'the last 50 arrivals')
    """
    if not facts["by_time"]:
        return f"the last {counted(facts['window'], 'arrival')}"
    return f"the last {time_words(facts['window'])}"


def time_words(seconds: float) -> str:
    """Return a length of time as words: a day is 24 hours, and what is two days or more is in days.

    >>> time_words(5400), time_words(172800), time_words(0.25)
    ('90 minutes', '2 days', '0.25 seconds')
    """
    for unit, size in _UNITS:
        if seconds >= size * (2 if unit == "day" else 1) and seconds % size == 0:
            return counted(int(seconds // size), unit)
    return f"{seconds:g} seconds"


def counted(number: int, word: str) -> str:
    """Return so many of something."""
    return f"{number} {word}" if number == 1 else f"{number} {word}s"


def _sure(promise: dict[str, Any]) -> str:
    how = _HOW[promise["guarantee"]].format(**promise)
    return f"{100 * promise['sure']:.4g}% sure{how}"


def _near(promise: dict[str, Any], value: float) -> str:
    return f"{100 * value:.3g}% of the best mean" if promise["relative"] else f"{value:.3g}"


def _nobody(facts: dict[str, Any]) -> str | None:
    if facts["best"] is not None:
        return None
    return "No arm is here." if not facts["arms"] else "No arm is known well enough yet to be named."


def _certificates(promise: dict[str, Any], facts: dict[str, Any]) -> str:
    if promise["void"] or facts["best"] is None:
        return _VOID[promise["void"]].format(**promise) if promise["void"] else str(_nobody(facts))
    best = f"of the best of {window_words(facts)}, {_sure(promise)}"
    if promise["within"] is not None:
        start = f"Within {_near(promise, promise['within'])} {best}"
    elif promise["relative"]:
        start = f"Not certified yet to be within {_near(promise, promise['epsilon'])} {best}"
    elif promise["certified"]:
        start = f"Within {promise['gap']:.3g} {best}"
    else:
        start = f"Not certified yet: so far, within {promise['gap']:.3g} {best}"
    return f"{start}; {_rivals(promise)}."


def _rivals(promise: dict[str, Any]) -> str:
    number = promise["could_be_better"]
    if promise["dropped_could"]:
        stored = f"{counted(number, 'arm')} in memory could still be better" if number else "no arm in memory could be"
        return f"{stored}{', and so could arms' if number else ' better, but arms could'} that were let go"
    return f"{counted(number, 'arm')} could still be better" if number else "no other arm could be better"


def _tests(promise: dict[str, Any], facts: dict[str, Any]) -> str:
    if promise["void"]:
        return _VOID[promise["void"]].format(**promise)
    if promise["within"] is None:
        return "Nothing is promised: these settings allow no guarantee. The highest mean among arms stored is named."
    if facts["best"] is None:
        return str(_nobody(facts))
    near, best = _near(promise, promise["within"]), f"of the best of {window_words(facts)}"
    if promise["top"] > 1:
        start = f"Each of the best {promise['top']} is within {near} of its rank's, of {window_words(facts)}"
    else:
        start = f"Within {near} {best}"
    tested = sum(arm["under_test"] for arm in facts["arms"])
    left_out = f"; {counted(tested, 'arm')} under test {'is' if tested == 1 else 'are'} not spoken of" if tested else ""
    old = promise["exempt"]
    spared = ""
    if old:
        spared = f", but for those of the oldest {time_words(old) if facts['by_time'] else counted(old, 'arrival')}"
    return f"{start}{spared}, {_sure(promise)}{left_out}."


def _player(promise: dict[str, Any], facts: dict[str, Any]) -> str:
    if facts["best"] is None:
        return str(_nobody(facts))
    number = promise["could_be_better"] or 0
    could = f"{counted(number, 'other arm')} could be as good" if number else "no other arm's interval reaches it"
    return (
        "Nothing is promised of one arm: a Player spends pulls so that little is lost, and this arm has the highest "
        f"mean of those in memory. By the intervals, {could}."
    )


def _seeker(promise: dict[str, Any], facts: dict[str, Any]) -> str:
    if promise["found"]:
        return "It has outlived its window, which only the best arm of the whole stream does: it is that arm."
    if promise["flag"] == "implicit":
        return "Nothing is promised: nobody says which arms have expired, and the highest mean in memory is named."
    waits = f" {counted(promise['overdue'], 'arm')} waiting to be told whether still valid."
    return "Not found yet: no arm has outlived its window." + (waits if promise["overdue"] else "")


def _own(promise: dict[str, Any], facts: dict[str, Any]) -> str:
    return "Nothing is known of what this agent promises: it is of a class of its own."
