"""Kept here: the head of a card and of a result: what both say of the race."""

from __future__ import annotations

import re
from dataclasses import dataclass, fields
from datetime import date
from decimal import Decimal
from itertools import pairwise
from typing import Any, Final

from grandstand.apps.keiba.model import ids
from grandstand.apps.keiba.model.races import RaceFacts
from grandstand.apps.keiba.model.words import Surface
from grandstand.apps.keiba.sources.parsing.grades import grade_of
from grandstand.apps.keiba.sources.reading import text
from grandstand.apps.keiba.sources.reading.links import race_in
from grandstand.apps.keiba.sources.reading.page import Reading, lines_of, link_of, text_of

_WEIGHT_RULES: Final = ("馬齢", "定量", "別定", "ハンデ")
_NUMBER: Final = re.compile(r"([0-9]{1,2})R")
_START: Final = re.compile(r"([0-9]{1,2}:[0-9]{2})\s*発走")
_COURSE: Final = re.compile(r"([芝ダ障])[^0-9/]{0,8}[0-9]{3,4}m\s*(?:\(([^)]{0,20})\))?")
_WEATHER: Final = re.compile(r"天候\s*:\s*([^\s/]{1,4})")
_GOING: Final = re.compile(r"馬場\s*:\s*([^\s/]{1,4})")
_COUNT: Final = re.compile(r"([0-9]{1,2})頭")
_MEETING: Final = re.compile(r"([0-9]{1,2})回")
_DAY: Final = re.compile(r"([0-9]{1,2})日目")
_PRIZES: Final = re.compile(r"本賞金\s*:\s*([0-9.,\s]+)万円")
_NO_DIRECTION: Final = str.maketrans("", "", "左右直線")
_KAISAI: Final = re.compile(r"kaisai_date=([0-9]{4})([0-9]{2})([0-9]{2})")


@dataclass(frozen=True, slots=True)
class Head:
    """The head of a page about a race."""

    race_name: str
    facts: RaceFacts
    distance: int | None
    track_type: Surface | None
    track_name: str | None

    @property
    def given(self) -> dict[str, Any]:
        """All of it by the names that a card and a result have for it."""
        facts = {one.name: getattr(self.facts, one.name) for one in fields(RaceFacts)}
        return facts | {
            "race_name": self.race_name,
            "distance": self.distance,
            "track_type": self.track_type,
            "track_name": self.track_name,
        }


def check_race(reading: Reading, race_id: str) -> None:
    """Raise PageUnreadable when a page names itself the page of another race."""
    for node in reading.tree.css("link[rel=canonical], meta[property='og:url']"):
        place = node.attributes.get("href") or node.attributes.get("content") or ""
        found = race_in(place)
        if found is not None and found != race_id:
            raise reading.unreadable(f"it is of race {found}, not of {race_id}")


def read_head(reading: Reading, race_id: str) -> Head:
    """Answer what the head of a page says of a race; what it lacks is noted."""
    tree = reading.tree
    course = text_of(tree.css_first(".RaceData01"))
    surface, distance = text.surface_and_distance(_course_part(course))
    if distance is None:
        reading.warn("the page does not say over what distance the race is run")
    number = _NUMBER.search(text.bare(text_of(tree.css_first(".RaceNum"))))
    race_number = int(number[1]) if number else ids.number_of(race_id)
    title = tree.css_first(".RaceName")
    name = text_of(title)
    if not name:
        reading.warn("the race has no name on the page")
    words = _words(reading)
    track = ids.track_of(race_id)
    return Head(
        race_name=name or f"{race_number or '?'}R",
        facts=_facts(reading, race_id, course, words, race_number),
        distance=distance,
        track_type=surface,
        track_name=track.name if track else _track(words),
    )


def _course_part(written: str) -> str:
    found = _COURSE.search(written)
    return found[0].partition("(")[0] if found else written.partition("発走")[2]


def _words(reading: Reading) -> list[str]:
    node = reading.tree.css_first(".RaceData02")
    if node is None:
        reading.warn("the page does not say what kind of race it is")
        return []
    spans = [text_of(span) for span in node.css("span")]
    return [word for word in spans or lines_of(node) if word]


def _facts(
    reading: Reading, race_id: str, course: str, words: list[str], race_number: int | None
) -> RaceFacts:
    start, weather, ground = (one.search(course) for one in (_START, _WEATHER, _GOING))
    around = _COURSE.search(course)
    beside = (around[2] or "") if around else ""
    said = " ".join(words)
    number, nth, count = (one.search(said) for one in (_MEETING, _DAY, _COUNT))
    meeting = ids.meeting_of(race_id)
    kind = _kind(words)
    return RaceFacts(
        race_date=_date(reading, race_id),
        race_number=race_number,
        post_time=text.clock(start[1] if start else ""),
        grade=grade_of(reading.tree.css_first(".RaceName")),
        meeting_number=int(number[1]) if number else meeting and meeting[0],
        day_number=int(nth[1]) if nth else meeting and meeting[1],
        direction=text.direction(beside),
        course=" ".join(beside.translate(_NO_DIRECTION).split()) or None,
        weather=text.weather(weather[1] if weather else ""),
        going=text.going(ground[1] if ground else ""),
        ages=kind.get("ages"),
        race_class=kind.get("race_class"),
        conditions=kind.get("conditions"),
        weight_rule=kind.get("weight_rule"),
        runner_count=int(count[1]) if count else None,
        prize_money=_prizes(said),
    )


def _kind(words: list[str]) -> dict[str, str]:
    """Tell the words apart by what they look like; the class is the one that looks like none."""
    kind: dict[str, str] = {}
    for word in words:
        if _is_place(word):
            continue
        if word.startswith(_WEIGHT_RULES):
            kind.setdefault("weight_rule", word)
        elif "歳" in word or word.startswith(("サラ系", "アラ系", "ばんえい")):
            kind.setdefault("ages", word)
        elif word.startswith(("(", "[", "牝", "国際", "混", "指", "特")):
            kind.setdefault("conditions", word)
        else:
            kind.setdefault("race_class", word)
    return kind


def _is_place(word: str) -> bool:
    """Tell whether a word says where, which day, how many or for how much."""
    patterns = (_MEETING, _DAY, _COUNT)
    return (
        "本賞金" in word
        or word in {track.name for track in ids.TRACKS.values()}
        or any(pattern.fullmatch(word) for pattern in patterns)
    )


def _track(words: list[str]) -> str | None:
    """Answer the word between the meeting and its day."""
    for before, word in pairwise(words):
        if _MEETING.fullmatch(before):
            return word
    return None


def _prizes(said: str) -> tuple[Decimal, ...]:
    found = _PRIZES.search(said)
    prizes = [text.decimal(one) for one in found[1].split(",")] if found else []
    return tuple(one for one in prizes if one is not None)


def _date(reading: Reading, race_id: str) -> date | None:
    """Answer the date: in the id of a local race, else in the active tab or the title."""
    known = ids.date_of(race_id)
    if known is not None:
        return known
    for link in reading.tree.css(".Active a[href*=kaisai_date], a.Active[href*=kaisai_date]"):
        found = _KAISAI.search(link_of(link))
        if found and (day := text.day("/".join(found.groups()))):
            return day
    return text.day(text_of(reading.tree.css_first("title")))
