"""Kept here: the result of a race: who came in how, and what was paid."""

from __future__ import annotations

from collections import Counter
from dataclasses import replace
from typing import Any

from selectolax.lexbor import LexborNode

from grandstand.apps.keiba.model.races import Finisher, RaceResult
from grandstand.apps.keiba.sources.parsing.entrants import horse_of, jockey_of, trainer_of
from grandstand.apps.keiba.sources.parsing.payouts import read_payouts
from grandstand.apps.keiba.sources.parsing.race_facts import check_race, read_head
from grandstand.apps.keiba.sources.reading import text
from grandstand.apps.keiba.sources.reading.page import Page, Parsed, Reading, open_page, text_of
from grandstand.apps.keiba.sources.reading.tables import Row, body_of


def parse_result(page: Page, race_id: str) -> Parsed[RaceResult]:
    """Answer a result, one that is not confirmed while its table is empty; raise PageUnreadable."""
    reading = open_page(page)
    check_race(reading, race_id)
    table = reading.tree.css_first("table#All_Result_Table")
    if table is None:
        raise reading.unreadable("it has no table of results")
    rows = [row for row in body_of(table) if text_of(row.node)]
    found = [_finisher(row, reading, f"row {place}") for place, row in enumerate(rows, 1)]
    finishers = _shared(tuple(one for one in found if one is not None))
    if rows and not finishers:
        raise reading.unreadable("not one horse is found in its table of results")
    head = read_head(reading, race_id)
    payouts = read_payouts(reading) if finishers else ()
    if finishers and not payouts:
        reading.warn("the page does not say what was paid")
    result = RaceResult(
        race_id=race_id,
        confirmed=bool(finishers),
        finishers=finishers,
        payouts=payouts,
        **head.given,
    )
    return reading.parsed(result)


def _shared(finishers: tuple[Finisher, ...]) -> tuple[Finisher, ...]:
    """Mark the horses that share a position."""
    places = Counter(one.position for one in finishers if one.position is not None)
    return tuple(
        replace(one, dead_heat=one.position is not None and places[one.position] > 1)
        for one in finishers
    )


def _finisher(row: Row, reading: Reading, where: str) -> Finisher | None:
    """Answer the horse of a row, each cell found by its header, or by its class without one."""
    horse = horse_of(_cell(row, ("馬名",), ".Horse_Info, .Horse_Name"), reading, where)
    if horse is None:
        return None
    arrival = text.arrival(text_of(_cell(row, ("着順", "着"), ".Result_Num, .Rank")))
    if arrival is None:
        reading.warn(f"how {horse.name} came in is not said, and it is left out")
        return None
    time = row.text("タイム") or text_of(row.node.css_first(".RaceTime"))
    if arrival.position is not None and text.seconds(time) is None:
        reading.warn(f"{horse.name} has no time")
    return Finisher(
        horse_id=horse.id,
        horse_name=horse.name,
        position=arrival.position,
        outcome=arrival.outcome,
        demoted=arrival.demoted,
        time=time or None,
        time_seconds=text.seconds(time),
        margin=row.text("着差") or None,
        **_entrant(row),
        **_figures(row),
    )


def _entrant(row: Row) -> dict[str, Any]:
    """Answer who ran: what the card said as well."""
    jockey = jockey_of(_cell(row, ("騎手",), "td.Jockey"))
    trainer = trainer_of(_cell(row, ("厩舎", "調教師"), "td.Trainer"))
    sex, age = text.sex_and_age(row.text("性齢"))
    weight, change = text.body_weight(text_of(_cell(row, ("馬体重(増減)", "馬体重"), "td.Weight")))
    return {
        "frame_number": text.positive(row.text("枠", "枠番")),
        "horse_number": text.positive(row.text("馬番")),
        "sex": sex,
        "age": age,
        "carried_weight": text.decimal(text_of(_cell(row, ("斤量",), ".JockeyWeight"))),
        "jockey_id": jockey.id,
        "jockey_name": jockey.name,
        "allowance": jockey.beside,
        "trainer_id": trainer.id,
        "trainer_name": trainer.name,
        "stable": trainer.beside,
        "body_weight": weight,
        "body_weight_change": change,
    }


def _figures(row: Row) -> dict[str, Any]:
    """Answer how it was expected to run, and how it ran."""
    return {
        "popularity": text.positive(row.text("人気")),
        "win_odds": text.decimal(row.text("単勝オッズ", "単勝", "オッズ")),
        "last_3f": text.decimal(row.text("後3F", "上り", "上がり")),
        "passing": text.passing(text_of(_cell(row, ("コーナー通過順", "通過"), ".PassageRate"))),
    }


def _cell(row: Row, headers: tuple[str, ...], otherwise: str) -> LexborNode | None:
    return row.cell(*headers) or row.node.css_first(otherwise)
