"""Kept here: how markets, prices, bookmakers and money are written for people."""

from __future__ import annotations

import re
from decimal import Decimal
from typing import Final

from grandstand.apps.bets.model import Evidence, Recommendation, slug
from grandstand.apps.bets.model.names import plain
from grandstand.apps.bets.model.prices.odds import decimal_of, from_log_odds
from grandstand.apps.bets.service import Interval
from grandstand.kit.pages import shown
from grandstand.kit.pages.table import Tone

_CENT: Final = Decimal("0.01")
_MINUTE: Final = 60
_LINE: Final = re.compile(r" ([+-]?)(\d+\.\d+)(?= |$)")
_UNITS: Final = ((86_400, "d"), (3_600, "h"), (_MINUTE, "min"), (1, "s"))
_MINUS: Final = "\u2212"
_BOOKS: Final = {
    "fanduel": "FanDuel",
    "draftkings": "DraftKings",
    "betmgm": "BetMGM",
    "williamhill_us": "Caesars",
    "betonlineag": "BetOnline",
    "lowvig": "LowVig",
    "mybookieag": "MyBookie",
    "betrivers": "BetRivers",
    "espnbet": "ESPN BET",
}
_MARKETS: Final = {
    "h2h": "Winner",
    "h2h_3way": "Winner",
    "spreads": "Spread",
    "totals": "Total",
    "draw_no_bet": "Draw no bet",
    "player_pass_yds": "Passing yards",
}
SOURCES: Final[dict[str, tuple[str, str]]] = {
    "team_stats": ("Team figures", "What both teams scored, allowed and did in their last games."),
    "recent_form": ("Recent form", "Margins of the last five games."),
    "odds_movement": ("Odds movement", "How far the bookmakers have moved since they opened."),
    "rest_schedule": ("Rest and schedule", "Days off, and games on consecutive days."),
    "head_to_head": ("Head to head", "Earlier games of the same two teams."),
    "injuries": ("Injuries", "Who is out or doubtful, and how much they are missed."),
    "player_stats": ("Player figures", "What the players of both teams scored."),
    "custom_data": ("Your own data", "Tables of figures that you brought."),
}
METHODS: Final[dict[str, tuple[str, str]]] = {
    "multiplicative": ("Multiplicative", "every chance is scaled alike"),
    "additive": ("Additive", "the same is taken from each"),
    "power": ("Power", "long shots carry more of the margin"),
    "shin": ("Shin", "the margin guards against insiders"),
    "odds_ratio": ("Odds ratio", "every odds are shortened alike"),
}
_ADVICE: Final[dict[Recommendation, tuple[str, Tone]]] = {
    "ORIGINAL": ("Follow it", "good"),
    "INVERSE": ("Bet against it", "warn"),
    "AVOID": ("Leave it", ""),
}
_STATUSES: Final[dict[str, tuple[str, Tone]]] = {
    "pending": ("Open", "warn"),
    "open": ("Open", "warn"),
    "won": ("Won", "good"),
    "lost": ("Lost", "bad"),
    "push": ("Stake back", ""),
    "void": ("Void", ""),
}
_VERDICTS: Final[dict[str, tuple[str, Tone]]] = {
    "win": ("Won", "good"),
    "half_win": ("Half won", "good"),
    "push": ("Stake back", ""),
    "half_loss": ("Half lost", "bad"),
    "loss": ("Lost", "bad"),
    "void": ("Void", ""),
    "dead_heat": ("Dead heat", ""),
    "pending": ("Open", ""),
}


def book_name(bookmaker: str) -> str:
    """Name a bookmaker; one that writes itself with capitals or spaces is left alone."""
    return _BOOKS.get(bookmaker) or (
        bookmaker if bookmaker != slug(bookmaker) else _title(bookmaker)
    )


def market_name(market_key: str) -> str:
    """Name a market."""
    return _MARKETS.get(market_key) or plain(market_key.removeprefix("player_"))


def rule_name(rule: str) -> str:
    """Name a rule of Benny's."""
    return plain(rule)


def source_name(source: str) -> str:
    """Name what a prediction counted."""
    return SOURCES[source][0] if source in SOURCES else plain(source)


