"""Kept here: a race as it is run: strengths, true chances, and the finish drawn from them."""

from __future__ import annotations

import math
from dataclasses import dataclass
from datetime import datetime, timedelta
from functools import cached_property
from itertools import pairwise
from random import Random
from typing import Final

from grandstand.simulators.racing.calendar import morning
from grandstand.simulators.racing.chance import chance
from grandstand.simulators.racing.conditions import Conditions
from grandstand.simulators.racing.population import Horse, Jockey
from grandstand.simulators.racing.season import Slot

_LISTED_BEFORE: Final = timedelta(days=6)
_DRAWN_BEFORE: Final = timedelta(days=1)
_WEIGHED_BEFORE: Final = timedelta(minutes=60)
_CONFIRMED_AFTER: Final = timedelta(minutes=5)
_SCRATCHED: Final = 0.04
_FALLEN: Final = {"turf": 0.02, "dirt": 0.02, "jump": 0.25}
_DEMOTED: Final = 0.006
_DEAD_HEAT: Final = 0.003
_SAFE_PLACES: Final = 3
_FRAMES: Final = 8
_SECONDS_A_UNIT: Final = 0.45
_SECONDS_A_METRE: Final = {"turf": 0.0575, "dirt": 0.0598, "jump": 0.0665}
_SLOWER_LOCALLY: Final = 1.04
_PACE_SPREAD: Final = 0.6
_LENGTHS_A_SECOND: Final = 6.0
_STARTED_WORDS: Final = ("中止", "失格")
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
class Drawn:
    """The finish of a race, by draw number from 1 up; places and words beside each other.

    A word says why somebody has no place, or that the place was taken by demotion.
    """

    jockeys: tuple[Jockey, ...]
    strengths: tuple[float, ...]
    performances: tuple[float, ...]
    places: tuple[int | None, ...]
    words: tuple[str, ...]

    def started(self, at: int) -> bool:
        """Tell whether a runner came under starter's orders."""
        return self.words[at] not in _UNSTARTED_WORDS


def drawn(
    seed: int, slot: Slot, strengths: tuple[float, ...], jockeys: tuple[Jockey, ...]
) -> Drawn:
    """Run a race: luck is Gumbel noise, so the order of finish is Plackett-Luce in strength.

    Accidents happen behind the first three, so that the winner's chances are exactly so.
    """
    draw = chance(seed, "run", slot.race_id)
    log, uniform = math.log, draw.random
    performances = [one - log(-log(uniform() or 0.5)) for one in strengths]
    words = [""] * len(strengths)
    if uniform() < _SCRATCHED:
        words[draw.randrange(len(words))] = draw.choice(_UNSTARTED_WORDS)
    order = [at for at in range(len(words)) if not words[at]]
    order.sort(key=performances.__getitem__, reverse=True)
    fallen = _FALLEN["jump" if slot.band == "J" else "dirt"]
    if uniform() < fallen and len(order) > _SAFE_PLACES:
        words[order.pop(draw.randrange(_SAFE_PLACES, len(order)))] = draw.choice(_STARTED_WORDS)
    for ahead, behind in pairwise(order):
        if performances[ahead] - performances[behind] < _DEAD_HEAT:
            performances[behind] = performances[ahead]
    places = _places(order, performances, len(words))
    if uniform() < _DEMOTED:
        _demote(order, places, words, draw)
    return Drawn(jockeys, strengths, tuple(performances), tuple(places), tuple(words))


def _places(order: list[int], performances: list[float], size: int) -> list[int | None]:
    places: list[int | None] = [None] * size
    for at, runner in enumerate(order):
        level = at and performances[order[at - 1]] == performances[runner]
        places[runner] = places[order[at - 1]] if level else at + 1
    return places


def _demote(order: list[int], places: list[int | None], words: list[str], draw: Random) -> None:
    """Put somebody behind the next, where neither is in a dead heat."""
    taken = [place for place in places if place]
    for at in range(_SAFE_PLACES, len(order) - 1):
        runner, behind = order[at], order[at + 1]
        alone = taken.count(at + 1) == taken.count(at + 2) == 1
        if alone and draw.random() < 0.5:  # noqa: PLR2004 - even
            places[runner], places[behind] = places[behind], places[runner]
            words[runner] = "降"
            return


