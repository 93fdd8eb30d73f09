"""Parser of football-data.co.uk seasons: results, opening and closing prices.

Their notes name the columns; which ones a file has depends on its season. A C after a bookmaker's
prefix marks a closing price. Years have two or four digits, times are London's.
"""

from __future__ import annotations

from collections.abc import Iterator
from datetime import UTC, datetime
from decimal import Decimal
from typing import Final
from zoneinfo import ZoneInfo

from grandstand.apps.bets.domain.records import (
    ArchivedGame,
    ArchivedSeason,
    FeedGame,
    FeedPrice,
    FeedScore,
    PricedOutcome,
    slug,
)
from grandstand.apps.bets.sources.data_files import FileRow, check_columns, decode_text, read_csv
from grandstand.apps.bets.sources.validation import (
    InvalidValue,
    Rejections,
    check_year,
    parse_line,
    parse_number,
    parse_score,
)

_LONDON: Final = ZoneInfo("Europe/London")
_USUAL_TIME: Final = "15:00"
_REQUIRED_COLUMNS: Final = ("Div", "Date", "HomeTeam", "AwayTeam", "FTHG", "FTAG", "FTR")
_GOAL_LINE: Final = Decimal("2.5")
_MAX_DECIMAL: Final = 1001
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


def parse_season(content: bytes | str, name: str = "the file") -> ArchivedSeason:
    """Return the games of a file; invalid lines are rejected with their number.

    A missing or invalid price only drops that bookmaker's market.

    Raises InvalidInput if the file has other columns.
    """
    text = content if isinstance(content, str) else decode_text(content, name)
    table = read_csv(text, name)
    check_columns(table, _REQUIRED_COLUMNS)
    rejections = Rejections()
    games: dict[str, ArchivedGame] = {}
    for line in table.lines:
        try:
            game = _game(line, rejections)
            _check_new(game.game.game_id, games)
            games[game.game.game_id] = game
        except InvalidValue as reason:
            rejections.add(f"line {line.number}", reason)
    return ArchivedSeason(tuple(games.values()), rejections.all)


def division_sport(division: str) -> str:
    """Return the sport key of a division: E0 is soccer_epl."""
    return _SPORTS.get(division, f"soccer_{slug(division)}")


def _check_new(game_id: str, games: dict[str, ArchivedGame]) -> None:
    if game_id in games:
        raise InvalidValue("duplicate game: the first line is used")


def _game(line: FileRow, rejections: Rejections) -> ArchivedGame:
    values = line.values
    division, home, away = (values.get(name, "") for name in ("Div", "HomeTeam", "AwayTeam"))
    if not slug(division) or not slug(home) or not slug(away) or slug(home) == slug(away):
        raise InvalidValue("division or teams are missing")
    starts_at = _start(values.get("Date", ""), values.get("Time", ""))
    game_id = f"fd-{slug(division)}-{starts_at:%Y%m%d}-{slug(home)}-{slug(away)}"
    sport = division_sport(division)
    scored = [parse_score(values.get(name, "")) for name in ("FTHG", "FTAG")]
    _check_result(values.get("FTR", ""), scored[0] - scored[1])
    game = FeedGame(game_id, sport, home, away, starts_at)
    score = FeedScore(game_id, sport, home, away, starts_at, True, scored[0], scored[1])
    place = f"line {line.number}"
    opening = tuple(_prices(values, game, "", (rejections, place)))
    closing = tuple(_prices(values, game, "C", (rejections, place)))
    return ArchivedGame(game, score, opening, closing)


def _check_result(result: str, margin: Decimal) -> None:
    if result != ("H" if margin > 0 else "A" if margin < 0 else "D"):
        raise InvalidValue(f"the result {result[:10]!r} does not match the goals")


def _start(day: str, time: str) -> datetime:
    """Parse the start; games without a time started at the usual one."""
    form = "%d/%m/%Y" if len(day) > 8 else "%d/%m/%y"
    try:
        starts_at = datetime.strptime(f"{day} {time or _USUAL_TIME}", f"{form} %H:%M")  # noqa: DTZ007
        instant = starts_at.replace(tzinfo=_LONDON).astimezone(UTC)
    except (ValueError, OverflowError):
        raise InvalidValue(f"{f'{day} {time}'[:40]!r} is not a date and time") from None
    return check_year(instant, "Date")


def _prices(
    row: dict[str, str], game: FeedGame, suffix: str, rejections_at: tuple[Rejections, str]
) -> Iterator[FeedPrice]:
    """Yield the prices of each bookmaker; the first of two columns for the same one counts."""
    rejections, place = rejections_at
    seen: set[tuple[str, str]] = set()
    for prefix, book in _BOOKS.items():
        for market, columns in _columns(f"{prefix}{suffix}").items():
            texts = [row.get(column, "") for column in columns]
            if (book, market) in seen or not any(texts):
                continue
            try:
                outcomes = _parse_outcomes(row, game, (prefix, suffix, market), texts)
            except InvalidValue as reason:
                rejections.add(f"{place}, {columns[0]}", reason)
                continue
            seen.add((book, market))
            yield FeedPrice(book, market, outcomes)


def _columns(prefix: str) -> dict[str, tuple[str, ...]]:
    return {
        "h2h": (f"{prefix}H", f"{prefix}D", f"{prefix}A"),
        "totals": (f"{prefix}>2.5", f"{prefix}<2.5"),
        "spreads": (f"{prefix}AHH", f"{prefix}AHA"),
    }


def _parse_outcomes(
    row: dict[str, str], game: FeedGame, which: tuple[str, str, str], texts: list[str]
) -> tuple[PricedOutcome, ...]:
    prefix, suffix, market = which
    if not all(texts):
        raise InvalidValue("a side has no price")
    prices = [parse_decimal_price(text) for text in texts]
    if market == "h2h":
        names = (game.home_team, "Draw", game.away_team)
        home, draw, away = (
            PricedOutcome(name, price) for name, price in zip(names, prices, strict=True)
        )
        return home, away, draw
    if market == "totals":
        return (
            PricedOutcome("Over", prices[0], _GOAL_LINE),
            PricedOutcome("Under", prices[1], _GOAL_LINE),
        )
    line = _handicap(row, prefix, suffix)
    return (
        PricedOutcome(game.home_team, prices[0], line),
        PricedOutcome(game.away_team, prices[1], -line),
    )


def _handicap(row: dict[str, str], prefix: str, suffix: str) -> Decimal:
    """Return home's line: the market's, or before 2019 the collector's or the bookmaker's own."""
    names = (f"AH{suffix}h", "BbAHh", f"{prefix}AH") if not suffix else (f"AH{suffix}h",)
    for name in names:
        if row.get(name):
            return parse_line(row[name])
    raise InvalidValue("it has no line")


def parse_decimal_price(decimal: str) -> int:
    """Return a decimal price as an American one.

    Raises InvalidValue.
    """
    price = parse_number(decimal, "a price")
    if not 1 < price <= _MAX_DECIMAL:
        raise InvalidValue(f"{decimal[:20]!r} is not a decimal price")
    if price >= 2:
        return round((price - 1) * 100)
    return -min(round(100 / (price - 1)), 100_000)
