"""A race as it is run: strengths, true probabilities, the drawn finish, odds and payouts."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime, timedelta
from functools import cached_property, lru_cache
from itertools import pairwise, permutations, product
from random import Random
from typing import Final, Literal, TypeAlias

from grandstand.simulators.racing.population import Horse, Jockey
from grandstand.simulators.racing.racecourses import jst_hour
from grandstand.simulators.racing.rng import seeded_random
from grandstand.simulators.racing.season import Conditions, RaceSlot

_DEAD_HEAT: Final = 0.003
_SAFE_PLACES: Final = 3
_FRAMES: Final = 8
_SECONDS_A_UNIT: Final = 0.45
_SECONDS_A_METRE: Final = {"turf": 0.0575, "dirt": 0.0598, "jump": 0.0665}
_SLOWER_LOCALLY: Final = 1.04
_UNSTARTED_WORDS: Final = ("取消", "除外")
_MARGINS: Final = (
    (0.1, "ハナ"),
    (0.25, "アタマ"),
    (0.45, "クビ"),
    (0.65, "1/2"),
    (0.9, "3/4"),
    (1.15, "1"),
    (1.4, "1.1/4"),
    (1.65, "1.1/2"),
    (1.9, "1.3/4"),
    (2.25, "2"),
    (2.75, "2.1/2"),
)


@dataclass(frozen=True, slots=True)
class RaceDraw:
    """The finish of a race by draw number: positions, and words for other outcomes.

    A word says why somebody has no place, or that the place was taken by demotion.
    """

    jockeys: tuple[Jockey, ...]
    strengths: tuple[float, ...]
    performances: tuple[float, ...]
    places: tuple[int | None, ...]
    words: tuple[str, ...]

    def started(self, at: int) -> bool:
        """Return whether a runner started."""
        return self.words[at] not in _UNSTARTED_WORDS


def run_race(
    seed: int, slot: RaceSlot, strengths: tuple[float, ...], jockeys: tuple[Jockey, ...]
) -> RaceDraw:
    """Run a race: luck is Gumbel noise, so the order of finish is Plackett-Luce in strength.

    Accidents happen behind the first three, so that the winner's chances are exactly so.
    """
    draw = seeded_random(seed, "run", slot.race_id)
    log, uniform = math.log, draw.random
    performances = [one - log(-log(uniform() or 0.5)) for one in strengths]
    words = [""] * len(strengths)
    if uniform() < 0.04:
        words[draw.randrange(len(words))] = draw.choice(_UNSTARTED_WORDS)
    order = [at for at in range(len(words)) if not words[at]]
    order.sort(key=performances.__getitem__, reverse=True)
    if uniform() < (0.25 if slot.band == "J" else 0.02) and len(order) > _SAFE_PLACES:
        words[order.pop(draw.randrange(_SAFE_PLACES, len(order)))] = draw.choice(("中止", "失格"))
    for ahead, behind in pairwise(order):
        if performances[ahead] - performances[behind] < _DEAD_HEAT:
            performances[behind] = performances[ahead]
    places = _places(order, performances, len(words))
    if uniform() < 0.006:
        _demote(order, places, words, draw)
    return RaceDraw(jockeys, strengths, tuple(performances), tuple(places), tuple(words))


def _places(order: list[int], performances: list[float], size: int) -> list[int | None]:
    places: list[int | None] = [None] * size
    for at, runner in enumerate(order):
        level = at and performances[order[at - 1]] == performances[runner]
        places[runner] = places[order[at - 1]] if level else at + 1
    return places


def _demote(order: list[int], places: list[int | None], words: list[str], draw: Random) -> None:
    """Demote a runner behind the next one, if neither is in a dead heat."""
    taken = [place for place in places if place]
    for at in range(_SAFE_PLACES, len(order) - 1):
        runner, behind = order[at], order[at + 1]
        alone = taken.count(at + 1) == taken.count(at + 2) == 1
        if alone and draw.random() < 0.5:
            places[runner], places[behind] = places[behind], places[runner]
            words[runner] = "降"
            return


@dataclass(frozen=True, eq=False)
class Race:
    """A race with its conditions, field and finish."""

    seed: int
    slot: RaceSlot
    terms: Conditions
    finish: RaceDraw

    @property
    def race_id(self) -> str:
        """The race id."""
        return self.slot.race_id

    @property
    def off_at(self) -> datetime:
        """The start time."""
        return self.slot.meeting.off(self.slot.number)

    @property
    def listed_at(self) -> datetime:
        """When the card first shows runners, before the draw."""
        return jst_hour(self.slot.meeting.held_on - timedelta(days=6), 12)

    @property
    def drawn_at(self) -> datetime:
        """When the draw is published."""
        return jst_hour(self.slot.meeting.held_on - timedelta(days=1), 10)

    @property
    def opens_at(self) -> datetime:
        """When going and scratchings are published and betting opens."""
        return jst_hour(self.slot.meeting.held_on, 8)

    @property
    def weighed_at(self) -> datetime:
        """When body weights are published."""
        return self.off_at - timedelta(minutes=60)

    @property
    def confirmed_at(self) -> datetime:
        """When the result is published."""
        return self.off_at + timedelta(minutes=5)

    @property
    def title(self) -> str:
        """The name with the grade."""
        return f"{self.terms.name}({self.terms.grade})" if self.terms.grade else self.terms.name

    @property
    def horses(self) -> tuple[Horse, ...]:
        """The entered horses by draw number."""
        return self.slot.entered

    @cached_property
    def running(self) -> tuple[int, ...]:
        """The indexes of the starters."""
        return tuple(at for at in range(len(self.horses)) if self.finish.started(at))

    @cached_property
    def truth(self) -> dict[int, float]:
        """The true win probability of every starter, by draw number."""
        weights = {at + 1: math.exp(self.finish.strengths[at]) for at in self.running}
        total = sum(weights.values())
        return {number: weight / total for number, weight in weights.items()}

    @cached_property
    def frames(self) -> tuple[int, ...]:
        """The frame of every draw number."""
        return frames(len(self.horses))

    @cached_property
    def order(self) -> tuple[int, ...]:
        """The indexes in result order: finishers, then all others."""
        rest = len(self.horses) + 1
        return tuple(
            sorted(
                range(len(self.horses)),
                key=lambda at: (
                    self.finish.places[at] or rest + (not self.finish.started(at)),
                    at,
                ),
            )
        )

    def at(self, horse: Horse) -> int:
        """Return a horse's index."""
        return next(at for at, one in enumerate(self.horses) if one.id == horse.id)

    def carried(self, at: int) -> float:
        """Return the kilograms a runner carries."""
        horse, year = self.horses[at], self.slot.meeting.held_on.year
        full = (55.0 if year - horse.foaled == 2 else 57.0) - 2.0 * (horse.sex == "牝")
        heavier = 3.0 if self.terms.surface == "jump" else 0.0
        return full + heavier - self.finish.jockeys[at].allowance(year)[1]

    def seconds(self, at: int) -> float | None:
        """Return a finisher's time to the tenth, None for others."""
        if self.finish.places[at] is None:
            return None
        return round(self._pace - self.finish.performances[at] * self._unit, 1)

    def rank(self, at: int) -> str:
        """Return the position text of a runner, or why there is none."""
        place, word = self.finish.places[at], self.finish.words[at]
        if place is None:
            return word
        return f"{place}(降)" if word else str(place)

    def margin(self, at: int) -> str:
        """Return the margin to the finisher ahead, in lengths."""
        ahead = self._ahead(at)
        if ahead is None or self.finish.places[at] is None:
            return ""
        if self.finish.places[ahead] == self.finish.places[at]:
            return "同着"
        gap = self.finish.performances[ahead] - self.finish.performances[at]
        return format_margin(abs(gap) * self._unit * 6.0)

    def behind(self, at: int) -> float | None:
        """Return the seconds behind the winner; a winner's are those ahead of the second."""
        mine, best = self.seconds(at), self.seconds(self.order[0])
        if mine is None or best is None:
            return None
        if at != self.order[0]:
            return round(mine - best, 1)
        second = self.seconds(self.order[1])
        return 0.0 if second is None else round(best - second, 1)

    def prize(self, at: int) -> float:
        """Return the prize of a runner in units of 10,000 yen."""
        place = self.finish.places[at]
        return 0.0 if place is None else self.terms.prize(place, self.finish.places.count(place))

    def _ahead(self, at: int) -> int | None:
        listed = self.order.index(at)
        return self.order[listed - 1] if listed else None

    @property
    def _unit(self) -> float:
        return _SECONDS_A_UNIT * self.terms.metres / 1_600

    @cached_property
    def _pace(self) -> float:
        metres, local = self.terms.metres, self.slot.meeting.circuit == "nar"
        base = metres * _SECONDS_A_METRE[self.terms.surface] * (1 + (metres - 1_200) * 2e-5)
        soft = self.slot.meeting.going(self.terms.surface) * metres / 4_000
        # Dirt is the faster for rain, turf the slower.
        soft = -soft if self.terms.surface == "dirt" else soft
        noise = seeded_random(self.seed, "pace", self.race_id).gauss(0, 0.6)
        return base * (_SLOWER_LOCALLY if local else 1.0) + soft + noise


