"""Kept here: the list of a day's races, and the days with racing around it."""

from __future__ import annotations

from datetime import date, datetime
from typing import Final

from grandstand.simulators.racing.calendar import JST, Meeting, morning
from grandstand.simulators.racing.running import Race
from grandstand.simulators.racing.tracks import GOINGS, LETTER, Circuit, Surface
from grandstand.simulators.racing.world import World

# A jump race has no class of its own, as on the real list.
_CLASS: Final[dict[Surface, str]] = {
    "turf": "RaceList_ItemLong Turf",
    "dirt": "RaceList_ItemLong Dart",
    "jump": "",
}
_TITLE_LETTERS: Final = 9


def day_list(world: World, circuit: Circuit, day: date, now: datetime) -> str:
    """Answer the fragment with a day's meetings, an empty wrapper on a day without racing."""
    boxes = [_meeting(world, meeting, now) for meeting in world.meetings(circuit, day)]
    inner = f'<div class="RaceList_Box clearfix">\n{"".join(boxes)}</div>\n'
    return f'<div id="RaceTopRace">\n{inner}</div>\n'


def date_list(world: World, circuit: Circuit, day: date) -> str:
    """Answer the fragment with the days around; the one asked for is marked."""
    items = [
        f'<li class="{"Active" if one == day else ""}" date="{one:%Y%m%d}">'
        f'<a href="../top/race_list.html?kaisai_date={one:%Y%m%d}">{one.month}/{one.day}</a></li>\n'
        for one in world.days(circuit, day)
    ]
    return f'<ul id="date_list_sub">\n{"".join(items)}</ul>\n'


def shell(day: date) -> str:
    """Answer the page that a browser's script fills: it holds no race."""
    return (
        f'<div class="RaceTop" data-date="{day:%Y%m%d}"><ul id="date_list"></ul>'
        '<div id="race_list" class="Loading"></div></div>'
    )


def _meeting(world: World, meeting: Meeting, now: datetime) -> str:
    races = (world.race(meeting.race_id(number)) for number in range(1, meeting.races + 1))
    items = "".join(_item(race, now) for race in races if race is not None)
    known = now >= morning(meeting.held_on, 8)
    turf = (
        f'<span class="Shiba">芝(A)\N{FULLWIDTH COLON}{GOINGS[meeting.turf_going]}</span>'
        if known
        else ""
    )
    dirt = (
        f'<span class="Da">ダ\N{FULLWIDTH COLON}{GOINGS[meeting.dirt_going]}</span>'
        if known
        else ""
    )
    return (
        '<dl class="RaceList_DataList">\n<dt class="RaceList_DataHeader">\n'
        '<div class="RaceList_DataHeader_Top">\n'
        f'<p class="RaceList_DataTitle"><small>{meeting.kai}回</small> {meeting.track.name} '
        f"<small>{meeting.day}日目</small></p>\n"
        f'<a href="../top/payback_list.html?kaisai_id={meeting.kaisai_id}'
        f'&kaisai_date={meeting.held_on:%Y%m%d}">払戻一覧</a>\n</div>\n'
        '<div class="RaceList_DataDesc">'
        f'<span class="Weather"><span class="Icon_Weather Weather01"></span></span>{turf}{dirt}'
        f'</div>\n</dt>\n<dd class="RaceList_Data">\n<ul>\n{items}</ul>\n</dd>\n</dl>\n'
    )


def _item(race: Race, now: datetime) -> str:
    terms, circuit = race.terms, race.slot.meeting.circuit
    page = "result" if now >= race.confirmed_at else "shutuba"
    icon = (
        f'<span class="Icon_GradeType Icon_GradeType{terms.grade_icon}"></span>'
        if terms.grade_icon
        else ""
    )
    runners = f"{len(race.horses)}頭"
    many = f'<span class="RaceList_Itemnumber">{runners}</span>' if circuit == "jra" else runners
    return (
        '<li class="RaceList_DataItem ">\n'
        f'<a href="../race/{page}.html?race_id={race.race_id}&rf=race_list">\n'
        f'<div class="Race_Num"><span>{race.slot.number}R</span></div>\n'
        f'<div class="RaceList_ItemTitle"><span class="ItemTitle">{terms.name[:_TITLE_LETTERS]}'
        f"</span>{icon}</div>\n"
        '<div class="RaceData">'
        f'<span class="RaceList_Itemtime">{race.off_at.astimezone(JST):%H:%M} </span>'
        f'<span class="{_CLASS[terms.surface]}">{LETTER[terms.surface]}{terms.metres}m </span>'
        f"{many}</div>\n</a>\n"
        f'<a href="../race/movie.html?race_id={race.race_id}" class="LinkIconRaceMovie">映像</a>\n'
        "</li>\n"
    )
