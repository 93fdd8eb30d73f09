"""The peer that most race scrapers are built on: the same facts read with BeautifulSoup."""

from __future__ import annotations

import re
import unicodedata
from decimal import Decimal, InvalidOperation
from functools import partial
from typing import Any

Fact = str | int | Decimal | None
Facts = dict[str, Fact]

_NUMBERS = ("R", "頭数", "枠番", "馬番", "人気", "着順")
_DECIMALS = ("オッズ", "斤量", "上り", "賞金")
_TEXTS = (
    *("日付", "開催", "天気", "レース名", "馬場", "タイム"),
    *("着差", "通過", "ペース", "備考", "勝ち馬"),
)
_BODY = re.compile(r"(\d+)\(([+-]?\d+)\)")
_COURSE = re.compile(r"([芝ダ障])\D*(\d+)")
_ID = re.compile(r"/(?:horse|race|jockey|trainer)/(?:\w+/)*?(\w{5,12})/?$")
_BORN = re.compile(r"(\d{4}) (\S+毛)")
_SPANS = {"16": 1, "8": 2, "4": 3, "2": 4, "1": 5}


class Soup:
    """Reads decoded pages with one of the parsers that BeautifulSoup stands on."""

    def __init__(self, parser: str) -> None:
        from bs4 import BeautifulSoup

        self._open = partial(BeautifulSoup, features=parser)

    def card(self, text: str) -> list[Facts]:
        """The runners of a card."""
        table = self._open(text).find("table", class_="Shutuba_Table")
        return [_runner(row) for row in table.find_all("tr", class_="HorseList")]

    def results(self, text: str) -> list[Facts]:
        """A horse's earlier races, by the words of the headers."""
        table = self._open(text).find("table", class_="db_h_race_results")
        headers = [_plain(cell.get_text()).replace(" ", "") for cell in table.thead.find_all("th")]
        return [
            _run(dict(zip(headers, row.find_all("td"), strict=True)))
            for row in table.tbody.find_all("tr")
        ]

    def pedigree(self, text: str) -> list[Facts]:
        """Every ancestor that has a cell."""
        table = self._open(text).find("table", class_="blood_table")
        return [_ancestor(cell) for cell in table.find_all("td")]


def _runner(row: Any) -> Facts:
    horse = row.find(class_="HorseName").a
    jockey, trainer = row.find("td", class_="Jockey"), row.find("td", class_="Trainer")
    age = row.find("td", class_="Barei")
    weight = _BODY.match("".join(row.find("td", class_="Weight").get_text().split()))
    sex_and_age = _plain(age.get_text())
    return {
        "horse_id": _id(horse),
        "horse_name": _plain(horse.get_text()),
        "frame_number": _whole(row.find("td", class_=re.compile("^Waku"))),
        "horse_number": _whole(row.find("td", class_=re.compile("^Umaban"))),
        "sex": sex_and_age[:1],
        "age": int(sex_and_age[1:]),
        "carried_weight": _decimal(age.find_next_sibling("td")),
        "jockey_id": _id(jockey.a),
        "jockey_name": _plain(jockey.get_text()),
        "trainer_id": _id(trainer.a),
        "trainer_name": _plain(trainer.a.get_text()),
        "stable": _plain(trainer.span.get_text()),
        "body_weight": int(weight[1]) if weight else None,
        "body_weight_change": int(weight[2]) if weight else None,
        "win_odds": _decimal(row.find("td", class_="Popular")),
        "popularity": _whole(row.find("td", class_="Popular_Ninki")),
    }


def _run(cells: dict[str, Any]) -> Facts:
    body = _BODY.match(_plain(cells["馬体重"].get_text()))
    course = _COURSE.match(_plain(cells["距離"].get_text()))
    return {
        **{name: _plain(cells[name].get_text()) or None for name in _TEXTS},
        **{name: _whole(cells[name]) for name in _NUMBERS},
        **{name: _decimal(cells[name]) for name in _DECIMALS},
        "race_id": _id(cells["レース名"].a),
        "jockey_id": _id(cells["騎手"].a),
        "騎手": _plain(cells["騎手"].get_text()),
        "surface": course[1] if course else None,
        "distance": int(course[2]) if course else None,
        "body_weight": int(body[1]) if body else None,
        "body_weight_change": int(body[2]) if body else None,
    }


def _ancestor(cell: Any) -> Facts:
    lines = [_plain(line) for line in cell.stripped_strings]
    born = next((found for line in lines if (found := _BORN.match(line))), None)
    return {
        "id": _id(cell.a),
        "name": lines[0],
        "generation": _SPANS[cell.get("rowspan", "1")],
        "born_year": int(born[1]) if born else None,
        "coat": born[2] if born else None,
    }


def _plain(text: str) -> str:
    return " ".join(unicodedata.normalize("NFKC", text).split())


def _id(link: Any) -> str | None:
    found = _ID.search(link["href"]) if link else None
    return found[1] if found else None


def _whole(cell: Any) -> int | None:
    written = _plain(cell.get_text())
    return int(written) if written.isdigit() else None


def _decimal(cell: Any) -> Decimal | None:
    try:
        return Decimal(_plain(cell.get_text()).replace(",", ""))
    except InvalidOperation:
        return None
