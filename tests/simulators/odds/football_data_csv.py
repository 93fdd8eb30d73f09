"""CSV files of a simulated season in the layouts of football-data.co.uk."""

from __future__ import annotations

import csv
import io
from typing import Final, Literal, TypeAlias
from zoneinfo import ZoneInfo

import numpy as np

from grandstand.simulators.odds.season import SimulatedSeason
from grandstand.simulators.odds.serializers import (
    PriceBoard,
    PriceLine,
    american_to_decimal,
    from_epoch_us,
)

Years: TypeAlias = Literal["2004", "2013", "2019"]
_LONDON: Final = ZoneInfo("Europe/London")
# Column prefixes for 1X2, totals and handicaps: Pinnacle is PS in one and P in the others.
_CSV_BOOKS: Final = {
    "pinnacle": ("PS", "P", "P"),
    "fanduel": ("B365", "B365", "B365"),
    "williamhill": ("WH", "", ""),
}
_GOAL_LINE: Final = 2.5


def football_data_csv(
    season: SimulatedSeason, years: Years = "2019", *, blank_columns: int = 0
) -> bytes:
    """Return the CSV file of a season.

    2004 has short dates and only opening 1X2 prices; 2013 adds Pinnacle's closing prices and
    averages; 2019 adds times, all closing prices, totals and handicaps. With `blank_columns` each
    line ends in as many commas.
    """
    board = PriceBoard(season)
    rows = [_row(season, board, game, years) for game in _played(season)]
    names = list(dict.fromkeys(name for row in rows for name in row))
    written = io.StringIO()
    writer = csv.writer(written, lineterminator="\r\n")
    writer.writerow(names + [""] * blank_columns)
    for row in rows:
        writer.writerow([row.get(name, "") for name in names] + [""] * blank_columns)
    text = written.getvalue()
    return text.encode("cp1252") if years == "2004" else text.encode("utf-8-sig")


def _played(season: SimulatedSeason) -> list[int]:
    games: list[int] = np.flatnonzero(~season.games.postponed).tolist()
    return games


def _row(season: SimulatedSeason, board: PriceBoard, game: int, years: Years) -> dict[str, str]:
    games = season.games
    starts_at = from_epoch_us(int(games.commence_us[game])).astimezone(_LONDON)
    row = {
        "Div": "E0",
        "Date": f"{starts_at:%d/%m/%y}" if years == "2004" else f"{starts_at:%d/%m/%Y}",
    }
    if years == "2019":
        row["Time"] = f"{starts_at:%H:%M}"
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
            name: value
            for name, value in _columns(season, closing, "C", years).items()
            if name.startswith("PS")
        }
    if years == "2019":
        row |= _columns(season, closing, "C", years)
    return row


def _columns(
    season: SimulatedSeason, lines: list[PriceLine], suffix: str, years: Years
) -> dict[str, str]:
    """Return the price columns; closing ones have a C after the bookmaker's prefix."""
    columns: dict[str, str] = {}
    sides: dict[str, list[tuple[float, ...]]] = {"h2h": [], "totals": [], "spreads": []}
    handicap = _handicap(lines)
    for line in lines:
        prices = tuple(
            american_to_decimal(price) for price in (line.first, line.draw, line.second) if price
        )
        fits = line.market == "h2h" or line.point == (
            handicap if line.market == "spreads" else _GOAL_LINE
        )
        if not fits:
            continue
        sides[line.market].append(prices)
        prefix = _CSV_BOOKS.get(season.books[line.book].key)
        if prefix is not None:
            at = ("h2h", "totals", "spreads").index(line.market)
            if prefix[at] and (at == 0 or years == "2019"):
                columns |= _named(f"{prefix[at]}{suffix}", line.market, prices)
    if years != "2004":
        for market, prices_of_market in sides.items():
            if prices_of_market and (market == "h2h" or years == "2019"):
                columns |= _named(
                    f"Max{suffix}", market, tuple(map(max, zip(*prices_of_market, strict=True)))
                )
                means = tuple(
                    sum(price) / len(price) for price in zip(*prices_of_market, strict=True)
                )
                columns |= _named(f"Avg{suffix}", market, means)
    if years == "2019" and handicap is not None:
        columns[f"AH{suffix}h"] = f"{handicap:g}"
    return columns


def _handicap(lines: list[PriceLine]) -> float | None:
    """Return the most common line."""
    points = sorted(line.point for line in lines if line.market == "spreads")
    return max(points, key=points.count) if points else None


def _named(prefix: str, market: str, prices: tuple[float, ...]) -> dict[str, str]:
    ends = {"h2h": ("H", "D", "A"), "totals": (">2.5", "<2.5"), "spreads": ("AHH", "AHA")}[market]
    return {f"{prefix}{end}": f"{price:.2f}" for end, price in zip(ends, prices, strict=True)}
