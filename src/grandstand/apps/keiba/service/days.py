"""Kept here: days of racing: which there are, and their meetings and races."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import date, timedelta
from typing import Final

from grandstand.apps.keiba.model import Circuit, Going, RaceEntry, Surface, ids
from grandstand.apps.keiba.service.cache.library import Library
from grandstand.apps.keiba.service.means import Means
from grandstand.apps.keiba.service.values import (
    Day,
    DayRace,
    Meeting,
    Origin,
    Sourced,
    off_at,
)
from grandstand.base.errors import GrandstandError

BOTH: Final[tuple[Circuit, ...]] = ("jra", "nar")
_NAMES: Final[dict[Circuit, str]] = {"jra": "national (JRA)", "nar": "local (NAR)"}
# How long after its post time the last race of a day is held to be over.
_OVER_AFTER: Final = timedelta(minutes=30)


class Days:
    """Answers days of racing from the lists of both circuits."""

    def __init__(self, means: Means, library: Library) -> None:
        self._means = means
        self._library = library

    async def meeting_days(self, around: date, circuit: Circuit) -> Sourced[tuple[date, ...]]:
        """Answer the days of racing around a day, oldest first."""
        found = await self._library.meeting_days(around, circuit)
        return Sourced(tuple(sorted(found.value)), found.origin)

    async def next_meeting(self, circuit: Circuit | None) -> date | None:
        """Answer the next day of racing of a circuit, or of any; today until its last race is over.

        Of two circuits one that cannot be asked is passed over; raises what went wrong with both.
        """
        circuits = BOTH if circuit is None else (circuit,)
        found: list[date] = []
        faults: list[GrandstandError] = []
        for each in circuits:
            try:
                day = await self._next_of(each)
            except GrandstandError as fault:
                faults.append(fault)
                continue
            if day == self._means.today():
                return day
            found += [] if day is None else [day]
        if len(faults) == len(circuits):
            raise faults[0]
        return min(found, default=None)

    async def _next_of(self, circuit: Circuit) -> date | None:
        today = self._means.today()
        days = [day for day in (await self.meeting_days(today, circuit)).value if day >= today]
        if days and days[0] == today and await self._over(today, circuit):
            days = days[1:]
        return days[0] if days else None

    async def day(self, race_date: date, circuit: Circuit | None, *, anew: bool) -> Day:
        """Answer a day; a list that cannot be had is a warning while another can."""
        circuits = BOTH if circuit is None else (circuit,)
        meetings: list[Meeting] = []
        origins: list[Origin] = []
        warnings: list[str] = []
        faults: list[GrandstandError] = []
        for each in circuits:
            try:
                found = await self._library.day(race_date, each, anew=anew)
            except GrandstandError as fault:
                faults.append(fault)
                warnings.append(f"The {_NAMES.get(each, each)} list is missing: {fault}")
                continue
            origins.append(found.origin)
            warnings.extend(found.warnings)
            meetings.extend(meetings_of(race_date, found.value))
        if len(faults) == len(circuits):
            raise faults[0]
        return Day(race_date, tuple(meetings), tuple(origins), tuple(warnings))

    async def next_off(self, reach_days: int = 7) -> DayRace | None:
        """Answer the next race that is off, going by kept lists; None when none is kept."""
        today, now = self._means.today(), self._means.clock.now()
        days = [today + timedelta(days=at) for at in range(reach_days + 1)]
        coming = [
            DayRace(race, off)
            for (day, _), races in (await self._library.kept_days(days)).items()
            for race in races
            if (off := off_at(day, race.post_time)) is not None and off > now
        ]
        return min(coming, key=lambda race: race.off_at or now, default=None)

    async def races_today(self) -> int:
        """Answer how many races the kept lists of today have."""
        return sum(map(len, (await self._library.kept_days([self._means.today()])).values()))

    async def _over(self, today: date, circuit: Circuit) -> bool:
        """Whether today's last race is over, as far as today's list can be had."""
        try:
            races = (await self._library.day(today, circuit)).value
        except GrandstandError:
            return False
        offs = [moment for race in races if (moment := off_at(today, race.post_time)) is not None]
        return bool(offs) and max(offs) + _OVER_AFTER < self._means.clock.now()


def meetings_of(race_date: date, races: Sequence[RaceEntry]) -> tuple[Meeting, ...]:
    """Sort a day's races by meeting, in the order of the list."""
    grouped: dict[str, list[RaceEntry]] = {}
    for race in races:
        grouped.setdefault(race.track_name, []).append(race)
    return tuple(_meeting(race_date, name, group) for name, group in grouped.items())


def _meeting(race_date: date, name: str, races: Sequence[RaceEntry]) -> Meeting:
    first = races[0]
    track = ids.track_of(first.race_id)
    ordered = sorted(races, key=lambda race: race.race_number)
    return Meeting(
        track_name=name,
        track_english=None if track is None else track.english,
        circuit=ids.circuit_of(first.race_id),
        meeting_number=first.meeting_number,
        day_number=first.day_number,
        weather=next((race.weather for race in ordered if race.weather is not None), None),
        turf_going=_going(ordered, "turf"),
        dirt_going=_going(ordered, "dirt"),
        races=tuple(DayRace(race, off_at(race_date, race.post_time)) for race in ordered),
    )


def _going(races: Sequence[RaceEntry], surface: Surface) -> Going | None:
    said = (race.going for race in races if race.track_type == surface)
    return next((going for going in said if going is not None), None)
