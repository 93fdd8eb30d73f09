"""Opening the store, the series engine, the network and the language model, as configured."""

from __future__ import annotations

import asyncio
import contextlib
import os
import random
import secrets
import socket
from collections.abc import Mapping
from contextlib import AsyncExitStack
from dataclasses import dataclass, replace
from pathlib import Path
from random import Random
from typing import TYPE_CHECKING, Any

from starlette.requests import Request

from grandstand.core.clock import Clock, SystemClock
from grandstand.core.errors import Conflict, InvalidInput
from grandstand.core.metrics import Metrics
from grandstand.host.registry import all_tables
from grandstand.host.settings import LlmSettings, Settings
from grandstand.kit.app import App
from grandstand.kit.auth.credentials import SESSION_COOKIE, csrf_token
from grandstand.kit.jobs.tables import jobs
from grandstand.kit.live import LiveHub
from grandstand.kit.llm import (
    BedrockProvider,
    Llm,
    LlmLimits,
    OfflineLlm,
    OpenAiProvider,
    Provider,
    RemoteLlm,
)
from grandstand.kit.notify import Channel, read_channels
from grandstand.kit.pages.assets import read_assets
from grandstand.kit.pages.rendering import Links, NavSection, Pages
from grandstand.kit.shared_limits import TableQuotas, TableRateLimiter
from grandstand.net.client import Credentials, SourceRegistry
from grandstand.storage.series.engines.protocol import SeriesEngine
from grandstand.storage.tables.declaration.table import Naming
from grandstand.storage.tables.engines.protocol import Engine
from grandstand.storage.tables.store import AsyncStore, Store

if TYPE_CHECKING:
    from grandstand.kit.auth.tokens import TokenVerifier


class OldData(Conflict):
    """The home folder was written by an incompatible version."""

    code = "old-data"


class StoreLost(Conflict):
    """The home folder was in use before, but its store is missing or empty."""

    code = "store-lost"


def open_store(
    settings: Settings,
    clock: Clock | None = None,
    *,
    low_memory: bool = False,
    new: bool = False,
) -> Store:
    """Open the table store. Raises InvalidInput if the setting is invalid, StoreLost or OldData.

    With `low_memory`, SQLite uses less memory. `new` allows an absent store in a used home folder.
    """
    clock = clock or SystemClock()
    if not new:
        check_store_present(settings)
    naming = Naming(
        prefix=settings.tables_prefix,
        environment=settings.tables_environment,
        renamed=tuple(settings.tables_names.items()),
    )
    store = Store(open_engine(settings, clock, low_memory=low_memory), naming=naming, clock=clock)
    try:
        _refuse_old_data(store, settings)
    except BaseException:
        store.close()
        raise
    return store


def check_store_present(settings: Settings) -> None:
    """Raise StoreLost instead of starting as a new installation, which is open to this machine."""
    file, secret = sqlite_file(settings), settings.home / "secret"
    if file is None or not secret.exists() or (file.exists() and file.stat().st_size > 0):
        return
    raise StoreLost(
        f"{settings.home} was in use before, but its store {file} is missing or empty. Restore a "
        f"backup with grandstand restore; to start anew without data and accounts, delete {secret}."
    )


def _refuse_old_data(store: Store, settings: Settings) -> None:
    """Raise OldData if a local home was written by 0.1.0, whose stored names differ."""
    if sqlite_file(settings) is None:
        return
    engine, name = store.session.engine, store.session.name(jobs)
    if name in engine.list_tables() and engine.schema_of(name).partition != jobs.partition:
        raise OldData(
            f"The data in {settings.home} was written by Grandstand 0.1.0 and cannot be used. "
            "Move it away, or set GRANDSTAND_HOME to another folder."
        )


def open_series(
    settings: Settings, clock: Clock | None = None, *, lazy: bool = False
) -> SeriesEngine:
    """Open the series engine. Raises InvalidInput if the setting is invalid.

    With `lazy`, a server may be unreachable until the engine is used.
    """
    clock, place = clock or SystemClock(), settings.series.get_secret_value()
    if place == "chunks":
        from grandstand.storage.series.engines.chunks.engine import ChunkEngine

        folder = _chunks(settings)
        folder.mkdir(parents=True, exist_ok=True)
        return ChunkEngine.open(folder, clock=clock, durability=settings.tables_durability)
    if place.startswith(("postgresql://", "postgres://")) or "=" in place:
        from grandstand.storage.series.engines.postgres.engine import PostgresEngine

        return PostgresEngine.open(place, clock=clock, wide=settings.series_wide, lazy=lazy)
    raise InvalidInput(
        "series is invalid. Use chunks, or a PostgreSQL connection string such as "
        "postgresql://USER:PASSWORD@HOST/DATABASE"
    )


