"""Client of netkeiba: page addresses, rate limits and cooldowns."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from dataclasses import dataclass
from datetime import date, datetime, timedelta
from math import inf
from typing import Any, Final, Generic, Literal, TypeAlias, TypeVar

from grandstand.apps.keiba.domain import ids
from grandstand.apps.keiba.domain.errors import NotPublished, PageUnreadable, SiteCoolingDown
from grandstand.apps.keiba.domain.horses import Form, HorseProfile, JockeyRecord, Pedigree
from grandstand.apps.keiba.domain.ids import Circuit
from grandstand.apps.keiba.domain.races import Odds, RaceCard, RaceEntry, RaceResult
from grandstand.apps.keiba.settings import KeibaSettings
from grandstand.apps.keiba.sources.html_reader import MAX_PAGE_BYTES, Page, Parsed, is_block_page
from grandstand.apps.keiba.sources.profile_parser import (
    parse_horse_profile,
    parse_horse_results,
    parse_jockey,
    parse_pedigree,
)
from grandstand.apps.keiba.sources.race_parser import (
    parse_card,
    parse_day_list,
    parse_local_odds,
    parse_meeting_days,
    parse_odds,
    parse_result,
)
from grandstand.core.clock import Clock
from grandstand.core.logging import get_logger
from grandstand.kit.shared_limits import SourcePause, StoreFallback
from grandstand.net import errors
from grandstand.net.client import Response, Source, SourceRegistry
from grandstand.net.rate_limits import RateLimit, Sleep
from grandstand.net.retry import RetryPolicy, backoff_seconds, parse_retry_after, retry
from grandstand.net.robots import RobotsGuard, RobotsRules
from grandstand.storage.tables import AsyncStore, Operation

T = TypeVar("T")
Site: TypeAlias = Literal["race", "nar", "db"]

MAX_COOLDOWN: Final = timedelta(days=1)


class Cooldowns:
    """Cooldowns of the sites, shared by all processes through the store.

    Those of this process are also kept in memory, in case the store is unavailable.
    """

    def __init__(self, store: AsyncStore, clock: Clock) -> None:
        self._store = store
        self._local: dict[str, SourcePause] = {}
        self._fallback = StoreFallback(clock, "cooldowns of the race sites")

    async def find(self, site: str) -> SourcePause | None:
        """Return the last cooldown of a site, over or not; None after a success."""
        return await self._run(SourcePause.one(site), self._local.get(site))

    async def put(self, cooldown: SourcePause) -> None:
        """Store a cooldown, replacing the previous one."""
        self._local[cooldown.name] = cooldown
        await self._run(cooldown.keep(), None)

    async def forget(self, site: str) -> None:
        """Remove the cooldown of a site that responds again."""
        self._local.pop(site, None)
        await self._run(SourcePause.forget(site), None)

    async def _run(self, operation: Operation[T], fallback: T) -> T:
        async def local() -> T:
            return fallback

        return await self._fallback.first(lambda: self._store(operation), local)


def next_cooldown(
    previous: SourcePause | None,
    site: str,
    now: datetime,
    why: str,
    *,
    first: timedelta,
    retry_after: timedelta,
) -> SourcePause:
    """Return the next cooldown: twice as long each time, and at least `retry_after`."""
    times = previous.times + 1 if previous else 1
    length = min(first * 2 ** min(times - 1, 16), MAX_COOLDOWN)
    until = now + max(length, min(retry_after, MAX_COOLDOWN))
    return SourcePause(name=site, until=until, why=why, times=times)


@dataclass(frozen=True, slots=True)
class SitePage(Generic[T]):
    """A page of the site: its address and its parser."""

    site: Site
    path: str
    parse: Callable[[Page], Parsed[T]]
    query: tuple[tuple[str, str], ...] = ()

    @property
    def target(self) -> str:
        """The path with its query."""
        query = "&".join(f"{name}={value}" for name, value in self.query)
        return f"{self.path}?{query}" if query else self.path


def day_list_page(race_date: date, circuit: Circuit = "jra") -> SitePage[tuple[RaceEntry, ...]]:
    """Return the page of a day's race list; the main page loads it by script."""
    query = (("kaisai_date", f"{race_date:%Y%m%d}"),)
    return SitePage(_race_site(circuit), "/top/race_list_sub.html", parse_day_list, query)


def meeting_days_page(around: date, circuit: Circuit = "jra") -> SitePage[tuple[date, ...]]:
    """Return the page of the racing days around a date."""
    query = (("kaisai_date", f"{around:%Y%m%d}"),)
    path = "/top/race_list_get_date_list.html"
    return SitePage(_race_site(circuit), path, parse_meeting_days, query)


def card_page(race_id: str) -> SitePage[RaceCard]:
    return _race_page(race_id, "/race/shutuba.html", parse_card)


def result_page(race_id: str) -> SitePage[RaceResult]:
    return _race_page(race_id, "/race/result.html", parse_result)


