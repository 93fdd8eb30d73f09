"""Kept here: what the house stands on, opened as the settings say."""

from __future__ import annotations

import asyncio
import contextlib
import os
import secrets
import socket
from collections.abc import Mapping
from contextlib import AsyncExitStack
from dataclasses import dataclass, replace
from pathlib import Path
from random import Random
from typing import TYPE_CHECKING, Any, Final

from starlette.requests import Request

from grandstand.base.clock import Clock
from grandstand.base.metrics import Metrics
from grandstand.host.catalogue import all_tables
from grandstand.host.opening import open_series, open_store
from grandstand.host.settings import Settings
from grandstand.kit.allowances import TableAllowance, TableQuotas
from grandstand.kit.app import App
from grandstand.kit.live import Hub
from grandstand.kit.notify import Channel, read_channels
from grandstand.kit.pages.assets import read_assets
from grandstand.kit.pages.rendering import Links, Pages, Section
from grandstand.kit.steady import SteadyAllowance, SteadyQuotas
from grandstand.kit.who.csrf import csrf_token
from grandstand.kit.who.sessions import SESSION_COOKIE
from grandstand.storage.series.engines.protocol import SeriesEngine
from grandstand.storage.tables.store import AsyncStore
from grandstand.wire.quota import MemoryQuotas
from grandstand.wire.rate import MemoryAllowance
from grandstand.wire.web import Web

if TYPE_CHECKING:
    from grandstand.kit.who.bearer.tokens import Tokens

_APPS_FOLDER: Final = Path(__file__).parents[1] / "apps"
_PAGES_FOLDER: Final = Path(__file__).parent / "pages"
_SECRET_BYTES: Final = 32
_MORE: Final = {"cricket": "See the lock screen it is pushed to"}


@dataclass(frozen=True, slots=True)
class Ground:
    """What everything else stands on."""

    settings: Settings
    clock: Clock
    random: Random
    metrics: Metrics
    store: AsyncStore
    series: SeriesEngine
    web: Web
    hub: Hub
    instance: str


async def lay(settings: Settings, clock: Clock, random: Random, opened: AsyncExitStack) -> Ground:
    """Open the store, the series and the way to the network; `opened` closes them.

    Raises InvalidInput or Unavailable, saying what to do.
    """
    store = await asyncio.to_thread(open_store, settings, clock)
    opened.callback(store.close)
    await asyncio.to_thread(store.create, all_tables())
    series = await asyncio.to_thread(open_series, settings, clock)
    opened.callback(series.close)
    kept, metrics = AsyncStore(store), Metrics()
    instance = f"{socket.gethostname()}-{os.getpid()}-{random.getrandbits(24):06x}"
    web = await opened.enter_async_context(
        Web(
            clock=clock,
            random=random,
            metrics=metrics,
            allowance=SteadyAllowance(
                TableAllowance(kept, owner=instance, clock=clock, random=random),
                MemoryAllowance(clock, random),
                clock,
            ),
            quotas=SteadyQuotas(
                TableQuotas(kept, clock=clock, random=random), MemoryQuotas(clock), clock
            ),
        )
    )
    hub = Hub(clock, metrics)
    return Ground(settings, clock, random, metrics, kept, series, web, hub, instance)


async def lay_apart(ground: Ground, settings: Settings, opened: AsyncExitStack) -> Ground:
    """Open a second store, series and way to the network, for what is simulated.

    Its quotas and rates are nobody's but its own, and are forgotten with the process.
    """
    clock, random = ground.clock, ground.random
    store = await asyncio.to_thread(open_store, settings, clock, sparing=True)
    opened.callback(store.close)
    await asyncio.to_thread(store.create, all_tables())
    series = await asyncio.to_thread(open_series, settings, clock)
    opened.callback(series.close)
    web = await opened.enter_async_context(Web(clock=clock, random=random, metrics=ground.metrics))
    return replace(ground, settings=settings, store=AsyncStore(store), series=series, web=web)


def make_pages(
    ground: Ground, apps: tuple[App[Any], ...], simulated: Mapping[str, str] | None = None
) -> Pages:
    """Make what renders pages: templates and static files of the house and every application.

    `simulated` has a line for every application whose source is: how to connect the real one.
    """
    told = simulated or {}
    folders = {app.name: _APPS_FOLDER / app.name for app in apps}
    static = {name: folder / "static" for name, folder in folders.items()}
    templates = {name: folder / "templates" for name, folder in folders.items()}
    sections = [
        Section(a.name, a.title, a.purpose, told.get(a.name, ""), _MORE.get(a.name, "More"))
        for a in apps
    ]
    links = Links(csrf=_csrf, number=ground.hub.number)
    templates["house"] = _PAGES_FOLDER / "templates"
    return Pages(read_assets(static), sections, templates, ground.clock, links)


def _csrf(request: Request) -> str:
    return csrf_token(request.cookies.get(SESSION_COOKIE, ""), secrets.token_bytes)


def channels_of(settings: Settings) -> tuple[Channel, ...]:
    """Answer where alerts go; raise InvalidInput when a setting makes no sense."""
    told = settings.notify
    return read_channels(
        webhooks=[hook.get_secret_value() for hook in told.webhooks],
        smtp=told.smtp.get_secret_value() if told.smtp else None,
        mail_from=told.mail_from,
        mail_to=told.mail_to,
    )


def tokens_of(settings: Settings, web: Web, clock: Clock) -> Tokens | None:
    """Answer what checks tokens, None when no issuer is set; raise InvalidInput."""
    told = settings.auth
    if not told.issuer:
        return None
    from grandstand.kit.who.bearer.fetching import FetchThroughWeb
    from grandstand.kit.who.bearer.tokens import Tokens
    from grandstand.kit.who.bearer.trust import Trust

    trust = Trust(
        told.issuer,
        told.client_ids,
        algorithms=told.algorithms,
        groups_claim=told.groups_claim,
        admin_group=told.admin_group,
    )
    return Tokens(trust, FetchThroughWeb(web), clock)


def house_secret(settings: Settings) -> bytes:
    """Answer what cursors are signed with: the setting, or what is kept in the home folder."""
    given = settings.server.secret
    if given is not None and given.get_secret_value():
        return given.get_secret_value().encode()
    file = settings.home / "secret"
    if not file.exists():
        _make_secret(file)
    return file.read_bytes()


def _make_secret(file: Path) -> None:
    """Make a secret that is whole as soon as it is there; whoever comes first makes it for all."""
    file.parent.mkdir(parents=True, exist_ok=True)
    unfinished = file.with_name(f"secret-{secrets.token_hex(8)}.unfinished")
    handle = os.open(unfinished, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
    with os.fdopen(handle, "wb") as kept:
        kept.write(secrets.token_bytes(_SECRET_BYTES))
    with contextlib.suppress(FileExistsError):
        file.hardlink_to(unfinished)
    unfinished.unlink()
