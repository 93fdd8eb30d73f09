"""Kept here: the page of a jockey: the career and the years it shows, on both circuits."""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import replace
from decimal import Decimal
from typing import Final

from selectolax.lexbor import LexborNode

from grandstand.apps.keiba.model.people import JockeyFigures, JockeyRecord, JockeyYear
from grandstand.apps.keiba.model.words import Circuit
from grandstand.apps.keiba.sources.reading import text
from grandstand.apps.keiba.sources.reading.page import Page, Parsed, Reading, open_page, text_of
from grandstand.apps.keiba.sources.reading.tables import Row, body_of, columns_of, labels_of

_NEEDED: Final = frozenset({"年度", "1着", "2着", "3着", "騎乗回数"})
_CAREER: Final = ("累計", "通算")
_YEAR: Final = re.compile(r"((?:19|20|21)[0-9]{2})年?")
_NAME: Final = re.compile(r"([^()]+?)\s*(?:\(([^()]*)\))?")
_STABLE: Final = re.compile(r"\[([^\]]{1,10})\]\s*(\S+)?")
_FOUR_DIGITS: Final = re.compile(r"(?:19|20)[0-9]{2}")
_DEBUT: Final = re.compile(r"(?:19|20)[0-9]{2}(?=年\s*デビュー)")
_RECENT: Final = 5
_SLACK: Final = Decimal("0.1")
_RATES: Final = (("勝率", "win_rate"), ("連対率", "top2_rate"), ("複勝率", "place_rate"))


def parse_jockey(page: Page, jockey_id: str, *, all_years: bool = False) -> Parsed[JockeyRecord]:
    """Answer a jockey's career and years; raise PageUnreadable when there is no career.

    Rates are worked out from the counts; those of the page are only held against them. The usual
    page has the current year alone whatever its title says, so only one of `all_years` is summed
    up to five.
    """
    reading = open_page(page)
    name, kana = _name(reading)
    if not name:
        raise reading.unreadable("it has no jockey")
    careers: dict[Circuit, JockeyFigures] = {}
    years: dict[tuple[Circuit, int], JockeyYear] = {}
    for table, circuit in _tables(reading):
        for row in body_of(table):
            _take(row, circuit, reading, careers, years)
    if not careers:
        raise reading.unreadable("it has no figures of a career")
    ordered = tuple(sorted(years.values(), key=lambda one: (-one.year, one.circuit)))
    record = _record(reading, jockey_id, (name, kana), careers, ordered)
    return reading.parsed(replace(record, recent_5year_stats=_recent(ordered, all_years=all_years)))


def _record(
    reading: Reading,
    jockey_id: str,
    names: tuple[str, str | None],
    careers: dict[Circuit, JockeyFigures],
    years: tuple[JockeyYear, ...],
) -> JockeyRecord:
    line = text_of(reading.tree.css_first(".db_head_name p.txt_01, p.txt_01"))
    stable = _STABLE.search(line)
    labels = _labels(reading)
    told = _label(labels, "デビュー年", "初騎乗", "初免許年", "デビュー")
    debut = _FOUR_DIGITS.search(told) or _DEBUT.search(line)
    return JockeyRecord(
        jockey_id=jockey_id,
        jockey_name=names[0],
        kana=names[1],
        overall_stats=together(careers.values()),
        born_on=text.day(line),
        affiliation=stable[1] if stable else None,
        debut_year=int(debut[0]) if debut else None,
        height_cm=text.positive(_label(labels, "身長").lower().removesuffix("cm")),
        weight_kg=text.decimal(_label(labels, "体重").lower().removesuffix("kg")),
        central=careers.get("jra"),
        local=careers.get("nar"),
        years=years,
    )


def _recent(years: tuple[JockeyYear, ...], *, all_years: bool) -> JockeyFigures | None:
    """Answer the last five years in one, or as many as there are."""
    newest = sorted({one.year for one in years}, reverse=True)[:_RECENT]
    if not newest or not all_years:
        return None
    return together(one.figures for one in years if one.year in newest)


def together(figures: Iterable[JockeyFigures]) -> JockeyFigures:
    """Answer figures of several spans as of one, with the rates of the sums."""
    parts = tuple(figures)
    lower = [one.fourth_or_lower for one in parts if one.fourth_or_lower is not None]
    rides = [one.graded_rides for one in parts if one.graded_rides is not None]
    wins = [one.graded_wins for one in parts if one.graded_wins is not None]
    return _rated(
        JockeyFigures(
            wins=sum(one.wins for one in parts),
            seconds=sum(one.seconds for one in parts),
            thirds=sum(one.thirds for one in parts),
            total_races=sum(one.total_races for one in parts),
            fourth_or_lower=sum(lower) if lower else None,
            graded_rides=sum(rides) if rides else None,
            graded_wins=sum(wins) if wins else None,
        )
    )


