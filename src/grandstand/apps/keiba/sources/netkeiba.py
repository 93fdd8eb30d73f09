"""Client of netkeiba: page addresses, rate limits and cooldowns."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from dataclasses import dataclass
from datetime import date, datetime, timedelta
from typing import Final, Literal, Protocol, TypeAlias, TypeVar

from grandstand.apps.keiba.domain import ids
from grandstand.apps.keiba.domain.errors import NotPublished, PageUnreadable, SiteCoolingDown
from grandstand.apps.keiba.domain.horses import Form, HorseProfile, JockeyRecord, Pedigree
from grandstand.apps.keiba.domain.ids import Circuit
from grandstand.apps.keiba.domain.races import DayList, Odds, RaceCard, RaceResult
from grandstand.apps.keiba.settings import KeibaSettings
from grandstand.apps.keiba.sources.day_parser import parse_day_list, parse_meeting_days
from grandstand.apps.keiba.sources.html_reader import MAX_PAGE_BYTES, Page, Parsed, is_block_page
from grandstand.apps.keiba.sources.profile_parser import (
    parse_horse_profile,
    parse_horse_results,
    parse_jockey,
    parse_pedigree,
)
from grandstand.apps.keiba.sources.race_parser import (
    parse_card,
    parse_local_odds,
    parse_odds,
    parse_result,
)
from grandstand.core.clock import Clock
from grandstand.core.logging import get_logger
from grandstand.kit.shared_limits import SourcePause, StoreFallback
from grandstand.net.client import Response, Source, SourceRegistry
from grandstand.net.errors import (
    InvalidResponse,
    NetworkError,
    RateLimited,
    RateLimitTimeout,
    ResponseTooLarge,
    RobotsDisallowed,
    SourceRefused,
    SourceServerError,
    SourceTimeout,
    SourceUnreachable,
)
from grandstand.net.rate_limits import RateLimit, Sleep
from grandstand.net.retry import RetryPolicy, parse_retry_after
from grandstand.net.robots import RobotsGuard, RobotsRules
from grandstand.storage.tables import AsyncStore

MAX_COOLDOWN: Final = timedelta(days=1)


@dataclass(frozen=True, slots=True)
class Cooldown:
    """A pause of requests to a site: until when, why, and the number of blocks in a row."""

    until: datetime
    why: str
    times: int = 1


class Cooldowns(Protocol):
    """Storage of the cooldowns."""

    async def find(self, site: str) -> Cooldown | None:
        """Return the last cooldown of a site, over or not; None after a success."""
        ...

    async def put(self, site: str, cooldown: Cooldown) -> None:
        """Store a cooldown, replacing the previous one."""
        ...

    async def forget(self, site: str) -> None:
        """Remove the cooldown of a site that responds again."""
        ...


class InMemoryCooldowns:
    """Cooldowns of one process."""

    def __init__(self) -> None:
        self._cooldowns: dict[str, Cooldown] = {}

    async def find(self, site: str) -> Cooldown | None:
        """Return the last cooldown of a site, over or not; None after a success."""
        return self._cooldowns.get(site)

    async def put(self, site: str, cooldown: Cooldown) -> None:
        """Store a cooldown, replacing the previous one."""
        self._cooldowns[site] = cooldown

    async def forget(self, site: str) -> None:
        """Remove the cooldown of a site that responds again."""
        self._cooldowns.pop(site, None)


def next_cooldown(
    previous: Cooldown | None,
    now: datetime,
    why: str,
    *,
    first: timedelta,
    retry_after: timedelta,
) -> Cooldown:
    """Return the next cooldown: twice as long each time, and at least `retry_after`."""
    times = previous.times + 1 if previous else 1
    length = min(first * 2 ** min(times - 1, 16), MAX_COOLDOWN)
    return Cooldown(now + max(length, min(retry_after, MAX_COOLDOWN)), why, times)


class StoredCooldowns:
    """Cooldowns shared by all processes through the store.

    Those of this process are also kept in memory, in case the store is unavailable.
    """

    def __init__(self, store: AsyncStore, clock: Clock) -> None:
        self._store = store
        self._local = InMemoryCooldowns()
        self._fallback = StoreFallback(clock, "cooldowns of the race sites")

    async def find(self, site: str) -> Cooldown | None:
        """Return the last cooldown of a site, over or not; None after a success."""

        async def shared() -> Cooldown | None:
            stored = await self._store(SourcePause.one(_source_name(site)))
            return None if stored is None else Cooldown(stored.until, stored.why, stored.times)

        return await self._fallback.first(shared, lambda: self._local.find(site))

    async def put(self, site: str, cooldown: Cooldown) -> None:
        """Store a cooldown, replacing the previous one."""
        await self._local.put(site, cooldown)
        stored = SourcePause(
            name=_source_name(site), until=cooldown.until, why=cooldown.why, times=cooldown.times
        )

        async def shared() -> None:
            await self._store(stored.keep())

        await self._fallback.first(shared, _do_nothing)

    async def forget(self, site: str) -> None:
        """Remove the cooldown of a site that responds again."""
        await self._local.forget(site)

        async def shared() -> None:
            await self._store(SourcePause.forget(_source_name(site)))

        await self._fallback.first(shared, _do_nothing)


async def _do_nothing() -> None:
    """The in-memory cooldown was already updated."""


def _source_name(site: str) -> str:
    return f"netkeiba-{site}"


Site: TypeAlias = Literal["race", "nar", "db"]


@dataclass(frozen=True, slots=True)
class PageAddress:
    """The address of a page: site, path and query."""

    site: Site
    path: str
    query: tuple[tuple[str, str], ...] = ()

    @property
    def target(self) -> str:
        """The path with its query."""
        query = "&".join(f"{name}={value}" for name, value in self.query)
        return f"{self.path}?{query}" if query else self.path


def day_list_page(race_date: date, circuit: Circuit = "jra") -> PageAddress:
    """Return the address of a day's race list; the main page loads it by script."""
    query = (("kaisai_date", f"{race_date:%Y%m%d}"),)
    return PageAddress(_race_site(circuit), "/top/race_list_sub.html", query)