@dataclass(frozen=True, eq=False)
class Race:
    """A race with its terms, its field and its finish."""

    seed: int
    slot: Slot
    terms: Conditions
    finish: Drawn

    @property
    def race_id(self) -> str:
        """Its id."""
        return self.slot.race_id

    @property
    def off_at(self) -> datetime:
        """When it starts."""
        return self.slot.meeting.off(self.slot.number)

    @property
    def listed_at(self) -> datetime:
        """When its card first shows runners, still without a draw."""
        return morning(self.slot.meeting.held_on - _LISTED_BEFORE, 12)

    @property
    def drawn_at(self) -> datetime:
        """When its runners get numbers and frames."""
        return morning(self.slot.meeting.held_on - _DRAWN_BEFORE, 10)

    @property
    def opens_at(self) -> datetime:
        """When the ground is inspected, bets are taken and scratchings are told."""
        return morning(self.slot.meeting.held_on, 8)

    @property
    def weighed_at(self) -> datetime:
        """When its runners have been weighed."""
        return self.off_at - _WEIGHED_BEFORE

    @property
    def confirmed_at(self) -> datetime:
        """When its result is published."""
        return self.off_at + _CONFIRMED_AFTER

    @property
    def title(self) -> str:
        """Its name with its grade."""
        return f"{self.terms.name}({self.terms.grade})" if self.terms.grade else self.terms.name

    @property
    def horses(self) -> tuple[Horse, ...]:
        """Who is entered, by draw number from 1 up."""
        return self.slot.entered

    @cached_property
    def running(self) -> tuple[int, ...]:
        """The draw numbers of those that start, less one."""
        return tuple(at for at in range(len(self.horses)) if self.finish.started(at))

    @cached_property
    def truth(self) -> dict[int, float]:
        """The true chance of winning of every starter, by draw number."""
        weights = {at + 1: math.exp(self.finish.strengths[at]) for at in self.running}
        whole = sum(weights.values())
        return {number: weight / whole for number, weight in weights.items()}

    @cached_property
    def frames(self) -> tuple[int, ...]:
        """The frame of every draw number."""
        return frames(len(self.horses))

    @cached_property
    def order(self) -> tuple[int, ...]:
        """Draw numbers less one, as the result lists them: finishers, then all others."""
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
        """Answer a horse's draw number less one."""
        return next(at for at, one in enumerate(self.horses) if one.id == horse.id)

    def carried(self, at: int) -> float:
        """Answer the kilograms a runner carries."""
        horse, year = self.horses[at], self.slot.meeting.held_on.year
        full = (55.0 if year - horse.foaled == 2 else 57.0) - 2.0 * (horse.sex == "牝")  # noqa: PLR2004 - years
        heavier = 3.0 if self.terms.surface == "jump" else 0.0
        return full + heavier - self.finish.jockeys[at].allowance(year)[1]

    def seconds(self, at: int) -> float | None:
        """Answer a finisher's time to the tenth, None for others."""
        if self.finish.places[at] is None:
            return None
        return round(self._pace - self.finish.performances[at] * self._unit, 1)

    def rank(self, at: int) -> str:
        """Answer what the result says of a runner: a place, or why there is none."""
        place, word = self.finish.places[at], self.finish.words[at]
        if place is None:
            return word
        return f"{place}(降)" if word else str(place)

    def margin(self, at: int) -> str:
        """Answer how far a finisher was behind the one before, in lengths."""
        ahead = self._ahead(at)
        if ahead is None or self.finish.places[at] is None:
            return ""
        if self.finish.places[ahead] == self.finish.places[at]:
            return "同着"
        gap = self.finish.performances[ahead] - self.finish.performances[at]
        return margin_words(abs(gap) * self._unit * _LENGTHS_A_SECOND)

    def behind(self, at: int) -> float | None:
        """Answer the seconds behind the winner; a winner's are those ahead of the second."""
        mine, best = self.seconds(at), self.seconds(self.order[0])
        if mine is None or best is None:
            return None
        if at != self.order[0]:
            return round(mine - best, 1)
        second = self.seconds(self.order[1])
        return 0.0 if second is None else round(best - second, 1)

    def prize(self, at: int) -> float:
        """Answer what a runner earned, in units of ten thousand yen."""
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
        noise = chance(self.seed, "pace", self.race_id).gauss(0, _PACE_SPREAD)
        return base * (_SLOWER_LOCALLY if local else 1.0) + soft + noise


def frames(size: int) -> tuple[int, ...]:
    """Answer the frames of a field: the last ones take more when there are more than eight."""
    least, more = divmod(size, _FRAMES)
    if least == 0:
        return tuple(range(1, size + 1))
    sizes = [least + (frame >= _FRAMES - more) for frame in range(_FRAMES)]
    return tuple(frame + 1 for frame, many in enumerate(sizes) for _ in range(many))


def margin_words(lengths: float) -> str:
    """Answer a distance in lengths in the words of a result."""
    for most, words in _MARGINS:
        if lengths < most:
            return words
    return str(round(lengths)) if lengths < 10 else "大差"  # noqa: PLR2004 - by the rules of racing
