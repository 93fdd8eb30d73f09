"""Kept here: seasons of football-data.co.uk: results, and prices at opening and at closing.

Their notes name the columns; which of them a file has depends on its season. A C after a book's
letters marks a closing price. Dates have years of two or four digits, times are London's.
"""

from __future__ import annotations

from collections.abc import Iterator
from datetime import UTC, datetime
from decimal import Decimal
from typing import Final
from zoneinfo import ZoneInfo

from grandstand.apps.bets.model import PricedOutcome, slug
from grandstand.apps.bets.model.feeds import FedGame, FedPrice, FedScore, PastGame, PastSeason
from grandstand.apps.bets.sources.reading import (
    Refusals,
    Unfit,
    number_of,
    point_of,
    score_of,
    within_reason,
)
from grandstand.apps.bets.sources.tables import Line, check_columns, decoded, read_csv

_LONDON: Final = ZoneInfo("Europe/London")
_USUAL_TIME: Final = "15:00"
_NEEDED: Final = ("Div", "Date", "HomeTeam", "AwayTeam", "FTHG", "FTAG", "FTR")
_LINE: Final = Decimal("2.5")
_LONGEST: Final = 1001
_EVEN: Final = 2
_BOOKS: Final = {
    "1XB": "onexbet",
    "B365": "bet365",
    "BF": "betfair_sb",
    "BFD": "betfred",
    "BFE": "betfair_ex",
    "BMGM": "betmgm",
    "BS": "bluesquare",
    "BV": "betvictor",
    "BW": "bwin",
    "CL": "coral",
    "GB": "gamebookers",
    "IW": "interwetten",
    "LB": "ladbrokes",
    "P": "pinnacle",
    "PS": "pinnacle",
    "SB": "sportingbet",
    "SJ": "stanjames",
    "SO": "sportingodds",
    "SY": "stanleybet",
    "VC": "betvictor",
    "WH": "williamhill",
    "Max": "market_max",
    "Avg": "market_average",
    "BbMx": "market_max",
    "BbAv": "market_average",
}
_SPORTS: Final = {
    "E0": "soccer_epl",
    "E1": "soccer_efl_champ",
    "E2": "soccer_england_league1",
    "E3": "soccer_england_league2",
    "SC0": "soccer_spl",
    "D1": "soccer_germany_bundesliga",
    "D2": "soccer_germany_bundesliga2",
    "I1": "soccer_italy_serie_a",
    "I2": "soccer_italy_serie_b",
    "SP1": "soccer_spain_la_liga",
    "SP2": "soccer_spain_segunda_division",
    "F1": "soccer_france_ligue_one",
    "F2": "soccer_france_ligue_two",
    "N1": "soccer_netherlands_eredivisie",
    "B1": "soccer_belgium_first_div",
    "P1": "soccer_portugal_primeira_liga",
    "T1": "soccer_turkey_super_league",
    "G1": "soccer_greece_super_league",
}


def parse_season(content: bytes | str, name: str = "the file") -> PastSeason:
    """Answer the games of a file; lines that cannot be used are refused, each with its number.

    A price that is missing or none leaves out that book's market alone. Raises FileUnfit when the
    file is not one of theirs.
    """
    text = content if isinstance(content, str) else decoded(content, name)
    table = read_csv(text, name)
    check_columns(table, _NEEDED)
    refusals = Refusals()
    found: dict[str, PastGame] = {}
    for line in table.lines:
        try:
            game = _game(line, refusals)
            _check_new(game.game.game_id, found)
            found[game.game.game_id] = game
        except Unfit as why:
            refusals.add(f"line {line.number}", why)
    return PastSeason(tuple(found.values()), refusals.all)


def sport_of(division: str) -> str:
    """Answer the sport's key of a division: E0 is soccer_epl."""
    return _SPORTS.get(division, f"soccer_{slug(division)}")


def _check_new(game_id: str, found: dict[str, PastGame]) -> None:
    if game_id in found:
        raise Unfit("the game is there twice: the first line is taken")


