"""Kept here: the page of a horse's earlier races: 29 columns at first, 33 since 2026."""

from __future__ import annotations

import re
from typing import Any, Final

import msgspec

from grandstand.apps.keiba.model import ids
from grandstand.apps.keiba.model.people import Form, PastRun
from grandstand.apps.keiba.sources.parsing.horse_profile import horse_name
from grandstand.apps.keiba.sources.reading import text
from grandstand.apps.keiba.sources.reading.links import jockey_in, race_in
from grandstand.apps.keiba.sources.reading.page import (
    Page,
    Parsed,
    Reading,
    link_of,
    open_page,
    page_text,
)
from grandstand.apps.keiba.sources.reading.tables import Row, body_of, columns_of

_NEEDED: Final = ("日付", "開催", "レース名", "着順")
_USUAL: Final = ("距離", "タイム", "騎手", "斤量", "馬場", "頭数")
_MEETING: Final = re.compile(r"([0-9]{1,2})([^0-9]+)([0-9]{1,2})")
_NO_RUNS: Final = re.compile(r"(?:競走|出走|戦績)?データ(?:が|は)ありません|(?<![0-9])0戦0勝")


def parse_horse_results(page: Page, horse_id: str, name: str = "") -> Parsed[Form]:
    """Answer a horse's earlier races, newest first; raise PageUnreadable.

    Both forms are read: the page, and the piece of one in JSON, which does not name the horse. A
    page without the table is only believed when it says that the horse has not run.
    """
    reading = _opened(page)
    named = horse_name(reading) or name
    if not named:
        reading.warn("the page does not name the horse")
    table = reading.tree.css_first("table.db_h_race_results")
    if table is None:
        if not _NO_RUNS.search(text.bare(reading.text)):
            raise reading.unreadable("it has no table of races")
        return reading.parsed(Form(horse_id, named, ()))
    columns = columns_of(table)
    missing = [header for header in _NEEDED if header not in columns]
    if missing:
        raise reading.unreadable(f"its table of races has no column {', '.join(missing)}")
    lacking = [header for header in _USUAL if header not in columns]
    if lacking:
        reading.warn(f"the table of races has no column {', '.join(lacking)}")
    rows = list(body_of(table))
    runs = [run for row in rows if (run := _run(row, reading)) is not None]
    if any(row.text("日付") for row in rows) and not runs:
        raise reading.unreadable("not one of its races can be made out")
    runs.sort(key=lambda run: run.run_on, reverse=True)
    return reading.parsed(Form(horse_id, named, tuple(runs)))


def _opened(page: Page) -> Reading:
    """Open a page, or what JSON holds of one."""
    if page.body.lstrip()[:1] != b"{":
        return open_page(page)
    try:
        said = msgspec.json.decode(page_text(page).text, type=dict[str, Any])
    except msgspec.DecodeError:
        raise Reading(page.address, "").unreadable("it is no JSON") from None
    piece = said.get("data")
    if said.get("status") != "OK" or not isinstance(piece, str):
        raise Reading(page.address, "").unreadable("its JSON holds no page")
    return open_page(Page(page.address, piece.encode(), "charset=utf-8"), whole=False)


def _run(row: Row, reading: Reading) -> PastRun | None:
    run_on = text.day(row.text("日付"))
    if run_on is None:
        if any(cell.text().strip() for cell in row.cells):
            reading.warn(f"a race without a date ({row.text('日付')[:20]!r}) is left out")
        return None
    race_id = race_in(link_of(row.cell("レース名")))
    if race_id is None:
        reading.warn(f"the race of {run_on} has no link")
    arrival = text.arrival(row.text("着順"))
    if arrival is None:
        reading.warn(f"the race of {run_on} does not say how it ended")
    return PastRun(
        run_on=run_on,
        race_name=row.text("レース名"),
        race_id=race_id,
        circuit=ids.circuit_of(race_id) if race_id else None,
        position=arrival.position if arrival else None,
        outcome=arrival.outcome if arrival else None,
        demoted=arrival.demoted if arrival else None,
        **_place(row),
        **_performance(row),
    )


def _place(row: Row) -> dict[str, Any]:
    """Answer where and on what it was run; the JRA has the meeting's numbers around the track."""
    written = text.bare(row.text("開催"))
    meeting = _MEETING.fullmatch(written)
    surface, distance = text.surface_and_distance(row.text("距離"))
    return {
        "track": meeting[2] if meeting else written,
        "meeting_number": int(meeting[1]) if meeting else None,
        "day_number": int(meeting[3]) if meeting else None,
        "race_number": text.positive(row.text("R")),
        "distance": distance,
        "track_type": surface,
        "weather": text.weather(row.text("天気")),
        "going": text.going(row.text("馬場")),
        "runner_count": text.positive(row.text("頭数")),
    }


def _performance(row: Row) -> dict[str, Any]:
    time = row.text("タイム")
    weight, change = text.body_weight(row.text("馬体重"))
    return {
        "frame_number": text.positive(row.text("枠番")),
        "horse_number": text.positive(row.text("馬番")),
        "win_odds": text.decimal(row.text("オッズ")),
        "popularity": text.positive(row.text("人気")),
        "jockey_id": jockey_in(link_of(row.cell("騎手"))),
        "jockey_name": text.jockey(row.text("騎手"))[1],
        "carried_weight": text.decimal(row.text("斤量")),
        "time": _open(time),
        "time_seconds": text.seconds(time),
        "margin": _open(row.text("着差")),
        "passing": text.passing(row.text("通過")),
        "pace": _open(row.text("ペース")),
        "last_3f": text.decimal(row.text("上り")),
        "body_weight": weight,
        "body_weight_change": change,
        "remarks": _open(row.text("備考")),
        "winner": _open(row.text("勝ち馬(2着馬)", "勝ち馬")),
        "prize": text.decimal(row.text("賞金")),
    }


def _open(written: str) -> str | None:
    """Answer a text; None for what is only shown to those who pay."""
    return written if written.strip("*") else None
