"""Kept here: asking the race site for a page, gently, and what is made of its answer."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from dataclasses import dataclass
from datetime import date, datetime, timedelta
from typing import Final, TypeVar

from grandstand.apps.keiba.model.errors import NotPublished, PageUnreadable, SitePaused
from grandstand.apps.keiba.model.people import Form, HorseProfile, JockeyRecord, Pedigree
from grandstand.apps.keiba.model.races import DayList, Odds, RaceCard, RaceResult
from grandstand.apps.keiba.model.words import Circuit
from grandstand.apps.keiba.settings import KeibaSettings
from grandstand.apps.keiba.sources import addresses
from grandstand.apps.keiba.sources.addresses import Place, Site
from grandstand.apps.keiba.sources.parsing.card import parse_card
from grandstand.apps.keiba.sources.parsing.day_list import parse_day_list, parse_meeting_days
from grandstand.apps.keiba.sources.parsing.horse_profile import parse_horse_profile
from grandstand.apps.keiba.sources.parsing.horse_results import parse_horse_results
from grandstand.apps.keiba.sources.parsing.jockey import parse_jockey
from grandstand.apps.keiba.sources.parsing.odds import parse_local_odds, parse_odds
from grandstand.apps.keiba.sources.parsing.pedigree import parse_pedigree
from grandstand.apps.keiba.sources.parsing.result import parse_result
from grandstand.apps.keiba.sources.pauses import MemoryPauses, Pause, Pauses, next_pause
from grandstand.apps.keiba.sources.reading.page import MOST_BYTES, Page, Parsed, turns_away
from grandstand.base.clock import Clock
from grandstand.base.log import log
from grandstand.wire.answer import Answer
from grandstand.wire.errors import (
    AnswerGarbled,
    AnswerTooLarge,
    RateLimited,
    RobotsForbid,
    SourceFaulted,
    SourceRefused,
    SourceTimeout,
    SourceUnreachable,
    TooBusy,
    WireError,
)
from grandstand.wire.rate import Sleep
from grandstand.wire.retry import retry_after
from grandstand.wire.robots import Robots, Rules
from grandstand.wire.web import Rate, Retries, Source, Web

T = TypeVar("T")

_SITES: Final[tuple[Site, ...]] = ("race", "nar", "db")
_TURNED_AWAY: Final = frozenset({400, 403, 429, 503})
_MISSING: Final = frozenset({404, 410})
_TRANSIENT: Final = (SourceTimeout, SourceUnreachable, SourceFaulted, AnswerGarbled)
_FIRST_WAIT_SECONDS: Final = 2.0


@dataclass(frozen=True, slots=True)
class SiteStatus:
    """How things stand with one host: when it may be asked again, and what is left for today."""

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
    """One host: its source, what it asks of robots, and when it was last asked."""

    def __init__(self, source: Source, robots: Robots) -> None:
        self.source = source
        self.robots = robots
        self.sending = asyncio.Lock()
        self.asked_at = float("-inf")


class Netkeiba:
    """The race site: one host at a time, one request at a time, within what it asks of robots.

    Every method raises IdInvalid, NotPublished, PageUnreadable or SitePaused, and what `wire`
    raises of a host that cannot be asked.
    """

    def __init__(
        self,
        web: Web,
        settings: KeibaSettings,
        *,
        clock: Clock,
        sleep: Sleep = asyncio.sleep,
        pauses: Pauses | None = None,
    ) -> None:
        self._settings = settings
        self._clock = clock
        self._sleep = sleep
        self._pauses = pauses or MemoryPauses()
        self._log = log("keiba")
        urls = {"race": settings.race_url, "nar": settings.nar_url, "db": settings.db_url}
        self._hosts = {site: self._declared(web, site, urls[site]) for site in _SITES}

    async def day_list(self, race_date: date, circuit: Circuit = "jra") -> Parsed[DayList]:
        """Fetch the races of a day."""
        place = addresses.day_list(race_date, circuit)
        return await self._fetch(place, lambda page: parse_day_list(page, race_date))

    async def meeting_days(
        self, around: date, circuit: Circuit = "jra"
    ) -> Parsed[tuple[date, ...]]:
        """Fetch the days of racing around a day."""
        return await self._fetch(addresses.meeting_days(around, circuit), parse_meeting_days)

    async def card(self, race_id: str) -> Parsed[RaceCard]:
        """Fetch a race with its runners."""
        return await self._fetch(addresses.card(race_id), lambda page: parse_card(page, race_id))

    async def result(self, race_id: str) -> Parsed[RaceResult]:
        """Fetch a result; one that is not confirmed yet is a value."""
        place = addresses.result(race_id)
        return await self._fetch(place, lambda page: parse_result(page, race_id))

    async def odds(self, race_id: str) -> Parsed[Odds]:
        """Fetch the odds of a race; raise NotPublished before there are any."""
        place = addresses.odds(race_id)
        parse = parse_local_odds if place.site == "nar" else parse_odds
        return await self._fetch(place, lambda page: parse(page, race_id))

    async def horse_profile(self, horse_id: str) -> Parsed[HorseProfile]:
        """Fetch what is said of a horse."""
        place = addresses.horse_profile(horse_id)
        return await self._fetch(place, lambda page: parse_horse_profile(page, horse_id))

    async def horse_results(self, horse_id: str, name: str = "") -> Parsed[Form]:
        """Fetch a horse's earlier races; its name is used where the page has none."""
        place = addresses.horse_results(horse_id)
        return await self._fetch(place, lambda page: parse_horse_results(page, horse_id, name))

    async def pedigree(self, horse_id: str) -> Parsed[Pedigree]:
        """Fetch a horse's ancestors."""
        place = addresses.pedigree(horse_id)
        return await self._fetch(place, lambda page: parse_pedigree(page, horse_id))

    async def jockey(self, jockey_id: str, *, all_years: bool = False) -> Parsed[JockeyRecord]:
        """Fetch a jockey's career, with the current year or with all of them."""
        place = (addresses.jockey_years if all_years else addresses.jockey)(jockey_id)
        return await self._fetch(
            place, lambda page: parse_jockey(page, jockey_id, all_years=all_years)
        )

    async def status(self) -> tuple[SiteStatus, ...]:
        """Answer how things stand with every host."""
        return tuple([await self._status(site) for site in _SITES])

    def _declared(self, web: Web, site: Site, url: str) -> _Host:
        settings = self._settings
        gap = max(settings.gap_seconds, 0.001)
        source = web.source(
            f"netkeiba-{site}",
            base_url=url,
            rate=Rate(1 / gap, concurrent=1, jitter_seconds=settings.jitter_seconds),
            timeout_seconds=settings.timeout_seconds,
            daily_quota=settings.daily_requests,
            headers={"user-agent": settings.agent},
            retries=Retries(tries=1, within_seconds=settings.queue_seconds),
            most_bytes=MOST_BYTES,
        )
        return _Host(source, Robots(source, agent=settings.agent, clock=self._clock))

    async def _fetch(self, place: Place, parse: Callable[[Page], Parsed[T]]) -> Parsed[T]:
        """Fetch a page and read it, up to so many times, each time after a longer wait."""
        for failed in range(1, self._settings.tries + 1):
            try:
                async with self._alone(place.site):
                    return await self._attempt(place, parse)
            except _TRANSIENT:
                if failed == self._settings.tries:
                    raise
            await self._sleep(_FIRST_WAIT_SECONDS * 2.0 ** (failed - 1))
        raise AssertionError  # the last try answers or raises

    @asynccontextmanager
    async def _alone(self, site: Site) -> AsyncIterator[None]:
        """Let one page of a host be fetched and read at a time, so that a refusal stops the rest.

        Raises TooBusy.
        """
        host = self._hosts[site]
        try:
            async with asyncio.timeout(self._settings.queue_seconds):
                await host.sending.acquire()
        except TimeoutError:
            name = host.source.declared.name
            message = f"{name} is asked one at a time, and too many wait: try again later"
            raise TooBusy(message, source=name) from None
        try:
            yield
        finally:
            host.sending.release()

    async def _attempt(self, place: Place, parse: Callable[[Page], Parsed[T]]) -> Parsed[T]:
        """Fetch a page and read it once; one that turns us away pauses its host."""
        await self._check_pause(place.site)
        stem = str(self._hosts[place.site].source.declared.base_url).rstrip("/")
        address = f"{stem}{place.target}"
        answer = await self._ask(place, address)
        page = Page(address, answer.body, answer.headers.get("content-type", ""))
        try:
            parsed = parse(page)
        except PageUnreadable as error:
            if turns_away(page):
                why = "it asks whether we are human"
                raise await self._turned_away(place.site, why, 0.0) from error
            raise
        if await self._pauses.find(place.site):
            await self._pauses.forget(place.site)
        for warning in parsed.warnings:
            self._log.warning("page read in part", page=address, missing=warning)
        return parsed

    async def _ask(self, place: Place, address: str) -> Answer:
        host = self._hosts[place.site]
        try:
            await self._keep_to_robots(host, place)
            answer = await host.source.get(place.target, accept=_TURNED_AWAY | _MISSING)
        except RateLimited as error:
            raise await self._refused(place.site, 429, error) from error
        except SourceFaulted as error:
            if error.answered in _TURNED_AWAY:
                raise await self._refused(place.site, error.answered, error) from error
            raise
        except AnswerTooLarge as error:
            why = f"more than {MOST_BYTES} bytes are more than any page there has"
            raise PageUnreadable(address, why) from error
        except SourceRefused as error:
            raise PageUnreadable(address, f"the site answered {error.answered}") from error
        finally:
            host.asked_at = self._clock.monotonic()
        if answer.status in _MISSING:
            raise NotPublished(address, f"the site answered {answer.status}")
        if answer.status in _TURNED_AWAY:
            asked = retry_after(answer.headers, self._clock.now()) or 0.0
            raise await self._turned_away(place.site, f"it answered {answer.status}", asked)
        return answer

    async def _refused(self, site: Site, status: int, error: WireError) -> SitePaused:
        return await self._turned_away(
            site, f"it answered {status}", error.retry_after_seconds or 0.0
        )

    async def _turned_away(self, site: Site, why: str, asked_seconds: float) -> SitePaused:
        """Keep a pause, and answer the error that says so."""
        pause = next_pause(
            await self._pauses.find(site),
            self._clock.now(),
            why,
            first=timedelta(seconds=self._settings.pause_seconds),
            asked=timedelta(seconds=asked_seconds),
        )
        await self._pauses.put(site, pause)
        host = self._hosts[site].source.declared.host
        self._log.warning("turned away", host=host, why=why, until=pause.until.isoformat())
        return SitePaused(host, pause.until, why)

    async def _paused(self, site: Site) -> Pause | None:
        pause = await self._pauses.find(site)
        return pause if pause is not None and pause.until > self._clock.now() else None

    async def _check_pause(self, site: Site) -> None:
        pause = await self._paused(site)
        if pause is not None:
            raise SitePaused(self._hosts[site].source.declared.host, pause.until, pause.why)

    async def _keep_to_robots(self, host: _Host, place: Place) -> None:
        """Raise RobotsForbid for what a host wants left alone, and wait as long as it asks for."""
        rules = await _learnt(host.robots)
        stem = host.source.declared.base_url.path.rstrip("/")
        await host.robots.check(f"{stem}{place.target}")
        gap = rules.delay_seconds or 0.0
        await self._sleep(max(0.0, host.asked_at + gap - self._clock.monotonic()))

    async def _status(self, site: Site) -> SiteStatus:
        known = await self._hosts[site].source.current()
        pause = await self._paused(site)
        return SiteStatus(
            name=known.name,
            host=known.host,
            requests_today=known.used_today,
            requests_left=known.quota_left,
            next_at=known.next_at,
            paused_until=pause.until if pause else None,
            why_paused=pause.why if pause else None,
            last_error=known.last_error,
            last_success_at=known.last_success_at,
        )


async def _learnt(robots: Robots) -> Rules:
    """Answer a host's wishes; a failure on the way to them is that failure, and may pass."""
    try:
        return await robots.rules()
    except RobotsForbid as error:
        cause = error.__cause__
        if not isinstance(cause, (*_TRANSIENT, RateLimited)):
            raise
    raise cause