def _game(line: Line, refusals: Refusals) -> PastGame:
    told = line.told
    division, home, away = (told.get(name, "") for name in ("Div", "HomeTeam", "AwayTeam"))
    if not slug(division) or not slug(home) or not slug(away) or slug(home) == slug(away):
        raise Unfit("it does not name a division and two teams")
    begins = _start(told.get("Date", ""), told.get("Time", ""))
    game_id = f"fd-{slug(division)}-{begins:%Y%m%d}-{slug(home)}-{slug(away)}"
    sport = sport_of(division)
    scored = [score_of(told.get(name, "")) for name in ("FTHG", "FTAG")]
    _check_result(told.get("FTR", ""), scored[0] - scored[1])
    game = FedGame(game_id, sport, home, away, begins)
    score = FedScore(game_id, sport, home, away, begins, True, scored[0], scored[1])
    place = f"line {line.number}"
    opening = tuple(_prices(told, game, "", (refusals, place)))
    closing = tuple(_prices(told, game, "C", (refusals, place)))
    return PastGame(game, score, opening, closing)


def _check_result(told: str, margin: Decimal) -> None:
    if told != ("H" if margin > 0 else "A" if margin < 0 else "D"):
        raise Unfit(f"the result {told[:10]!r} is not what the goals say")


def _start(day: str, time: str) -> datetime:
    """The year has two digits or four; without a time, games begin when they used to."""
    form = "%d/%m/%Y" if len(day) > 8 else "%d/%m/%y"  # noqa: PLR2004 - dd/mm/yy
    try:
        begins = datetime.strptime(f"{day} {time or _USUAL_TIME}", f"{form} %H:%M")  # noqa: DTZ007
        found = begins.replace(tzinfo=_LONDON).astimezone(UTC)
    except (ValueError, OverflowError):
        raise Unfit(f"{f'{day} {time}'[:40]!r} is no date and time") from None
    return within_reason(found, "Date")


def _prices(
    told: dict[str, str], game: FedGame, mark: str, refused: tuple[Refusals, str]
) -> Iterator[FedPrice]:
    """Answer the prices a line has of each book, the first column where two name the same."""
    refusals, place = refused
    seen: set[tuple[str, str]] = set()
    for letters, book in _BOOKS.items():
        for market, columns in _columns(f"{letters}{mark}").items():
            values = [told.get(column, "") for column in columns]
            if (book, market) in seen or not any(values):
                continue
            try:
                priced = _priced(told, game, (letters, mark, market), values)
            except Unfit as why:
                refusals.add(f"{place}, {columns[0]}", why)
                continue
            seen.add((book, market))
            yield FedPrice(book, market, priced)


def _columns(prefix: str) -> dict[str, tuple[str, ...]]:
    return {
        "h2h": (f"{prefix}H", f"{prefix}D", f"{prefix}A"),
        "totals": (f"{prefix}>2.5", f"{prefix}<2.5"),
        "spreads": (f"{prefix}AHH", f"{prefix}AHA"),
    }


def _priced(
    told: dict[str, str], game: FedGame, which: tuple[str, str, str], values: list[str]
) -> tuple[PricedOutcome, ...]:
    letters, mark, market = which
    if not all(values):
        raise Unfit("a side has no price")
    prices = [american_of(value) for value in values]
    if market == "h2h":
        names = (game.home_team, "Draw", game.away_team)
        home, draw, away = (
            PricedOutcome(name, price) for name, price in zip(names, prices, strict=True)
        )
        return home, away, draw
    if market == "totals":
        return PricedOutcome("Over", prices[0], _LINE), PricedOutcome("Under", prices[1], _LINE)
    line = _handicap(told, letters, mark)
    return (
        PricedOutcome(game.home_team, prices[0], line),
        PricedOutcome(game.away_team, prices[1], -line),
    )


def _handicap(told: dict[str, str], letters: str, mark: str) -> Decimal:
    """The line of home: the market's, or before 2019 the collector's or the book's own."""
    names = (f"AH{mark}h", "BbAHh", f"{letters}AH") if not mark else (f"AH{mark}h",)
    for name in names:
        if told.get(name):
            return point_of(told[name])
    raise Unfit("there is no line for it")


def american_of(decimal: str) -> int:
    """Answer a decimal price as an American one; raise Unfit when it is none."""
    price = number_of(decimal, "a price")
    if not 1 < price <= _LONGEST:
        raise Unfit(f"{decimal[:20]!r} is no decimal price")
    if price >= _EVEN:
        return round((price - 1) * 100)
    return -min(round(100 / (price - 1)), 100_000)
