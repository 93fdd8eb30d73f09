"""Kept here: which innings is played, what it must reach, and whether it is over."""

from __future__ import annotations

from typing import Final

from grandstand.apps.cricket.model.phases import is_long, overs_allowed, regular_innings
from grandstand.apps.cricket.model.scores import BALLS_PER_OVER, Fixture, InningsScore

_ALL_OUT: Final = 10
_SUPER_OVER_OUT: Final = 2
_LAST_OF_TEST: Final = 4


def inning_now(fixture: Fixture) -> int:
    """Answer the number of the latest innings that has begun, 1 before any has."""
    last = fixture.balls[-1].inning if fixture.balls else 1
    for score in reversed(fixture.innings):
        if score.inning <= last:
            break
        if score.overs or score.score or score.wickets:
            return score.inning
    return last


def is_super_over(fixture: Fixture, inning: int) -> bool:
    """Tell whether an innings is part of a super over."""
    return inning > regular_innings(fixture.format)


def target_of(fixture: Fixture, inning: int) -> int | None:
    """Answer the runs that win the match in an innings; None when it is not a chase."""
    if is_long(fixture.format):
        return _target_of_test(fixture) if inning == _LAST_OF_TEST else None
    if inning % 2:
        return None
    if inning == regular_innings(fixture.format) and fixture.revision.target:
        return fixture.revision.target
    first = fixture.score_of(inning - 1)
    return first.score + 1 if first else None


def balls_allowed(fixture: Fixture, inning: int) -> int | None:
    """Answer how many legal balls an innings has; None when it is not limited or not known."""
    if is_super_over(fixture, inning):
        return BALLS_PER_OVER
    revised = fixture.revision.overs
    if revised:
        score, reduced = fixture.score_of(inning), int(revised) * BALLS_PER_OVER
        # A reduction that comes after its mark is for the other side.
        if score is None or score.position <= reduced:
            return reduced
    allowed = overs_allowed(fixture.format)
    return allowed * BALLS_PER_OVER if allowed else None


def is_complete(fixture: Fixture, score: InningsScore) -> bool:
    """Tell whether an innings is over by its figures: all out, overs done, or target reached."""
    out = _SUPER_OVER_OUT if is_super_over(fixture, score.inning) else _ALL_OUT
    if score.wickets >= out:
        return True
    allowed = balls_allowed(fixture, score.inning)
    if allowed is not None and score.position >= allowed:
        return True
    target = target_of(fixture, score.inning)
    return target is not None and score.score >= target


def _target_of_test(fixture: Fixture) -> int | None:
    scores = [fixture.score_of(inning) for inning in range(1, _LAST_OF_TEST + 1)]
    batting = scores[-1]
    if batting is None:
        return None
    earlier = [score for score in scores[:-1] if score]
    own = sum(score.score for score in earlier if score.team_id == batting.team_id)
    return sum(score.score for score in earlier) - own - own + 1
