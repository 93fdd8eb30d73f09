"""Parsers of the race list of a day and of the list of racing days."""

from __future__ import annotations

import re
from dataclasses import replace
from datetime import date
from typing import Final

from selectolax.lexbor import LexborNode

from grandstand.apps.keiba.domain import ids
from grandstand.apps.keiba.domain.races import RaceEntry
from grandstand.apps.keiba.sources import text_fields
from grandstand.apps.keiba.sources.html_reader import (
    Page,
    PageReader,
    Parsed,
    node_classes,
    node_link,
    node_text,
    open_page,
    race_id_in,
)
from grandstand.apps.keiba.sources.race_parser import read_grade

_NUMBER: Final = re.compile(r"([0-9]{1,2})R")
_COUNT: Final = re.compile(r"([0-9]{1,2})頭")
_MEETING: Final = re.compile(r"([0-9]{1,2})回")
_DAY: Final = re.compile(r"([0-9]{1,2})日目")
_DATE: Final = re.compile(r"[0-9]{8}")
_WEATHERS: Final = ("小雨", "小雪", "晴", "曇", "雨", "雪")


def parse_day_list(page: Page) -> Parsed[tuple[RaceEntry, ...]]:
    """Parse the races of a day; empty if there is no racing.

    Raises PageUnreadable.
    """
    reader = open_page(page)
    if reader.tree.css_first("#RaceTopRace, .RaceList_Box") is None:
        raise reader.unreadable("no list of races")
    races: dict[str, RaceEntry] = {}
    items = 0
    for venue in reader.tree.css("dl.RaceList_DataList"):
        meeting = _meeting(venue)
        for item in venue.css("li.RaceList_DataItem"):
            items += 1
            entry = _entry(item, meeting, reader)
            if entry is not None:
                races.setdefault(entry.race_id, entry)
    if not races and (items or reader.tree.css_first("dl.RaceList_DataList") is not None):
        raise reader.unreadable("no valid races")
    return reader.parsed(tuple(races.values()))


def parse_meeting_days(page: Page) -> Parsed[tuple[date, ...]]:
    """Parse the racing days around a day, in order.

    Raises PageUnreadable.
    """
    reader = open_page(page)
    texts = [node.attributes.get("date") or "" for node in reader.tree.css("li[date]")]
    days = {found for text in texts if (found := _parse_compact_date(text)) is not None}
    if not days:
        raise reader.unreadable("no racing days")
    if len(days) < len(set(texts)):
        reader.warn("some racing days are invalid")
    return reader.parsed(tuple(sorted(days)))


def _parse_compact_date(text: str) -> date | None:
    if not _DATE.fullmatch(text):
        return None
    return text_fields.parse_date(f"{text[:4]}/{text[4:6]}/{text[6:]}")


def _meeting(venue: LexborNode) -> RaceEntry:
    """Return what the header of a track says about all its races."""
    title = venue.css_first(".RaceList_DataTitle")
    small = [node_text(node) for node in title.css("small")] if title else []
    name = node_text(title)
    for part in small:
        name = name.replace(part, " ", 1)
    line = " ".join(small)
    number, day = _MEETING.search(line), _DAY.search(line)
    return RaceEntry(
        text_fields.normalize(name),
        0,
        "",
        meeting_number=int(number[1]) if number else None,
        day_number=int(day[1]) if day else None,
        weather=text_fields.parse_weather(_weather(venue)),
    )


def _weather(venue: LexborNode) -> str:
    """Return the word for the weather, which may follow a label."""
    text = node_text(venue.css_first(".RaceList_DataDesc .Weather"))
    return next((word for word in _WEATHERS if word in text), "")


def _with_going(venue: LexborNode | None, entry: RaceEntry) -> RaceEntry:
    """Add the going: that of the dirt track for dirt, of the turf for the others."""
    selector = ".Da" if entry.track_type == "dirt" else ".Shiba"
    text = node_text(venue.css_first(f".RaceList_DataDesc {selector}")) if venue else ""
    return replace(entry, going=text_fields.parse_going(text.rpartition(":")[2]))


def _entry(item: LexborNode, meeting: RaceEntry, reader: PageReader) -> RaceEntry | None:
    links = [link for link in item.css("a[href]") if "LinkIconRaceMovie" not in node_classes(link)]
    found = [(node_link(link), race) for link in links if (race := race_id_in(node_link(link)))]
    if not found:
        reader.warn(f"a race at {meeting.track_name or 'unknown track'} has no link")
        return None
    link, race_id = found[0]
    number = _NUMBER.search(text_fields.compact(node_text(item.css_first(".Race_Num"))))
    race_number = int(number[1]) if number else ids.number_of(race_id)
    track = ids.track_of(race_id)
    if race_number is None:
        reader.warn(f"race {race_id} has no number")
        return None
    entry = replace(
        meeting,
        track_name=meeting.track_name or (track.name if track else ""),
        race_number=race_number,
        race_id=race_id,
        race_name=node_text(item.css_first(".ItemTitle")) or None,
        grade=read_grade(item.css_first(".RaceList_ItemTitle")),
        has_result="/result.html" in link,
    )
    return _with_going(_venue(item), _with_race_data(item, entry, reader))


def _with_race_data(item: LexborNode, entry: RaceEntry, reader: PageReader) -> RaceEntry:
    """Add post time, course and runner count; a jump race has its distance in a plain span."""
    data = item.css_first(".RaceData")
    text = node_text(data)
    surface, distance = None, None
    for span in data.css("span") if data else []:
        if "RaceList_Itemtime" not in node_classes(span) and distance is None:
            surface, distance = text_fields.parse_course(node_text(span))
    if distance is None:
        reader.warn(f"race {entry.race_id} has no distance")
    count = _COUNT.search(text)
    return replace(
        entry,
        post_time=text_fields.parse_clock(node_text(item.css_first(".RaceList_Itemtime")) or text),
        track_type=surface,
        distance=distance,
        runner_count=int(count[1]) if count else None,
    )


def _venue(item: LexborNode) -> LexborNode | None:
    node = item.parent
    while node is not None and "RaceList_DataList" not in node_classes(node):
        node = node.parent
    return node
