"""Verdicts for a machine to read: ids and fields, as in verdicts.json beside the page."""

import math
from dataclasses import asdict
from typing import Any

from bestbefore.paper.claims import CLAIMS
from bestbefore.paper.summary import Reproduction, Summary, summarise


def verdicts_as_data(reproduction: Reproduction, summary: Summary | None = None) -> dict[str, Any]:
    """Return the claims, the verdicts on each panel and the summary as plain data, ready for JSON.

    Claims are referred to by their ids.  A factor that is infinite, since the lower number is 0, is None.
    """
    claims = [
        {
            "id": one.id,
            "task": one.task,
            "text": one.text,
            "slip": None if one.slip is None else {"switches": list(one.slip.switches), "text": one.slip.text},
        }
        for one in CLAIMS.values()
    ]
    data: dict[str, Any] = _plain(
        {
            "claims": claims,
            "verdicts": {name: asdict(verdict) for name, verdict in reproduction.verdicts.items()},
            "trials": list(reproduction.slips),
            "earnings": list(reproduction.earnings),
            "costs": list(reproduction.costs),
            "summary": asdict(summary or summarise(reproduction)),
        }
    )
    return data


def _plain(value: Any) -> Any:
    """Return what JSON can say: tuples of fields become dicts, infinite factors None."""
    if isinstance(value, float) and not math.isfinite(value):
        return None
    if isinstance(value, dict):
        return {name: _plain(one) for name, one in value.items()}
    if hasattr(value, "_asdict"):
        return _plain(value._asdict())
    return [_plain(one) for one in value] if isinstance(value, (list, tuple)) else value
