"""The DynamoDB table of keiba, its entities and access patterns."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import date, datetime, timedelta
from typing import TYPE_CHECKING, ClassVar, Final, Self

from grandstand.apps.keiba.domain import horses, races
from grandstand.apps.keiba.domain.ids import Circuit
from grandstand.storage.tables import (
    Delete,
    Entity,
    Get,
    Put,
    Query,
    Table,
    attribute,
    key,
    ttl,
)
from grandstand.storage.tables.attribute_values import Item
from grandstand.storage.tables.attribute_values import Key as ItemKey
from grandstand.storage.tables.expressions import nodes
from grandstand.storage.tables.operations.queries import read_cursor, write_cursor
from grandstand.storage.tables.requests import GetItem, ScanRequest

if TYPE_CHECKING:
    from grandstand.storage.tables.store import Session

WEEK: Final = timedelta(days=7)
DAY: Final = timedelta(days=1)

keiba = Table(
    "keiba_data",
    partition="PK",
    sort="SK",
    ttl="ttl",
    purpose="Pages fetched from the race sites, cached with a time to live, and watched horses.",
)

TABLES: Final = (keiba,)


class CachedPage(Entity):
    """A page fetched from a race site, cached for a week by default.

    `warnings` list what could not be parsed; the attribute is absent if there are none.
    """

    fetched_at: datetime
    warnings: tuple[str, ...] | None = None
    expires: datetime | None = ttl(after=WEEK, of="fetched_at")

    def save(self) -> Put[Self]:
        """Store the page, replacing the previous copy."""
        return self.put()


class RacePage(CachedPage):
    """A page of one race."""

    data: races.RaceCard | races.RaceResult | races.Odds

    @property
    def race_id(self) -> str:
        """The race id, from the data."""
        return self.data.race_id


class HorsePage(CachedPage):
    """A page of one horse."""

    data: horses.Form | horses.Parents | horses.HorseProfile | horses.Pedigree

    @property
    def horse_id(self) -> str:
        """The horse id, from the data."""
        return self.data.horse_id


class Race(RacePage, table=keiba, times="epoch"):
    """A race with its runners, cached for a week."""

    data: races.RaceCard

    row = key("RACE#{race_id}", "METADATA")

    @classmethod
    def by_id(cls, race_id: str) -> Get[Self]:
        """A race by id."""
        return cls.get(race_id=race_id)


class HorseResults(HorsePage, table=keiba, times="epoch"):
    """A horse's past races, cached for a week."""

    data: horses.Form

    row = key("HORSE#{horse_id}", "RESULTS")

    @classmethod
    def by_id(cls, horse_id: str) -> Get[Self]:
        """A horse's past races."""
        return cls.get(horse_id=horse_id)


class HorseParents(HorsePage, table=keiba, times="epoch"):
    """A horse's sire and dam, cached for a week."""

    data: horses.Parents

    row = key("HORSE#{horse_id}", "PARENT")

    @classmethod
    def by_id(cls, horse_id: str) -> Get[Self]:
        """A horse's sire and dam."""
        return cls.get(horse_id=horse_id)


class JockeyStats(CachedPage, table=keiba, times="epoch"):
    """A jockey's statistics, cached for a week."""

    data: horses.JockeyRecord

    row = key("JOCKEY#{jockey_id}", "STATS")

    @property
    def jockey_id(self) -> str:
        """The jockey id, from the data."""
        return self.data.jockey_id

    @classmethod
    def by_id(cls, jockey_id: str) -> Get[Self]:
        """A jockey's statistics."""
        return cls.get(jockey_id=jockey_id)


class DayRaces(CachedPage, table=keiba, times="epoch", schema_version="1.1"):
    """The races of a date, cached for a day because schedules change."""

    race_date: date = attribute("date")
    data: tuple[races.RaceEntry, ...]
    expires: datetime | None = ttl(after=DAY, of="fetched_at")

    row = key("DATE#{race_date:%Y%m%d}", "RACES")

    @classmethod
    def on(cls, race_date: date) -> Get[Self]:
        """The races of a date."""
        return cls.get(race_date=race_date)

    @classmethod
    def upgrade(cls, item: Item) -> Item:
        """Items without a version have the date only in the key."""
        compact = str(item["PK"]).removeprefix("DATE#")
        return {"date": f"{compact[:4]}-{compact[4:6]}-{compact[6:]}", **item}


class LocalDayRaces(CachedPage, table=keiba, times="epoch"):
    """The NAR races of a date, which have their own list."""

    race_date: date = attribute("date")
    data: tuple[races.RaceEntry, ...]

    row = key("DATE#{race_date:%Y%m%d}", "RACES#NAR")


