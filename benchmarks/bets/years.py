"""Some years of games as table rows: prices, predictions, results, users and Benny."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from decimal import Decimal
from itertools import chain, islice
from typing import Any, Final

from grandstand.apps.bets.domain.records import PricedOutcome, Tally
from grandstand.apps.bets.store.benny import BennyBet, Learning
from grandstand.apps.bets.store.games import GameOdds, HistoricalOdds, TeamOutcome
from grandstand.apps.bets.store.predictions import Analysis, ModelAdjustment
from grandstand.apps.bets.store.user_models import UserModel
from grandstand.storage.tables import Entity, Store

NOW: Final = datetime(2026, 2, 11, 12, tzinfo=UTC)
SPORTS: Final = ("basketball_nba", "americanfootball_nfl")
BOOKS: Final = tuple(f"book_{n}" for n in range(10))
MARKETS: Final = ("h2h", "spreads", "totals")
TEAMS: Final = tuple(f"Team {n:02d}" for n in range(30))
MODELS: Final = tuple(f"model_{n:02d}" for n in range(11))
CHANGES: Final = 5
BETTORS: Final = 1_000
ODDS_A_GAME: Final = len(BOOKS) * len(MARKETS) * CHANGES
_GAMES_A_DAY = 25
_MODELS_EACH = 5
_BETS = 2_000
_AT_ONCE = 10_000
_ENDS_AFTER = timedelta(hours=3)


@dataclass(frozen=True)
class Played:
    """A game that has been played, or is still to come."""

    game_id: str
    sport: str
    home: str
    away: str
    commence_time: datetime

    @property
    def over(self) -> bool:
        """Whether it has a result by now."""
        return self.commence_time + _ENDS_AFTER < NOW

    @property
    def fields(self) -> dict[str, Any]:
        """What every row says of its game."""
        return {
            "game_id": self.game_id,
            "sport": self.sport,
            "home_team": self.home,
            "away_team": self.away,
            "commence_time": self.commence_time,
        }


def game_of(number: int, games: int) -> Played:
    """One of so many games, twenty-five a day, of which the last two days are to come."""
    to_come = min(2 * _GAMES_A_DAY, games // 10)
    day = timedelta(days=1) / _GAMES_A_DAY
    home = number // len(SPORTS) * 7 % len(TEAMS)
    away = (home + 1 + number % (len(TEAMS) - 1)) % len(TEAMS)
    return Played(
        f"{number:032x}",
        SPORTS[number % len(SPORTS)],
        TEAMS[home],
        TEAMS[away],
        (NOW + (number + 1 - games + to_come) * day).replace(microsecond=0),
    )


def fill(store: Store, games: int) -> int:
    """Write everything there is about so many games; answer how many rows that were."""
    written = 0
    every = (_about(game_of(number, games), number) for number in range(games))
    waiting = chain(chain.from_iterable(every), _people(), _benny())
    while some := list(islice(waiting, _AT_ONCE)):
        store.write_many(row.put() for row in some)
        written += len(some)
    return written


def _about(game: Played, number: int) -> Iterator[Entity]:
    yield from _prices(game, number)
    yield from _predictions(game, number)
    if game.over:
        yield from _closing(game, number)
        yield from _results(game, number)


def _prices(game: Played, number: int) -> Iterator[Entity]:
    for book in BOOKS:
        for market in MARKETS:
            for change in range(CHANGES):
                captured = game.commence_time - timedelta(hours=4 * (CHANGES - change))
                yield GameOdds(
                    **game.fields,
                    bookmaker=book,
                    market_key=market,
                    captured_at=captured,
                    outcomes=_outcomes(game, market, number + change),
                    latest=change == CHANGES - 1,
                    created_at=captured,
                )


def _closing(game: Played, number: int) -> Iterator[Entity]:
    for book in BOOKS:
        for market in MARKETS:
            yield HistoricalOdds(
                **game.fields,
                bookmaker=book,
                market_key=market,
                outcomes=_outcomes(game, market, number),
                updated_at=game.commence_time - timedelta(hours=4),
                archived_at=game.commence_time + _ENDS_AFTER,
            )


def _outcomes(game: Played, market: str, number: int) -> tuple[PricedOutcome, ...]:
    point = None if market == "h2h" else Decimal(number % 20) + Decimal("0.5")
    first, second = ("Over", "Under") if market == "totals" else (game.home, game.away)
    other = -point if point is not None and market == "spreads" else point
    return (
        PricedOutcome(first, -110 - number % 90, point),
        PricedOutcome(second, 100 + number % 90, other),
    )


def _predictions(game: Played, number: int) -> Iterator[Entity]:
    ended = game.commence_time + _ENDS_AFTER if game.over else None
    for model in MODELS:
        for inverse in (None, True):
            yield Analysis(
                **game.fields,
                model=model,
                analysis_type="game",
                bookmaker=BOOKS[0],
                prediction=game.away if inverse else game.home,
                confidence=Decimal(50 + number % 40) / 100,
                reasoning="Most bookmakers agree, and the last five games say the same",
                created_at=game.commence_time - timedelta(hours=4),
                is_inverse=inverse,
                original_prediction=game.home if inverse else None,
                actual_home_won=None if ended is None else number % 2 == 0,
                analysis_correct=None if ended is None else (number % 2 == 0) is not bool(inverse),
                outcome_verified_at=ended,
            )


def _results(game: Played, number: int) -> Iterator[Entity]:
    scores = (Decimal(90 + number % 40), Decimal(90 + number % 37))
    for at_home in (True, False):
        own, other = (game.home, game.away) if at_home else (game.away, game.home)
        yield TeamOutcome(
            completed_at=game.commence_time + _ENDS_AFTER,
            game_id=game.game_id,
            sport=game.sport,
            team=own,
            opponent=other,
            team_score=scores[0] if at_home else scores[1],
            opponent_score=scores[1] if at_home else scores[0],
            winner=game.home if scores[0] > scores[1] else game.away,
            is_home=at_home,
        )


def _people() -> Iterable[Entity]:
    for number in range(BETTORS * _MODELS_EACH):
        yield UserModel(
            user_id=f"user-{number // _MODELS_EACH}",
            model_id=f"model-{number}",
            name=f"Model {number}",
            sport=SPORTS[number % len(SPORTS)],
            bet_types=("h2h", "spreads"),
            data_sources={"team_stats": Decimal("0.6"), "injuries": Decimal("0.4")},
            min_confidence=Decimal("0.6"),
            created_at=NOW,
            updated_at=NOW,
        )
    for sport in SPORTS:
        for model in MODELS:
            yield ModelAdjustment(
                model=model,
                sport=sport,
                bet_type="game",
                recommendation="ORIGINAL",
                original_accuracy=Decimal("0.55"),
                inverse_accuracy=Decimal("0.45"),
                sample_size=300,
                confidence_multiplier=Decimal("1.1"),
                lookback_days=30,
                calculated_at=NOW,
            )


def _benny() -> Iterable[Entity]:
    for number in range(_BETS):
        placed = NOW - timedelta(hours=5 * number)
        yield BennyBet(
            bet_id=f"bet-{number}",
            game_id=f"{number:032x}",
            sport=SPORTS[0],
            home_team=TEAMS[0],
            away_team=TEAMS[1],
            prediction=TEAMS[0],
            confidence=Decimal("0.66"),
            ai_reasoning="A strong record at home, and the visitors played yesterday",
            ai_key_factors=("Home court", "Rest"),
            bet_amount=Decimal("7.50"),
            odds=-120,
            market_key="h2h",
            commence_time=placed + timedelta(hours=4),
            placed_at=placed,
            bankroll_before=Decimal("85.50"),
        )
    yield Learning(
        min_confidence_adjustment=Decimal("-0.02"),
        kelly_fraction=Decimal("0.25"),
        performance_by_sport={sport: Tally(15, 25) for sport in SPORTS},
        performance_by_bet_type={"h2h": Tally(30, 50)},
        overall_win_rate=Decimal("0.6"),
        total_bets_analyzed=_BETS,
        last_updated=NOW,
    )
