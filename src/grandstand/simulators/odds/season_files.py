"""Kept here: a soccer season as football-data.co.uk writes it, in the columns of its years."""

from __future__ import annotations

import csv
import io
from typing import Final, Literal, TypeAlias
from zoneinfo import ZoneInfo

import numpy as np

from grandstand.simulators.odds.board import Board, Line, moment
from grandstand.simulators.odds.words import decimal
from grandstand.simulators.odds.world.season import Season

Years: TypeAlias = Literal["2004", "2013", "2019"]

_LONDON: Final = ZoneInfo("Europe/London")
# Their prefix by 1X2, by totals and by handicap: Pinnacle is PS in one and P in the others.
_BOOKS: Final = {
    "pinnacle": ("PS", "P", "P"),
    "fanduel": ("B365", "B365", "B365"),
    "williamhill": ("WH", "", ""),
}
_GOAL_LINE: Final = 2.5


def season_file(season: Season, years: Years = "2019", *, blank_columns: int = 0) -> bytes:
    """Answer the file of a season.

    In 2004 there are short dates and opening 1X2 prices alone, in 2013 Pinnacle's closing ones and
    averages beside them, from 2019 on times, closing prices of all, totals and handicaps. With
    `blank_columns` each line ends in as many commas.
    """
    board = Board(season)
    rows = [_row(season, board, game, years) for game in _played(season)]
    names = list(dict.fromkeys(name for row in rows for name in row))
    written = io.StringIO()
    writer = csv.writer(written, lineterminator="\r\n")
    writer.writerow(names + [""] * blank_columns)
    for row in rows:
        writer.writerow([row.get(name, "") for name in names] + [""] * blank_columns)
    text = written.getvalue()
    return text.encode("cp1252") if years == "2004" else text.encode("utf-8-sig")


def _played(season: Season) -> list[int]:
    found: list[int] = np.flatnonzero(~season.games.postponed).tolist()
    return found


def _row(season: Season, board: Board, game: int, years: Years) -> dict[str, str]:
    games = season.games
    begins = moment(int(games.commence_us[game])).astimezone(_LONDON)
    row = {"Div": "E0", "Date": f"{begins:%d/%m/%y}" if years == "2004" else f"{begins:%d/%m/%Y}"}
    if years == "2019":
        row["Time"] = f"{begins:%H:%M}"
    home, away = int(games.home_score[game]), int(games.away_score[game])
    row["HomeTeam"] = season.teams[games.home[game]]
    row["AwayTeam"] = season.teams[games.away[game]]
    row |= {"FTHG": str(home), "FTAG": str(away)}
    row["FTR"] = "H" if home > away else "A" if away > home else "D"
    start = int(games.commence_us[game])
    opening = board.lines(game, start - 20 * 3_600_000_000)
    closing = board.lines(game, start - 1)
    row |= _columns(season, opening, "", years)
    if years == "2013":
        row |= {
            name: told
            for name, told in _columns(season, closing, "C", years).items()
            if name.startswith("PS")
        }
    if years == "2019":
        row |= _columns(season, closing, "C", years)
    return row


def _columns(season: Season, lines: list[Line], mark: str, years: Years) -> dict[str, str]:
    """Answer the columns of prices; closing ones have a C after the book's letters."""
    found: dict[str, str] = {}
    sides: dict[str, list[tuple[float, ...]]] = {"h2h": [], "totals": [], "spreads": []}
    handicap = _handicap(lines)
    for line in lines:
        prices = tuple(decimal(each) for each in (line.first, line.draw, line.second) if each)
        fits = line.market == "h2h" or line.point == (
            handicap if line.market == "spreads" else _GOAL_LINE
        )
        if not fits:
            continue
        sides[line.market].append(prices)
        letters = _BOOKS.get(season.books[line.book].key)
        if letters is not None:
            at = ("h2h", "totals", "spreads").index(line.market)
            if letters[at] and (at == 0 or years == "2019"):
                found |= _named(f"{letters[at]}{mark}", line.market, prices)
    if years != "2004":
        for market, told in sides.items():
            if told and (market == "h2h" or years == "2019"):
                found |= _named(f"Max{mark}", market, tuple(map(max, zip(*told, strict=True))))
                means = tuple(sum(each) / len(each) for each in zip(*told, strict=True))
                found |= _named(f"Avg{mark}", market, means)
    if years == "2019" and handicap is not None:
        found[f"AH{mark}h"] = f"{handicap:g}"
    return found


def _handicap(lines: list[Line]) -> float | None:
    """The line most books have."""
    points = sorted(line.point for line in lines if line.market == "spreads")
    return max(points, key=points.count) if points else None


def _named(letters: str, market: str, prices: tuple[float, ...]) -> dict[str, str]:
    ends = {"h2h": ("H", "D", "A"), "totals": (">2.5", "<2.5"), "spreads": ("AHH", "AHA")}[market]
    return {f"{letters}{end}": f"{price:.2f}" for end, price in zip(ends, prices, strict=True)}