def frames(size: int) -> tuple[int, ...]:
    """Return the frames of a field: the last ones take more when there are more than eight."""
    least, more = divmod(size, _FRAMES)
    if least == 0:
        return tuple(range(1, size + 1))
    sizes = [least + (frame >= _FRAMES - more) for frame in range(_FRAMES)]
    return tuple(frame + 1 for frame, many in enumerate(sizes) for _ in range(many))


def format_margin(lengths: float) -> str:
    """Return the text of a margin in lengths."""
    for most, words in _MARGINS:
        if lengths < most:
            return words
    return str(round(lengths)) if lengths < 10 else "大差"


_LAST_SECONDS: Final = {"turf": 35.2, "dirt": 37.4, "jump": 39.0}
_UNWEIGHED: Final = 0.004


def corner_positions(race: Race, at: int) -> str:
    """Return the positions at the corners, empty for one that did not finish."""
    place = race.finish.places[at]
    if place is None:
        return ""
    draw, size = seeded_random(race.seed, "passing", race.race_id, at), len(race.running)
    corners = 4 if race.terms.metres >= 1_600 else 2
    wanted = [place + draw.gauss(0, 1.5 + corner) for corner in range(corners)]
    return "-".join(str(min(size, max(1, round(one)))) for one in reversed(wanted))


