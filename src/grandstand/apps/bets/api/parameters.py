"""Parameters and request models of the routes."""

from __future__ import annotations

from datetime import UTC, date, datetime
from decimal import Decimal
from typing import Annotated, Final, Literal

from fastapi import Path, Query
from pydantic import AwareDatetime, Field

from grandstand.apps.bets.domain.ledger import BetLimits
from grandstand.apps.bets.domain.records import AnalysisType, ModelStatus
from grandstand.apps.bets.services import Bets
from grandstand.apps.bets.services.backtests import BacktestRequest
from grandstand.apps.bets.services.database import copy_as
from grandstand.apps.bets.services.user_models import UserModelRequest
from grandstand.apps.bets.services.wagers import WagerRequest
from grandstand.kit.routes import StrictModel

_KEY: Final = r"^[a-z0-9_]{1,60}$"
_BOOK: Final = r"^[A-Za-z0-9_.-]{1,60}$"
_ID: Final = r"^[A-Za-z0-9_.:-]{1,128}$"
_EARLIEST: Final = datetime(1990, 1, 1, tzinfo=UTC)
_LATEST: Final = datetime(2100, 1, 1, tzinfo=UTC)
_NBA: Final = ["basketball_nba"]
_GAME_ID: Final = "e912304de2b2ce35b473ce2ecd3d1502"
_MAX_PRICE: Final = 1_000_000

Sport = Annotated[str, Query(pattern=_KEY, examples=_NBA)]
OptionalSport = Annotated[
    str | None, Query(pattern=_KEY, examples=_NBA, description="Default: the first enabled sport.")
]
SportOrAll = Annotated[
    str | None,
    Query(
        pattern=_KEY,
        examples=_NBA,
        description="A sport or `all`. Default: the first enabled sport.",
    ),
]
SportPath = Annotated[str, Path(pattern=_KEY, examples=_NBA)]
SportField = Annotated[str, Field(pattern=_KEY, examples=_NBA)]
Bookmaker = Annotated[str, Query(pattern=_BOOK, examples=["fanduel"])]
OptionalBookmaker = Annotated[str | None, Query(pattern=_BOOK, examples=["fanduel"])]
ModelName = Annotated[str, Query(pattern=_KEY, examples=["ensemble"])]
PropType = Annotated[str | None, Query(pattern=_KEY, examples=["player_points"])]
Kind = Annotated[AnalysisType, Query(alias="type", description="Game or prop predictions.")]
Mode = Literal["original", "inverse", "both"]
Rule = Annotated[str | None, Query(pattern=_KEY, examples=["edge"])]
Days = Annotated[int, Query(ge=1, le=3650, examples=[30])]
Limit = Annotated[int, Query(ge=1, le=100, examples=[20])]
Cursor = Annotated[str | None, Query(max_length=4000)]
GameId = Annotated[str, Path(pattern=_ID, examples=[_GAME_ID])]
OptionalGameId = Annotated[str | None, Query(pattern=_ID)]
ModelId = Annotated[str, Path(pattern=_ID, examples=["01kafc2q8x3m5r7t9v0w1y2z3a"])]
RecordId = Annotated[str, Path(pattern=_ID)]
Team = Annotated[str, Path(pattern=r"^[^\x00-\x1f/#]{1,80}$", examples=["Los Angeles Lakers"])]
Prices = Annotated[
    list[Annotated[int, Field(ge=-100_000, le=100_000)]],
    Query(min_length=2, max_length=20, examples=[[-150, 130]], description="American prices."),
]
DevigMethod = Literal["multiplicative", "additive", "power", "shin", "odds_ratio"]
_Day = Annotated[date, Field(ge=_EARLIEST.date(), le=_LATEST.date(), examples=["2025-10-21"])]
_Time = Annotated[AwareDatetime, Field(ge=_EARLIEST, le=_LATEST, examples=["2026-02-11T14:00:00Z"])]
_Money = Annotated[str, Field(pattern=r"^[0-9]{1,7}(\.[0-9]{1,2})?$", examples=["15.50"])]
_Weight = Annotated[Decimal, Field(ge=0, le=1, max_digits=5, decimal_places=4, examples=[0.5])]
_Source = Annotated[str, Field(pattern=r"^[a-z0-9_]{1,40}$", examples=["recent_form"])]


class BetsRoutes:
    """Base class of the route groups."""

    def __init__(self, bets: Bets) -> None:
        self._bets = bets
        self._cursors = bets.cursors

    def _sport(self, sport: str | None) -> str:
        return self._bets.settings.sports[0] if sport is None else sport


class SourceWeight(StrictModel):
    """The weight of a data source; a disabled source counts nothing."""

    weight: _Weight
    enabled: bool = True


class DatasetWeight(StrictModel):
    """The weight of a dataset within custom_data."""

    id: Annotated[str, Field(pattern=r"^[A-Za-z0-9_-]{1,64}$")]
    weight: _Weight


