"""Kept here: keiba's one table, what it keeps for how long, and how it is asked."""

from __future__ import annotations

from datetime import date, datetime, timedelta
from typing import Final, Self

from grandstand.apps.keiba.model import Form, JockeyRecord, Parents, RaceCard, RaceEntry
from grandstand.storage.tables import Entity, Get, Put, Table, attribute, key, ttl
from grandstand.storage.tables.values import Item

WEEK: Final = timedelta(days=7)
DAY: Final = timedelta(days=1)

keiba = Table(
    "keiba_data",
    partition="PK",
    sort="SK",
    ttl="ttl",
    purpose="Everything fetched from the race sites, each kind for its own time.",
)

TABLES: Final = (keiba,)


class Fetched(Entity):
    """Something fetched from a race site: kept for a week, unless it says otherwise."""

    fetched_at: datetime
    expires: datetime | None = ttl(after=WEEK, of="fetched_at")

    def keep(self) -> Put[Self]:
        """Keep what was fetched over what is there."""
        return self.put()


class Race(Fetched, table=keiba, times="epoch"):
    """A race with its runners, kept for a week."""

    data: RaceCard

    row = key("RACE#{race_id}", "METADATA")

    @property
    def race_id(self) -> str:
        """The race's id, from its data."""
        return self.data.race_id

    @classmethod
    def by_id(cls, race_id: str) -> Get[Self]:
        """A race by its id."""
        return cls.get(race_id=race_id)


class HorseResults(Fetched, table=keiba, times="epoch"):
    """A horse's earlier races, kept for a week."""

    data: Form

    row = key("HORSE#{horse_id}", "RESULTS")

    @property
    def horse_id(self) -> str:
        """The horse's id, from its data."""
        return self.data.horse_id

    @classmethod
    def by_id(cls, horse_id: str) -> Get[Self]:
        """A horse's earlier races."""
        return cls.get(horse_id=horse_id)


class HorseParents(Fetched, table=keiba, times="epoch"):
    """A horse's sire and dam, kept for a week."""

    data: Parents

    row = key("HORSE#{horse_id}", "PARENT")

    @property
    def horse_id(self) -> str:
        """The horse's id, from its data."""
        return self.data.horse_id

    @classmethod
    def by_id(cls, horse_id: str) -> Get[Self]:
        """A horse's sire and dam."""
        return cls.get(horse_id=horse_id)


class JockeyStats(Fetched, table=keiba, times="epoch"):
    """A jockey's figures, kept for a week."""

    data: JockeyRecord

    row = key("JOCKEY#{jockey_id}", "STATS")

    @property
    def jockey_id(self) -> str:
        """The jockey's id, from its data."""
        return self.data.jockey_id

    @classmethod
    def by_id(cls, jockey_id: str) -> Get[Self]:
        """A jockey's figures."""
        return cls.get(jockey_id=jockey_id)


class DayRaces(Fetched, table=keiba, times="epoch", schema_version="1.1"):
    """The races of a date, kept for a day because schedules change."""

    race_date: date = attribute("date")
    data: tuple[RaceEntry, ...]
    expires: datetime | None = ttl(after=DAY, of="fetched_at")

    row = key("DATE#{race_date:%Y%m%d}", "RACES")

    @classmethod
    def on(cls, race_date: date) -> Get[Self]:
        """The races of a date."""
        return cls.get(race_date=race_date)

    @classmethod
    def upgrade(cls, item: Item) -> Item:
        """Without a version the date stands in the key alone."""
        written = str(item["PK"]).removeprefix("DATE#")
        return {"date": f"{written[:4]}-{written[4:6]}-{written[6:]}", **item}
