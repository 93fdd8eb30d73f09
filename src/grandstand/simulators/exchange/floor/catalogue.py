"""Kept here: the series, events and markets of a seed, and how busy each market is."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import UTC, datetime
from itertools import accumulate
from random import Random
from typing import Final

from grandstand.simulators.exchange.floor.market import (
    EventListed,
    Market,
    SeriesListed,
    Structure,
)
from grandstand.simulators.exchange.floor.numbers import CONTRACT, DOLLAR, SECOND

_HOUR: Final = 3600 * SECOND
_DAY: Final = 24 * _HOUR
_MONTHS: Final = (
    "JAN", "FEB", "MAR", "APR", "MAY", "JUN", "JUL", "AUG", "SEP", "OCT", "NOV", "DEC",
)  # fmt: skip
_CITIES: Final = ("NYC", "CHI", "MIA", "AUS", "DEN", "LAX", "PHIL", "BOS", "SEA", "ATL")
_CLUBS: Final = (
    "Harbour", "Foxes", "Mariners", "Pilots", "Ravens", "Stags", "Comets", "Lancers", "Otters",
    "Rovers", "Union", "Wanderers",
)  # fmt: skip
_SERIES: Final = (
    SeriesListed("KXGAME", "Who wins the game", "Sports", "daily", ("Football", "Games")),
    SeriesListed("KXHIGH", "Highest temperature", "Climate and Weather", "daily", ("Daily",)),
    SeriesListed("KXRATE", "Central bank's rate", "Economics", "custom", ("Rates",)),
    SeriesListed("KXCOIN", "Price of a coin at noon", "Crypto", "hourly", ("Hourly",)),
    SeriesListed("KXVOTE", "Who wins the vote", "Politics", "one_off", ("Elections",)),
    SeriesListed("KXFILM", "Opening weekend", "Entertainment", "weekly", ("Films",)),
)
_COMBO: Final = SeriesListed("KXMVE", "Several at once", "Sports", "daily", ("Combos",))
_STRUCTURES: Final[tuple[Structure, ...]] = (
    "linear_cent", "linear_cent", "linear_cent", "deci_cent", "linear_cent", "half_cent",
    "linear_cent", "linear_cent", "centi_cent", "linear_cent",
)  # fmt: skip
# Of each twenty markets the last is not open: one of these, in turn.
_TWENTIETH: Final = 20
_COMBO_EVERY: Final = 11
_IDLE: Final = ("unopened", "inactive", "closed", "determined", "finalized")


def series_listed() -> tuple[SeriesListed, ...]:
    """Answer every series there is."""
    return (*_SERIES, _COMBO)


def activity(markets: int, exponent: float) -> list[float]:
    """Answer the running sum of how busy markets are, by Zipf's law: the first is the busiest."""
    return list(accumulate(1.0 / rank**exponent for rank in range(1, markets + 1)))


def markets_listed(seed: int, count: int, now: int) -> Iterator[Market]:
    """Make the markets of a seed, the busiest first; the moments are around now."""
    made, number = 0, 0
    while made < count:
        draw = Random(f"{seed}/event/{number}")  # noqa: S311 - chance that can be repeated
        event, answers = event_listed(number, draw, now)
        for answer in answers[: count - made]:
            yield _market(event, answer, made, draw, now)
            made += 1
        number += 1


def event_listed(number: int, draw: Random, now: int) -> tuple[EventListed, list[tuple[str, str]]]:
    """Answer the event of a number, and the tails of tickers and subtitles of its markets."""
    combo = number % _COMBO_EVERY == _COMBO_EVERY - 1
    series = _COMBO if combo else _SERIES[number % len(_SERIES)]
    day = _day(now + (number % 9) * _DAY)
    home, away = draw.sample(_CLUBS, 2)
    ticker = f"{series.ticker}-{day}{number:04d}"
    match series.ticker:
        case "KXGAME":
            title = f"{home} against {away}: who wins?"
            answers = [(home[:3].upper(), home), (away[:3].upper(), away), ("TIE", "A draw")]
        case "KXHIGH":
            city, low = draw.choice(_CITIES), draw.randrange(30, 80)
            title = f"Highest temperature in {city} on {day}"
            answers = [(f"B{low + 2 * step}", f"{low + 2 * step}° or more") for step in range(6)]
        case "KXRATE":
            title = f"The rate decided in the meeting of {day}"
            answers = [("CUT", "Lower"), ("HOLD", "As it is"), ("HIKE", "Higher")]
        case "KXCOIN":
            base = draw.randrange(40, 140) * 1000
            title = f"Price of the coin on {day} at noon"
            answers = [
                (f"T{base + 500 * step}", f"Above ${base + 500 * step:,}") for step in range(8)
            ]
        case "KXVOTE":
            title = f"The vote in district {number}"
            answers = [(letter * 2, f"Candidate {letter}") for letter in "ABCD"]
        case "KXFILM":
            title = f"Opening weekend of the film {home} {number}"
            answers = [(f"M{step}", f"Above ${step} million") for step in (10, 20, 40, 80)]
        case _:
            title = f"{home} and {away} both win"
            answers = [("ALL", "Both"), ("ANY", "One of them")]
    return EventListed(ticker, series, title, f"On {day}", multivariate=combo), answers


def market_made(
    event: EventListed, answer: tuple[str, str], draw: Random, opens_at: int, closes_at: int
) -> Market:
    """Answer a new market on an event, without a past."""
    tail, subtitle = answer
    market_id = f"{draw.getrandbits(128):032x}"
    parts = (market_id[:8], market_id[8:12], market_id[12:16], market_id[16:20], market_id[20:])
    return Market(
        ticker=f"{event.ticker}-{tail}",
        market_id="-".join(parts),
        event=event,
        title=f"{event.title} ({subtitle})",
        subtitle=subtitle,
        created_at=opens_at - _DAY,
        opens_at=opens_at,
        closes_at=closes_at,
        fair=draw.randrange(8, 93) * (DOLLAR // 100),
    )


def _market(
    event: EventListed, answer: tuple[str, str], rank: int, draw: Random, now: int
) -> Market:
    opened = now - draw.randrange(1, 20) * _DAY
    market = market_made(event, answer, draw, opened, now + draw.randrange(8, 720) * _HOUR)
    market.structure = _STRUCTURES[rank % len(_STRUCTURES)]
    market.volume = 40_000_000 * CONTRACT // (rank + 40) + draw.randrange(CONTRACT)
    market.volume_day = market.volume // 7
    market.open_interest = market.volume // 3
    market.traded = market.volume * market.fair
    market.last, market.last_size = market.fair, CONTRACT
    if rank % _TWENTIETH == _TWENTIETH - 1:
        _rest(market, _IDLE[rank // _TWENTIETH % len(_IDLE)], draw, now)
    return market


def _rest(market: Market, how: str, draw: Random, now: int) -> None:
    if how == "unopened":
        market.opens_at = now + draw.randrange(1, 90) * 60 * SECOND
        market.volume = market.volume_day = market.open_interest = market.traded = 0
        market.last, market.last_size = None, 0
    elif how == "inactive":
        market.decided = "inactive"
    else:
        market.closes_at = now - draw.randrange(1, 48) * _HOUR
        if how != "closed":
            market.decided = "determined" if how == "determined" else "finalized"
            market.result = draw.choice(("yes", "no"))
            market.settled_at = now - _HOUR if how == "finalized" else 0


def _day(at: int) -> str:
    day = datetime.fromtimestamp(at // SECOND, UTC)
    return f"{day:%y}{_MONTHS[day.month - 1]}{day:%d}"
