"""Kept here: asking the score feed, within its hourly budget, and what is made of its answers."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from datetime import UTC, date, datetime, timedelta
from decimal import Decimal
from math import isfinite
from typing import Final, Literal, TypeAlias, TypeVar

from grandstand.apps.cricket.model.errors import FeedKeyMissing, FeedUnreadable, MatchUnknown
from grandstand.apps.cricket.model.scores import Fixture, LeagueFacts, StandingFacts, TeamFacts
from grandstand.apps.cricket.settings import CricketSettings
from grandstand.apps.cricket.sources.sportmonks.fixtures import parse_fixture
from grandstand.apps.cricket.sources.sportmonks.reading import Parsed, Reading, Row
from grandstand.apps.cricket.sources.sportmonks.reference import (
    parse_league,
    parse_standing,
    parse_team,
)
from grandstand.base.log import log
from grandstand.wire.errors import AnswerTooLarge
from grandstand.wire.quota import Quota, QuotaReading
from grandstand.wire.web import Credentials, Rate, Retries, Source, SourceStatus, Web

T = TypeVar("T")

Part: TypeAlias = Literal["livescores", "fixtures", "leagues", "teams", "standings"]

_PARTS: Final[tuple[Part, ...]] = ("livescores", "fixtures", "leagues", "teams", "standings")
# A Test of five days with embedded players has about 3 MB; five are sent by nobody in good faith.
MOST_BYTES: Final = 5 * 1024 * 1024 - 1
_MISSING: Final = frozenset({404})
_HOUR_SECONDS: Final = 3600.0
_LONG: Final = frozenset({"balls", "lineup", "batting", "bowling"})
_PAGE_ROWS: Final = 100
_MOST_PAGES: Final = 50
_KNOWN: Final = "localteam,visitorteam,league,venue,runs"
_FIGURES: Final = f"{_KNOWN},batting.batsman,batting.result,bowling.bowler"
_EVERYTHING: Final = f"{_FIGURES},balls,lineup"


@dataclass(frozen=True, slots=True)
class HeardFixture:
    """A fixture, and the feed's own words about it, fit to be kept: short, and without floats."""

    fixture: Fixture
    words: Row