def odds_page(race_id: str) -> SitePage[Odds]:
    """Return the page of the odds; fetching it raises NotPublished before there are any."""
    if ids.circuit_of(ids.race_id(race_id)) == "nar":
        path, query = "/odds/index.html", (("type", "b1"), ("race_id", race_id))
        return SitePage("nar", path, lambda page: parse_local_odds(page, race_id), query)
    path = "/api/api_get_jra_odds.html"
    parameters = (("race_id", race_id), ("type", "1"), ("action", "init"))
    return SitePage("race", path, lambda page: parse_odds(page, race_id), parameters)


def horse_profile_page(horse_id: str) -> SitePage[HorseProfile]:
    path = f"/horse/{ids.horse_id(horse_id)}/"
    return SitePage("db", path, lambda page: parse_horse_profile(page, horse_id))


def horse_results_page(horse_id: str, name: str = "") -> SitePage[Form]:
    """Return the page of a horse's past races; `name` is used if the page has none."""
    path = f"/horse/result/{ids.horse_id(horse_id)}/"
    return SitePage("db", path, lambda page: parse_horse_results(page, horse_id, name))


def pedigree_page(horse_id: str) -> SitePage[Pedigree]:
    path = f"/horse/ped/{ids.horse_id(horse_id)}/"
    return SitePage("db", path, lambda page: parse_pedigree(page, horse_id))


def jockey_page(jockey_id: str) -> SitePage[JockeyRecord]:
    """Return the page of a jockey's career with all years."""
    query = (("id", ids.person_id(jockey_id)),)
    return SitePage(
        "db",
        "/jockey/result.html",
        lambda page: parse_jockey(page, jockey_id, all_years=True),
        query,
    )


def _race_page(race_id: str, path: str, parse: Callable[[Page, str], Parsed[T]]) -> SitePage[T]:
    site = _race_site(ids.circuit_of(ids.race_id(race_id)))
    return SitePage(site, path, lambda page: parse(page, race_id), (("race_id", race_id),))


def _race_site(circuit: Circuit) -> Site:
    return "nar" if circuit == "nar" else "race"


_SITES: Final[tuple[Site, ...]] = ("race", "nar", "db")
_BLOCKED: Final = frozenset({400, 403, 429, 503})
_MISSING: Final = frozenset({404, 410})
_TRANSIENT: Final = (
    errors.SourceTimeout,
    errors.SourceUnreachable,
    errors.SourceServerError,
    errors.InvalidResponse,
)


@dataclass(frozen=True, slots=True)
class SiteStatus:
    """The state of one host: requests today, the next allowed request, and cooldown."""

    name: str
    host: str
    requests_today: int
    requests_left: int | None
    next_at: datetime | None
    paused_until: datetime | None
    why_paused: str | None
    last_error: str | None
    last_success_at: datetime | None


def _source_name(site: Site) -> str:
    return f"netkeiba-{site}"


class _Host:
    """One host: its source, robots.txt, and the time of the last request."""

    def __init__(self, source: Source, robots: RobotsGuard) -> None:
        self.source = source
        self.robots = robots
        self.lock = asyncio.Lock()
        self.requested_at = float("-inf")


