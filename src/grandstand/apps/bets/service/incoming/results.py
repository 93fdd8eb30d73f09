"""Kept here: results as they come in: the first is never changed, a correction stands beside it."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime, timedelta
from decimal import Decimal
from typing import Final, Literal, TypeAlias

from grandstand.apps.bets.model import slug
from grandstand.apps.bets.model.feeds import FedScore
from grandstand.apps.bets.service.incoming.collecting import awaited_of
from grandstand.apps.bets.service.means import Means
from grandstand.apps.bets.store import GameNote, GameOutcome, ResultLine, TeamOutcome
from grandstand.storage.tables.operations.batches import Write

Heard: TypeAlias = Literal["new", "corrected", "known"]

_LEAST_GAME: Final = timedelta(minutes=30)
_MOST_SCORE: Final = 1000


@dataclass(frozen=True, slots=True)
class Told:
    """A result, and whether it was news."""

    outcome: GameOutcome
    heard: Heard


class Results:
    """Keeps results; each with the rows that are derived from it, in one transaction."""

    def __init__(self, means: Means) -> None:
        self._means = means

    async def final(self, sport: str, game_id: str) -> GameOutcome | None:
        """Answer how a game ended by the last correction; None when nobody knows."""
        found = await self._means.store(GameOutcome.final(sport, game_id))
        return found[0] if found else None

    async def hear(self, score: FedScore, note: GameNote | None = None) -> Told:
        """Keep a completed score, or its correction.

        With a correction the game is awaited again, so that whatever dies now, its bets are
        settled anew.
        """
        known = await self.final(score.sport, score.game_id)
        now = self._means.now()
        if known is None:
            outcome = outcome_of(score, now)
            if await self._means.wrote(*_writes(outcome, score, now)):
                return Told(outcome, "new")
            known = await self.final(score.sport, score.game_id)
            assert known is not None  # noqa: S101 - whoever was first has written it
        if (known.home_score, known.away_score) == (score.home_score, score.away_score):
            return Told(known, "known")
        corrected = outcome_of(score, now).replace(
            completed_at=known.completed_at, corrected_at=max(now, _after(known))
        )
        again = [] if note is None else [awaited_of(note).expect()]
        await self._means.wrote(*_writes(corrected, score, now), *again)
        return Told(corrected, "corrected")


def score_fault(score: FedScore, note: GameNote | None, now: datetime) -> str | None:
    """Say why a completed score cannot be taken; None when it can."""
    home, away = score.home_score, score.away_score
    if home is None or away is None:
        return "it is completed and has no score"
    if not all(each == int(each) and 0 <= each <= _MOST_SCORE for each in (home, away)):
        return f"{home}:{away} is no score"
    if slug(score.home_team) == slug(score.away_team) or not slug(score.home_team):
        return "its teams have no two names"
    if score.commence_time > now:
        return "it is completed before it begins"
    if note is not None and (slug(note.home_team), slug(note.away_team)) != (
        slug(score.home_team),
        slug(score.away_team),
    ):
        return f"it is known as {note.home_team} against {note.away_team}"
    return None


def outcome_of(score: FedScore, now: datetime) -> GameOutcome:
    """Answer a score as the table keeps it; a drawn game has no winner."""
    home, away = score.home_score or Decimal(0), score.away_score or Decimal(0)
    winner = None if home == away else score.home_team if home > away else score.away_team
    ended = max(score.commence_time + _LEAST_GAME, min(score.updated_at or now, now))
    return GameOutcome(
        game_id=score.game_id,
        sport=score.sport,
        home_team=score.home_team,
        away_team=score.away_team,
        home_score=home,
        away_score=away,
        winner=winner,
        completed_at=ended.replace(microsecond=0),
    )


def _after(known: GameOutcome) -> datetime:
    """Answer a moment that comes after every correction so far."""
    return (known.corrected_at or known.completed_at) + timedelta(seconds=1)


def _writes(outcome: GameOutcome, score: FedScore, now: datetime) -> list[Write]:
    line = ResultLine(
        sport=outcome.sport,
        game_id=outcome.game_id,
        home_team=outcome.home_team,
        away_team=outcome.away_team,
        commence_time=score.commence_time,
        completed_at=outcome.completed_at,
        home_score=outcome.home_score,
        away_score=outcome.away_score,
        known_at=max(now, outcome.completed_at),
        corrected=outcome.corrected_at is not None,
    )
    return [outcome.record(), line.record(), *sides_of(outcome)]


def sides_of(outcome: GameOutcome) -> tuple[Write, Write]:
    """Answer the writes of a result as each of its teams has it."""
    return _side(outcome, is_home=True).record(), _side(outcome, is_home=False).record()


def _side(outcome: GameOutcome, *, is_home: bool) -> TeamOutcome:
    teams = (outcome.home_team, outcome.away_team)
    scores = (outcome.home_score, outcome.away_score)
    own, other = (0, 1) if is_home else (1, 0)
    return TeamOutcome(
        completed_at=outcome.completed_at,
        game_id=outcome.game_id,
        sport=outcome.sport,
        team=teams[own],
        opponent=teams[other],
        team_score=scores[own],
        opponent_score=scores[other],
        winner=outcome.winner,
        is_home=is_home,
        corrected_at=outcome.corrected_at,
    )