def last_600m(race: Race, at: int) -> str:
    """Return the time of the last 600 m, empty for one that did not finish."""
    if race.finish.places[at] is None:
        return ""
    luck = seeded_random(race.seed, "last", race.race_id, at).gauss(0, 0.4)
    gained = 0.2 * (race.finish.performances[at] - race.finish.strengths[at])
    return f"{_LAST_SECONDS[race.terms.surface] - gained + luck:.1f}"


def pace(race: Race) -> str:
    """Return the leader's first and last 600 m."""
    draw = seeded_random(race.seed, "sections", race.race_id)
    usual = _LAST_SECONDS[race.terms.surface]
    return f"{draw.gauss(usual, 0.8):.1f}-{draw.gauss(usual, 0.8):.1f}"


def body_weight_kg(seed: int, horse: Horse, race_id: str, year: int) -> int | None:
    """Return the body weight before a race; None if it was not measured."""
    draw = seeded_random(seed, "weighed", horse.id, race_id)
    if draw.random() < _UNWEIGHED:
        return None
    grown = 6 * min(year - horse.foaled - 2, 2)
    return horse.kilograms + grown + 2 * round(draw.gauss(0, 2.5))


def format_race_time(seconds: float | None) -> str:
    """Return a time as minutes, seconds and tenths; empty without one."""
    if seconds is None:
        return ""
    tenths = round(seconds * 10)
    return f"{tenths // 600}:{tenths // 10 % 60:02}.{tenths % 10}"


Status: TypeAlias = Literal["yoso", "middle", "result"]