class Netkeiba:
    """Client of netkeiba; one request at a time per host, as robots.txt allows."""

    def __init__(
        self,
        web: SourceRegistry,
        settings: KeibaSettings,
        *,
        store: AsyncStore,
        clock: Clock,
        sleep: Sleep = asyncio.sleep,
    ) -> None:
        self._settings = settings
        self._clock = clock
        self._sleep = sleep
        self._cooldowns = Cooldowns(store, clock)
        self._log = get_logger("keiba")
        urls = {"race": settings.race_url, "nar": settings.nar_url, "db": settings.db_url}
        self._hosts = {site: self._host(web, site, urls[site]) for site in _SITES}

    async def fetch(self, page: SitePage[T]) -> Parsed[T]:
        """Fetch and parse a page, retrying transient errors with growing waits.

        The wait is outside the lock of the host, so that other pages can be fetched meanwhile.
        Raises NotPublished, PageUnreadable or SiteCoolingDown, and the errors of `net` for a host
        that is unavailable.
        """

        async def fetch() -> Parsed[T]:
            async with self._exclusive(page.site):
                return await self._fetch_once(page)

        def wait_seconds(error: Exception, failures: int) -> float | None:
            is_final = failures == self._settings.tries or not isinstance(error, _TRANSIENT)
            return None if is_final else backoff_seconds(failures, 2.0, inf)

        return await retry(fetch, wait_seconds, self._sleep)

    async def status(self) -> tuple[SiteStatus, ...]:
        return tuple([await self._status(site) for site in _SITES])

    def _host(self, web: SourceRegistry, site: Site, url: str) -> _Host:
        settings = self._settings
        gap = max(settings.gap_seconds, 0.001)
        source = web.source(
            _source_name(site),
            base_url=url,
            rate=RateLimit(1 / gap, concurrent=1, jitter_seconds=settings.jitter_seconds),
            timeout_seconds=settings.timeout_seconds,
            daily_quota=settings.daily_requests,
            headers={"user-agent": settings.agent},
            retries=RetryPolicy(tries=1, within_seconds=settings.queue_seconds),
            most_bytes=MAX_PAGE_BYTES,
        )
        return _Host(source, RobotsGuard(source, agent=settings.agent, clock=self._clock))

    @asynccontextmanager
    async def _exclusive(self, site: Site) -> AsyncIterator[None]:
        """Allow one page of a host at a time, so that a block stops the others.

        Raises RateLimitTimeout.
        """
        host = self._hosts[site]
        try:
            async with asyncio.timeout(self._settings.queue_seconds):
                await host.lock.acquire()
        except TimeoutError:
            name = host.source.config.name
            raise errors.RateLimitTimeout(
                f"Too many requests are queued for {name}. Try again later.", source=name
            ) from None
        try:
            yield
        finally:
            host.lock.release()

    async def _fetch_once(self, site_page: SitePage[T]) -> Parsed[T]:
        """Fetch and parse a page once; a block starts a cooldown of the host."""
        site, config = site_page.site, self._hosts[site_page.site].source.config
        cooldown = await self._active_cooldown(site)
        if cooldown is not None:
            raise SiteCoolingDown(config.host, cooldown.until, cooldown.why)
        url = f"{str(config.base_url).rstrip('/')}{site_page.target}"
        response = await self._request(site_page, url)
        page = Page(url, response.body, response.headers.get("content-type", ""))
        try:
            parsed = site_page.parse(page)
        except PageUnreadable as error:
            if is_block_page(page):
                raise await self._start_cooldown(site, "it shows a CAPTCHA") from error
            raise
        if await self._cooldowns.find(_source_name(site)):
            await self._cooldowns.forget(_source_name(site))
        for warning in parsed.warnings:
            self._log.warning("page_incomplete", page=url, warning=warning)
        return parsed

    async def _request(self, page: SitePage[Any], url: str) -> Response:
        host = self._hosts[page.site]
        try:
            await self._follow_robots(host, page)
            response = await host.source.get(page.target, accept=_BLOCKED | _MISSING)
        except (errors.RateLimited, errors.SourceServerError) as error:
            status = 429 if isinstance(error, errors.RateLimited) else error.response_status
            if status not in _BLOCKED:
                raise
            why, retry_after = f"it returned HTTP {status}", error.retry_after_seconds
            raise await self._start_cooldown(page.site, why, retry_after) from error
        except errors.ResponseTooLarge as error:
            raise PageUnreadable(url, f"it has more than {MAX_PAGE_BYTES} bytes") from error
        except errors.SourceRefused as error:
            raise PageUnreadable(url, f"HTTP {error.response_status}") from error
        finally:
            host.requested_at = self._clock.monotonic()
        if response.status in _MISSING:
            raise NotPublished(url, f"HTTP {response.status}")
        if response.status in _BLOCKED:
            retry_after = parse_retry_after(response.headers, self._clock.now())
            why = f"it returned HTTP {response.status}"
            raise await self._start_cooldown(page.site, why, retry_after)
        return response

    async def _start_cooldown(
        self, site: Site, why: str, retry_after_seconds: float | None = None
    ) -> SiteCoolingDown:
        """Start a cooldown and return the error to raise."""
        cooldown = next_cooldown(
            await self._cooldowns.find(_source_name(site)),
            _source_name(site),
            self._clock.now(),
            why,
            first=timedelta(seconds=self._settings.pause_seconds),
            retry_after=timedelta(seconds=retry_after_seconds or 0.0),
        )
        await self._cooldowns.put(cooldown)
        host = self._hosts[site].source.config.host
        self._log.warning("cooldown_started", host=host, why=why, until=cooldown.until.isoformat())
        return SiteCoolingDown(host, cooldown.until, why)

    async def _active_cooldown(self, site: Site) -> SourcePause | None:
        cooldown = await self._cooldowns.find(_source_name(site))
        is_active = cooldown is not None and cooldown.until > self._clock.now()
        return cooldown if is_active else None

    async def _follow_robots(self, host: _Host, page: SitePage[Any]) -> None:
        """Raise RobotsDisallowed if robots.txt forbids the page, else wait for its crawl delay."""
        rules = await _robots_rules(host.robots)
        base_path = host.source.config.base_url.path.rstrip("/")
        await host.robots.check(f"{base_path}{page.target}")
        gap = rules.delay_seconds or 0.0
        await self._sleep(max(0.0, host.requested_at + gap - self._clock.monotonic()))

    async def _status(self, site: Site) -> SiteStatus:
        source = await self._hosts[site].source.current()
        cooldown = await self._active_cooldown(site)
        return SiteStatus(
            name=source.name,
            host=source.host,
            requests_today=source.used_today,
            requests_left=source.quota_left,
            next_at=source.next_at,
            paused_until=cooldown.until if cooldown else None,
            why_paused=cooldown.why if cooldown else None,
            last_error=source.last_error,
            last_success_at=source.last_success_at,
        )


async def _robots_rules(robots: RobotsGuard) -> RobotsRules:
    """Return a host's robots.txt rules; raise the cause if fetching them failed temporarily."""
    try:
        return await robots.rules()
    except errors.RobotsDisallowed as error:
        cause = error.__cause__
        if not isinstance(cause, (*_TRANSIENT, errors.RateLimited)):
            raise
    raise cause
