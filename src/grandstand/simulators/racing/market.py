"""Betting market: true probabilities with noise, takeout and payouts."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime, timedelta
from functools import lru_cache
from itertools import permutations, product
from typing import Final, Literal, TypeAlias

from grandstand.simulators.racing.race import Race
from grandstand.simulators.racing.rng import seeded_random

Status: TypeAlias = Literal["yoso", "middle", "result"]

_CACHED_FINAL: Final = 2_048
_WIN_PAYOUT_RATE: Final = 0.8
_EXOTIC_PAYOUT_RATE: Final = 0.75
_ERROR: Final = 0.3
_GUESS: Final = 0.5
_DRIFT: Final = 0.6
_FLICKER: Final = 0.12
_DAY_MINUTES: Final = 600
_MIN_ODDS: Final = 1.0
_MAX_ODDS: Final = 999.9
_THREE_PLACES_FROM: Final = 8
_PLACE_SPREAD: Final = (0.85, 1.3)
_FRAMES_FROM: Final = 9

Numbers: TypeAlias = tuple[int, ...]


@dataclass(frozen=True, slots=True)
class Quotes:
    """The market at a moment: pool shares, win odds, and popularity ranks from 1."""

    status: Status
    quoted_at: datetime
    shares: Mapping[int, float]
    win: Mapping[int, float]
    rank: Mapping[int, int]

    def place(self, paid: int) -> dict[int, tuple[float, float]]:
        """Return the range of place odds if the first `paid` are paid."""
        chances = place_probabilities(self.shares, paid)
        low, high = _PLACE_SPREAD
        return {
            number: (
                _odds(_WIN_PAYOUT_RATE * low / share),
                max(_odds(_WIN_PAYOUT_RATE * high / share), _MIN_ODDS + 0.1),
            )
            for number, share in chances.items()
        }


@dataclass(frozen=True, slots=True)
class Payout:
    """Payouts of one bet type: combinations, yen per 100, and popularity."""

    kind: str
    combinations: tuple[Numbers, ...]
    yen: tuple[int, ...]
    ranks: tuple[int, ...]


def current_quotes(race: Race, now: datetime) -> Quotes | None:
    """Return the current odds; None before the draw."""
    if now < race.drawn_at:
        return None
    if now >= race.confirmed_at:
        return final_quotes(race)
    if now < race.opens_at:
        return _quoted(race, "yoso", race.drawn_at, 1.0)
    minute = now.replace(second=0, microsecond=0)
    left = max((race.off_at - minute) / timedelta(minutes=_DAY_MINUTES), 0.0)
    return _quoted(race, "middle", min(minute, race.off_at), min(left, 1.0))


@lru_cache(maxsize=_CACHED_FINAL)
def final_quotes(race: Race) -> Quotes:
    """Return the final odds."""
    return _quoted(race, "result", race.off_at, 0.0)


def _quoted(race: Race, status: Status, quoted_at: datetime, left: float) -> Quotes:
    seen = seeded_random(race.seed, "market", race.race_id)
    flicker = seeded_random(race.seed, "flicker", race.race_id, quoted_at)
    guess = _GUESS if status == "yoso" else 0.0
    weights = {}
    for number in range(1, len(race.horses) + 1):
        error, drift, wild = seen.gauss(0, _ERROR), seen.gauss(0, _DRIFT), seen.gauss(0, 1)
        noise = error + drift * left + wild * guess
        noise += flicker.gauss(0, _FLICKER) * math.sqrt(left)
        if number in race.truth:
            weights[number] = race.truth[number] * math.exp(noise)
    whole = sum(weights.values())
    shares = {number: weight / whole for number, weight in weights.items()}
    win = {number: _odds(_WIN_PAYOUT_RATE / share) for number, share in shares.items()}
    liked = sorted(shares, key=lambda number: (win[number], -shares[number]))
    return Quotes(status, quoted_at, shares, win, {one: at for at, one in enumerate(liked, 1)})


def paid_places(race: Race) -> int:
    """Return the number of places paid."""
    return 3 if len(race.running) >= _THREE_PLACES_FROM else 2


def place_probabilities(shares: Mapping[int, float], paid: int) -> dict[int, float]:
    """Return the probabilities of a place in the first two or three (Harville)."""
    chances = dict(shares)
    for first, one in shares.items():
        for second, two in shares.items():
            if second == first:
                continue
            both = one * two / (1 - one)
            chances[second] += both
            rest = 1 - one - two
            if paid < 3 or rest <= 0:
                continue
            for third, three in shares.items():
                if third not in {first, second}:
                    chances[third] += both * three / rest
    return {number: min(share, 1.0) for number, share in chances.items()}


def race_payouts(race: Race) -> list[Payout]:
    """Return the payouts of every bet type of a finished race."""
    quotes = final_quotes(race)
    tops = _tops(race)
    frame = {number: race.frames[number - 1] for number in quotes.shares}
    pairs = {top[:2] for top in tops}
    paid = [
        _paid(quotes, "Tansho", {top[:1] for top in tops}, _WIN_PAYOUT_RATE),
        _place_paid(race, quotes),
    ]
    if len(race.running) >= _FRAMES_FROM:
        framed = {tuple(sorted((frame[a], frame[b]))) for a, b in pairs}
        paid.append(_frame_paid(quotes, framed, frame))
    even = {tuple(sorted(pair)) for pair in pairs}
    wide = {tuple(sorted(two)) for top in tops for two in permutations(top, 2)}
    return [
        *paid,
        _paid(quotes, "Umaren", even, _EXOTIC_PAYOUT_RATE),
        _paid(quotes, "Wide", wide, _EXOTIC_PAYOUT_RATE / 3),
        _paid(quotes, "Umatan", pairs, _EXOTIC_PAYOUT_RATE, ordered=True),
        _paid(quotes, "Fuku3", {tuple(sorted(top)) for top in tops}, _EXOTIC_PAYOUT_RATE),
        _paid(quotes, "Tan3", set(tops), _EXOTIC_PAYOUT_RATE, ordered=True),
    ]


def _tops(race: Race) -> set[Numbers]:
    """Return the first three in every order that a dead heat allows."""
    levels: dict[int, list[int]] = {}
    for at in race.order:
        place = race.finish.places[at]
        if place is not None and place <= 3:
            levels.setdefault(place, []).append(at + 1)
    orders = product(*(permutations(levels[place]) for place in sorted(levels)))
    return {tuple(one for level in order for one in level)[:3] for order in orders}


def _chance(shares: Mapping[int, float], numbers: Numbers, *, ordered: bool) -> float:
    whole = 0.0
    for order in [numbers] if ordered else permutations(numbers):
        left, this = 1.0, 1.0
        for number in order:
            this *= shares[number] / left
            left = max(left - shares[number], 1e-9)
        whole += this
    return whole


def _paid(
    quotes: Quotes, kind: str, hit: set[Numbers], payout_rate: float, *, ordered: bool = False
) -> Payout:
    numbers = tuple(sorted(hit))
    if kind == "Tansho":
        yen = tuple(round(quotes.win[one[0]] * 100) for one in numbers)
        return Payout(kind, numbers, yen, tuple(quotes.rank[one[0]] for one in numbers))
    chances = [_chance(quotes.shares, one, ordered=ordered) for one in numbers]
    ranks = tuple(math.prod(quotes.rank[number] for number in one) for one in numbers)
    return Payout(kind, numbers, tuple(_yen(payout_rate / each) for each in chances), ranks)


def _place_paid(race: Race, quotes: Quotes) -> Payout:
    paid = paid_places(race)
    placed = [
        at + 1
        for at in race.order
        if (place := race.finish.places[at]) is not None and place <= paid
    ]
    bands = quotes.place(paid)
    yen = tuple(_yen(sum(bands[number]) / 2) for number in placed)
    ranks = tuple(quotes.rank[number] for number in placed)
    return Payout("Fukusho", tuple((number,) for number in placed), yen, ranks)


def _frame_paid(quotes: Quotes, hit: set[Numbers], frame: Mapping[int, int]) -> Payout:
    shares: dict[int, float] = {}
    for number, share in quotes.shares.items():
        shares[frame[number]] = shares.get(frame[number], 0.0) + share
    numbers = tuple(sorted(hit))
    chances = [_chance(shares, one, ordered=False) for one in numbers]
    liked = sorted(shares, key=lambda one: -shares[one])
    ranks = tuple(math.prod(liked.index(number) + 1 for number in one) for one in numbers)
    return Payout(
        "Wakuren", numbers, tuple(_yen(_EXOTIC_PAYOUT_RATE / each) for each in chances), ranks
    )


def _odds(fair: float) -> float:
    return round(min(max(fair, _MIN_ODDS), _MAX_ODDS), 1)


def _yen(odds: float) -> int:
    """Return the payout of 100 yen, in tens and at least the stake."""
    return max(100, int(odds * 10) * 10)
