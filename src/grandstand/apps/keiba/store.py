"""Kept here: keiba's one table, what it keeps for how long, and how it is asked."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import date, datetime, timedelta
from typing import TYPE_CHECKING, Final, Self

from grandstand.apps.keiba.model import (
    Circuit,
    Form,
    HorseProfile,
    JockeyRecord,
    Odds,
    Parents,
    Pedigree,
    RaceCard,
    RaceEntry,
    RaceResult,
)
from grandstand.apps.keiba.model.previews import WrittenPreview
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
from grandstand.storage.tables.expressions.nodes import (
    And,
    BeginsWith,
    Condition,
    Exists,
    Literal,
    Missing,
    Path,
)
from grandstand.storage.tables.operations.cursor import read_cursor, write_cursor
from grandstand.storage.tables.requests import GetItem, Scan
from grandstand.storage.tables.values import Item
from grandstand.storage.tables.values import Key as ItemKey

if TYPE_CHECKING:
    from grandstand.storage.tables.session import Session

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
    """Something fetched from a race site: kept for a week, unless it says otherwise.

    `warnings` are what could not be read in its page; there is no such attribute without any.
    """

    fetched_at: datetime
    warnings: tuple[str, ...] | None = None
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


class LocalDayRaces(Fetched, table=keiba, times="epoch"):
    """The races of a date on local (NAR) tracks, which have a list of their own."""

    race_date: date = attribute("date")
    data: tuple[RaceEntry, ...]

    row = key("DATE#{race_date:%Y%m%d}", "RACES#NAR")

    @classmethod
    def on(cls, race_date: date) -> Get[Self]:
        """The local races of a date."""
        return cls.get(race_date=race_date)


class MeetingDays(Fetched, table=keiba, times="epoch"):
    """The days of racing around a date."""

    around: date
    circuit: Circuit
    data: tuple[date, ...]

    row = key("DATE#{around:%Y%m%d}", "MEETINGS#{circuit}")

    @classmethod
    def near(cls, around: date, circuit: Circuit) -> Get[Self]:
        """The days of racing around a date."""
        return cls.get(around=around, circuit=circuit)


class RaceOutcome(Fetched, table=keiba, times="epoch"):
    """How a race ended: a week once it is confirmed, minutes before."""

    data: RaceResult

    row = key("RACE#{race_id}", "RESULT")

    @property
    def race_id(self) -> str:
        """The race's id, from its data."""
        return self.data.race_id

    @classmethod
    def of_race(cls, race_id: str) -> Get[Self]:
        """How a race ended."""
        return cls.get(race_id=race_id)


class RaceOdds(Fetched, table=keiba, times="epoch"):
    """The odds of a race: a minute while they change, a week once they are final."""

    data: Odds

    row = key("RACE#{race_id}", "ODDS")

    @property
    def race_id(self) -> str:
        """The race's id, from its data."""
        return self.data.race_id

    @classmethod
    def of_race(cls, race_id: str) -> Get[Self]:
        """The odds of a race."""
        return cls.get(race_id=race_id)


class HorseCareer(Fetched, table=keiba, times="epoch"):
    """What is said of a horse itself, runner or parent, kept for a week."""

    data: HorseProfile

    row = key("HORSE#{horse_id}", "PROFILE")

    @property
    def horse_id(self) -> str:
        """The horse's id, from its data."""
        return self.data.horse_id

    @classmethod
    def by_id(cls, horse_id: str) -> Get[Self]:
        """What is said of a horse."""
        return cls.get(horse_id=horse_id)


class HorsePedigree(Fetched, table=keiba, times="epoch"):
    """A horse's ancestors, kept for a week."""

    data: Pedigree

    row = key("HORSE#{horse_id}", "PEDIGREE")

    @property
    def horse_id(self) -> str:
        """The horse's id, from its data."""
        return self.data.horse_id

    @classmethod
    def by_id(cls, horse_id: str) -> Get[Self]:
        """A horse's ancestors."""
        return cls.get(horse_id=horse_id)


class Analysis(Fetched, table=keiba, times="epoch"):
    """A written preview, by the digest of all it was written from, kept for a week."""

    race_id: str
    digest: str
    data: WrittenPreview

    row = key("ANALYSIS#{race_id}", "PROMPT#{digest}")

    @classmethod
    def of(cls, race_id: str, digest: str) -> Get[Self]:
        """A preview of a race written from the same data, model, rules and words."""
        return cls.get(race_id=race_id, digest=digest)


class Watch(Entity, table=keiba, times="epoch"):
    """A horse a person watches, with their note; kept until they no longer do."""

    user_id: str
    horse_id: str
    horse_name: str
    note: str = ""
    watched_at: datetime

    row = key("USER#{user_id}", "WATCH#{horse_id}")

    @classmethod
    def one(cls, user_id: str, horse_id: str) -> Get[Self]:
        """Whether a person watches a horse."""
        return cls.get(user_id=user_id, horse_id=horse_id)

    @classmethod
    def of_user(cls, user_id: str) -> Query[Self]:
        """The horses a person watches."""
        return cls.row(user_id=user_id).consistent()

    def keep(self) -> Put[Self]:
        """Watch a horse, or change the note."""
        return self.put()

    @classmethod
    def end(cls, user_id: str, horse_id: str) -> Delete[Self]:
        """Watch a horse no longer."""
        return cls.delete(user_id=user_id, horse_id=horse_id)


class Watching(Entity, table=keiba, times="epoch"):
    """The same by horse, in one partition, for whoever looks for everybody's horses at once."""

    horse_id: str
    user_id: str

    row = key("WATCHING", "HORSE#{horse_id}#USER#{user_id}")

    @classmethod
    def everybody(cls) -> Query[Self]:
        """Every watched horse with who watches it."""
        return cls.row()

    def keep(self) -> Put[Self]:
        """Note who watches a horse."""
        return self.put()

    @classmethod
    def end(cls, horse_id: str, user_id: str) -> Delete[Self]:
        """Note that a person watches a horse no longer."""
        return cls.delete(horse_id=horse_id, user_id=user_id)


@dataclass(frozen=True, slots=True)
class EntriesPage:
    """Some cached items as they are stored, and the position after them, None at the end."""

    items: tuple[Item, ...]
    position: str | None


@dataclass(frozen=True, slots=True)
class ReadEntries:
    """Read cached items of any kind whose partition begins so; nothing of a person is among them.

    About so many are read; parts of long payloads are left out.
    """

    prefix: str = ""
    position: str | None = None
    about: int = 100

    def run(self, session: Session) -> EntriesPage:
        """Read a page; raise CursorInvalid when the position is not this question's."""
        mark = ("entries", self.prefix)
        start = None if self.position is None else read_cursor(mark, self.position)
        asked: Condition = And(Exists(Path(("fetched_at",))), Missing(Path(("part",))))
        if self.prefix:
            asked = And(asked, BeginsWith(Path((keiba.partition,)), Literal(self.prefix)))
        items: list[Item] = []
        while True:
            page = session.engine.scan(
                Scan(session.name(keiba), filter=asked, limit=self.about, start=start)
            )
            items.extend(page.items)
            start = page.last_key
            if start is None or len(items) >= self.about:
                break
        return EntriesPage(tuple(items), None if start is None else write_cursor(mark, start))


@dataclass(frozen=True, slots=True)
class ReadEntry:
    """Read one item as it is stored."""

    partition: str
    sort: str

    def run(self, session: Session) -> Item | None:
        """Read it; None when there is none."""
        key: ItemKey = {"PK": self.partition, "SK": self.sort}
        return session.engine.get(GetItem(session.name(keiba), key)).item
