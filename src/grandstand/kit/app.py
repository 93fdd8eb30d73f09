"""Kept here: the card on an application's door: all the host knows of it."""

from __future__ import annotations

from collections.abc import AsyncIterator, Awaitable, Callable, Mapping
from contextlib import AbstractAsyncContextManager
from dataclasses import dataclass
from random import Random
from typing import TYPE_CHECKING, Any, Generic, Literal, Protocol, TypeAlias, TypeVar

from grandstand.base.clock import Clock
from grandstand.kit.calibration import Said
from grandstand.storage.tables.declaration.table import Table

if TYPE_CHECKING:
    import typer

    from grandstand.base.metrics import Metrics
    from grandstand.kit.cursors import Cursors
    from grandstand.kit.events import Events
    from grandstand.kit.jobs.job import Job
    from grandstand.kit.live import Teller
    from grandstand.kit.llm.port import Llm
    from grandstand.kit.notify import Notifier
    from grandstand.kit.outbox import Deliver, Outbox
    from grandstand.kit.pages.rendering import Pages
    from grandstand.kit.who.caller import Caller
    from grandstand.storage.series.declaration import Series
    from grandstand.storage.series.engines.protocol import SeriesEngine
    from grandstand.storage.tables.store import AsyncStore
    from grandstand.wire.web import Web

S = TypeVar("S")
Whose: TypeAlias = Literal["yours", "model", "benny"]


@dataclass(frozen=True, slots=True)
class Resources:
    """What the host hands to an application when it opens it.

    `settings` is the application's own part of the settings; `lent` is what other applications
    lend it, by the name of the Protocol it declares.
    """

    settings: Any
    store: AsyncStore
    series: SeriesEngine
    clock: Clock
    random: Random
    metrics: Metrics
    web: Web
    llm: Llm
    teller: Teller
    notifier: Notifier
    outbox: Outbox
    events: Events
    cursors: Cursors
    lent: Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class Now:
    """What an application's card on the home page says: a figure, a sentence, and a way in."""

    headline: str
    detail: str
    href: str
    live: bool = False


@dataclass(frozen=True, slots=True)
class Found:
    """Something a search found: the kind of thing, its name, a line about it, and its page."""

    kind: str
    title: str
    detail: str
    href: str


@dataclass(frozen=True, slots=True)
class Calibrated:
    """Chances that somebody gave, and what came of each, for the common scoreboard.

    `who` gave them, `what` they were given to; `href` leads to more. Without any that is decided
    `said` is empty, and the scoreboard says that there is not enough yet.
    """

    whose: Whose
    who: str
    what: str
    href: str
    said: tuple[Said, ...] = ()


class Belongings(Protocol):
    """What an application keeps of one person."""

    def export(self, user_id: str) -> AsyncIterator[tuple[str, dict[str, Any]]]:
        """Answer everything kept of a person: a kind and a plain value each."""
        ...

    async def erase(self, user_id: str) -> int:
        """Erase everything kept of a person and answer how many things that were."""
        ...


@dataclass(frozen=True, slots=True)
class App(Generic[S]):
    """An application: what it keeps, how it is opened, and its four ways in.

    Every way in is a function, so that its library is loaded only when it is used. `api` and
    `pages` answer an object whose methods are marked by `kit.routes`; `commands` gets a function
    that opens the service. `deliveries` names the topics of the outbox this application
    carries out, `<app>.<what>` each. `close` ends what the service opened by itself, such as
    connections; the store and the network are still there then. `search` answers what is known by
    some words, the nearest first and few; `calibration` the chances that were given for a caller's
    eyes. Neither asks anybody outside.
    """

    name: str
    title: str
    purpose: str
    tables: tuple[Table, ...] = ()
    series: tuple[Series[Any], ...] = ()
    service: Callable[[Resources], S] | None = None
    api: Callable[[S], object] | None = None
    pages: Callable[[S, Pages], object] | None = None
    jobs: Callable[[S], tuple[Job, ...]] | None = None
    deliveries: Callable[[S], Mapping[str, Deliver]] | None = None
    commands: Callable[[Callable[[], AbstractAsyncContextManager[S]]], typer.Typer] | None = None
    now: Callable[[S, Caller], Awaitable[Now]] | None = None
    search: Callable[[S, str, Caller], Awaitable[tuple[Found, ...]]] | None = None
    calibration: Callable[[S, Caller], Awaitable[tuple[Calibrated, ...]]] | None = None
    belongings: Callable[[S], Belongings] | None = None
    close: Callable[[S], Awaitable[None]] | None = None