def has_series(settings: Settings) -> bool:
    """Return whether series exist, so that opening them creates nothing."""
    return settings.series.get_secret_value() != "chunks" or _chunks(settings).is_dir()


def _chunks(settings: Settings) -> Path:
    return settings.home / "series"


def open_engine(settings: Settings, clock: Clock, *, low_memory: bool = False) -> Engine:
    """Open the engine named by `settings.tables`."""
    kind, _, place = settings.tables.partition(":")
    if kind == "sqlite":
        return _sqlite(settings, clock, place, low_memory=low_memory)
    if settings.tables == "dynamodb" or (kind == "dynamodb" and place):
        return _dynamodb(clock, place)
    raise InvalidInput(
        f"tables = {settings.tables!r} is invalid. Use sqlite, sqlite:PATH, "
        "dynamodb, dynamodb:REGION or dynamodb:http://HOST:PORT"
    )


def sqlite_file(settings: Settings) -> Path | None:
    """Return the SQLite file; None if the tables are elsewhere."""
    kind, _, place = settings.tables.partition(":")
    if kind != "sqlite" or place == ":memory:":
        return None
    return Path(place) if place else settings.home / "tables.db"


def _sqlite(settings: Settings, clock: Clock, place: str, *, low_memory: bool) -> Engine:
    from grandstand.storage.tables.engines.sqlite import SqliteEngine

    file = sqlite_file(settings)
    if file is not None and not place:
        file.parent.mkdir(parents=True, exist_ok=True)
    return SqliteEngine.open(
        file, clock=clock, durability=settings.tables_durability, low_memory=low_memory
    )


def _dynamodb(clock: Clock, place: str) -> Engine:
    from grandstand.storage.tables.engines.dynamodb.engine import DynamoEngine

    endpoint = place if "://" in place else None
    return DynamoEngine.open(
        region=None if endpoint else place,
        endpoint=endpoint,
        clock=clock,
        random=random.Random(),  # noqa: S311 - for spreading retries, not for secrets
    )


@dataclass(frozen=True, slots=True)
class Infrastructure:
    """What apps run on: stores, network, clock, metrics."""

    settings: Settings
    clock: Clock
    random: Random
    metrics: Metrics
    store: AsyncStore
    series: SeriesEngine
    web: SourceRegistry
    hub: LiveHub
    instance: str


async def open_infrastructure(
    settings: Settings, clock: Clock, random: Random, opened: AsyncExitStack
) -> Infrastructure:
    """Open the store, series and network; `opened` closes them.

    Raises InvalidInput or Unavailable with what to do.
    """
    store, series = await _open_stores(settings, clock, opened)
    metrics = Metrics()
    instance = f"{socket.gethostname()}-{os.getpid()}-{random.getrandbits(24):06x}"
    web = await opened.enter_async_context(
        SourceRegistry(
            clock=clock,
            random=random,
            metrics=metrics,
            rate_limiter=TableRateLimiter(store, owner=instance, clock=clock, random=random),
            quotas=TableQuotas(store, clock=clock, random=random),
        )
    )
    hub = LiveHub(clock, metrics)
    return Infrastructure(settings, clock, random, metrics, store, series, web, hub, instance)


async def _open_stores(
    settings: Settings, clock: Clock, opened: AsyncExitStack, *, low_memory: bool = False
) -> tuple[AsyncStore, SeriesEngine]:
    store = await asyncio.to_thread(open_store, settings, clock, low_memory=low_memory)
    # Closing waits for writes that are under way.
    opened.push_async_callback(asyncio.to_thread, store.close)
    await asyncio.to_thread(store.create, all_tables())
    series = await asyncio.to_thread(open_series, settings, clock, lazy=True)
    opened.callback(series.close)
    return AsyncStore(store), series


async def open_demo_infrastructure(
    real: Infrastructure, settings: Settings, opened: AsyncExitStack
) -> Infrastructure:
    """Open a second store, series and network for simulated data.

    Its quotas and rate limits are its own and end with the process.
    """
    store, series = await _open_stores(settings, real.clock, opened, low_memory=True)
    web = await opened.enter_async_context(
        SourceRegistry(clock=real.clock, random=real.random, metrics=real.metrics)
    )
    return replace(real, settings=settings, store=store, series=series, web=web)


