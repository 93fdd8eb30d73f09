"""A small hand-made league: six teams, a game a day, prices at three bookmakers."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from datetime import UTC, datetime, timedelta
from decimal import Decimal

from grandstand.apps.bets.domain.history import Fact, History
from grandstand.apps.bets.domain.records import (
    CustomDataRow,
    Fixture,
    InjuryReport,
    PlayerGameStats,
    PricedOutcome,
    Quote,
    Score,
    TeamGameStats,
    VerifiedForecast,
)

SPORT = "basketball_nba"
TEAMS = ("ants", "bears", "cats", "dogs", "eels", "foxes")
BEGUN = datetime(2026, 1, 1, 19, tzinfo=UTC)
HOUR = timedelta(hours=1)
DAY = timedelta(days=1)
BOOKS = ("alpha", "beta", "gamma")


def fixture(
    number: int, home: str, away: str, *, sport: str = SPORT, known_at: datetime | None = None
) -> Fixture:
    """The game of a day, announced a week before unless said otherwise."""
    start = BEGUN + number * DAY
    return Fixture(f"g{number}", sport, home, away, start, known_at or start - 7 * DAY)


def h2h(
    game: Fixture, book: str, at: datetime, home: int, away: int, *, draw: int | None = None
) -> Quote:
    """A price of the winner; the away side is listed first, as feeds like to."""
    outcomes = [PricedOutcome(game.away, away), PricedOutcome(game.home, home)]
    if draw is not None:
        outcomes.append(PricedOutcome("Draw", draw))
    return Quote(game.game_id, book, "h2h", at, tuple(outcomes), at)


def spread(game: Fixture, book: str, at: datetime, line: str, prices: tuple[int, int]) -> Quote:
    """A price of a spread; the line is home's."""
    point = Decimal(line)
    outcomes = (
        PricedOutcome(game.away, prices[1], -point),
        PricedOutcome(game.home, prices[0], point),
    )
    return Quote(game.game_id, book, "spreads", at, outcomes, at)


def total(game: Fixture, book: str, at: datetime, line: str, prices: tuple[int, int]) -> Quote:
    """A price of a total, under listed first."""
    point = Decimal(line)
    outcomes = (PricedOutcome("Under", prices[1], point), PricedOutcome("Over", prices[0], point))
    return Quote(game.game_id, book, "totals", at, outcomes, at)


def score(game: Fixture, home: int, away: int) -> Score:
    """How a game ended, known ten minutes after."""
    ended = game.commence_time + 2 * HOUR
    return Score(game.game_id, home, away, ended, ended + HOUR / 6)


def pairs(count: int) -> Iterator[tuple[str, str]]:
    """Who plays whom: everybody everybody, over and over."""
    rounds = [(home, away) for home in TEAMS for away in TEAMS if home != away]
    for number in range(count):
        yield rounds[(number * 7) % len(rounds)]


def league(count: int) -> list[Fact]:
    """A league of so many days in which earlier letters win: every kind of fact, all dated."""
    facts: list[Fact] = []
    for number, (home, away) in enumerate(pairs(count)):
        game = fixture(number, home, away)
        facts += [game, *_quotes(game), *_results_and_stats(game, number)]
    return facts


def _quotes(game: Fixture) -> Sequence[Quote]:
    better = TEAMS.index(game.home) < TEAMS.index(game.away)
    first, second = (-150, 130) if better else (130, -150)
    line = "-3.5" if better else "3.5"
    quotes = []
    for number, book in enumerate(BOOKS):
        opened = game.commence_time - 2 * DAY + number * HOUR
        moved = game.commence_time - (5 + number) * HOUR
        late = game.commence_time - HOUR / 4
        played = game.commence_time + HOUR
        quotes += [
            h2h(game, book, opened, first - 5 * (first > 0), second),
            h2h(game, book, moved, first, second + 30 * (second > 0) * (book == "gamma")),
            h2h(game, book, late, first + 15 * (first > 0) - 15 * (first < 0), second - 10),
            h2h(game, book, played, -900, 600),
            spread(game, book, opened, line, (-110, -110)),
            spread(game, book, moved, line, (-112, -108)),
            total(game, book, opened, "221.5", (-110, -110)),
            total(game, book, moved, "221.5", (-105, -115)),
        ]
    return quotes


def _results_and_stats(game: Fixture, number: int) -> Sequence[Fact]:
    gap = TEAMS.index(game.away) - TEAMS.index(game.home)
    upset = number % 4 == 3
    margin = (3 * gap + 2) * (-1 if upset else 1)
    final = score(game, 110 + (margin + 1) // 2, 110 - margin // 2)
    known = final.known_at + HOUR
    facts: list[Fact] = [final]
    for team, other, points in (
        (game.home, game.away, final.home_score),
        (game.away, game.home, final.away_score),
    ):
        figures = {"points": float(points), "rebounds": 40.0 + points % 7}
        facts.append(TeamGameStats(SPORT, team, figures, final.completed_at, known, game.game_id))
        player = f"{team}_star"
        row = {"PTS": 20.0 + points % 9, "MIN": 33.0}
        facts.append(
            PlayerGameStats(
                SPORT, player, team, other, game.game_id, row, final.completed_at, known
            )
        )
    reported = game.commence_time - HOUR / 2
    facts.append(
        InjuryReport(SPORT, game.home, f"{game.home}_star", "out", 0.3, reported, reported)
    )
    healed = final.known_at + 2 * HOUR
    facts.append(InjuryReport(SPORT, game.home, f"{game.home}_star", "active", 0.3, healed, healed))
    doubted = game.commence_time - 6 * HOUR
    facts += [
        InjuryReport(SPORT, game.away, f"{game.away}_star", status, 0.2, at, at)
        for status, at in (("doubtful", doubted), ("active", healed))
    ]
    facts.append(CustomDataRow("form", game.home, {"form": float(number % 5)}, reported, reported))
    return facts


def small_history(count: int = 40) -> History:
    """The league in a history."""
    return History(league(count))


def record(
    number: int, raw: float, outcome: float, *, model: str = "momentum", market: str = "h2h"
) -> VerifiedForecast:
    """A verified prediction of the game of a day."""
    start = BEGUN + number * DAY
    known = start + 3 * HOUR
    return VerifiedForecast(
        model, SPORT, market, f"g{number}", raw, raw, 0.5, outcome, start - HOUR, known
    )