def meeting_days_page(around: date, circuit: Circuit = "jra") -> PageAddress:
    query = (("kaisai_date", f"{around:%Y%m%d}"),)
    return PageAddress(_race_site(circuit), "/top/race_list_get_date_list.html", query)


def card_page(race_id: str) -> PageAddress:
    return _race_page(race_id, "/race/shutuba.html")


def result_page(race_id: str) -> PageAddress:
    return _race_page(race_id, "/race/result.html")


def odds_page(race_id: str) -> PageAddress:
    if ids.circuit_of(ids.race_id(race_id)) == "nar":
        return PageAddress("nar", "/odds/index.html", (("type", "b1"), ("race_id", race_id)))
    query = (("race_id", race_id), ("type", "1"), ("action", "init"))
    return PageAddress("race", "/api/api_get_jra_odds.html", query)


def horse_profile_page(horse_id: str) -> PageAddress:
    return PageAddress("db", f"/horse/{ids.horse_id(horse_id)}/")


def horse_results_page(horse_id: str) -> PageAddress:
    return PageAddress("db", f"/horse/result/{ids.horse_id(horse_id)}/")


def pedigree_page(horse_id: str) -> PageAddress:
    return PageAddress("db", f"/horse/ped/{ids.horse_id(horse_id)}/")


def jockey_page(jockey_id: str) -> PageAddress:
    return PageAddress("db", f"/jockey/{ids.person_id(jockey_id)}/")


def jockey_years_page(jockey_id: str) -> PageAddress:
    return PageAddress("db", "/jockey/result.html", (("id", ids.person_id(jockey_id)),))


def _race_page(race_id: str, path: str) -> PageAddress:
    return PageAddress(
        _race_site(ids.circuit_of(ids.race_id(race_id))), path, (("race_id", race_id),)
    )


def _race_site(circuit: Circuit) -> Site:
    return "nar" if circuit == "nar" else "race"


T = TypeVar("T")

_SITES: Final[tuple[Site, ...]] = ("race", "nar", "db")
_BLOCKED: Final = frozenset({400, 403, 429, 503})
_MISSING: Final = frozenset({404, 410})
_TRANSIENT: Final = (SourceTimeout, SourceUnreachable, SourceServerError, InvalidResponse)
_FIRST_WAIT_SECONDS: Final = 2.0


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


class _Host:
    """One host: its source, robots.txt, and the time of the last request."""

    def __init__(self, source: Source, robots: RobotsGuard) -> None:
        self.source = source
        self.robots = robots
        self.lock = asyncio.Lock()
        self.requested_at = float("-inf")