class UserModelBody(StrictModel):
    """A model: the enabled weights add up to 1, datasets share the weight of custom_data."""

    name: Annotated[str, Field(min_length=3, max_length=50, examples=["Form and rest"])]
    sport: SportField
    bet_types: Annotated[
        tuple[Literal["h2h", "spreads", "totals"], ...], Field(min_length=1, max_length=3)
    ]
    data_sources: Annotated[dict[_Source, SourceWeight], Field(max_length=20)]
    min_confidence: Annotated[
        Decimal, Field(ge=Decimal("0.5"), le=Decimal("0.95"), decimal_places=4, examples=[0.55])
    ]
    description: Annotated[str, Field(max_length=200)] = ""
    custom_datasets: Annotated[tuple[DatasetWeight, ...], Field(max_length=20)] = ()
    auto_adjust_weights: bool = False
    status: ModelStatus | None = None

    def to_request(self) -> UserModelRequest:
        return copy_as(
            UserModelRequest,
            self,
            bet_types=tuple(dict.fromkeys(self.bet_types)),
            data_sources={
                name: source.weight for name, source in self.data_sources.items() if source.enabled
            },
            datasets={dataset.id: dataset.weight for dataset in self.custom_datasets},
        )


class ModelStatusBody(StrictModel):
    """Whether a model is active or paused."""

    status: ModelStatus


class BacktestBody(StrictModel):
    """The period of a backtest, and its training and test windows in days."""

    start_date: _Day
    end_date: _Day
    train_days: Annotated[int, Field(ge=1, le=3650)] = 60
    test_days: Annotated[int, Field(ge=1, le=3650)] = 14
    purge_days: Annotated[int, Field(ge=0, le=365)] = 1
    anchored: bool = False

    def to_request(self) -> BacktestRequest:
        days = self.train_days, self.test_days, self.purge_days
        return BacktestRequest(self.start_date, self.end_date, *days, self.anchored)


class BuiltinBacktestBody(BacktestBody):
    """A backtest of a built-in model in a sport."""

    model: Annotated[str, Field(pattern=_KEY, examples=["elo"])]
    sport: SportField


class DatasetBody(StrictModel):
    """A dataset as the text of a CSV or JSON file."""

    name: Annotated[str, Field(min_length=1, max_length=60, examples=["Travel miles"])]
    sport: SportField
    data: Annotated[
        str, Field(max_length=4_000_000, examples=["team,date,miles\nLakers,2026-01-31,812\n"])
    ]


class WagerBody(StrictModel):
    """A bet placed elsewhere; the same `token` is recorded once.

    `price` is American: -100 or less, or 100 or more.
    """

    game_id: Annotated[str, Field(pattern=_ID, examples=[_GAME_ID])]
    market_key: Annotated[str, Field(pattern=_KEY, examples=["spreads"])]
    side: Literal["home", "away", "draw", "over", "under"]
    price: Annotated[int, Field(ge=-_MAX_PRICE, le=_MAX_PRICE, examples=[-110])]
    stake: _Money
    point: Annotated[
        Decimal | None, Field(ge=-10_000, le=10_000, decimal_places=2, examples=[-3.5])
    ] = None
    participant: Annotated[str | None, Field(max_length=80)] = None
    bookmaker: Annotated[str, Field(pattern=r"^[^#\x00-\x1f]{0,60}$")] = ""
    placed_at: _Time | None = None
    note: Annotated[str, Field(max_length=500)] = ""
    token: Annotated[str | None, Field(min_length=1, max_length=200)] = None

    def to_request(self) -> WagerRequest:
        placed_at = None if self.placed_at is None else _to_second(self.placed_at)
        return copy_as(WagerRequest, self, stake_cents=_cents(self.stake), placed_at=placed_at)


class WagerFileBody(StrictModel):
    """Bets as the text of a CSV file."""

    data: Annotated[
        str,
        Field(
            max_length=2_000_000, examples=["game_id,market,side,price,stake\ng1,h2h,home,-110,5"]
        ),
    ]


class LimitsBody(StrictModel):
    """The requested limits; null removes a limit."""

    stake_per_bet: _Money | None = None
    stake_per_day: _Money | None = None
    loss_per_week: _Money | None = None

    def to_request(self) -> BetLimits:
        limits = (self.stake_per_bet, self.stake_per_day, self.loss_per_week)
        return BetLimits(*(None if text is None else _cents(text) for text in limits))


class TimeOutBody(StrictModel):
    """The end of a time-out."""

    until: _Time

    def to_second(self) -> datetime:
        return _to_second(self.until)


def _cents(dollars: str) -> int:
    return int(Decimal(dollars) * 100)


def _to_second(time: datetime) -> datetime:
    return time.astimezone(UTC).replace(microsecond=0)
