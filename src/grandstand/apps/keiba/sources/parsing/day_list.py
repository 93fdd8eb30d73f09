"""Kept here: the page of a day's races, and the list of the days there is racing on."""

from __future__ import annotations

import re
from dataclasses import replace
from datetime import date
from typing import Final

from selectolax.lexbor import LexborNode

from grandstand.apps.keiba.model import ids
from grandstand.apps.keiba.model.races import DayList, RaceEntry
from grandstand.apps.keiba.sources.parsing.grades import grade_of
from grandstand.apps.keiba.sources.reading import text
from grandstand.apps.keiba.sources.reading.links import race_in
from grandstand.apps.keiba.sources.reading.page import (
    Page,
    Parsed,
    Reading,
    classes_of,
    link_of,
    open_page,
    text_of,
)

_NUMBER: Final = re.compile(r"([0-9]{1,2})R")
_COUNT: Final = re.compile(r"([0-9]{1,2})頭")
_MEETING: Final = re.compile(r"([0-9]{1,2})回")
_DAY: Final = re.compile(r"([0-9]{1,2})日目")
_DATE: Final = re.compile(r"[0-9]{8}")
_WEATHERS: Final = ("小雨", "小雪", "晴", "曇", "雨", "雪")


def parse_day_list(page: Page, race_date: date) -> Parsed[DayList]:
    """Answer the races of a day, none when there is no racing; raise PageUnreadable."""
    reading = open_page(page)
    if reading.tree.css_first("#RaceTopRace, .RaceList_Box") is None:
        raise reading.unreadable("it has no list of races")
    races: dict[str, RaceEntry] = {}
    items = 0
    for venue in reading.tree.css("dl.RaceList_DataList"):
        meeting = _meeting(venue)
        for item in venue.css("li.RaceList_DataItem"):
            items += 1
            entry = _entry(item, meeting, reading)
            if entry is not None:
                races.setdefault(entry.race_id, entry)
    if not races and (items or reading.tree.css_first("dl.RaceList_DataList") is not None):
        raise reading.unreadable("not one of its races can be made out")
    return reading.parsed(DayList(race_date, tuple(races.values())))


def parse_meeting_days(page: Page) -> Parsed[tuple[date, ...]]:
    """Answer the days of racing around a day, in order; raise PageUnreadable."""
    reading = open_page(page)
    said = [node.attributes.get("date") or "" for node in reading.tree.css("li[date]")]
    days = {found for one in said if (found := _compact(one)) is not None}
    if not days:
        raise reading.unreadable("it names no day of racing")
    if len(days) < len(set(said)):
        reading.warn("some of the days are no dates")
    return reading.parsed(tuple(sorted(days)))


def _compact(written: str) -> date | None:
    if not _DATE.fullmatch(written):
        return None
    return text.day(f"{written[:4]}/{written[4:6]}/{written[6:]}")


def _meeting(venue: LexborNode) -> RaceEntry:
    """Answer what the head of a venue says of all its races."""
    title = venue.css_first(".RaceList_DataTitle")
    small = [text_of(node) for node in title.css("small")] if title else []
    name = text_of(title)
    for part in small:
        name = name.replace(part, " ", 1)
    said = " ".join(small)
    number, nth = _MEETING.search(said), _DAY.search(said)
    return RaceEntry(
        text.normal(name),
        0,
        "",
        meeting_number=int(number[1]) if number else None,
        day_number=int(nth[1]) if nth else None,
        weather=text.weather(_weather(venue)),
    )


def _weather(venue: LexborNode) -> str:
    """Answer the word for the weather, which may stand behind a label."""
    said = text_of(venue.css_first(".RaceList_DataDesc .Weather"))
    return next((word for word in _WEATHERS if word in said), "")


def _ground(venue: LexborNode | None, entry: RaceEntry) -> RaceEntry:
    """Add the going: that of the dirt track for dirt, that of the turf for the rest."""
    place = ".Da" if entry.track_type == "dirt" else ".Shiba"
    said = text_of(venue.css_first(f".RaceList_DataDesc {place}")) if venue else ""
    return replace(entry, going=text.going(said.rpartition(":")[2]))


def _entry(item: LexborNode, meeting: RaceEntry, reading: Reading) -> RaceEntry | None:
    links = [link for link in item.css("a[href]") if "LinkIconRaceMovie" not in classes_of(link)]
    found = [(link_of(link), race) for link in links if (race := race_in(link_of(link)))]
    if not found:
        reading.warn(f"a race at {meeting.track_name or 'a track'} has no link to it")
        return None
    link, race_id = found[0]
    number = _NUMBER.search(text.bare(text_of(item.css_first(".Race_Num"))))
    race_number = int(number[1]) if number else ids.number_of(race_id)
    track = ids.track_of(race_id)
    if race_number is None:
        reading.warn(f"race {race_id} has no number")
        return None
    entry = replace(
        meeting,
        track_name=meeting.track_name or (track.name if track else ""),
        race_number=race_number,
        race_id=race_id,
        race_name=text_of(item.css_first(".ItemTitle")) or None,
        grade=grade_of(item.css_first(".RaceList_ItemTitle")),
        has_result="/result.html" in link,
    )
    return _ground(_venue(item), _described(item, entry, reading))


def _described(item: LexborNode, entry: RaceEntry, reading: Reading) -> RaceEntry:
    """Add what the line of data says: the distance of a jump race stands in a nameless span."""
    data = item.css_first(".RaceData")
    written = text_of(data)
    surface, distance = None, None
    for span in data.css("span") if data else []:
        if "RaceList_Itemtime" not in classes_of(span) and distance is None:
            surface, distance = text.surface_and_distance(text_of(span))
    if distance is None:
        reading.warn(f"race {entry.race_id} has no distance")
    count = _COUNT.search(written)
    return replace(
        entry,
        post_time=text.clock(text_of(item.css_first(".RaceList_Itemtime")) or written),
        track_type=surface,
        distance=distance,
        runner_count=int(count[1]) if count else None,
    )


def _venue(item: LexborNode) -> LexborNode | None:
    node = item.parent
    while node is not None and "RaceList_DataList" not in classes_of(node):
        node = node.parent
    return node