class SportMonks:
    """The score feed; each part of it has its own budget of requests an hour.

    Asking raises what `wire.errors` lists, FeedUnreadable when an answer is none of the feed's, and
    FeedKeyMissing where there is no key to ask with.
    """

    def __init__(self, web: Web, settings: CricketSettings) -> None:
        self._settings = settings
        self._sources = {part: self._declared(web, part) for part in _PARTS}
        self._log = log("cricket", source="sportmonks")

    async def livescores(
        self, *, balls: bool = False, since: Mapping[str, int] | None = None
    ) -> Parsed[tuple[HeardFixture, ...]]:
        """Fetch all matches of today that are live or about to be; `since` as in `fixture`."""
        include = _EVERYTHING if balls else _FIGURES
        rows = await self._rows("livescores", "/livescores", {"include": include})
        known = since or {}
        return self._parsed(
            rows, lambda reading, row: _heard(reading, row, known.get(str(row.get("id"))))
        )

    async def fixture(self, match_id: str, *, since: int | None = None) -> Parsed[HeardFixture]:
        """Fetch one match with all its balls; raise MatchUnknown when there is none.

        With `since`, the id of the last ball known, only the balls about it and after are read.
        """
        if not (match_id.isascii() and match_id.isdigit()):
            raise MatchUnknown(match_id)
        path = f"/fixtures/{match_id}"
        data = await self._data("fixtures", path, {"include": _EVERYTHING})
        if data is None:
            raise MatchUnknown(match_id)
        if not isinstance(data, dict):
            raise FeedUnreadable(path, "data is not an object")
        parsed = self._parsed([data], lambda reading, row: _heard(reading, row, since))
        if not parsed.value:
            raise FeedUnreadable(path, "; ".join(parsed.warnings))
        return Parsed(parsed.value[0], parsed.warnings)

    async def fixtures(
        self, first: date, last: date, *, league_id: str | None = None
    ) -> Parsed[tuple[HeardFixture, ...]]:
        """Fetch the matches that begin from a day to another, page by page."""
        params = {"include": _KNOWN, "filter[starts_between]": f"{first},{last}"}
        if league_id is not None:
            params["filter[league_id]"] = league_id
        rows = await self._pages("fixtures", "/fixtures", params)
        return self._parsed(rows, _heard)

    async def leagues(self) -> Parsed[tuple[LeagueFacts, ...]]:
        """Fetch all leagues of the account."""
        return self._parsed(await self._pages("leagues", "/leagues", {}), parse_league)

    async def teams(self) -> Parsed[tuple[TeamFacts, ...]]:
        """Fetch all teams."""
        return self._parsed(await self._pages("teams", "/teams", {}), parse_team)

    async def standings(self, season_id: str) -> Parsed[tuple[StandingFacts, ...]]:
        """Fetch the table of a season; empty where it has none."""
        path = f"/standings/season/{season_id}"
        return self._parsed(await self._rows("standings", path, {}), parse_standing)

    async def status(self) -> tuple[SourceStatus, ...]:
        """Answer how things stand with every part, what other processes used included."""
        return tuple([await source.current() for source in self._sources.values()])

    async def pace(self, every_seconds: float) -> float:
        """Answer how long to wait before the next look at the live list.

        As asked while there is enough left of the hour; longer when the reserve is touched, so that
        what is left lasts until the feed allows more.
        """
        known = await self._sources["livescores"].current()
        left = known.quota_left
        if left is None or left > self._settings.feed_reserve:
            return every_seconds
        return max(every_seconds, (known.renewed_in_seconds or 0.0) / max(1, left))

    def _declared(self, web: Web, part: Part) -> Source:
        settings = self._settings
        token = settings.feed_token
        return web.source(
            f"sportmonks-{part}",
            base_url=settings.feed_url,
            rate=Rate(per_second=5, burst=5),
            timeout_seconds=settings.feed_timeout_seconds,
            quota=Quota(settings.feed_hourly_requests, "hour"),
            credentials=Credentials(params={"api_token": token.get_secret_value()})
            if token
            else Credentials(),
            read_quota=read_budget,
            retries=Retries(tries=3, within_seconds=2 * settings.feed_timeout_seconds),
            most_bytes=MOST_BYTES,
        )

    async def _data(self, part: Part, path: str, params: Mapping[str, str]) -> object:
        """Fetch what an answer has under `data`; None when there is no such thing."""
        if self._settings.feed_token is None:
            raise FeedKeyMissing("The score feed is not asked: set GRANDSTAND_CRICKET_FEED_TOKEN")
        try:
            answer = await self._sources[part].get(path, params=params, accept=_MISSING)
        except AnswerTooLarge as error:
            raise FeedUnreadable(path, f"it has more than {MOST_BYTES} bytes") from error
        if answer.status in _MISSING:
            return None
        told = answer.json(dict[str, object])
        if "data" not in told:
            raise FeedUnreadable(path, "it has no data")
        return told["data"]

    async def _rows(self, part: Part, path: str, params: Mapping[str, str]) -> list[Row]:
        data = await self._data(part, path, params)
        if data is None:
            return []
        if not isinstance(data, list):
            raise FeedUnreadable(path, "data is not a list")
        return [row if isinstance(row, dict) else {} for row in data]

    async def _pages(self, part: Part, path: str, params: Mapping[str, str]) -> list[Row]:
        """Fetch page after page until one is not full; the same page twice is the last."""
        found: list[Row] = []
        for page in range(1, _MOST_PAGES + 1):
            rows = await self._rows(part, path, {**params, "page": str(page)})
            if not rows or rows[0] in found[-_PAGE_ROWS:]:
                break
            found += rows
            if len(rows) < _PAGE_ROWS:
                break
        return found

    def _parsed(
        self, rows: list[Row], parse: Callable[[Reading, Row], T | None]
    ) -> Parsed[tuple[T, ...]]:
        reading = Reading()
        found = [parse(reading, row) for row in rows]
        for warning in reading.warnings:
            self._log.warning("feed read in part", missing=warning)
        return Parsed(tuple(each for each in found if each is not None), reading.warnings)


def _heard(reading: Reading, row: Row, since: int | None = None) -> HeardFixture | None:
    fixture = parse_fixture(reading, row, since)
    if fixture is None:
        return None
    words = {name: _exact(row[name]) for name in row if name not in _LONG}
    return HeardFixture(fixture, words)


def _exact(value: object) -> object:
    """Answer a value with decimals in place of floats, which cannot be kept."""
    if isinstance(value, float):
        return Decimal(str(value)) if isfinite(value) else None
    if isinstance(value, list):
        return [_exact(each) for each in value]
    if isinstance(value, dict):
        return {str(name): _exact(each) for name, each in value.items()}
    return value


def read_budget(headers: Mapping[str, str], now: datetime) -> QuotaReading | None:
    """Answer what the feed's headers say of the budget; None when they say nothing.

    `x-ratelimit-reset` is a moment in epoch seconds, or the seconds until it.
    """
    left = headers.get("x-ratelimit-remaining", "")
    if not left.isdecimal():
        return None
    limit, reset = headers.get("x-ratelimit-limit", ""), headers.get("x-ratelimit-reset", "")
    used = int(limit) - int(left) if limit.isdecimal() else None
    resets_at = None
    if reset.isdecimal() and len(reset) <= 10:  # noqa: PLR2004 - epoch seconds have ten digits
        seconds = int(reset)
        resets_at = (
            datetime.fromtimestamp(seconds, UTC)
            if seconds > 10 * _HOUR_SECONDS
            else now + timedelta(seconds=seconds)
        )
    return QuotaReading(int(left), used, resets_at)