class Netkeiba:
    """Client of netkeiba; one request at a time per host, as robots.txt allows.

    Every method raises InvalidId, NotPublished, PageUnreadable or SiteCoolingDown, and the errors
    of `net` for a host that is unavailable.
    """

    def __init__(
        self,
        web: SourceRegistry,
        settings: KeibaSettings,
        *,
        clock: Clock,
        sleep: Sleep = asyncio.sleep,
        cooldowns: Cooldowns | None = None,
    ) -> None:
        self._settings = settings
        self._clock = clock
        self._sleep = sleep
        self._cooldowns = cooldowns or InMemoryCooldowns()
        self._log = get_logger("keiba")
        urls = {"race": settings.race_url, "nar": settings.nar_url, "db": settings.db_url}
        self._hosts = {site: self._host(web, site, urls[site]) for site in _SITES}

    async def day_list(self, race_date: date, circuit: Circuit = "jra") -> Parsed[DayList]:
        address = day_list_page(race_date, circuit)
        return await self._fetch(address, lambda page: parse_day_list(page, race_date))

    async def meeting_days(
        self, around: date, circuit: Circuit = "jra"
    ) -> Parsed[tuple[date, ...]]:
        """Fetch the racing days around a day."""
        return await self._fetch(meeting_days_page(around, circuit), parse_meeting_days)

    async def card(self, race_id: str) -> Parsed[RaceCard]:
        return await self._fetch(card_page(race_id), lambda page: parse_card(page, race_id))

    async def result(self, race_id: str) -> Parsed[RaceResult]:
        """Fetch a result, confirmed or not."""
        address = result_page(race_id)
        return await self._fetch(address, lambda page: parse_result(page, race_id))

    async def odds(self, race_id: str) -> Parsed[Odds]:
        """Fetch the odds of a race.

        Raises NotPublished before there are any.
        """
        address = odds_page(race_id)
        parse = parse_local_odds if address.site == "nar" else parse_odds
        return await self._fetch(address, lambda page: parse(page, race_id))

    async def horse_profile(self, horse_id: str) -> Parsed[HorseProfile]:
        address = horse_profile_page(horse_id)
        return await self._fetch(address, lambda page: parse_horse_profile(page, horse_id))

    async def horse_results(self, horse_id: str, name: str = "") -> Parsed[Form]:
        """Fetch a horse's past races; `name` is used if the page has none."""
        address = horse_results_page(horse_id)
        return await self._fetch(address, lambda page: parse_horse_results(page, horse_id, name))

    async def pedigree(self, horse_id: str) -> Parsed[Pedigree]:
        address = pedigree_page(horse_id)
        return await self._fetch(address, lambda page: parse_pedigree(page, horse_id))

    async def jockey(self, jockey_id: str, *, all_years: bool = False) -> Parsed[JockeyRecord]:
        """Fetch a jockey's career, with the current year or with all of them."""
        address = (jockey_years_page if all_years else jockey_page)(jockey_id)
        return await self._fetch(
            address, lambda page: parse_jockey(page, jockey_id, all_years=all_years)
        )

    async def status(self) -> tuple[SiteStatus, ...]:
        return tuple([await self._status(site) for site in _SITES])

    def _host(self, web: SourceRegistry, site: Site, url: str) -> _Host:
        settings = self._settings
        gap = max(settings.gap_seconds, 0.001)
        source = web.source(
            f"netkeiba-{site}",
            base_url=url,
            rate=RateLimit(1 / gap, concurrent=1, jitter_seconds=settings.jitter_seconds),
            timeout_seconds=settings.timeout_seconds,
            daily_quota=settings.daily_requests,
            headers={"user-agent": settings.agent},
            retries=RetryPolicy(tries=1, within_seconds=settings.queue_seconds),
            most_bytes=MAX_PAGE_BYTES,
        )
        return _Host(source, RobotsGuard(source, agent=settings.agent, clock=self._clock))

    async def _fetch(self, address: PageAddress, parse: Callable[[Page], Parsed[T]]) -> Parsed[T]:
        """Fetch and parse a page, retrying transient errors with growing waits.

        The wait is outside the lock of the host, so that other pages can be fetched meanwhile.
        """
        for attempt in range(1, self._settings.tries + 1):
            try:
                async with self._exclusive(address.site):
                    return await self._fetch_once(address, parse)
            except _TRANSIENT:
                if attempt == self._settings.tries:
                    raise
            await self._sleep(_FIRST_WAIT_SECONDS * 2.0 ** (attempt - 1))
        raise AssertionError  # the last attempt returns or raises

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
            message = f"Too many requests are queued for {name}. Try again later."
            raise RateLimitTimeout(message, source=name) from None
        try:
            yield
        finally:
            host.lock.release()

    async def _fetch_once(
        self, address: PageAddress, parse: Callable[[Page], Parsed[T]]
    ) -> Parsed[T]:
        """Fetch and parse a page once; a block starts a cooldown of the host."""
        await self._check_cooldown(address.site)
        base_url = str(self._hosts[address.site].source.config.base_url).rstrip("/")
        url = f"{base_url}{address.target}"
        response = await self._request(address, url)
        page = Page(url, response.body, response.headers.get("content-type", ""))
        try:
            parsed = parse(page)
        except PageUnreadable as error:
            if is_block_page(page):
                why = "it shows a CAPTCHA"
                raise await self._start_cooldown(address.site, why, 0.0) from error
            raise
        if await self._cooldowns.find(address.site):
            await self._cooldowns.forget(address.site)
        for warning in parsed.warnings:
            self._log.warning("page_incomplete", page=url, warning=warning)
        return parsed

    async def _request(self, address: PageAddress, url: str) -> Response:
        host = self._hosts[address.site]
        try:
            await self._follow_robots(host, address)
            response = await host.source.get(address.target, accept=_BLOCKED | _MISSING)
        except RateLimited as error:
            raise await self._cooldown_after(address.site, 429, error) from error
        except SourceServerError as error:
            if error.answered in _BLOCKED:
                raise await self._cooldown_after(address.site, error.answered, error) from error
            raise
        except ResponseTooLarge as error:
            why = f"it has more than {MAX_PAGE_BYTES} bytes"
            raise PageUnreadable(url, why) from error
        except SourceRefused as error:
            raise PageUnreadable(url, f"HTTP {error.answered}") from error
        finally:
            host.requested_at = self._clock.monotonic()
        if response.status in _MISSING:
            raise NotPublished(url, f"HTTP {response.status}")
        if response.status in _BLOCKED:
            retry_after = parse_retry_after(response.headers, self._clock.now()) or 0.0
            raise await self._start_cooldown(
                address.site, f"it returned HTTP {response.status}", retry_after
            )
        return response

    async def _cooldown_after(
        self, site: Site, status: int, error: NetworkError
    ) -> SiteCoolingDown:
        return await self._start_cooldown(
            site, f"it returned HTTP {status}", error.retry_after_seconds or 0.0
        )

    async def _start_cooldown(
        self, site: Site, why: str, retry_after_seconds: float
    ) -> SiteCoolingDown:
        """Start a cooldown and return the error to raise."""
        cooldown = next_cooldown(
            await self._cooldowns.find(site),
            self._clock.now(),
            why,
            first=timedelta(seconds=self._settings.pause_seconds),
            retry_after=timedelta(seconds=retry_after_seconds),
        )
        await self._cooldowns.put(site, cooldown)
        host = self._hosts[site].source.config.host
        self._log.warning("cooldown_started", host=host, why=why, until=cooldown.until.isoformat())
        return SiteCoolingDown(host, cooldown.until, why)

    async def _active_cooldown(self, site: Site) -> Cooldown | None:
        cooldown = await self._cooldowns.find(site)
        is_active = cooldown is not None and cooldown.until > self._clock.now()
        return cooldown if is_active else None

    async def _check_cooldown(self, site: Site) -> None:
        cooldown = await self._active_cooldown(site)
        if cooldown is not None:
            host = self._hosts[site].source.config.host
            raise SiteCoolingDown(host, cooldown.until, cooldown.why)

    async def _follow_robots(self, host: _Host, address: PageAddress) -> None:
        """Raise RobotsDisallowed if robots.txt forbids the page, else wait for its crawl delay."""
        rules = await _robots_rules(host.robots)
        base_path = host.source.config.base_url.path.rstrip("/")
        await host.robots.check(f"{base_path}{address.target}")
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
    except RobotsDisallowed as error:
        cause = error.__cause__
        if not isinstance(cause, (*_TRANSIENT, RateLimited)):
            raise
    raise cause