def _rated(bare: JockeyFigures) -> JockeyFigures:
    """Add the rates; None where there were no rides, or fewer than places."""
    top3 = bare.wins + bare.seconds + bare.thirds
    if not bare.total_races or top3 > bare.total_races:
        return bare
    return JockeyFigures(
        bare.wins,
        bare.seconds,
        bare.thirds,
        bare.total_races,
        text.percentage(bare.wins, bare.total_races),
        text.percentage(bare.wins + bare.seconds, bare.total_races),
        text.percentage(top3, bare.total_races),
        bare.fourth_or_lower,
        bare.graded_rides,
        bare.graded_wins,
    )


def _name(reading: Reading) -> tuple[str, str | None]:
    written = text_of(reading.tree.css_first(".db_head_name h1, .db_head h1, h1"))
    found = _NAME.fullmatch(written)
    return (found[1], found[2] or None) if found else (written, None)


def _tables(reading: Reading) -> list[tuple[LexborNode, Circuit]]:
    """Answer the tables of years and their circuits; the site has an empty one for its scripts."""
    return [
        (table, "nar" if _box(table) == "ResultsBox1" else "jra")
        for table in reading.tree.css("table")
        if columns_of(table).keys() >= _NEEDED
    ]


def _box(table: LexborNode) -> str:
    node: LexborNode | None = table
    while node is not None:
        name = node.attributes.get("id") or "" if node.is_element_node else ""
        if name.startswith("ResultsBox"):
            return name
        node = node.parent
    return ""


def _take(
    row: Row,
    circuit: Circuit,
    reading: Reading,
    careers: dict[Circuit, JockeyFigures],
    years: dict[tuple[Circuit, int], JockeyYear],
) -> None:
    """Add a row to the career or the years it belongs to."""
    label = text.bare(row.text("年度"))
    year = _YEAR.fullmatch(label)
    if not year and not label.startswith(_CAREER):
        return
    figures = _figures(row, reading, f"the row {label}")
    if figures is None:
        return
    if year is None:
        careers.setdefault(circuit, figures)
    else:
        one = JockeyYear(
            int(year[1]),
            circuit,
            figures,
            text.positive(text.bare(row.text("順位")).removesuffix("位")),
            row.text("代表馬") or None,
        )
        years.setdefault((circuit, one.year), one)


def _figures(row: Row, reading: Reading, where: str) -> JockeyFigures | None:
    counts = [text.whole(row.text(header)) for header in ("1着", "2着", "3着", "騎乗回数")]
    known = [count for count in counts if count is not None and count >= 0]
    if len(known) < len(counts):
        reading.warn(f"{where} lacks counts and is left out")
        return None
    wins, seconds, thirds, rides = known
    if wins + seconds + thirds > rides:
        reading.warn(f"{where} has more places than rides")
    lower = next((name for name in row.columns if name.startswith("4着")), "4着")
    figures = _rated(
        JockeyFigures(
            wins,
            seconds,
            thirds,
            rides,
            fourth_or_lower=text.whole(row.text(lower)),
            graded_rides=text.whole(row.text("重賞出走")),
            graded_wins=text.whole(row.text("重賞勝利")),
        )
    )
    _hold_against(row, figures, reading, where)
    return figures


def _hold_against(row: Row, figures: JockeyFigures, reading: Reading, where: str) -> None:
    """Note where a rate of the page is none, or does not follow from its counts."""
    for header, name in _RATES:
        said = text.rate(row.text(header))
        worked: Decimal | None = getattr(figures, name)
        if said is None or worked is None:
            continue
        if not 0 <= said <= 100:  # noqa: PLR2004 - per cent
            reading.warn(f"{where} has a {header} of {said} %")
        elif abs(said - worked) > _SLACK:
            reading.warn(f"{where} has a {header} of {said} %, its counts make {worked} %")


def _labels(reading: Reading) -> dict[str, LexborNode]:
    found: dict[str, LexborNode] = {}
    for table in reading.tree.css("table"):
        found = labels_of(table) | found
    return found


def _label(labels: dict[str, LexborNode], *names: str) -> str:
    return next((text.bare(text_of(labels[name])) for name in names if name in labels), "")
