"""Kept here: the races, horses and jockeys that some words are about."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import date, datetime, timedelta
from typing import Final

from grandstand.apps.keiba.model import RaceEntry
from grandstand.apps.keiba.service.cache.library import Library
from grandstand.apps.keiba.service.means import Means
from grandstand.apps.keiba.service.values import off_at
from grandstand.apps.keiba.store import Watch
from grandstand.kit.app import Found
from grandstand.kit.sought import MOST, nearest

_BACK_DAYS: Final = 2
_AHEAD_DAYS: Final = 5
_MOST_CARDS: Final = 200
_EACH: Final = 4
_REMEMBERED_SECONDS: Final = 60.0


@dataclass(frozen=True, slots=True)
class Known:
    """Something that can be sought, and the words it is known by."""

    found: Found
    words: tuple[str, ...]


class Searching:
    """Looks among the days and cards that are kept around today, and the horses one watches.

    What is kept is read at most once a minute, and nothing is fetched.
    """

    def __init__(self, means: Means, library: Library) -> None:
        self._means = means
        self._library = library
        self._known: tuple[tuple[Known, ...], ...] = ()
        self._good_until = float("-inf")

    async def run(self, sought: str, user_id: str) -> tuple[Found, ...]:
        """Answer horses first, then races, then jockeys."""
        if self._means.clock.monotonic() >= self._good_until:
            self._known = await self._read()
            self._good_until = self._means.clock.monotonic() + _REMEMBERED_SECONDS
        watched = [
            Known(_horse(one.horse_id, one.horse_name, "One you watch"), (one.horse_name,))
            for one in await self._means.store(Watch.of_user(user_id))
        ]
        found: dict[str, Found] = {}
        for kind in (watched, *self._known):
            for one in nearest(sought, kind, lambda known: known.words, _EACH):
                found.setdefault(one.found.href, one.found)
        return tuple(found.values())[:MOST]

    async def _read(self) -> tuple[tuple[Known, ...], ...]:
        today, now = self._means.today(), self._means.clock.now()
        days = [today + timedelta(days=at) for at in range(-_BACK_DAYS, _AHEAD_DAYS + 1)]
        races = {
            race.race_id: (race, day)
            for (day, _), listed in (await self._library.kept_days(days)).items()
            for race in listed
        }
        ordered = sorted(races.values(), key=lambda one: _distance(one[0], one[1], now))
        horses, jockeys = await self._runners({one.race_id: one for one, _ in ordered})
        return horses, tuple(_race(*one) for one in ordered), jockeys

    async def _runners(
        self, races: Mapping[str, RaceEntry]
    ) -> tuple[tuple[Known, ...], tuple[Known, ...]]:
        """The horses and jockeys of the kept cards of races."""
        wanted = list(races)[:_MOST_CARDS]
        keys = [self._library.forms.race.key(race_id=race_id) for race_id in wanted]
        horses: dict[str, Known] = {}
        jockeys: dict[str, Known] = {}
        for cached in await self._library.cache.get_many(keys):
            if cached.value is None:
                continue
            card = cached.value.value
            where = races[card.race_id].where
            for runner in card.horses:
                horse = _horse(runner.horse_id, runner.horse_name, f"Runs in {where}")
                words = (runner.horse_name, runner.horse_id)
                horses.setdefault(runner.horse_id, Known(horse, words))
                if runner.jockey_id and runner.jockey_name:
                    href = f"/keiba/jockeys/{runner.jockey_id}"
                    jockey = Found("jockey", runner.jockey_name, f"Rides in {where}", href)
                    jockeys.setdefault(runner.jockey_id, Known(jockey, (runner.jockey_name,)))
        return tuple(horses.values()), tuple(jockeys.values())


def _horse(horse_id: str, name: str, detail: str) -> Found:
    return Found("horse", name, detail, f"/keiba/horses/{horse_id}")


def _race(race: RaceEntry, day: date) -> Known:
    name = race.race_name or f"Race {race.race_number}"
    post = f" {race.post_time} JST" if race.post_time else ""
    detail = f"{race.where}, {day:%a %d %b}{post}"
    words = (name, race.track_name, race.where, race.grade or "", race.race_id)
    return Known(Found("race", name, detail, f"/keiba/races/{race.race_id}"), words)


def _distance(race: RaceEntry, day: date, now: datetime) -> tuple[bool, float]:
    """How far from now a race is off; those without a time last."""
    off = off_at(day, race.post_time)
    return off is None, 0.0 if off is None else abs((off - now).total_seconds())
