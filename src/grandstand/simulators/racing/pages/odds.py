"""Kept here: the odds, as JSON for the central circuit and as tables for the local one."""

from __future__ import annotations

from datetime import datetime
from typing import Any

from grandstand.simulators.racing.calendar import JST
from grandstand.simulators.racing.market import Quotes, paid_places, quotes
from grandstand.simulators.racing.pages.heading import heading
from grandstand.simulators.racing.running import Race


def odds_json(race: Race, now: datetime) -> dict[str, Any]:
    """Answer the odds to win and to be placed; forecasts have none for places."""
    told = quotes(race, now)
    if told is None:
        return {"status": "yoso", "data": {"official_datetime": "", "odds": {"1": {}}}}
    win = {
        f"{number:02}": [f"{odds:.1f}", "0.0", str(told.rank[number])]
        for number, odds in sorted(told.win.items())
    }
    odds: dict[str, Any] = {"1": win}
    if told.status != "yoso":
        odds["2"] = {
            f"{number:02}": [f"{low:.1f}", f"{high:.1f}", str(told.rank[number])]
            for number, (low, high) in sorted(told.place(paid_places(race)).items())
        }
    at = told.told_at.astimezone(JST)
    return {
        "status": told.status,
        "data": {"official_datetime": f"{at:%Y-%m-%d %H:%M:%S}", "odds": odds},
        "reason": "",
    }


def odds_tables(race: Race, now: datetime) -> str:
    """Answer the body with both tables; before the draw they are empty."""
    told = quotes(race, now)
    win = place = ""
    if told is not None:
        bands = told.place(paid_places(race))
        win = _rows(race, told, {at: f"{one:.1f}" for at, one in told.win.items()})
        place = _rows(
            race, told, {at: f"{low:.1f} - {high:.1f}" for at, (low, high) in bands.items()}
        )
    return (
        f"{heading(race, now)}{_block('odds_tan_block', '単勝', win)}"
        f"{_block('odds_fuku_block', '複勝', place)}"
    )


def _block(identifier: str, title: str, rows: str) -> str:
    return (
        f'<div id="{identifier}">\n<h2>{title}</h2>\n<table class="RaceOdds_HorseList_Table">\n'
        "<thead><tr><th>枠</th><th>馬番</th><th>馬名</th><th>オッズ</th></tr></thead>\n"
        f"<tbody>\n{rows}</tbody>\n</table>\n</div>\n"
    )


def _rows(race: Race, told: Quotes, odds: dict[int, str]) -> str:
    return "".join(
        f'<tr id="ninki-data-{told.rank[number]}"><td class="Waku{race.frames[number - 1]}">'
        f'{race.frames[number - 1]}</td><td class="W31">{number}</td>'
        f'<td class="Horse_Name">{race.horses[number - 1].name}</td>'
        f'<td class="Odds Popular"><span class="Odds">{odds[number]}</span></td></tr>\n'
        for number in sorted(odds)
    )
