"""Kept here: run rates and what a chase still needs."""

from __future__ import annotations

from dataclasses import dataclass
from decimal import ROUND_HALF_UP, Decimal
from typing import Final

from grandstand.apps.cricket.model.scores import BALLS_PER_OVER, Fixture
from grandstand.apps.cricket.model.targets import balls_allowed, target_of

_CENT: Final = Decimal("0.01")


@dataclass(frozen=True, slots=True)
class Chase:
    """What is still needed; balls and rate are None where overs are not limited."""

    target: int
    runs_needed: int
    balls_left: int | None
    rate: str | None


def run_rate(runs: int, balls: int) -> str | None:
    """Answer runs an over with two decimals; None before a ball was bowled."""
    if balls <= 0:
        return None
    rate = Decimal(runs * BALLS_PER_OVER) / balls
    return str(rate.quantize(_CENT, ROUND_HALF_UP))


def chase_of(fixture: Fixture, inning: int) -> Chase | None:
    """Answer what an innings still needs to win; None when it chases nothing."""
    target, score = target_of(fixture, inning), fixture.score_of(inning)
    if target is None or score is None:
        return None
    needed = max(0, target - score.score)
    allowed = balls_allowed(fixture, inning)
    left = None if allowed is None else max(0, allowed - score.position)
    return Chase(target, needed, left, run_rate(needed, left) if left else None)
