"""Kept here: a jockey's figures: the career, and year by year."""

from __future__ import annotations

from datetime import datetime
from typing import Final

from grandstand.simulators.racing.calendar import JST
from grandstand.simulators.racing.population import Jockey
from grandstand.simulators.racing.tally import Tally
from grandstand.simulators.racing.tracks import Circuit
from grandstand.simulators.racing.world import World

_LABELS: Final = """
年度 順位 1着 2着 3着 4着〜 騎乗回数 重賞出走 重賞勝利 勝率 連対率 複勝率 代表馬
"""
_HEADERS: Final = tuple(_LABELS.split())
_PERCENT: Final = "\N{FULLWIDTH PERCENT SIGN}"
_TABS: Final[tuple[tuple[Circuit, str], ...]] = (("jra", "中央"), ("nar", "地方"))
_TEMPLATE: Final = f"<tr>{'<td></td>' * 9}{f'<td>{_PERCENT}</td>' * 3}<td></td></tr>\n"


def jockey_page(world: World, jockey: Jockey, now: datetime, *, every_year: bool) -> str:
    """Answer the body: the career and this year, or with `every_year` all years of it."""
    tabs = "".join(
        f'<li><a href="#ResultsBox{at}">{tab}</a></li>' for at, (_, tab) in enumerate(_TABS)
    )
    boxes = "".join(
        f'<div id="ResultsBox{at}" class="ResultsBox">\n'
        f"{_table(_rows(world, jockey, circuit, now, every_year=every_year))}</div>\n"
        for at, (circuit, _) in enumerate(_TABS)
    )
    born = jockey.born_on
    return (
        '<div class="db_head_name fc">\n<div class="Name">\n'
        f"<h1>{jockey.name} ({jockey.kana})</h1>\n"
        f'<p class="txt_01">{born.year}/{born.month:02}/{born.day:02} '
        f"[{'美浦' if jockey.number % 2 else '栗東'}]　{jockey.first_year}年デビュー</p>\n"
        "</div>\n</div>\n"
        f'<h2 class="DataTitle">直近5年成績</h2>\n<ul id="ResultsTab">{tabs}</ul>\n{boxes}'
        f'<div class="Template" style="display:none">\n{_table(_TEMPLATE)}</div>\n'
    )


def _table(rows: str) -> str:
    heads = "".join(f"<th>{label}</th>" for label in _HEADERS)
    return (
        '<table class="nk_tb_common race_table_01 ResultsByYears" summary="年度別成績">\n'
        f"<thead>\n<tr>{heads}</tr>\n</thead>\n<tbody>\n{rows}</tbody>\n</table>\n"
    )


def _rows(
    world: World, jockey: Jockey, circuit: Circuit, now: datetime, *, every_year: bool
) -> str:
    this_year = now.astimezone(JST).year
    career, rows = Tally(), []
    for year in range(this_year, jockey.first_year - 1, -1):
        tally = world.rides(jockey, circuit, year, now)
        career.add(tally)
        if year == this_year or (every_year and tally.rides):
            standing = world.standing(jockey, circuit, year, now)
            rows.append(_row(f"{year}", str(standing or ""), tally))
    return _row("累計", "", career) + "".join(rows)


def _row(year: str, standing: str, tally: Tally) -> str:
    counts = (*tally.places, tally.rides, tally.graded, tally.graded_won)
    rates = (f"{tally.rate(places):.1f}{_PERCENT}" for places in (1, 2, 3))
    horse_id, name = tally.best_horse
    best = f'<a href="/horse/{horse_id}/">{name}</a>' if horse_id else ""
    cells = (year, standing, *(f"{count:,}" for count in counts), *rates, best)
    return f"<tr>{''.join(f'<td>{cell}</td>' for cell in cells)}</tr>\n"
