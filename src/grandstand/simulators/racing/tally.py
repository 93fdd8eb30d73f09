"""Kept here: what jockeys' rides add up to, month by month and over a life."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import Final

from grandstand.simulators.racing.chance import chance
from grandstand.simulators.racing.population import Jockey
from grandstand.simulators.racing.running import Race

_PLACES: Final = 3


@dataclass
class Tally:
    """Rides counted: by place (first, second, third, all others), graded ones, the best won."""

    places: list[int] = field(default_factory=lambda: [0, 0, 0, 0])
    graded: int = 0
    graded_won: int = 0
    best_prize: float = 0.0
    best_horse: tuple[str, str] = ("", "")

    @property
    def rides(self) -> int:
        """How many there were."""
        return sum(self.places)

    def rate(self, places: int) -> float:
        """Answer the per cent of rides that were among the first so many."""
        return 100 * sum(self.places[:places]) / self.rides if self.rides else 0.0

    def add(self, other: Tally) -> None:
        """Count the rides of another as well."""
        self.places = [mine + more for mine, more in zip(self.places, other.places, strict=True)]
        self.graded += other.graded
        self.graded_won += other.graded_won
        if other.best_prize > self.best_prize:
            self.best_prize, self.best_horse = other.best_prize, other.best_horse

    def ride(self, race: Race, at: int) -> None:
        """Count one ride."""
        place = race.finish.places[at]
        self.places[min(place or _PLACES + 1, _PLACES + 1) - 1] += 1
        self.graded += race.terms.graded
        if place == 1:
            self.graded_won += race.terms.graded
            if race.terms.prizes[0] > self.best_prize:
                horse = race.horses[at]
                self.best_prize, self.best_horse = race.terms.prizes[0], (horse.id, horse.name)


def tallied(races: Iterable[Race]) -> dict[str, Tally]:
    """Answer every jockey's rides in some finished races, by id."""
    tallies: dict[str, Tally] = {}
    for race in races:
        for at in race.running:
            tallies.setdefault(race.finish.jockeys[at].id, Tally()).ride(race, at)
    return tallies


def remembered(seed: int, jockey: Jockey, year: int) -> Tally:
    """Answer a jockey's rides of a year before the first season, of which no race is kept."""
    draw = chance(seed, "remembered", jockey.id, year)
    rides = draw.randint(180, 620)
    win = min(max(0.08 + 0.05 * jockey.skill + draw.gauss(0, 0.01), 0.01), 0.3)
    first, second, third = (round(rides * win * share) for share in (1.0, 1.02, 1.05))
    graded = rides // 20
    return Tally([first, second, third, rides - first - second - third], graded, first // 25)
