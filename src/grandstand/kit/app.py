"""The manifest of an app and what the platform passes to it."""

from __future__ import annotations

import ssl
from collections.abc import Awaitable, Callable, Mapping
from contextlib import AbstractAsyncContextManager
from dataclasses import dataclass, field
from datetime import datetime
from importlib import import_module
from pathlib import Path
from random import Random
from typing import TYPE_CHECKING, Any, Generic, Literal, Protocol, TypeAlias, TypeVar, cast

from grandstand.core.clock import Clock
from grandstand.kit.calibration import ResolvedForecast
from grandstand.storage.tables.declaration.table import Table

if TYPE_CHECKING:
    import typer

    from grandstand.core.metrics import Metrics
    from grandstand.kit.auth.caller import Caller
    from grandstand.kit.auth.personal_data import PersonalData
    from grandstand.kit.cursors import Cursors
    from grandstand.kit.events import Events
    from grandstand.kit.jobs.job import Job
    from grandstand.kit.live import Publisher
    from grandstand.kit.llm import Llm
    from grandstand.kit.notify import Notifier
    from grandstand.kit.outbox import DeliveryHandler, Outbox
    from grandstand.kit.pages.rendering import Pages
    from grandstand.net.client import SourceRegistry
    from grandstand.storage.series.declaration import Series
    from grandstand.storage.series.engines.protocol import SeriesEngine
    from grandstand.storage.tables.store import AsyncStore

S = TypeVar("S")
T = TypeVar("T")
ForecastOwner: TypeAlias = Literal["yours", "model", "benny"]


@dataclass(frozen=True, slots=True)
class ExchangePrice:
    """The best bid and ask for one side of a game, in ten-thousandths of a dollar."""

    market_id: str
    title: str
    team: str
    bid: int | None
    ask: int | None
    at: datetime
    href: str


class ExchangePrices(Protocol):
    """Prices of games on the exchange, provided by the gatherer."""

    async def of_game(
        self, sport: str, home_team: str, away_team: str, commence_time: datetime
    ) -> tuple[ExchangePrice, ...]:
        """Return the prices of both sides; empty if the exchange has no market for the game."""
        ...


@dataclass(frozen=True, slots=True, kw_only=True)
class AppResources:
    """What the platform passes to an app when it builds its services.

    `settings` is the app's own section. The fields with defaults are set only where the platform
    or another app provides them.
    """

    settings: Any
    home: Path
    store: AsyncStore
    series: SeriesEngine
    clock: Clock
    random: Random
    metrics: Metrics
    web: SourceRegistry
    llm: Llm
    publisher: Publisher
    notifier: Notifier
    outbox: Outbox
    events: Events
    cursors: Cursors
    exchange_prices: ExchangePrices | None = None
    replay_server: Callable[..., Any] | None = None
    apns_context: ssl.SSLContext | None = None
    webpush_hosts: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class HomeCard:
    """An app's card on the home page: a headline, a detail line and a link."""

    headline: str
    detail: str
    href: str
    live: bool = False


@dataclass(frozen=True, slots=True)
class SearchHit:
    """One search result: the kind of thing, its name, a line about it, and its page."""

    kind: str
    title: str
    detail: str
    href: str


@dataclass(frozen=True, slots=True)
class CalibrationSeries:
    """Resolved forecasts of one forecaster, for the shared scoreboard.

    `who` made them, `what` they are about, `href` links to details. `said` is empty until some
    are resolved.
    """

    whose: ForecastOwner
    who: str
    what: str
    href: str
    said: tuple[ResolvedForecast, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class AppServices(Generic[S]):
    """An app's services, and the functions the platform calls on them.

    `outbox_handlers` maps the topics this app delivers, `<app>.<what>` each, to their handlers.
    `search` and `calibration` read only what is stored. `close` releases what the services opened
    themselves, such as connections.
    """

    services: S
    home_card: Callable[[Caller], Awaitable[HomeCard]] | None = None
    search: Callable[[str, Caller], Awaitable[tuple[SearchHit, ...]]] | None = None
    calibration: Callable[[Caller], Awaitable[tuple[CalibrationSeries, ...]]] | None = None
    personal_data: PersonalData | None = None
    outbox_handlers: Mapping[str, DeliveryHandler] = field(default_factory=dict)
    close: Callable[[], Awaitable[None]] | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class App(Generic[S]):
    """The manifest of an app.

    The entry points are functions or "module:attribute" references, which are imported when they
    are first used. `json_names` is how the API writes the fields of the dataclasses it returns.

    Example:
        APP = App(
            name="ladder",
            title="Ladder",
            purpose="Player ratings.",
            tables=(players,),
            build="grandstand.apps.ladder.services:build",
            api="grandstand.apps.ladder.api:LadderApi",
        )
    """

    name: str
    title: str
    purpose: str
    tables: tuple[Table, ...] = ()
    series: tuple[Series[Any], ...] = ()
    build: Callable[[AppResources], AppServices[S]] | str | None = None
    api: Callable[[S], object] | str | None = None
    pages: Callable[[S, Pages], object] | str | None = None
    jobs: Callable[[S], tuple[Job, ...]] | str | None = None
    commands: Callable[[Callable[[], AbstractAsyncContextManager[S]]], typer.Typer] | str | None = (
        None
    )
    json_names: Literal["snake", "camel"] = "snake"


def load(entry_point: T | str) -> T:
    """Return an entry point of a manifest, importing it if it is a reference."""
    if not isinstance(entry_point, str):
        return entry_point
    module, _, attribute = entry_point.partition(":")
    return cast("T", getattr(import_module(module), attribute))
