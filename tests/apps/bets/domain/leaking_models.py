"""Models that cheat: each looks past its view into later data in its own way."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field, replace
from datetime import timedelta
from typing import Any

from grandstand.apps.bets.domain.forecasts import (
    Forecast,
    OutcomeProbabilities,
    board_probabilities,
    forecast_from_probabilities,
)
from grandstand.apps.bets.domain.history import AsOfView, History, UsedRow
from grandstand.apps.bets.domain.odds import from_log_odds
from grandstand.apps.bets.domain.records import Fixture
from grandstand.apps.bets.domain.registry import member_weight

FOREVER = 2**61
Peek = Callable[[History, Fixture], float]


@dataclass(frozen=True, eq=False)
class Culprit:
    """A model whose belief comes from a peek at everything there is."""

    peek: Peek
    name: str = "culprit"
    markets: tuple[str, ...] = ("h2h",)

    def predict(self, game: Fixture, view: AsOfView, market: str = "h2h") -> Forecast | None:
        odds = self.peek(view._history, game)  # noqa: SLF001 this is what the audit must find
        return believed_with(self.name, game, view, odds, market)


@dataclass(frozen=True, eq=False)
class Fitted:
    """A model that carries a number worked out before, from whatever history it was made with."""

    number: float
    name: str = "culprit"
    markets: tuple[str, ...] = ("h2h",)

    def predict(self, game: Fixture, view: AsOfView, market: str = "h2h") -> Forecast | None:
        return believed_with(self.name, game, view, self.number, market)


@dataclass(eq=False)
class Rememberer:
    """A model that keeps every result it ever saw, and uses them for earlier games."""

    name: str = "culprit"
    markets: tuple[str, ...] = ("h2h",)
    seen: set[str] = field(default_factory=set)

    def predict(self, game: Fixture, view: AsOfView, market: str = "h2h") -> Forecast | None:
        self.seen |= {each.game.game_id for each in view.results(game.sport, game.home)}
        return believed_with(self.name, game, view, 0.01 * len(self.seen), market)


@dataclass(frozen=True, eq=False)
class Boaster:
    """A model that lists a row among those it used which nobody had then."""

    name: str = "culprit"
    markets: tuple[str, ...] = ("h2h",)

    def predict(self, game: Fixture, view: AsOfView, market: str = "h2h") -> Forecast | None:
        forecast = believed_with(self.name, game, view, 0.4, market)
        later = UsedRow("quote", "tomorrow", view.instant + timedelta(minutes=1))
        return replace(forecast, used=(*forecast.used, later))


def believed_with(name: str, game: Fixture, view: AsOfView, odds: float, market: str) -> Forecast:
    chance = from_log_odds(max(-3.0, min(3.0, odds)))
    belief = OutcomeProbabilities(market, ("home", "away"), (chance, 1.0 - chance), None, 0)
    return forecast_from_probabilities(name, game, view, belief, [])


def rows(history: History, *place: str) -> list[Any]:
    return list(history.rows(*place).rows)


def closing_price(history: History, game: Fixture) -> float:
    board = history.closing_board(game.game_id, "h2h")
    return 0.0 if board is None else board_probabilities(board).probabilities[0]


def result(history: History, game: Fixture) -> float:
    found = history.latest_score(game.game_id)
    return 0.0 if found is None else (found.home_score - found.away_score) / 10


def same_day_figures(history: History, game: Fixture) -> float:
    of_game = [
        row.stats["points"]
        for row in rows(history, "team_stats", game.sport, game.home)
        if row.game_id == game.game_id
    ]
    return float(sum(of_game)) / 200


def late_injury(history: History, game: Fixture) -> float:
    reports = rows(history, "injuries", game.sport, game.home)
    known = [row.impact for row in reports if row.reported_at < game.commence_time]
    return float(sum(known)) / 20


def corrected_score(history: History, game: Fixture) -> float:
    found = [
        history.latest_score(each)
        for each in history.finished_games("team", game.sport, game.home).rows
    ]
    known = [each for each in found if each is not None and each.completed_at < game.commence_time]
    return sum(each.home_score for each in known) / (1 + 100 * len(known))


def in_play_price(history: History, game: Fixture) -> float:
    columns = history.quote_table((game.game_id, "h2h", None))
    board = None if columns is None else columns.latest(FOREVER)
    return 0.0 if board is None else board_probabilities(board).probabilities[0]


def future_schedule(history: History, game: Fixture) -> float:
    return len(rows(history, "schedule", game.sport, game.home)) / 50


def moved_start(history: History, game: Fixture) -> float:
    last = history.latest_fixture(game.game_id)
    return 0.0 if last is None else float(last.commence_time.hour) / 24


def own_calibration(history: History, game: Fixture) -> float:
    record = rows(history, "verified", game.sport, "h2h", "momentum")
    return float(sum(row.outcome - row.raw for row in record)) / (1 + len(record))


def later_weights(history: History, game: Fixture) -> float:
    first = member_weight(rows(history, "verified", game.sport, "h2h", "momentum"))
    second = member_weight(rows(history, "verified", game.sport, "h2h", "elo"))
    return first / (first + second)


def custom_row(history: History, game: Fixture) -> float:
    found = rows(history, "custom", "form", game.home)
    return float(found[-1].stats["form"]) / 5 if found else 0.0


def player_in_the_game(history: History, game: Fixture) -> float:
    found = rows(history, "player", game.sport, f"{game.home}_star")
    points = [row.stats["PTS"] for row in found if row.game_id == game.game_id]
    return float(sum(points)) / 30


def meeting_to_come(history: History, game: Fixture) -> float:
    met = history.finished_games("pair", game.sport, "#".join(sorted((game.home, game.away))))
    return len(met.rows) / 10


def rated_by_all(history: History) -> Fitted:
    """Ratings that know how the season ends."""
    found = [history.latest_score(game.game_id) for game in history.games()]
    margins = [each.home_score - each.away_score for each in found if each is not None]
    return Fitted(sum(margins) / (1 + 10 * len(margins)))


def scaled_by_all(history: History) -> Fitted:
    """Inputs scaled by the mean and spread of all data, test data included."""
    points = [
        fact.stats["points"]
        for fact in history.simple_facts()
        if hasattr(fact, "stats") and "points" in fact.stats
    ]
    mean = sum(points) / max(1, len(points))
    spread = (sum((each - mean) ** 2 for each in points) / max(1, len(points))) ** 0.5
    return Fitted((112.0 - mean) / (1.0 + spread))
