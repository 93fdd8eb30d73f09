"""Kept here: the box above card and result that says what race it is."""

from __future__ import annotations

from datetime import datetime

from grandstand.simulators.racing.calendar import JST
from grandstand.simulators.racing.career import prize_words
from grandstand.simulators.racing.running import Race
from grandstand.simulators.racing.tracks import GOINGS, LETTER


def heading(race: Race, now: datetime) -> str:
    """Answer the box; weather and ground are known from the morning on."""
    terms, meeting = race.terms, race.slot.meeting
    ground = ""
    if now >= race.opens_at:
        ground = (
            f'/ 天候:{meeting.sky}<span class="Icon_Weather Weather01"></span>\n'
            f'<span class="Item04">/ 馬場:{GOINGS[meeting.going(terms.surface)][0]}</span>'
        )
    turn = "芝" if terms.surface == "jump" else meeting.track.turn
    icon = (
        f'<span class="Icon_GradeType Icon_GradeType{terms.grade_icon}"></span>'
        if terms.grade_icon
        else ""
    )
    spans = (
        f"{meeting.kai}回",
        meeting.track.name,
        f"{meeting.day}日目",
        terms.age if terms.surface != "jump" else f"障害{terms.age}",
        terms.rank,
        "(混)[指]",
        "馬齢" if race.slot.band[0] == "2" else "定量",
        f"{len(race.horses)}頭",
    )
    return (
        '<div class="RaceList_NameBox">\n'
        f'<div class="RaceList_Item01"><span class="RaceNum">{race.slot.number}R</span></div>\n'
        '<div class="RaceList_Item02">\n'
        f'<h1 class="RaceName">{terms.name}\n{icon}</h1>\n'
        f'<div class="RaceData01">{race.off_at.astimezone(JST):%H:%M}発走 /<!-- course -->'
        f"<span> {LETTER[terms.surface]}{terms.metres}m</span> ({turn})\n{ground}</div>\n"
        f'<div class="RaceData02">{"".join(f"<span>{one}</span>" for one in spans)}<br>'
        f"<span>{prize_words(terms)}</span></div>\n</div>\n</div>\n"
    )