def advice(recommendation: Recommendation, evidence: Evidence | None) -> tuple[str, Tone]:
    """Say what to do with a model, and in which tone."""
    return ("Too few bets to say", "") if evidence else _ADVICE[recommendation]


def status_of(status: str) -> tuple[str, Tone]:
    """Say how a bet stands, and in which tone."""
    return _STATUSES.get(status, (plain(status), ""))


def verdict_of(verdict: str | None) -> tuple[str, Tone]:
    """Say how a prediction turned out, and in which tone."""
    return ("Open", "") if verdict is None else _VERDICTS.get(verdict, (plain(verdict), ""))


def tidy(prediction: str) -> str:
    """Write a prediction with its line as a person would: no needless nought, a true minus."""
    return _LINE.sub(_line, prediction)


def _line(found: re.Match[str]) -> str:
    line = Decimal(found[2])
    sign = _MINUS if found[1] == "-" else found[1]
    return f" {sign}{line.normalize():f}"


def side_text(side: str, home_team: str, away_team: str) -> str:
    """Name a side of a game."""
    return {"home": home_team, "away": away_team}.get(side) or side.capitalize()


def selection_text(
    side: str, point: Decimal | None, home_team: str, away_team: str, participant: str | None = None
) -> str:
    """Say what is bet on: whom, or what, and at which line."""
    said = side_text(side, home_team, away_team)
    named = f"{_title(participant)} {said.lower()}" if participant else said
    if point is None:
        return named
    return f"{named} {point_text(point, signed=side in {'home', 'away'})}"


def point_text(point: Decimal, *, signed: bool) -> str:
    """Write a line, such as a half point given or taken."""
    plain = Decimal(f"{point.normalize():f}")
    return shown.number(plain, signed=signed and bool(plain))


def money(cents: int | None, *, signed: bool = False) -> str:
    """Write cents as dollars."""
    if cents is None:
        return shown.NOTHING
    size = f"${abs(cents) // 100:,}.{abs(cents) % 100:02}"
    sign = _MINUS if cents < 0 else "+" if signed and cents else ""
    return f"{sign}{size}"


def units(value: float | None) -> str:
    """Write a result in stakes of one."""
    return shown.number(value, 2, signed=True)


def tone_of(value: float | None) -> Tone:
    """Answer the tone of what is gained or lost."""
    return "" if not value else "good" if value > 0 else "bad"


def decimal(american: int | None) -> float | None:
    """Answer an American price as a decimal one, which is how odds are shown by the house."""
    return None if american is None else decimal_of(american)


def signed_percent(share: float | None, digits: int = 1) -> str:
    """Write a share of one as a percentage with its sign."""
    if share is None:
        return shown.NOTHING
    # Adding nought takes the sign from what rounds to nought.
    return f"{shown.number(round(share * 100, digits) + 0.0, digits, signed=True)}\u00a0%"


def within(interval: Interval | None, *, signed: bool = False) -> str:
    """Write the bounds of an interval of shares."""
    if interval is None:
        return ""
    low, high = (shown.number(end * 100, 1, signed=signed) for end in (interval.low, interval.high))
    return f"{low} to {high}\u00a0%"


def moved(log_odds: float) -> str:
    """Say in percentage points from even chances how far an input moves a prediction."""
    return f"{shown.number((from_log_odds(log_odds) - 0.5) * 100, 1, signed=True)}"


def age_text(seconds: int) -> str:
    """Write how old a price is, in whole minutes from one on."""
    return shown.duration(seconds - seconds % _MINUTE if seconds > _MINUTE else seconds)


def short_age(seconds: int) -> str:
    """Write how old a price is in the largest unit only."""
    for size, unit in _UNITS:
        if seconds >= size:
            return f"{seconds // size}\u00a0{unit}"
    return "now"


def dollars(cents: int | None) -> str:
    """Write cents as a field of a form takes them back."""
    return "" if cents is None else f"{Decimal(cents) * _CENT:.2f}"


def _title(key: str) -> str:
    return " ".join(word.capitalize() for word in key.split("_"))
