"""Kept here: the odds: true chances seen through a noisy market that takes its share."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime, timedelta
from functools import lru_cache
from itertools import permutations, product
from typing import Final, Literal, TypeAlias

from grandstand.simulators.racing.chance import chance
from grandstand.simulators.racing.running import Race

Status: TypeAlias = Literal["yoso", "middle", "result"]

_KEPT_FINAL: Final = 2_048
_KEPT_WIN: Final = 0.8
_KEPT_EXOTIC: Final = 0.75
_ERROR: Final = 0.3
_GUESS: Final = 0.5
_DRIFT: Final = 0.6
_FLICKER: Final = 0.12
_DAY_MINUTES: Final = 600
_LEAST: Final = 1.0
_MOST: Final = 999.9
_THREE_PLACES_FROM: Final = 8
_PLACE_SPREAD: Final = (0.85, 1.3)
_FRAMES_FROM: Final = 9

Numbers: TypeAlias = tuple[int, ...]


@dataclass(frozen=True, slots=True)
class Quotes:
    """What the market says at a moment: its shares, odds to win, and favourites from 1 up."""

    status: Status
    told_at: datetime
    shares: Mapping[int, float]
    win: Mapping[int, float]
    rank: Mapping[int, int]

    def place(self, paid: int) -> dict[int, tuple[float, float]]:
        """Answer the least and most that a place among the first `paid` may return."""
        chances = placing(self.shares, paid)
        low, high = _PLACE_SPREAD
        return {
            number: (
                _odds(_KEPT_WIN * low / share),
                max(_odds(_KEPT_WIN * high / share), _LEAST + 0.1),
            )
            for number, share in chances.items()
        }


@dataclass(frozen=True, slots=True)
class Payout:
    """What one kind of bet returned: combinations, yen for a hundred, how favoured."""

    kind: str
    combinations: tuple[Numbers, ...]
    yen: tuple[int, ...]
    ranks: tuple[int, ...]


def quotes(race: Race, now: datetime) -> Quotes | None:
    """Answer the odds as they stand, None before the draw."""
    if now < race.drawn_at:
        return None
    if now >= race.confirmed_at:
        return final(race)
    if now < race.opens_at:
        return _quoted(race, "yoso", race.drawn_at, 1.0)
    minute = now.replace(second=0, microsecond=0)
    left = max((race.off_at - minute) / timedelta(minutes=_DAY_MINUTES), 0.0)
    return _quoted(race, "middle", min(minute, race.off_at), min(left, 1.0))


@lru_cache(maxsize=_KEPT_FINAL)
def final(race: Race) -> Quotes:
    """Answer the odds at the off."""
    return _quoted(race, "result", race.off_at, 0.0)


def _quoted(race: Race, status: Status, told_at: datetime, left: float) -> Quotes:
    seen = chance(race.seed, "market", race.race_id)
    flicker = chance(race.seed, "flicker", race.race_id, told_at)
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
    win = {number: _odds(_KEPT_WIN / share) for number, share in shares.items()}
    liked = sorted(shares, key=lambda number: (win[number], -shares[number]))
    return Quotes(status, told_at, shares, win, {one: at for at, one in enumerate(liked, 1)})


def paid_places(race: Race) -> int:
    """Answer how many places are paid in a race."""
    return 3 if len(race.running) >= _THREE_PLACES_FROM else 2


def placing(shares: Mapping[int, float], paid: int) -> dict[int, float]:
    """Answer everyone's chance to be among the first two or three, by Harville's rule."""
    chances = dict(shares)
    for first, one in shares.items():
        for second, two in shares.items():
            if second == first:
                continue
            both = one * two / (1 - one)
            chances[second] += both
            rest = 1 - one - two
            if paid < 3 or rest <= 0:  # noqa: PLR2004 - places
                continue
            for third, three in shares.items():
                if third not in {first, second}:
                    chances[third] += both * three / rest
    return {number: min(share, 1.0) for number, share in chances.items()}


def payouts(race: Race) -> list[Payout]:
    """Answer what every kind of bet on a finished race returned."""
    told = final(race)
    tops = _tops(race)
    frame = {number: race.frames[number - 1] for number in told.shares}
    pairs = {top[:2] for top in tops}
    paid = [
        _paid(told, "Tansho", {top[:1] for top in tops}, _KEPT_WIN),
        _place_paid(race, told),
    ]
    if len(race.running) >= _FRAMES_FROM:
        framed = {tuple(sorted((frame[a], frame[b]))) for a, b in pairs}
        paid.append(_frame_paid(told, framed, frame))
    even = {tuple(sorted(pair)) for pair in pairs}
    wide = {tuple(sorted(two)) for top in tops for two in permutations(top, 2)}
    return [
        *paid,
        _paid(told, "Umaren", even, _KEPT_EXOTIC),
        _paid(told, "Wide", wide, _KEPT_EXOTIC / 3),
        _paid(told, "Umatan", pairs, _KEPT_EXOTIC, ordered=True),
        _paid(told, "Fuku3", {tuple(sorted(top)) for top in tops}, _KEPT_EXOTIC),
        _paid(told, "Tan3", set(tops), _KEPT_EXOTIC, ordered=True),
    ]


def _tops(race: Race) -> set[Numbers]:
    """Answer the first three in every order a dead heat allows."""
    levels: dict[int, list[int]] = {}
    for at in race.order:
        place = race.finish.places[at]
        if place is not None and place <= 3:  # noqa: PLR2004 - places
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
    told: Quotes, kind: str, hit: set[Numbers], kept: float, *, ordered: bool = False
) -> Payout:
    numbers = tuple(sorted(hit))
    if kind == "Tansho":
        yen = tuple(round(told.win[one[0]] * 100) for one in numbers)
        return Payout(kind, numbers, yen, tuple(told.rank[one[0]] for one in numbers))
    chances = [_chance(told.shares, one, ordered=ordered) for one in numbers]
    ranks = tuple(math.prod(told.rank[number] for number in one) for one in numbers)
    return Payout(kind, numbers, tuple(_yen(kept / each) for each in chances), ranks)


def _place_paid(race: Race, told: Quotes) -> Payout:
    paid = paid_places(race)
    placed = [
        at + 1
        for at in race.order
        if (place := race.finish.places[at]) is not None and place <= paid
    ]
    bands = told.place(paid)
    yen = tuple(_yen(sum(bands[number]) / 2) for number in placed)
    ranks = tuple(told.rank[number] for number in placed)
    return Payout("Fukusho", tuple((number,) for number in placed), yen, ranks)


def _frame_paid(told: Quotes, hit: set[Numbers], frame: Mapping[int, int]) -> Payout:
    shares: dict[int, float] = {}
    for number, share in told.shares.items():
        shares[frame[number]] = shares.get(frame[number], 0.0) + share
    numbers = tuple(sorted(hit))
    chances = [_chance(shares, one, ordered=False) for one in numbers]
    liked = sorted(shares, key=lambda one: -shares[one])
    ranks = tuple(math.prod(liked.index(number) + 1 for number in one) for one in numbers)
    return Payout("Wakuren", numbers, tuple(_yen(_KEPT_EXOTIC / each) for each in chances), ranks)


def _odds(fair: float) -> float:
    return round(min(max(fair, _LEAST), _MOST), 1)


def _yen(odds: float) -> int:
    """Answer what a hundred yen return, in tens, never less than the stake."""
    return max(100, int(odds * 10) * 10)
