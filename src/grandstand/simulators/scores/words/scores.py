"""Kept here: the score object of a delivery, by the feed's arithmetic and names."""

from __future__ import annotations

from functools import lru_cache
from typing import Final, TypeAlias

from grandstand.simulators.scores.tape import Delivery, Dismissal, stable_id

Row: TypeAlias = dict[str, object]

_SIX: Final = 6
_WAYS: Final = {
    "bowled": "Clean Bowled",
    "caught": "Catch Out",
    "caught and bowled": "Catch Out",
    "hit wicket": "Hit Wicket",
    "lbw": "LBW OUT",
    "obstructing the field": "Obstructing the Field",
    "retired hurt": "Retired Hurt",
    "retired not out": "Retired Hurt",
    "retired out": "Retired Out",
    "run out": "Run Out",
    "stumped": "Stump Out",
    "timed out": "Timed Out",
}
NOT_OUT: Final = "Not Out"


def score_of(ball: Delivery) -> Row:
    """Answer the score object of a delivery.

    A wide has no field: its name says it and `runs` is its full value. `runs` includes no-balls and
    neither byes nor leg byes.
    """
    return _row(
        name_of(ball),
        runs=ball.runs + ball.wides + ball.noballs,
        four=ball.boundary and ball.runs != _SIX,
        six=ball.boundary and ball.runs == _SIX,
        bye=ball.byes,
        leg_bye=ball.legbyes,
        noball=int(bool(ball.noballs)),
        noball_runs=ball.noballs,
        is_wicket=ball.wicket,
        ball=ball.legal,
        out=ball.wicket,
    )


def way_of(dismissal: Dismissal | None) -> Row:
    """Answer the score object that says how a batter left, or that they did not."""
    if dismissal is None:
        return _row(NOT_OUT)
    return _row(_way(dismissal), is_wicket=dismissal.counts, out=dismissal.counts)


@lru_cache(maxsize=512)
def _known(name: str) -> int:
    return stable_id("score", name)


def name_of(ball: Delivery) -> str:
    """Answer the name of what a delivery came to, of several parts where it must be."""
    parts = []
    if ball.dismissal is not None:
        parts.append(_way(ball.dismissal))
    if ball.noballs:
        parts.append(_count(ball.noballs, "No Ball"))
    if ball.wides:
        parts.append(_count(ball.wides, "Wide"))
    if ball.byes:
        parts.append(_count(ball.byes, "Bye"))
    if ball.legbyes:
        parts.append(_count(ball.legbyes, "Leg Bye"))
    if ball.runs:
        parts.append(_bat(ball, alone=not parts))
    return " + ".join(parts) or "0 Run"


def _row(name: str, **told: object) -> Row:
    nothing = {
        "runs": 0,
        "four": False,
        "six": False,
        "bye": 0,
        "leg_bye": 0,
        "noball": 0,
        "noball_runs": 0,
        "is_wicket": False,
        "ball": True,
        "out": False,
    }
    return {"resource": "scores", "id": _known(name), "name": name, **nothing, **told}


def _bat(ball: Delivery, *, alone: bool) -> str:
    if ball.boundary and alone:
        return "SIX" if ball.runs == _SIX else "FOUR"
    return _count(ball.runs, "Run")


def _way(dismissal: Dismissal) -> str:
    return _WAYS.get(dismissal.kind, dismissal.kind.title())


def _count(number: int, word: str) -> str:
    return f"{number} {word}" if number == 1 else f"{number} {word}s"
