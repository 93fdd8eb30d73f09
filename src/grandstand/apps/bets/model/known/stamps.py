"""Kept here: whether the moments of facts can be true: nothing is known before it happened."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from datetime import datetime

import numpy as np

from grandstand.apps.bets.model.known.facts import (
    CustomRow,
    Fact,
    Fixture,
    InjuryReport,
    PlayerFigures,
    Quote,
    Score,
    TeamFigures,
    Verified,
    moment_of,
)
from grandstand.apps.bets.model.known.history import History


@dataclass(frozen=True, slots=True)
class EarlyStamp:
    """A row that says it was known before what it tells of had happened."""

    row: str
    known_at: datetime
    happened_at: datetime

    @property
    def why(self) -> str:
        """The fault in words."""
        return (
            f"{self.row} is stamped {self.known_at.isoformat()},"
            f" before {self.happened_at.isoformat()}"
        )


def early_stamps(history: History) -> Iterator[EarlyStamp]:
    """Every row whose stamp cannot be true; models that read it look into the future unawares."""
    for fact in history.plain_facts():
        happened = _happened_at(fact, history)
        if happened is not None and fact.known_at < happened:
            yield EarlyStamp(named(fact), fact.known_at, happened)
    for path in history.paths():
        for row in np.flatnonzero(path.known_at < path.captured_at):
            known, captured = moment_of(path.known_at[row]), moment_of(path.captured_at[row])
            yield EarlyStamp(named(path), known, captured)


def _happened_at(fact: Fact, history: History) -> datetime | None:
    match fact:
        case Score():
            start = _start(fact.game_id, history)
            ended = fact.completed_at if fact.status == "final" else None
            return max((each for each in (start, ended) if each and ended), default=None)
        case TeamFigures() | PlayerFigures():
            start = None if fact.game_id is None else _start(fact.game_id, history)
            return fact.played_at if start is None else max(fact.played_at, start)
        case InjuryReport():
            return fact.reported_at
        case CustomRow():
            return fact.described_at
        case Verified():
            return _ended(fact.game_id, history) or fact.predicted_at
    return None


def _start(game_id: str, history: History) -> datetime | None:
    game = history.announced(game_id)
    return None if game is None else game.commence_time


def _ended(game_id: str, history: History) -> datetime | None:
    score = history.first_score(game_id)
    return None if score is None else score.known_at


def named(fact: Fact) -> str:
    """A row as a person would look it up."""
    match fact:
        case Fixture():
            return f"fixture {fact.game_id} {fact.home} – {fact.away}"
        case Score():
            corrected = "corrected score" if fact.corrected else "score"
            return f"{corrected} {fact.game_id} {fact.home_score}:{fact.away_score}"
        case TeamFigures():
            return f"figures {fact.team} {fact.played_at.isoformat()}"
        case PlayerFigures():
            return f"player {fact.player} in {fact.game_id}"
        case InjuryReport():
            return f"injury {fact.player} of {fact.team}: {fact.status}"
        case CustomRow():
            return f"custom {fact.dataset}/{fact.subject}"
        case Verified():
            return f"record {fact.model} {fact.market} {fact.game_id}"
        case Quote():
            return f"quote {fact.game_id}/{fact.market}/{fact.book}"
    return f"quote {fact.game_id}/{fact.market}/{fact.book}"