_WIN_PAYOUT_RATE: Final = 0.8
_EXOTIC_PAYOUT_RATE: Final = 0.75
_MIN_ODDS: Final = 1.0
_MAX_ODDS: Final = 999.9

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
        low, high = (0.85, 1.3)
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
        return _quote(race, "yoso", race.drawn_at, 1.0)
    minute = now.replace(second=0, microsecond=0)
    left = max((race.off_at - minute) / timedelta(minutes=600), 0.0)
    return _quote(race, "middle", min(minute, race.off_at), min(left, 1.0))


@lru_cache(maxsize=2_048)
def final_quotes(race: Race) -> Quotes:
    """Return the final odds."""
    return _quote(race, "result", race.off_at, 0.0)


def _quote(race: Race, status: Status, quoted_at: datetime, left: float) -> Quotes:
    seen = seeded_random(race.seed, "market", race.race_id)
    flicker = seeded_random(race.seed, "flicker", race.race_id, quoted_at)
    guess = 0.5 if status == "yoso" else 0.0
    weights = {}
    for number in range(1, len(race.horses) + 1):
        error, drift, wild = seen.gauss(0, 0.3), seen.gauss(0, 0.6), seen.gauss(0, 1)
        noise = error + drift * left + wild * guess
        noise += flicker.gauss(0, 0.12) * math.sqrt(left)
        if number in race.truth:
            weights[number] = race.truth[number] * math.exp(noise)
    total = sum(weights.values())
    shares = {number: weight / total for number, weight in weights.items()}
    win = {number: _odds(_WIN_PAYOUT_RATE / share) for number, share in shares.items()}
    liked = sorted(shares, key=lambda number: (win[number], -shares[number]))
    return Quotes(status, quoted_at, shares, win, {one: at for at, one in enumerate(liked, 1)})


def paid_places(race: Race) -> int:
    """Return the number of places paid."""
    return 3 if len(race.running) >= 8 else 2


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
        _payout(quotes, "Tansho", {top[:1] for top in tops}, _WIN_PAYOUT_RATE),
        _place_payout(race, quotes),
    ]
    if len(race.running) >= 9:
        framed = {tuple(sorted((frame[a], frame[b]))) for a, b in pairs}
        paid.append(_frame_payout(quotes, framed, frame))
    even = {tuple(sorted(pair)) for pair in pairs}
    wide = {tuple(sorted(two)) for top in tops for two in permutations(top, 2)}
    return [
        *paid,
        _payout(quotes, "Umaren", even, _EXOTIC_PAYOUT_RATE),
        _payout(quotes, "Wide", wide, _EXOTIC_PAYOUT_RATE / 3),
        _payout(quotes, "Umatan", pairs, _EXOTIC_PAYOUT_RATE, ordered=True),
        _payout(quotes, "Fuku3", {tuple(sorted(top)) for top in tops}, _EXOTIC_PAYOUT_RATE),
        _payout(quotes, "Tan3", set(tops), _EXOTIC_PAYOUT_RATE, ordered=True),
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
    total = 0.0
    for order in [numbers] if ordered else permutations(numbers):
        left, this = 1.0, 1.0
        for number in order:
            this *= shares[number] / left
            left = max(left - shares[number], 1e-9)
        total += this
    return total


def _payout(
    quotes: Quotes, kind: str, hit: set[Numbers], payout_rate: float, *, ordered: bool = False
) -> Payout:
    numbers = tuple(sorted(hit))
    if kind == "Tansho":
        yen = tuple(round(quotes.win[one[0]] * 100) for one in numbers)
        return Payout(kind, numbers, yen, tuple(quotes.rank[one[0]] for one in numbers))
    chances = [_chance(quotes.shares, one, ordered=ordered) for one in numbers]
    ranks = tuple(math.prod(quotes.rank[number] for number in one) for one in numbers)
    return Payout(kind, numbers, tuple(_yen(payout_rate / each) for each in chances), ranks)


def _place_payout(race: Race, quotes: Quotes) -> Payout:
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


def _frame_payout(quotes: Quotes, hit: set[Numbers], frame: Mapping[int, int]) -> Payout:
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
