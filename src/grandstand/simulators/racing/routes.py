"""Kept here: which address shows which page, in which encoding."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import date, datetime
from typing import Final

import msgspec

from grandstand.simulators.racing.arrivals import Host
from grandstand.simulators.racing.breeding import Ancestor
from grandstand.simulators.racing.calendar import JST
from grandstand.simulators.racing.pages.card import card
from grandstand.simulators.racing.pages.day import date_list, day_list, shell
from grandstand.simulators.racing.pages.frame import Addresses, document
from grandstand.simulators.racing.pages.horse import Columns, headline, profile, results
from grandstand.simulators.racing.pages.jockey import jockey_page
from grandstand.simulators.racing.pages.odds import odds_json, odds_tables
from grandstand.simulators.racing.pages.pedigree import pedigree
from grandstand.simulators.racing.pages.result import result
from grandstand.simulators.racing.population import Horse
from grandstand.simulators.racing.running import Race
from grandstand.simulators.racing.tracks import Circuit
from grandstand.simulators.racing.world import World

_HTML: Final = "text/html"
_JSON: Final = "application/json"
_CIRCUITS: Final[dict[Host, Circuit]] = {"race": "jra", "nar": "nar"}
_OLDEST_YEAR: Final = 1954


@dataclass(frozen=True, slots=True)
class Form:
    """How the site writes: it changed its encoding and the width of its tables in 2026.

    With `charset_told` the encoding is in the header as well; pages of the db host never tell it
    there, only in the document.
    """

    race_encoding: str = "UTF-8"
    db_encoding: str = "EUC-JP"
    columns: Columns = 33
    charset_told: bool = True

    @classmethod
    def of_2025(cls) -> Form:
        """Answer the form before the change."""
        return cls(race_encoding="EUC-JP", columns=29, charset_told=False)


@dataclass(frozen=True, slots=True)
class Asked:
    """A request: where, by which words, at which moment of the world."""

    host: Host
    path: str
    query: dict[str, str]
    now: datetime
    addresses: Addresses


@dataclass(frozen=True, slots=True)
class Page:
    """A page in letters, and how it is to be written."""

    text: str
    encoding: str = "UTF-8"
    media: str = _HTML
    charset_told: bool = True
    status: int = 200

    @property
    def body(self) -> bytes:
        """The page in bytes; what an encoding cannot hold is written as a reference."""
        return self.text.encode(self.encoding, "xmlcharrefreplace")

    @property
    def content_type(self) -> str:
        """What the header says of it."""
        return f"{self.media}; charset={self.encoding}" if self.charset_told else self.media


def page(world: World, form: Form, asked: Asked) -> Page | None:
    """Answer the page of an address, None if there is none."""
    if asked.host == "db":
        return _of_db(world, form, asked)
    circuit = _CIRCUITS[asked.host]
    if asked.path.startswith("/top/") or asked.path == "/":
        return _of_day(world, form, asked, circuit)
    race = _race(world, asked, asked.query.get("race_id", ""))
    if race is None or race.slot.meeting.circuit != circuit:
        return None
    return _of_race(world, form, asked, race)


def _of_day(world: World, form: Form, asked: Asked, circuit: Circuit) -> Page | None:
    day = _day(asked.query.get("kaisai_date"), asked.now)
    if day is None:
        return None
    match asked.path:
        case "/top/race_list_sub.html":
            return Page(day_list(world, circuit, day, asked.now))
        case "/top/race_list_get_date_list.html":
            return Page(date_list(world, circuit, day))
        case "/" | "/top/" | "/top/race_list.html":
            return _whole("レース一覧", shell(day), form)
    return None


def _of_race(world: World, form: Form, asked: Asked, race: Race) -> Page | None:
    match asked.path:
        case "/race/shutuba.html":
            return _whole(_dated(race), card(world, race, asked.now, asked.addresses), form)
        case "/race/result.html":
            return _whole(_dated(race), result(world, race, asked.now, asked.addresses), form)
        case "/api/api_get_jra_odds.html" if asked.host == "race":
            told = msgspec.json.encode(odds_json(race, asked.now)).decode()
            return Page(told, media=_JSON, charset_told=False)
        case "/odds/index.html" if asked.host == "nar":
            return _whole(race.title, odds_tables(race, asked.now), form)
    return None


def _dated(race: Race) -> str:
    """Answer the title of a page of a race, which is where the real site says its date."""
    meeting, number = race.slot.meeting, race.slot.number
    day = meeting.held_on
    return (
        f"{race.title} | {day.year}年{day.month}月{day.day}日 {meeting.track.name}{number}R "
        "レース情報"
    )


def _of_db(world: World, form: Form, asked: Asked) -> Page | None:
    match asked.path.strip("/").split("/"):
        case ["race", race_id]:
            race = _race(world, asked, race_id)
            if race is None or asked.now < race.confirmed_at:
                return None
            return _archived(race.title, result(world, race, asked.now, asked.addresses), form)
        case ["horse", "ajax_horse_results.html" | "ajax_horse_pedigree.html" as name]:
            return _fragment(world, form, asked, name)
        case ["horse", "result" | "ped" as kind, horse_id]:
            return _of_horse(world, form, asked, (kind, horse_id))
        case ["horse", horse_id]:
            return _of_horse(world, form, asked, ("profile", horse_id))
        case ["jockey", "result.html"]:
            return _of_jockey(world, form, asked, asked.query.get("id", ""))
        case ["jockey", jockey_id] | ["jockey", "result", "recent", jockey_id]:
            return _of_jockey(world, form, asked, jockey_id)
    return None


def _fragment(world: World, form: Form, asked: Asked, name: str) -> Page | None:
    horse = _horse(world, asked, asked.query.get("id", ""))
    if horse is None:
        return None
    ours = name == "ajax_horse_results.html"
    body = _results(world, form, asked, horse) if ours else pedigree(world, horse)
    if asked.query.get("output") != "json":
        return Page(body, charset_told=form.charset_told)
    told = msgspec.json.encode({"status": "OK", "data": body}).decode()
    return Page(told, media=_JSON, charset_told=False)


def _of_horse(world: World, form: Form, asked: Asked, wanted: tuple[str, str]) -> Page | None:
    kind, horse_id = wanted
    horse = _horse(world, asked, horse_id)
    if horse is None:
        return None
    if kind == "profile":
        return _archived(horse.name, profile(world, horse, asked.now), form)
    ours = kind == "result"
    body = _results(world, form, asked, horse) if ours else pedigree(world, horse)
    return _archived(horse.name, f"{headline(horse, asked.now)}{body}", form)


def _horse(world: World, asked: Asked, horse_id: str) -> Horse | Ancestor | None:
    horse = world.people.find_horse(horse_id)
    if horse is None:
        return world.people.families.find(horse_id)
    return horse if horse.born_on <= asked.now.date() else None


def _results(world: World, form: Form, asked: Asked, horse: Horse | Ancestor) -> str:
    runs = world.runs(horse, asked.now) if isinstance(horse, Horse) else world.old_runs(horse)
    return results(horse.id, runs, form.columns)


def _of_jockey(world: World, form: Form, asked: Asked, jockey_id: str) -> Page | None:
    jockey = world.people.find_jockey(jockey_id)
    if jockey is None or jockey.first_year > asked.now.astimezone(JST).year:
        return None
    every_year = asked.path.endswith(".html")
    body = jockey_page(world, jockey, asked.now, every_year=every_year)
    return _archived(jockey.name, body, form)


def _race(world: World, asked: Asked, race_id: str) -> Race | None:
    """Answer a race that is announced by now: those of this year and the next."""
    year = race_id[:4]
    announced = year.isdecimal() and int(year) <= asked.now.astimezone(JST).year + 1
    return world.race(race_id) if announced else None


def _whole(title: str, body: str, form: Form) -> Page:
    text = document(title, body, form.race_encoding)
    return Page(text, form.race_encoding, charset_told=form.charset_told)


def _archived(title: str, body: str, form: Form) -> Page:
    text = document(title, body, form.db_encoding)
    return Page(text, form.db_encoding, charset_told=False)


def _day(words: str | None, now: datetime) -> date | None:
    if words is None:
        return now.astimezone(JST).date()
    try:
        day = datetime.strptime(words, "%Y%m%d").replace(tzinfo=JST).date()
    except ValueError:
        return None
    return day if _OLDEST_YEAR <= day.year <= now.astimezone(JST).year + 1 else None
