"""Kept here: deliveries that are first posted wrong: put right, or deleted and posted anew."""

from __future__ import annotations

from dataclasses import dataclass, replace
from random import Random
from typing import Final

from grandstand.simulators.scores.tape import Delivery, Dismissal, Tape

# Measured on a live feed: about one ball in seven is first posted wrong.
ONE_IN_SEVEN: Final = 1 / 7
_DELETED: Final = 0.2
_OVERTURNED: Final = 0.05


@dataclass(frozen=True, slots=True)
class Slip:
    """What is posted first; a deleted one has an id of its own, which goes with it."""

    posted: Delivery
    deleted: bool = False


def slips(tape: Tape, seed: int, share: float = ONE_IN_SEVEN) -> dict[int, Slip]:
    """Answer which deliveries slip, by their place in the match: the same for the same seed."""
    found: dict[int, Slip] = {}
    for place, ball in enumerate(tape.deliveries):
        random = Random(f"{seed}:{place}")  # noqa: S311 - repeatable
        if random.random() < share:
            found[place] = Slip(_wrong(ball, random), random.random() < _DELETED)
    return found


def _wrong(ball: Delivery, random: Random) -> Delivery:
    """Answer what somebody in a hurry writes down instead."""
    if ball.wicket:
        return replace(ball, dismissal=None)
    if ball.wides:
        return replace(ball, wides=0, runs=4, boundary=True)
    if ball.noballs:
        return replace(ball, noballs=0)
    if ball.byes or ball.legbyes:
        return replace(ball, byes=0, legbyes=0, runs=ball.byes + ball.legbyes, boundary=False)
    if ball.boundary:
        return replace(ball, runs=10 - ball.runs)
    if not ball.runs and random.random() < _OVERTURNED:
        return replace(ball, dismissal=Dismissal(ball.batter, "lbw"))
    return replace(ball, runs=ball.runs + 1)