def make_pages(
    clock: Clock, hub: LiveHub, apps: tuple[App[Any], ...], simulated: Mapping[str, str]
) -> Pages:
    """Create the page renderer with the templates and static files of all apps.

    `simulated` has a line for every simulated app: how to connect the real source.
    """
    folders = {app.name: Path(__file__).parents[1] / "apps" / app.name for app in apps}
    static = {name: folder / "static" for name, folder in folders.items()}
    templates = {name: folder / "templates" for name, folder in folders.items()}
    more = {"cricket": "See the lock screen it is pushed to"}
    sections = [
        NavSection(a.name, a.title, a.purpose, simulated.get(a.name, ""), more.get(a.name, "More"))
        for a in apps
    ]
    links = Links(csrf=_csrf, number=hub.number)
    templates["platform"] = Path(__file__).parent / "pages" / "templates"
    return Pages(read_assets(static), sections, templates, clock, links)


def _csrf(request: Request) -> str:
    return csrf_token(request.cookies.get(SESSION_COOKIE, ""), secrets.token_bytes)


def notification_channels(settings: Settings) -> tuple[Channel, ...]:
    """Return the configured notification channels. Raises InvalidInput."""
    notify = settings.notify
    return read_channels(
        webhooks=[hook.get_secret_value() for hook in notify.webhooks],
        smtp=notify.smtp.get_secret_value() if notify.smtp else None,
        mail_from=notify.mail_from,
        mail_to=notify.mail_to,
    )


def token_verifier(settings: Settings, web: SourceRegistry, clock: Clock) -> TokenVerifier | None:
    """Return the verifier of bearer tokens; None without an issuer. Raises InvalidInput."""
    auth = settings.auth
    if not auth.issuer:
        return None
    from grandstand.kit.auth.tokens import JsonFetcher, TokenVerifier, TrustedIssuer

    trust = TrustedIssuer(
        auth.issuer,
        auth.client_ids,
        algorithms=auth.algorithms,
        groups_claim=auth.groups_claim,
        admin_group=auth.admin_group,
    )
    return TokenVerifier(trust, JsonFetcher(web), clock)


def platform_secret(settings: Settings) -> bytes:
    """Return the secret that signs cursors: the setting, or a file in the home folder."""
    given = settings.server.secret
    if given is not None and given.get_secret_value():
        return given.get_secret_value().encode()
    file = settings.home / "secret"
    if not file.exists():
        _make_secret(file)
    return file.read_bytes()


def _make_secret(file: Path) -> None:
    """Create the secret file atomically; the first process wins."""
    file.parent.mkdir(parents=True, exist_ok=True)
    unfinished = file.with_name(f"secret-{secrets.token_hex(8)}.unfinished")
    handle = os.open(unfinished, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
    with os.fdopen(handle, "wb") as kept:
        kept.write(secrets.token_bytes(32))
    with contextlib.suppress(FileExistsError):
        file.hardlink_to(unfinished)
    unfinished.unlink()


def open_llm(
    settings: LlmSettings, web: SourceRegistry, *, store: AsyncStore, clock: Clock, metrics: Metrics
) -> Llm:
    """Open the language model. Raises InvalidInput if a setting is missing."""
    if settings.provider == "offline":
        return OfflineLlm()
    if not settings.model:
        raise InvalidInput("Set GRANDSTAND_LLM_MODEL to the provider's model id")
    provider = _bedrock(settings) if settings.provider == "bedrock" else _openai(settings, web)
    limits = LlmLimits(
        seconds=settings.seconds,
        daily_cents=settings.daily_cents,
        input_microdollars=settings.input_microdollars,
        output_microdollars=settings.output_microdollars,
    )
    return RemoteLlm(provider, limits, store=store, clock=clock, metrics=metrics)


def _bedrock(settings: LlmSettings) -> Provider:
    from grandstand.net.bedrock import Bedrock

    if not settings.region:
        raise InvalidInput("Set GRANDSTAND_LLM_REGION to Bedrock's region")
    client = Bedrock.open(
        region=settings.region, endpoint=settings.endpoint or None, seconds=settings.seconds
    )
    return BedrockProvider(settings.model, client)


def _openai(settings: LlmSettings, web: SourceRegistry) -> Provider:
    if not settings.endpoint:
        raise InvalidInput("Set GRANDSTAND_LLM_ENDPOINT to the model's URL, up to /v1")
    key = settings.key.get_secret_value() if settings.key else None
    source = web.source(
        "llm",
        base_url=settings.endpoint,
        timeout_seconds=settings.seconds,
        credentials=Credentials(headers={"authorization": f"Bearer {key}"} if key else {}),
    )

    async def post(path: str, body: bytes) -> bytes:
        headers = {"content-type": "application/json"}
        return (await source.post(path, body=body, headers=headers)).body

    return OpenAiProvider(settings.model, post)