class MeetingDays(CachedPage, table=keiba, times="epoch"):
    """The racing days around a date."""

    around: date
    circuit: Circuit
    data: tuple[date, ...]

    row = key("DATE#{around:%Y%m%d}", "MEETINGS#{circuit}")


class RaceOutcome(RacePage, table=keiba, times="epoch"):
    """The result of a race, cached for a week once confirmed and for minutes before."""

    data: races.RaceResult

    row = key("RACE#{race_id}", "RESULT")


class RaceOdds(RacePage, table=keiba, times="epoch"):
    """The odds of a race, cached for a minute while they change and for a week once final."""

    data: races.Odds

    row = key("RACE#{race_id}", "ODDS")


class HorseCareer(HorsePage, table=keiba, times="epoch"):
    """The profile of a horse, cached for a week."""

    data: horses.HorseProfile

    row = key("HORSE#{horse_id}", "PROFILE")


class HorsePedigree(HorsePage, table=keiba, times="epoch"):
    """A horse's pedigree, cached for a week."""

    data: horses.Pedigree

    row = key("HORSE#{horse_id}", "PEDIGREE")


class Analysis(CachedPage, table=keiba, times="epoch"):
    """A written preview by the digest of its input, cached for a week."""

    race_id: str
    digest: str
    data: races.WrittenPreview

    row = key("ANALYSIS#{race_id}", "PROMPT#{digest}")


class Watch(Entity, table=keiba, times="epoch"):
    """A horse a person watches, with their note."""

    user_id: str
    horse_id: str
    horse_name: str
    note: str = ""
    watched_at: datetime

    row = key("USER#{user_id}", "WATCH#{horse_id}")

    @classmethod
    def by_horse(cls, user_id: str, horse_id: str) -> Get[Self]:
        """A person's watch of a horse."""
        return cls.get(user_id=user_id, horse_id=horse_id)

    @classmethod
    def of_user(cls, user_id: str) -> Query[Self]:
        """The horses a person watches."""
        return cls.row(user_id=user_id).consistent()

    def save(self) -> Put[Self]:
        """Add a watch, or change its note."""
        return self.put()

    @classmethod
    def remove(cls, user_id: str, horse_id: str) -> Delete[Self]:
        """Remove a watch."""
        return cls.delete(user_id=user_id, horse_id=horse_id)


class HorseWatcher(Entity, table=keiba, times="epoch"):
    """Index of watches by horse, in one partition, for the watchlist job."""

    horse_id: str
    user_id: str

    row = key("WATCHING", "HORSE#{horse_id}#USER#{user_id}")

    @classmethod
    def all_watchers(cls) -> Query[Self]:
        """Every watched horse with its watchers."""
        return cls.row()

    def save(self) -> Put[Self]:
        """Add an index entry."""
        return self.put()

    @classmethod
    def remove(cls, horse_id: str, user_id: str) -> Delete[Self]:
        """Remove an index entry."""
        return cls.delete(horse_id=horse_id, user_id=user_id)


@dataclass(frozen=True, slots=True)
class EntriesPage:
    """Cached items as stored, and the position after them; None at the end."""

    items: tuple[Item, ...]
    position: str | None


@dataclass(frozen=True, slots=True)
class ScanEntries:
    """Scan cached items of any kind by the start of their partition key.

    Personal data and chunks of large payloads are not included. `limit` is approximate.
    """

    prefix: str = ""
    position: str | None = None
    limit: int = 100
    # It may pass over many items that do not match.
    is_short_read: ClassVar[bool] = False

    def run(self, session: Session) -> EntriesPage:
        """Read a page.

        Raises CursorInvalid if the position belongs to another query.
        """
        query = ("entries", self.prefix)
        start = None if self.position is None else read_cursor(query, self.position)
        condition: nodes.Condition = nodes.And(
            nodes.Exists(nodes.Path(("fetched_at",))), nodes.Missing(nodes.Path(("part",)))
        )
        if self.prefix:
            condition = nodes.And(
                condition,
                nodes.BeginsWith(nodes.Path((keiba.partition,)), nodes.Literal(self.prefix)),
            )
        items: list[Item] = []
        while True:
            page = session.engine.scan(
                ScanRequest(session.name(keiba), filter=condition, limit=self.limit, start=start)
            )
            items.extend(page.items)
            start = page.last_key
            if start is None or len(items) >= self.limit:
                break
        return EntriesPage(tuple(items), None if start is None else write_cursor(query, start))


@dataclass(frozen=True, slots=True)
class ReadItem:
    """Read one item as stored."""

    partition: str
    sort: str
    is_short_read: ClassVar[bool] = True

    def run(self, session: Session) -> Item | None:
        """Return the item; None if there is none."""
        key: ItemKey = {"PK": self.partition, "SK": self.sort}
        return session.engine.get(GetItem(session.name(keiba), key)).item
