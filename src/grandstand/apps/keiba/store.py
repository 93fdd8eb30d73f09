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


class Race(Entity, table=keiba, times="epoch"):
    """A race with its runners, kept for a week."""

    data: RaceCard
    fetched_at: datetime
    expires: datetime | None = ttl(after=WEEK, of="fetched_at")

    row = key("RACE#{race_id}", "METADATA")

    @property
    def race_id(self) -> str:
        """The race's id, from its data."""
        return self.data.race_id

    @classmethod
    def by_id(cls, race_id: str) -> Get[Self]:
        """A race by its id."""
        return cls.get(race_id=race_id)

    def keep(self) -> Put[Self]:
        """Keep a race over what is there."""
        return self.put()


class HorseResults(Entity, table=keiba, times="epoch"):
    """A horse's earlier races, kept for a week."""

    data: Form
    fetched_at: datetime
    expires: datetime | None = ttl(after=WEEK, of="fetched_at")

    row = key("HORSE#{horse_id}", "RESULTS")

    @property
    def horse_id(self) -> str:
        """The horse's id, from its data."""
        return self.data.horse_id

    @classmethod
    def by_id(cls, horse_id: str) -> Get[Self]:
        """A horse's earlier races."""
        return cls.get(horse_id=horse_id)

    def keep(self) -> Put[Self]:
        """Keep a horse's earlier races over what is there."""
        return self.put()


class HorseParents(Entity, table=keiba, times="epoch"):
    """A horse's sire and dam, kept for a week."""

    data: Parents
    fetched_at: datetime
    expires: datetime | None = ttl(after=WEEK, of="fetched_at")

    row = key("HORSE#{horse_id}", "PARENT")

    @property
    def horse_id(self) -> str:
        """The horse's id, from its data."""
        return self.data.horse_id

    @classmethod
    def by_id(cls, horse_id: str) -> Get[Self]:
        """A horse's sire and dam."""
        return cls.get(horse_id=horse_id)

    def keep(self) -> Put[Self]:
        """Keep a horse's sire and dam over what is there."""
        return self.put()


class JockeyStats(Entity, table=keiba, times="epoch"):
    """A jockey's figures, kept for a week."""

    data: JockeyRecord
    fetched_at: datetime
    expires: datetime | None = ttl(after=WEEK, of="fetched_at")

    row = key("JOCKEY#{jockey_id}", "STATS")

    @property
    def jockey_id(self) -> str:
        """The jockey's id, from its data."""
        return self.data.jockey_id

    @classmethod
    def by_id(cls, jockey_id: str) -> Get[Self]:
        """A jockey's figures."""
        return cls.get(jockey_id=jockey_id)

    def keep(self) -> Put[Self]:
        """Keep a jockey's figures over what is there."""
        return self.put()


class DayRaces(Entity, table=keiba, times="epoch", schema_version="1.1"):
    """The races of a date, kept for a day because schedules change."""

    race_date: date = attribute("date")
    data: tuple[RaceEntry, ...]
    fetched_at: datetime
    expires: datetime | None = ttl(after=DAY, of="fetched_at")

    row = key("DATE#{race_date:%Y%m%d}", "RACES")

    @classmethod
    def on(cls, race_date: date) -> Get[Self]:
        """The races of a date."""
        return cls.get(race_date=race_date)

    def keep(self) -> Put[Self]:
        """Keep a date's races over what is there."""
        return self.put()

    @classmethod
    def upgrade(cls, item: Item) -> Item:
        """Without a version the date stands in the key alone."""
        written = str(item["PK"]).removeprefix("DATE#")
        return {"date": f"{written[:4]}-{written[4:6]}-{written[6:]}", **item}
