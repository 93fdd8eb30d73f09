"""Kept here: what can be asked along with an address of the odds feed, and what is refused."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Final
from urllib.parse import parse_qsl

from grandstand.simulators.odds.world.lines import MARKETS

REGIONS: Final = ("us", "us2", "uk", "eu", "au")
_BOOKS_A_REGION: Final = 10


class AskedWrong(Exception):
    """A question the feed refuses, with its status and code."""

    def __init__(self, status: int, code: str, message: str) -> None:
        super().__init__(message)
        self.status = status
        self.code = code


@dataclass(frozen=True, slots=True)
class Asked:
    """A query, taken apart and found to be in order."""

    key: str | None
    regions: tuple[str, ...]
    bookmakers: tuple[str, ...]
    markets: tuple[str, ...]
    event_ids: frozenset[str] | None
    starts_from: datetime | None
    starts_to: datetime | None
    at: datetime | None
    days_from: int | None
    american: bool
    unix: bool
    limits: bool
    links: bool
    everything: bool

    @property
    def region_count(self) -> int:
        """How many regions are paid for; ten bookmakers count as one."""
        if self.bookmakers:
            return -(-len(self.bookmakers) // _BOOKS_A_REGION)
        return len(self.regions)


def read_query(query: str, more_markets: tuple[str, ...] = ()) -> Asked:
    """Answer what a query asks; raise AskedWrong for words the feed does not take."""
    told = dict(parse_qsl(query, keep_blank_values=True))
    odds, dates = told.get("oddsFormat", "decimal"), told.get("dateFormat", "iso")
    _among(odds, ("decimal", "american"), "INVALID_ODDS_FORMAT", "oddsFormat")
    _among(dates, ("iso", "unix"), "INVALID_DATE_FORMAT", "dateFormat")
    regions, markets = _listed(told, "regions"), _listed(told, "markets") or ("h2h",)
    for region in regions:
        _among(region, REGIONS, "INVALID_REGION", "regions")
    for market in markets:
        _among(market, (*MARKETS, *more_markets), "INVALID_MARKET", "markets")
    ids = _listed(told, "eventIds")
    return Asked(
        key=told.get("apiKey"),
        regions=regions,
        bookmakers=_listed(told, "bookmakers"),
        markets=tuple(dict.fromkeys(markets)),
        event_ids=frozenset(ids) if ids else None,
        starts_from=_moment(told, "commenceTimeFrom", "INVALID_COMMENCE_TIME_FROM"),
        starts_to=_moment(told, "commenceTimeTo", "INVALID_COMMENCE_TIME_TO"),
        at=_moment(told, "date", "INVALID_HISTORICAL_TIMESTAMP"),
        days_from=_days(told.get("daysFrom")),
        american=odds == "american",
        unix=dates == "unix",
        limits=told.get("includeBetLimits") == "true",
        links=told.get("includeLinks") == "true",
        everything=told.get("all") == "true",
    )


def _listed(told: dict[str, str], name: str) -> tuple[str, ...]:
    return tuple(filter(None, told.get(name, "").split(",")))


def _among(word: str, known: tuple[str, ...], code: str, name: str) -> None:
    if word not in known:
        raise AskedWrong(422, code, f"Invalid {name} parameter: {word[:40]}")


def _moment(told: dict[str, str], name: str, code: str) -> datetime | None:
    """The feed takes whole seconds with a Z, and nothing else."""
    if name not in told:
        return None
    try:
        return datetime.strptime(told[name], "%Y-%m-%dT%H:%M:%SZ").replace(tzinfo=UTC)
    except ValueError as fault:
        message = f"Invalid {name} parameter. Format as YYYY-MM-DDTHH:MM:SSZ"
        raise AskedWrong(422, code, message) from fault


def _days(told: str | None) -> int | None:
    if told is None:
        return None
    if told not in {"1", "2", "3"}:
        message = "Invalid daysFrom parameter. Must be an integer between 1 and 3"
        raise AskedWrong(422, "INVALID_SCORES_DAYS_FROM", message)
    return int(told)
