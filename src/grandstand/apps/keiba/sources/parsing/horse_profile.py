"""Kept here: the page of a horse: what it is, whose it is, and what it has won."""

from __future__ import annotations

import re
from decimal import Decimal
from typing import Final

from selectolax.lexbor import LexborNode

from grandstand.apps.keiba.model.people import HorseProfile
from grandstand.apps.keiba.sources.reading import text
from grandstand.apps.keiba.sources.reading.links import trainer_in
from grandstand.apps.keiba.sources.reading.page import (
    Page,
    Parsed,
    Reading,
    lines_of,
    link_of,
    open_page,
    text_of,
)
from grandstand.apps.keiba.sources.reading.tables import labels_of

_RECORD: Final = re.compile(r"([0-9]{1,4})戦([0-9]{1,4})勝")
_PLACES: Final = re.compile(r"\[\s*([0-9]{1,4})-([0-9]{1,4})-([0-9]{1,4})-([0-9]{1,4})\s*\]")
_AGE: Final = re.compile(r"(?:牡|牝|セ|騙|騸)\s*([0-9]{1,2})歳")
_STABLE: Final = re.compile(r"\(([^)]{1,10})\)")
_NOTHING: Final = {"", "-", "--"}


def parse_horse_profile(page: Page, horse_id: str) -> Parsed[HorseProfile]:
    """Answer a horse's profile; raise PageUnreadable when it has no name or no table."""
    reading = open_page(page)
    name = horse_name(reading)
    table = reading.tree.css_first("table.db_prof_table")
    if not name or table is None:
        raise reading.unreadable("it has no horse" if not name else "it has no table of facts")
    labels = labels_of(table)
    if not labels:
        raise reading.unreadable("its table of facts is empty")
    return reading.parsed(_profile(reading, horse_id, name, labels))


def horse_name(reading: Reading) -> str:
    """Answer the name of the horse that a page is about; nothing when it does not say."""
    return text_of(reading.tree.css_first("div.horse_title h1"))


def _profile(
    reading: Reading, horse_id: str, name: str, labels: dict[str, LexborNode]
) -> HorseProfile:
    line = text_of(reading.tree.css_first("div.horse_title p.txt_01"))
    sex, _ = text.sex_and_age(line)
    age = _AGE.search(line)
    words = line.split()
    central = _money(labels, "獲得賞金(中央)")
    local = _money(labels, "獲得賞金(地方)")
    starts, places = _record(reading, labels)
    trainer = labels.get("調教師")
    stable = _STABLE.search(text_of(trainer))
    return HorseProfile(
        horse_id=horse_id,
        horse_name=name,
        english_name=text_of(reading.tree.css_first("div.horse_title p.eng_name")) or None,
        active={"現役": True, "抹消": False}.get(words[0] if words else ""),
        sex=sex,
        age=int(age[1]) if age else None,
        coat=next((word for word in words if word.endswith("毛")), None),
        born_on=text.day(_said(labels, "生年月日")),
        trainer_id=trainer_in(link_of(trainer)),
        trainer_name=_linked(trainer),
        stable=stable[1] if stable else None,
        owner=_linked(labels.get("馬主")),
        breeder=_linked(labels.get("生産者")),
        birthplace=_said(labels, "産地"),
        sale_price=_money(labels, "セリ取引価格"),
        earnings=_total(central, local),
        earnings_central=central,
        earnings_local=local,
        starts=starts,
        first=places[0],
        second=places[1],
        third=places[2],
        fourth_or_lower=places[3],
        main_wins=_said(labels, "主な勝鞍"),
        relatives=_names(labels.get("近親馬")),
    )


def _record(
    reading: Reading, labels: dict[str, LexborNode]
) -> tuple[int | None, tuple[int | None, int | None, int | None, int | None]]:
    """Answer starts and places; digits may be links of their own, so spaces mean nothing."""
    written = text.bare(_said(labels, "通算成績"))
    record, places = _RECORD.search(written), _PLACES.search(written)
    starts = int(record[1]) if record else None
    if places is None:
        reading.warn("the page does not say how often the horse was placed")
        return starts, (int(record[2]) if record else None, None, None, None)
    counts = (int(places[1]), int(places[2]), int(places[3]), int(places[4]))
    if starts is not None and starts < sum(counts):
        reading.warn(f"the horse was placed {sum(counts)} times in {starts} starts")
    return starts, counts


def _total(central: Decimal | None, local: Decimal | None) -> Decimal | None:
    known = [one for one in (central, local) if one is not None]
    return sum(known, Decimal(0)) if known else None


def _money(labels: dict[str, LexborNode], label: str) -> Decimal | None:
    return text.money(_said(labels, label))


def _said(labels: dict[str, LexborNode], label: str) -> str | None:
    written = text_of(labels.get(label))
    return None if written in _NOTHING else written


def _linked(cell: LexborNode | None) -> str | None:
    """Answer the name in a cell: that of its link where it has one."""
    if cell is None:
        return None
    written = text_of(cell.css_first("a")) or text_of(cell)
    return None if written in _NOTHING else written


def _names(cell: LexborNode | None) -> tuple[str, ...]:
    if cell is None:
        return ()
    links = [text_of(link) for link in cell.css("a")]
    return tuple(name for name in links or lines_of(cell) if name not in _NOTHING)
