"""Parsers of race lists, cards, results, payouts and odds."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from datetime import date, datetime, timedelta, timezone
from decimal import Decimal
from itertools import pairwise
from string import digits
from typing import Final

import msgspec
from selectolax.lexbor import LexborNode

from grandstand.apps.keiba.domain import ids
from grandstand.apps.keiba.domain.errors import NotPublished, PageUnreadable
from grandstand.apps.keiba.domain.races import (
    Bet,
    Finisher,
    Odds,
    OddsStatus,
    Payout,
    PlaceOdds,
    RaceCard,
    RaceEntry,
    RaceFacts,
    RaceResult,
    Runner,
    WinOdds,
    shared_fields,
)
from grandstand.apps.keiba.sources import text_fields
from grandstand.apps.keiba.sources.html_reader import (
    Page,
    PageReader,
    Parsed,
    Row,
    body_rows,
    horse_id_in,
    jockey_id_in,
    node_classes,
    node_lines,
    node_link,
    node_text,
    open_page,
    page_text,
    race_id_in,
    row_cells,
    table_rows,
    trainer_id_in,
)
from grandstand.apps.keiba.sources.text_fields import compact

_ICON_PREFIX: Final = "Icon_GradeType"
_GRADE_BY_ICON: Final = {
    "1": "G1",
    "2": "G2",
    "3": "G3",
    "5": "OP",
    "10": "JG1",
    "11": "JG2",
    "12": "JG3",
    "15": "L",
    "16": "3勝",
    "17": "2勝",
    "18": "1勝",
    "19": "Jpn1",
    "20": "Jpn2",
    "21": "Jpn3",
}
# NFKC turns the Roman numbers of GI, GII and GIII into letters.
_GRADE_TEXT: Final = re.compile(r"\(?(J・?\.?G|Jpn|G)(III|II|I|[123])\)?(?![A-Za-z0-9])")
_ROMAN: Final = {"I": "1", "II": "2", "III": "3"}


def read_grade(node: LexborNode | None) -> str | None:
    """Return the grade shown by an icon or text; None for an ungraded race."""
    if node is None:
        return None
    for icon in node.css("span, em, i"):
        for name in node_classes(icon):
            grade = (
                _GRADE_BY_ICON.get(name.removeprefix(_ICON_PREFIX))
                if name.startswith(_ICON_PREFIX)
                else None
            )
            if grade:
                return grade
    return parse_grade(node.text())


def parse_grade(text: str) -> str | None:
    """Return the grade in a race name, such as (GIII)."""
    found = _GRADE_TEXT.search(compact(text))
    if found is None:
        return None
    kind = "JG" if found[1].startswith("J") and found[1] != "Jpn" else found[1]
    return f"{kind}{_ROMAN.get(found[2], found[2])}"


_STABLE: Final = re.compile(r"\[?(美浦|栗東|[^\s\[\]]{1,4})\]?\s+(\S.*)")


@dataclass(frozen=True, slots=True)
class HorseLink:
    """A horse named in a row."""

    id: str
    name: str


@dataclass(frozen=True, slots=True)
class PersonLink:
    """A jockey or trainer named in a row; `note` is the stable or the allowance mark."""

    id: str | None = None
    name: str | None = None
    note: str | None = None


def read_horse_link(cell: LexborNode | None, reader: PageReader, where: str) -> HorseLink | None:
    """Return the horse of a cell; a horse without an id is skipped with a warning."""
    for link in cell.css("a[href]") if cell else []:
        found = horse_id_in(node_link(link))
        if found:
            name = node_text(link) or text_fields.normalize(link.attributes.get("title"))
            if not name:
                reader.warn(f"horse {found} has no name")
            return HorseLink(found, name or found)
    reader.warn(f"{where} has no horse id; skipped")
    return None


def read_jockey_link(cell: LexborNode | None) -> PersonLink:
    """Return the jockey of a cell, without the allowance mark in the name."""
    mark, name = text_fields.parse_jockey_name(node_text(cell))
    return PersonLink(jockey_id_in(node_link(cell)), name, mark)


def read_trainer_link(cell: LexborNode | None) -> PersonLink:
    """Return the trainer and stable of a cell."""
    if cell is None:
        return PersonLink()
    link = cell.css_first("a[href]")
    name = node_text(link) or None
    stable = node_text(cell.css_first("span"))
    if not stable and name is None:
        found = _STABLE.fullmatch(node_text(cell))
        name, stable = (found[2], found[1]) if found else (node_text(cell) or None, "")
    elif not stable:
        stable = node_text(cell).replace(name or "", "", 1).strip(" []")
    return PersonLink(trainer_id_in(node_link(link)), name, stable.strip("[]") or None)


# Bet names on the site, and how many numbers each bet has.
_BETS: Final[dict[str, tuple[Bet, int]]] = {
    "単勝": ("win", 1),
    "複勝": ("place", 1),
    "枠連": ("bracket_quinella", 2),
    "枠単": ("bracket_exacta", 2),
    "馬連": ("quinella", 2),
    "ワイド": ("wide", 2),
    "馬単": ("exacta", 2),
    "3連複": ("trio", 3),
    "三連複": ("trio", 3),
    "3連単": ("trifecta", 3),
    "三連単": ("trifecta", 3),
}
_YEN: Final = re.compile(r"([0-9]{1,10})円")
_RANK: Final = re.compile(r"([0-9]{1,4})人気")
_NUMBER: Final = re.compile(r"[0-9]{1,2}")


def read_payouts(reader: PageReader) -> tuple[Payout, ...]:
    """Return all payouts; an inconsistent row is skipped with a warning."""
    payouts: list[Payout] = []
    for table in reader.tree.css("table.Payout_Detail_Table"):
        for row in table_rows(table):
            payouts += _row_payouts(row, reader)
    return tuple(payouts)


def _row_payouts(row: LexborNode, reader: PageReader) -> list[Payout]:
    cells = row_cells(row)
    name = text_fields.compact(cells[0].text()) if cells else ""
    if name not in _BETS:
        return []
    bet, size = _BETS[name]
    numbers = [int(text) for text in _NUMBER.findall(_cell_text(row, "Result", " "))]
    amounts = [int(text) for text in _YEN.findall(_cell_text(row, "Payout", "").replace(",", ""))]
    ranks = [int(text) for text in _RANK.findall(_cell_text(row, "Ninki", " "))]
    if not numbers and not amounts:
        return []
    if len(numbers) != size * len(amounts):
        reader.warn(f"{name} payouts do not match their numbers; skipped")
        return []
    return [
        Payout(
            bet,
            tuple(numbers[at * size : (at + 1) * size]),
            amount,
            ranks[at] if len(ranks) == len(amounts) else None,
        )
        for at, amount in enumerate(amounts)
    ]


def _cell_text(row: LexborNode, name: str, separator: str) -> str:
    cell = row.css_first(f"td.{name}")
    return separator.join(node_lines(cell)) if cell else ""


_RACE_NUMBER: Final = re.compile(r"([0-9]{1,2})R")
_START: Final = re.compile(r"([0-9]{1,2}:[0-9]{2})\s*発走")
_COURSE: Final = re.compile(r"([芝ダ障])[^0-9/]{0,8}[0-9]{3,4}m\s*(?:\(([^)]{0,20})\))?")
_WEATHER: Final = re.compile(r"天候\s*:\s*([^\s/]{1,4})")
_GOING: Final = re.compile(r"馬場\s*:\s*([^\s/]{1,4})")
_COUNT: Final = re.compile(r"([0-9]{1,2})頭")
_MEETING: Final = re.compile(r"([0-9]{1,2})回")
_DAY: Final = re.compile(r"([0-9]{1,2})日目")
_PRIZES: Final = re.compile(r"本賞金\s*:\s*([0-9.,\s]+)万円")
_KAISAI: Final = re.compile(r"kaisai_date=([0-9]{4})([0-9]{2})([0-9]{2})")


def check_race(reader: PageReader, race_id: str) -> None:
    """Raise PageUnreadable if the page belongs to another race."""
    for node in reader.tree.css("link[rel=canonical], meta[property='og:url']"):
        url = node.attributes.get("href") or node.attributes.get("content") or ""
        found = race_id_in(url)
        if found is not None and found != race_id:
            raise reader.unreadable(f"it belongs to race {found}, not {race_id}")


def _condition_words(reader: PageReader) -> list[str]:
    node = reader.tree.css_first(".RaceData02")
    if node is None:
        reader.warn("race conditions missing")
        return []
    spans = [node_text(span) for span in node.css("span")]
    return [word for word in spans or node_lines(node) if word]


def read_facts(reader: PageReader, race_id: str) -> RaceFacts:
    """Return the header of a race page; missing parts become warnings."""
    tree = reader.tree
    course = node_text(tree.css_first(".RaceData01"))
    found = _COURSE.search(course)
    surface, distance = text_fields.parse_course(
        found[0].partition("(")[0] if found else course.partition("発走")[2]
    )
    if distance is None:
        reader.warn("distance missing")
    number = _RACE_NUMBER.search(text_fields.compact(node_text(tree.css_first(".RaceNum"))))
    race_number = int(number[1]) if number else ids.number_of(race_id)
    title = tree.css_first(".RaceName")
    name = node_text(title)
    if not name:
        reader.warn("race name missing")
    words = _condition_words(reader)
    line = " ".join(words)
    start, weather, going = (pattern.search(course) for pattern in (_START, _WEATHER, _GOING))
    layout = _COURSE.search(course)
    detail = (layout[2] or "") if layout else ""
    meeting_number, day_number, count = (
        pattern.search(line) for pattern in (_MEETING, _DAY, _COUNT)
    )
    meeting, track = ids.meeting_of(race_id), ids.track_of(race_id)
    conditions = _classify_words(words)
    return RaceFacts(
        race_id=race_id,
        race_name=name or f"{race_number or '?'}R",
        distance=distance,
        track_type=surface,
        track_name=track.name if track else _track(words),
        race_date=_date(reader, race_id),
        race_number=race_number,
        post_time=text_fields.parse_clock(start[1] if start else ""),
        grade=read_grade(title),
        meeting_number=int(meeting_number[1]) if meeting_number else meeting and meeting[0],
        day_number=int(day_number[1]) if day_number else meeting and meeting[1],
        direction=text_fields.parse_direction(detail),
        course=" ".join(detail.translate(str.maketrans("", "", "左右直線")).split()) or None,
        weather=text_fields.parse_weather(weather[1] if weather else ""),
        going=text_fields.parse_going(going[1] if going else ""),
        ages=conditions.get("ages"),
        race_class=conditions.get("race_class"),
        conditions=conditions.get("conditions"),
        weight_rule=conditions.get("weight_rule"),
        runner_count=int(count[1]) if count else None,
        prize_money=_prizes(line),
    )


def _classify_words(words: list[str]) -> dict[str, str]:
    """Classify the words of the conditions line; the race class is the one left over."""
    conditions: dict[str, str] = {}
    for word in words:
        if _is_place(word):
            continue
        if word.startswith(("馬齢", "定量", "別定", "ハンデ")):
            conditions.setdefault("weight_rule", word)
        elif "歳" in word or word.startswith(("サラ系", "アラ系", "ばんえい")):
            conditions.setdefault("ages", word)
        elif word.startswith(("(", "[", "牝", "国際", "混", "指", "特")):
            conditions.setdefault("conditions", word)
        else:
            conditions.setdefault("race_class", word)
    return conditions


def _is_place(word: str) -> bool:
    """Return whether a word is a track, meeting, day, runner count or prize."""
    patterns = (_MEETING, _DAY, _COUNT)
    return (
        "本賞金" in word
        or word in {track.name for track in ids.TRACKS.values()}
        or any(pattern.fullmatch(word) for pattern in patterns)
    )


def _track(words: list[str]) -> str | None:
    """Return the word after the meeting number."""
    for before, word in pairwise(words):
        if _MEETING.fullmatch(before):
            return word
    return None


def _prizes(line: str) -> tuple[Decimal, ...]:
    found = _PRIZES.search(line)
    prizes = [text_fields.parse_decimal(part) for part in found[1].split(",")] if found else []
    return tuple(prize for prize in prizes if prize is not None)


def _date(reader: PageReader, race_id: str) -> date | None:
    """Return the date from the id of a NAR race, else from the active tab or the title."""
    known = ids.date_of(race_id)
    if known is not None:
        return known
    for link in reader.tree.css(".Active a[href*=kaisai_date], a.Active[href*=kaisai_date]"):
        found = _KAISAI.search(node_link(link))
        if found and (day := text_fields.parse_date("/".join(found.groups()))):
            return day
    return text_fields.parse_date(node_text(reader.tree.css_first("title")))


_NUMBERED: Final = frozenset({"Waku", "Umaban"})
_SCRATCHED_WORDS: Final = ("取消", "除外")


def parse_card(page: Page, race_id: str) -> Parsed[RaceCard]:
    """Parse a card.

    Raises PageUnreadable if it has no runners.
    """
    reader = open_page(page)
    check_race(reader, race_id)
    table = reader.tree.css_first("table.Shutuba_Table")
    if table is None:
        raise reader.unreadable("no table of runners")
    runners: dict[str, Runner] = {}
    rows = table.css("tr.HorseList")
    for place, row in enumerate(rows, 1):
        runner = _runner(row, reader, f"row {place}")
        if runner is not None and runners.setdefault(runner.horse_id, runner) is not runner:
            reader.warn(f"{runner.horse_name} appears on the card twice")
    if not runners:
        raise reader.unreadable("no runners found")
    facts = shared_fields(read_facts(reader, race_id), RaceFacts)
    card = RaceCard(**facts, horses=tuple(runners.values()))
    _check_runners(card, reader)
    return reader.parsed(card)


def _check_runners(card: RaceCard, reader: PageReader) -> None:
    """Warn if the runners contradict each other or the header."""
    if card.runner_count is not None and card.runner_count != len(card.horses):
        reader.warn(f"the page announces {card.runner_count} runners but lists {len(card.horses)}")
    numbers = [runner.horse_number for runner in card.horses if runner.horse_number is not None]
    if len(set(numbers)) < len(numbers):
        reader.warn("duplicate horse number")
    if numbers and len(numbers) < len([runner for runner in card.horses if not runner.scratched]):
        reader.warn("only some runners have a number")


def _runner(row: LexborNode, reader: PageReader, where: str) -> Runner | None:
    cells = _cells(row)
    horse = read_horse_link(cells.get("HorseInfo") or row.css_first(".HorseName"), reader, where)
    if horse is None:
        return None
    jockey, trainer = read_jockey_link(cells.get("Jockey")), read_trainer_link(cells.get("Trainer"))
    sex, age = text_fields.parse_sex_and_age(node_text(cells.get("Barei")))
    weight, change = text_fields.parse_body_weight(node_text(cells.get("Weight")))
    frame = text_fields.parse_positive_int(node_text(cells.get("Waku")))
    carried = text_fields.parse_decimal(node_text(cells.get("carried")))
    scratched = _scratched(row)
    if carried is None and not scratched:
        reader.warn(f"{horse.name} has no carried weight")
    if jockey.name is None and not scratched:
        reader.warn(f"{horse.name} has no jockey")
    return Runner(
        horse_id=horse.id,
        horse_name=horse.name,
        jockey_id=jockey.id,
        jockey_name=jockey.name,
        frame_number=frame if frame is not None and frame <= 8 else None,
        horse_number=text_fields.parse_positive_int(node_text(cells.get("Umaban"))),
        carried_weight=carried,
        sex=sex,
        age=age,
        trainer_id=trainer.id,
        trainer_name=trainer.name,
        stable=trainer.note,
        body_weight=weight,
        body_weight_change=change,
        scratched=scratched,
        win_odds=_positive_decimal(node_text(cells.get("Popular"))),
        popularity=text_fields.parse_positive_int(node_text(cells.get("Popular_Ninki"))),
    )


def _cells(row: LexborNode) -> dict[str, LexborNode]:
    """Return the cells by CSS class; the carried weight is the cell after sex and age."""
    found: dict[str, LexborNode] = {}
    previous: list[str] = []
    for cell in row_cells(row):
        names = [_strip_color(name) for name in node_classes(cell)]
        for name in names:
            found.setdefault(name, cell)
        if "Barei" in previous:
            found.setdefault("carried", cell)
        previous = names
    return found


def _strip_color(name: str) -> str:
    """Remove the color number behind Waku and Umaban from a CSS class."""
    plain = name.rstrip(digits)
    return plain if plain in _NUMBERED else name


def _scratched(row: LexborNode) -> bool:
    """Return whether a row is marked as scratched; options of a select do not count."""
    if "Cancel" in node_classes(row):
        return True
    if not any(word in row.text() for word in _SCRATCHED_WORDS):
        return False
    marked = [
        cell for cell in row_cells(row) if any(word in cell.text() for word in _SCRATCHED_WORDS)
    ]
    return any(cell.css_first("select") is None for cell in marked)


def parse_result(page: Page, race_id: str) -> Parsed[RaceResult]:
    """Parse a result; it is unconfirmed while its table is empty.

    Raises PageUnreadable.
    """
    reader = open_page(page)
    check_race(reader, race_id)
    table = reader.tree.css_first("table#All_Result_Table")
    if table is None:
        raise reader.unreadable("no table of results")
    rows = [row for row in body_rows(table) if node_text(row.node)]
    found = [_finisher(row, reader, f"row {place}") for place, row in enumerate(rows, 1)]
    finishers = _mark_dead_heats(tuple(finisher for finisher in found if finisher is not None))
    if rows and not finishers:
        raise reader.unreadable("no horses found in the table of results")
    facts = shared_fields(read_facts(reader, race_id), RaceFacts)
    payouts = read_payouts(reader) if finishers else ()
    if finishers and not payouts:
        reader.warn("payouts missing")
    confirmed = bool(finishers)
    return reader.parsed(
        RaceResult(**facts, confirmed=confirmed, finishers=finishers, payouts=payouts)
    )


def _mark_dead_heats(finishers: tuple[Finisher, ...]) -> tuple[Finisher, ...]:
    places = Counter(each.position for each in finishers if each.position is not None)
    return tuple(
        replace(each, dead_heat=each.position is not None and places[each.position] > 1)
        for each in finishers
    )


def _finisher(row: Row, reader: PageReader, where: str) -> Finisher | None:
    """Return the finisher of a row, finding each cell by its header or else by its class."""
    horse = read_horse_link(_cell(row, ("馬名",), ".Horse_Info, .Horse_Name"), reader, where)
    if horse is None:
        return None
    finish = text_fields.parse_finish(node_text(_cell(row, ("着順", "着"), ".Result_Num, .Rank")))
    if finish is None:
        reader.warn(f"{horse.name} has no finishing position; skipped")
        return None
    time = row.text("タイム") or node_text(row.node.css_first(".RaceTime"))
    if finish.position is not None and text_fields.parse_race_time(time) is None:
        reader.warn(f"{horse.name} has no time")
    jockey = read_jockey_link(_cell(row, ("騎手",), "td.Jockey"))
    trainer = read_trainer_link(_cell(row, ("厩舎", "調教師"), "td.Trainer"))
    sex, age = text_fields.parse_sex_and_age(row.text("性齢"))
    body = node_text(_cell(row, ("馬体重(増減)", "馬体重"), "td.Weight"))
    weight, change = text_fields.parse_body_weight(body)
    carried = node_text(_cell(row, ("斤量",), ".JockeyWeight"))
    corners = node_text(_cell(row, ("コーナー通過順", "通過"), ".PassageRate"))
    return Finisher(
        horse_id=horse.id,
        horse_name=horse.name,
        position=finish.position,
        outcome=finish.outcome,
        demoted=finish.demoted,
        frame_number=text_fields.parse_positive_int(row.text("枠", "枠番")),
        horse_number=text_fields.parse_positive_int(row.text("馬番")),
        sex=sex,
        age=age,
        carried_weight=text_fields.parse_decimal(carried),
        jockey_id=jockey.id,
        jockey_name=jockey.name,
        allowance=jockey.note,
        trainer_id=trainer.id,
        trainer_name=trainer.name,
        stable=trainer.note,
        body_weight=weight,
        body_weight_change=change,
        time=time or None,
        time_seconds=text_fields.parse_race_time(time),
        margin=row.text("着差") or None,
        popularity=text_fields.parse_positive_int(row.text("人気")),
        win_odds=text_fields.parse_decimal(row.text("単勝オッズ", "単勝", "オッズ")),
        last_3f=text_fields.parse_decimal(row.text("後3F", "上り", "上がり")),
        passing=text_fields.parse_corner_positions(corners),
    )


def _cell(row: Row, headers: tuple[str, ...], selector: str) -> LexborNode | None:
    return row.cell(*headers) or row.node.css_first(selector)


_JST: Final = timezone(timedelta(hours=9))
_STATUSES: Final[dict[str, OddsStatus]] = {
    "result": "final",
    "middle": "live",
    "yoso": "forecast",
}
_TIMESTAMP: Final = re.compile(
    r"([0-9]{4})-([0-9]{2})-([0-9]{2}) ([0-9]{2}):([0-9]{2})(?::[0-9]{2})?"
)
_ODDS_RANGE: Final = re.compile(r"([0-9.]{1,8})\s*-\s*([0-9.]{1,8})")
_WIN, _PLACE = "1", "2"


def parse_odds(page: Page, race_id: str) -> Parsed[Odds]:
    """Parse the odds in the site's JSON.

    Raises NotPublished if there are none yet, or PageUnreadable.
    """
    try:
        reply = msgspec.json.decode(page_text(page).text)
    except msgspec.DecodeError:
        raise PageUnreadable(page.address, "invalid JSON") from None
    if not isinstance(reply, dict) or not isinstance(reply.get("status"), str):
        raise PageUnreadable(page.address, "unexpected JSON")
    data = reply.get("data")
    tables = data.get("odds") if isinstance(data, dict) else None
    status = _STATUSES.get(reply["status"])
    if status is None or not isinstance(data, dict) or not isinstance(tables, dict):
        raise NotPublished(page.address, f"no odds yet ({reply['status'][:20]})")
    if not tables.get(_WIN):
        raise NotPublished(page.address, f"no odds yet ({reply['status'][:20]})")
    reader = PageReader(page.address, "")
    wins = tuple(_win_odds(tables.get(_WIN), reader))
    if not wins:
        raise PageUnreadable(page.address, "no horse has odds")
    return reader.parsed(
        Odds(
            race_id,
            status,
            wins,
            tuple(_place_odds(tables.get(_PLACE), reader)),
            _parse_timestamp(data.get("official_datetime")),
        )
    )


def parse_local_odds(page: Page, race_id: str) -> Parsed[Odds]:
    """Parse the odds tables of a NAR race.

    Raises NotPublished if there are none yet, or PageUnreadable.
    """
    reader = open_page(page)
    block = reader.tree.css_first("#odds_tan_block")
    if block is None:
        raise reader.unreadable("no table of odds")
    wins = tuple(_local_wins(block, reader))
    if block.css_first("table") is None or (not wins and block.css_first("td") is not None):
        raise reader.unreadable("no horses found in the table of odds")
    if all(each.odds is None for each in wins):
        raise NotPublished(page.address, "no odds yet")
    places = tuple(_local_places(reader.tree.css_first("#odds_fuku_block"), reader))
    return reader.parsed(Odds(race_id, "live", wins, places))


def _win_odds(table: object, reader: PageReader) -> Iterator[WinOdds]:
    for number, (odds, _, rank) in _triples(table, reader):
        yield WinOdds(number, _positive_decimal(odds), text_fields.parse_positive_int(rank))


def _place_odds(table: object, reader: PageReader) -> Iterator[PlaceOdds]:
    for number, (low, high, rank) in _triples(table, reader):
        yield PlaceOdds(
            number,
            _positive_decimal(low),
            _positive_decimal(high),
            text_fields.parse_positive_int(rank),
        )


def _triples(table: object, reader: PageReader) -> Iterator[tuple[int, tuple[str, str, str]]]:
    """Yield the three texts of each horse, by number."""
    if not isinstance(table, Mapping):
        return
    found: dict[int, tuple[str, str, str]] = {}
    for key, value in table.items():
        number = text_fields.parse_positive_int(str(key))
        if number is None or not isinstance(value, list) or len(value) <= 2:
            reader.warn(f"invalid odds of {str(key)[:10]!r}")
            continue
        found[number] = (str(value[0]), str(value[1]), str(value[2]))
    yield from sorted(found.items())


def _positive_decimal(text: str) -> Decimal | None:
    """Return odds; None if they are zero or less, as for a scratched horse."""
    odds = text_fields.parse_decimal(text)
    return odds if odds is not None and odds > 0 else None


def _parse_timestamp(text: object) -> datetime | None:
    found = _TIMESTAMP.match(text) if isinstance(text, str) else None
    if found is None:
        return None
    try:
        year, month, day, hour, minute = map(int, found.groups())
        return datetime(year, month, day, hour, minute, tzinfo=_JST)
    except ValueError:
        return None


def _local_rows(block: LexborNode | None) -> Iterator[tuple[int, Row]]:
    for table in block.css("table") if block else []:
        for row in body_rows(table):
            number = text_fields.parse_positive_int(row.text("馬番"))
            if number is not None:
                yield number, row


def _local_wins(block: LexborNode, reader: PageReader) -> Iterator[WinOdds]:
    for number, row in _local_rows(block):
        cell = row.cell("オッズ", "単勝オッズ", "単勝") or row.node.css_first("td.Odds")
        if cell is None:
            reader.warn(f"horse {number} has no odds cell")
        yield WinOdds(
            number,
            _positive_decimal(node_text(cell)),
            text_fields.parse_positive_int(row.text("人気")),
        )


def _local_places(block: LexborNode | None, reader: PageReader) -> Iterator[PlaceOdds]:
    for number, row in _local_rows(block):
        cell = row.cell("オッズ", "複勝オッズ", "複勝") or row.node.css_first("td.Odds")
        found = _ODDS_RANGE.search(node_text(cell))
        if found is None:
            reader.warn(f"horse {number} has no place odds")
        low, high = (found[1], found[2]) if found else ("", "")
        yield PlaceOdds(number, _positive_decimal(low), _positive_decimal(high))


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
    sky = node_text(venue.css_first(".RaceList_DataDesc .Weather"))
    return RaceEntry(
        text_fields.normalize(name),
        0,
        "",
        meeting_number=int(number[1]) if number else None,
        day_number=int(day[1]) if day else None,
        # The word for the weather may follow a label.
        weather=text_fields.parse_weather(next((word for word in _WEATHERS if word in sky), "")),
    )


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
    number = _RACE_NUMBER.search(text_fields.compact(node_text(item.css_first(".Race_Num"))))
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
