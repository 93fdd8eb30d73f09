"""Latency of each access pattern on some years of odds."""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass
from datetime import timedelta
from functools import partial
from pathlib import Path
from random import Random
from tempfile import TemporaryDirectory

from benchmarks.bets.years import (
    BETTORS,
    BOOKS,
    MODELS,
    NOW,
    ODDS_A_GAME,
    SPORTS,
    TEAMS,
    Played,
    fill,
    game_of,
)
from benchmarks.harness.rows import Limit, Row
from grandstand.apps.bets.store import TABLES
from grandstand.apps.bets.store.benny import BennyBet, Learning
from grandstand.apps.bets.store.games import GameOdds, HistoricalOdds, TeamOutcome
from grandstand.apps.bets.store.predictions import Analysis, ModelAdjustment
from grandstand.apps.bets.store.user_models import UserModel
from grandstand.core.clock import ManualClock
from grandstand.storage.tables import Naming, Query, Store
from grandstand.storage.tables.engines.sqlite import SqliteEngine

_FEW, _MANY = 50_000, 2_000_000
_CALLS = 1_000
_MOST_MILLISECONDS = 5.0
_PAGE = 50
_LOOKBACK = timedelta(days=30)


@dataclass(frozen=True)
class Pattern:
    """One question of the nine, asked of a random game, team, model or person."""

    asked: str
    ask: Callable[[Store, Random], object]
    whole: bool = False

    @property
    def calls(self) -> int:
        """How often it is asked: what is read to its end takes its time."""
        return _CALLS // 10 if self.whole else _CALLS

    @property
    def aim(self) -> Limit | None:
        """What it may take; what is read to its end takes what its length asks for."""
        return None if self.whole else Limit(_MOST_MILLISECONDS)


def rows(*, full: bool) -> list[Row]:
    """Ask each question again and again; `full` does so among two million odds rows."""
    games = (_MANY if full else _FEW) // ODDS_A_GAME
    clock = ManualClock(NOW)
    with (
        TemporaryDirectory() as folder,
        Store(
            SqliteEngine.open(Path(folder) / "bets.db", clock=clock), naming=Naming(), clock=clock
        ) as store,
    ):
        store.create(TABLES)
        began = time.perf_counter()
        written = fill(store, games)
        filled = written / (time.perf_counter() - began)
        among = f"{games * ODDS_A_GAME:,} odds rows"
        asked = [_asked(store, pattern, games, among) for pattern in _patterns(games)]
    return [Row(f"rows written to fill the table, {among}", "rows/s", filled), *asked]


def _asked(store: Store, pattern: Pattern, games: int, among: str) -> Row:
    random = Random(games)
    pattern.ask(store, random)
    taken = sorted(_milliseconds(store, pattern, random) for _ in range(pattern.calls))
    return Row(
        f"{pattern.asked}: p99 among {among}",
        "ms",
        taken[pattern.calls * 99 // 100],
        aim=pattern.aim,
        higher_is_better=False,
    )


def _milliseconds(store: Store, pattern: Pattern, random: Random) -> float:
    start = time.perf_counter()
    found = pattern.ask(store, random)
    taken = time.perf_counter() - start
    assert found, pattern.asked
    return taken * 1000


def _patterns(games: int) -> tuple[Pattern, ...]:
    """The nine of the specification, in its order; those without an end are read a page at once."""
    return (
        Pattern(
            f"1 upcoming games of a sport, {_PAGE} prices a page",
            lambda store, random: store.page(_upcoming(random), _PAGE).items,
        ),
        Pattern("2 all predictions of a game", partial(_predictions, games)),
        Pattern(
            f"3 a model's last 30 days, {_PAGE} a page",
            lambda store, random: store.page(_performance(random), _PAGE).items,
        ),
        Pattern(
            "4 a team's last 5 games",
            lambda store, random: store(
                TeamOutcome.recent(random.choice(SPORTS), random.choice(TEAMS), 5)
            ),
        ),
        Pattern(
            "5 a person's models",
            lambda store, random: store(UserModel.of_user(f"user-{random.randrange(BETTORS)}")),
        ),
        Pattern("6 Benny's last 20 bets", lambda store, _: store(BennyBet.recent(20))),
        Pattern(
            "7 adjustments of a sport",
            lambda store, random: store(ModelAdjustment.of_sport(random.choice(SPORTS))),
        ),
        Pattern("8 closing odds of a game", partial(_closing, games)),
        Pattern("9 what Benny has learnt", lambda store, _: store(Learning.current())),
        *_WHOLE,
    )


def _upcoming(random: Random) -> Query[GameOdds]:
    return GameOdds.upcoming(random.choice(SPORTS), NOW)


def _performance(random: Random) -> Query[Analysis]:
    model, sport = random.choice(MODELS), random.choice(SPORTS)
    return Analysis.performance(model, sport, NOW - _LOOKBACK)


def _predictions(games: int, store: Store, random: Random) -> object:
    game = _over(games, random)
    return store(Analysis.of_game(game.sport, game.game_id, BOOKS[0]))


def _closing(games: int, store: Store, random: Random) -> object:
    return store(HistoricalOdds.of_game(_over(games, random).game_id))


def _over(games: int, random: Random) -> Played:
    """A game that was played long enough ago to have a result."""
    return game_of(random.randrange(games * 8 // 10), games)


_WHOLE = (
    Pattern(
        "1 in one go, all prices of two days",
        lambda store, random: store(_upcoming(random)),
        whole=True,
    ),
    Pattern(
        "3 in one go, all of 30 days",
        lambda store, random: store(_performance(random)),
        whole=True,
    ),
)
