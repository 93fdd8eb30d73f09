"""The base class of the pages, and the labels, formats, charts and form fields they share."""

from __future__ import annotations

import math
import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, date, datetime
from decimal import Decimal, InvalidOperation
from fractions import Fraction
from itertools import accumulate
from typing import Annotated, Any, Final
from zoneinfo import ZoneInfo, ZoneInfoNotFoundError

from fastapi import Path
from markupsafe import Markup
from starlette.requests import Request

from grandstand.apps.bets.domain import records
from grandstand.apps.bets.domain.odds import (
    american_to_decimal,
    decimal_to_american,
    from_log_odds,
)
from grandstand.apps.bets.domain.records import (
    CalibrationBin,
    Evidence,
    Interval,
    Recommendation,
    humanize_key,
    slug,
)
from grandstand.apps.bets.services import Bets
from grandstand.apps.bets.services.backtests import BacktestPrediction
from grandstand.apps.bets.services.scoreboard import BalancePoint
from grandstand.core import formatting
from grandstand.kit.charts import Axis, Chart, Plot, epoch
from grandstand.kit.pages.page import AppPages
from grandstand.kit.pages.rendering import Pages
from grandstand.kit.pages.table import Tone

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
    "h2h": "Moneyline",
    "h2h_3way": "Moneyline",
    "spreads": "Spread",
    "totals": "Total",
    "draw_no_bet": "Draw no bet",
    "player_pass_yds": "Passing yards",
}
SOURCES: Final[dict[str, tuple[str, str]]] = {
    "team_stats": (
        "Team statistics",
        "Scoring and other statistics of both teams in recent games.",
    ),
    "recent_form": ("Recent form", "Margins of the last five games."),
    "odds_movement": ("Odds movement", "Line movement since the opening odds."),
    "rest_schedule": ("Rest and schedule", "Rest days and back-to-back games."),
    "head_to_head": ("Head to head", "Previous meetings of the two teams."),
    "injuries": ("Injuries", "Players who are out or doubtful, weighted by impact."),
    "player_stats": ("Player statistics", "Statistics of the players of both teams."),
    "custom_data": ("Your datasets", "Statistics that you uploaded."),
}
METHODS: Final[dict[str, tuple[str, str]]] = {
    "multiplicative": ("Multiplicative", "scales all probabilities equally"),
    "additive": ("Additive", "subtracts the same from each"),
    "power": ("Power", "long shots carry more of the margin"),
    "shin": ("Shin", "models insider trading"),
    "odds_ratio": ("Odds ratio", "scales all odds equally"),
}
_ADVICE: Final[dict[Recommendation, tuple[str, Tone]]] = {
    "ORIGINAL": ("Follow", "good"),
    "INVERSE": ("Bet against", "warn"),
    "AVOID": ("Avoid", ""),
}
_STATUSES: Final[dict[str, tuple[str, Tone]]] = {
    "pending": ("Open", "warn"),
    "open": ("Open", "warn"),
    "won": ("Won", "good"),
    "lost": ("Lost", "bad"),
    "push": ("Push", ""),
    "void": ("Void", ""),
}
_VERDICTS: Final[dict[str, tuple[str, Tone]]] = {
    "win": ("Won", "good"),
    "half_win": ("Half won", "good"),
    "push": ("Push", ""),
    "half_loss": ("Half lost", "bad"),
    "loss": ("Lost", "bad"),
    "void": ("Void", ""),
    "dead_heat": ("Dead heat", ""),
    "pending": ("Open", ""),
}


def market_group(market_key: str) -> str:
    """Return the market a market key is shown under; 3-way moneylines count as moneylines."""
    return "h2h" if market_key in {"h2h_3way", "h2h_3_way"} else market_key


def interval_bar(
    interval: Interval | None, reach: tuple[float, float], mark: float | None, label: str
) -> Markup:
    """Draw a value with its interval. The mark is the value to beat.

    Intervals entirely above the mark are good, entirely below it bad.
    """
    if interval is None:
        return Markup("")
    low, high = (_placed(end, reach) for end in (interval.low, interval.high))
    at = _placed(interval.value, reach)
    tone, mark_tag = "open", Markup("")
    if mark is not None:
        place = _placed(mark, reach)
        mark_tag = Markup('<path class="interval-mark" d="M{0:.1f} 0V12"/>').format(place)
        tone = "good" if interval.low > mark else "bad" if interval.high < mark else "open"
    return Markup(
        '<svg class="interval interval-{}" viewBox="0 0 100 12" preserveAspectRatio="none"'
        ' role="img" aria-label="{}"><path class="interval-axis" d="M0 6H100"/>'
        '<rect class="interval-span" x="{:.1f}" y="4" width="{:.1f}" height="4"/>{}'
        '<rect class="interval-value" x="{:.1f}" y="1" width="2" height="10"/></svg>'
    ).format(tone, label, low, max(high - low, 0.5), mark_tag, min(at, 98.0))


def signed_bar(value: float, max_value: float) -> Markup:
    """Draw a contribution to the right of the center, or to the left if negative."""
    size = 50 * min(abs(value) / max_value, 1.0) if max_value else 0.0
    return Markup(
        '<svg class="lever" viewBox="-50 0 100 8" preserveAspectRatio="none" aria-hidden="true">'
        '<path class="lever-zero" d="M0 0V8"/>'
        '<rect class="{}" x="{:.2f}" y="1" width="{:.2f}" height="6"/></svg>'
    ).format("lever-for" if value > 0 else "lever-against", -size if value < 0 else 0.0, size)


def share_bar(share: float, label: str) -> Markup:
    """Draw a fraction of one."""
    return Markup(
        '<svg class="chance" viewBox="0 0 100 6" preserveAspectRatio="none" role="img"'
        ' aria-label="{}"><rect class="chance-ground" width="100" height="6"/>'
        '<rect class="chance-fill" width="{:.1f}" height="6"/></svg>'
    ).format(label, 100.0 * min(max(share, 0.0), 1.0))


def _placed(value: float, reach: tuple[float, float]) -> float:
    low, high = reach
    return 100.0 * min(max((value - low) / (high - low), 0.0), 1.0)


def book_name(bookmaker: str) -> str:
    """Return the display name of a bookmaker."""
    return _BOOKS.get(bookmaker) or (
        bookmaker if bookmaker != slug(bookmaker) else _title(bookmaker)
    )


def market_name(market_key: str) -> str:
    return _MARKETS.get(market_key) or humanize_key(market_key.removeprefix("player_"))


def source_name(source: str) -> str:
    return SOURCES[source][0] if source in SOURCES else humanize_key(source)


def advice(recommendation: Recommendation, evidence: Evidence | None) -> tuple[str, Tone]:
    """Return the label and tone of a recommendation."""
    return ("Not enough bets", "") if evidence else _ADVICE[recommendation]


def status_of(status: str) -> tuple[str, Tone]:
    """Return the label and tone of a bet's status."""
    return _STATUSES.get(status, (humanize_key(status), ""))


def verdict_of(verdict: str | None) -> tuple[str, Tone]:
    """Return the label and tone of a verdict."""
    return ("Open", "") if verdict is None else _VERDICTS.get(verdict, (humanize_key(verdict), ""))


def tidy(prediction: str) -> str:
    """Format the line of a prediction without trailing zeros and with a true minus sign."""
    return _LINE.sub(
        lambda match: f" {match[1].replace('-', _MINUS)}{Decimal(match[2]).normalize():f}",
        prediction,
    )


def side_text(side: str, home_team: str, away_team: str) -> str:
    return {"home": home_team, "away": away_team}.get(side) or side.capitalize()


def selection_text(
    side: str, point: Decimal | None, home_team: str, away_team: str, participant: str | None = None
) -> str:
    """Return a selection with its line, such as `Lakers -3.5`."""
    name = side_text(side, home_team, away_team)
    named = f"{_title(participant)} {name.lower()}" if participant else name
    if point is None:
        return named
    return f"{named} {point_text(point, signed=side in {'home', 'away'})}"


def point_text(point: Decimal, *, signed: bool) -> str:
    plain = Decimal(f"{point.normalize():f}")
    return formatting.format_number(plain, signed=signed and bool(plain))


def money(cents: int | None, *, signed: bool = False) -> str:
    """Format cents as dollars."""
    if cents is None:
        return formatting.EMPTY
    size = f"${abs(cents) // 100:,}.{abs(cents) % 100:02}"
    sign = _MINUS if cents < 0 else "+" if signed and cents else ""
    return f"{sign}{size}"


def units(value: float | None) -> str:
    """Format a result in units."""
    return formatting.format_number(value, 2, signed=True)


def tone_of(value: float | None) -> Tone:
    """Return the tone of a profit or loss."""
    return "" if not value else "good" if value > 0 else "bad"


def decimal(american: int | None) -> float | None:
    """Return the decimal price of an American one; the odds filter takes decimal prices."""
    return None if american is None else american_to_decimal(american)


def signed_percent(share: float | None, digits: int = 1) -> str:
    """Format a ratio as a percentage with its sign."""
    if share is None:
        return formatting.EMPTY
    # Adding zero removes the sign of a rounded zero.
    return (
        f"{formatting.format_number(round(share * 100, digits) + 0.0, digits, signed=True)}\u00a0%"
    )


def within(interval: Interval | None, *, signed: bool = False) -> str:
    """Format the bounds of an interval."""
    if interval is None:
        return ""
    low, high = (
        formatting.format_number(end * 100, 1, signed=signed)
        for end in (interval.low, interval.high)
    )
    return f"{low} to {high}\u00a0%"


def effect_text(log_odds: float) -> str:
    """Format a contribution in percentage points from 50%."""
    return f"{formatting.format_number((from_log_odds(log_odds) - 0.5) * 100, 1, signed=True)}"


def age_text(seconds: int) -> str:
    """Format the age of a price in whole minutes."""
    return formatting.format_duration(seconds - seconds % _MINUTE if seconds > _MINUTE else seconds)


def short_age(seconds: int) -> str:
    """Format an age in its largest unit."""
    for size, unit in _UNITS:
        if seconds >= size:
            return f"{seconds // size}\u00a0{unit}"
    return "now"


def dollars(cents: int | None) -> str:
    """Format cents for a form field."""
    return "" if cents is None else f"{Decimal(cents) / 100:.2f}"


def _title(key: str) -> str:
    return " ".join(word.capitalize() for word in key.split("_"))


def calibration_chart(bins: Sequence[CalibrationBin], name: str) -> Chart:
    """Return the reliability diagram of a forecaster."""
    ordered = sorted((bin_ for bin_ in bins if bin_.count), key=lambda one: one.mean_probability)
    rows = tuple((item.mean_probability * 100, item.share_won * 100) for item in ordered)
    counts = ", ".join(f"{item.count}" for item in ordered)
    return Chart(
        title=f"Calibration of {name}",
        note=f"Predictions per group, from lowest to highest probability: {counts}."
        if ordered
        else "",
        x=Axis("Predicted", unit="%", digits=0),
        y=Axis("Actual", unit="%", digits=0, within=(0, 100)),
        plots=(
            Plot("Perfect calibration", "line", ((0, 0), (100, 100)), "quiet"),
            Plot(name, "scatter", rows, "3"),
        ),
        height=300,
    )


def units_chart(predictions: Iterable[BacktestPrediction]) -> Chart:
    """Return the running profit of one unit per prediction."""
    priced = [prediction for prediction in predictions if prediction.profit_units is not None]
    ordered = sorted(priced, key=lambda item: item.commence_time)
    totals = accumulate(prediction.profit_units or 0.0 for prediction in ordered)
    rows = {
        epoch(prediction.commence_time): total
        for prediction, total in zip(ordered, totals, strict=True)
    }
    return Chart(
        title="Cumulative units",
        note="At the prices of the time, on games outside the training data.",
        x=Axis("Start of the game", "time"),
        y=Axis("Units", digits=1),
        plots=(Plot("Profit", "step", tuple(rows.items()), "3"),),
        height=260,
    )


def money_chart(title: str, note: str, points: Sequence[BalancePoint]) -> Chart:
    """Return an amount of money over time."""
    ordered = sorted(points, key=lambda point: point.at)
    rows = {epoch(point.at): point.cents / 100 for point in ordered}
    return Chart(
        title=title,
        note=note,
        x=Axis("Time", "time"),
        y=Axis("Dollars", unit="$", digits=2),
        plots=(Plot(title, "step", tuple(rows.items()), "3"),),
        height=260,
    )


GameId = Annotated[str, Path(max_length=80)]
OwnId = Annotated[str, Path(max_length=80)]

_TEMPLATE_FUNCTIONS: Final[dict[str, Any]] = {
    "advice": advice,
    "age_text": age_text,
    "book_name": book_name,
    "day_text": formatting.format_date,
    "decimal": decimal,
    "dollars": dollars,
    "interval_bar": interval_bar,
    "market_name": market_name,
    "model_name": records.model_name,
    "money": money,
    "effect_text": effect_text,
    "point_text": point_text,
    "rule_name": humanize_key,
    "selection_text": selection_text,
    "share_bar": share_bar,
    "short_age": short_age,
    "side_text": side_text,
    "signed_bar": signed_bar,
    "signed_percent": signed_percent,
    "source_name": source_name,
    "sport_name": records.sport_name,
    "status_of": status_of,
    "tidy": tidy,
    "tone_of": tone_of,
    "units": units,
    "verdict_of": verdict_of,
    "within": within,
}


class BetsPagesBase(AppPages):
    """Base class of the page groups."""

    def __init__(self, bets: Bets, pages: Pages) -> None:
        super().__init__(pages, "bets", _TEMPLATE_FUNCTIONS)
        self._bets = bets

    def _sport(self, request: Request) -> str:
        """Return the requested sport, or the first enabled one."""
        sport = request.query_params.get("sport", "")
        sports = self._bets.settings.sports
        return sport if sport in sports else next(iter(sports), "")


def content_of(text: str) -> bytes:
    """Return the bytes of an uploaded file."""
    return text.encode("utf-8", "surrogateescape")


def query_option(request: Request, name: str, options: tuple[str, ...], default: str) -> str:
    """Return a query parameter if it is one of the options, else the default."""
    value = request.query_params.get(name, "")
    return value if value in options else default


_AMERICAN: Final = 100
_HUNDRED: Final = Decimal(100)
_MAX_CENTS: Final = 100_000_000
_MAX_LINE: Final = 1000
_MAX_DIGITS: Final = 24


@dataclass(frozen=True, slots=True)
class ParsedPrice:
    """A price in American and decimal odds."""

    american: int
    decimal: float


def parse_price(text: str) -> ParsedPrice | None:
    """Parse an American (-110, +150), decimal (1.91) or fractional (10/11) price; None if invalid.

    A number without a sign is American from 100 on, decimal below.
    """
    plain = _normalize(text).lower()
    if plain in {"evens", "even", "evs", "ev"}:
        return ParsedPrice(_AMERICAN, 2.0)
    above, slash, below = plain.partition("/")
    if slash:
        top, bottom = _parse_integer(above), _parse_integer(below)
        return _from_decimal(float(Fraction(top, bottom)) + 1.0) if top and bottom else None
    number = _parse_number(plain)
    if number is None:
        return None
    if plain[0] in "+-" or abs(number) >= _AMERICAN:
        whole = abs(number) >= _AMERICAN and number == number.to_integral_value()
        return ParsedPrice(int(number), american_to_decimal(int(number))) if whole else None
    return _from_decimal(float(number))


def _from_decimal(value: float) -> ParsedPrice | None:
    valid = math.isfinite(value) and 1.0 < value < 10_001
    return ParsedPrice(decimal_to_american(value), value) if valid else None


class FormFields:
    """The fields of a form. Errors are collected by field name.

    An empty field is None, and an error only if it is `required`.
    """

    def __init__(self, texts: Mapping[str, str]) -> None:
        self.texts = dict(texts)
        self.errors: dict[str, str] = {}

    def text(self, name: str, max_length: int) -> str:
        """Return a stripped text."""
        text = self.texts.get(name, "").strip()
        if len(text) > max_length:
            self.add_error(name, f"At most {max_length} characters.")
        return text[:max_length]

    def add_error(self, name: str, message: str) -> None:
        """Record an error; the first one of a field stays."""
        self.errors.setdefault(name, message)

    def price(self, name: str, *, required: bool = True) -> ParsedPrice | None:
        text = self._read(name, required=required)
        price = parse_price(text) if text else None
        if text and price is None:
            hint = "Use a price such as -110, +150, 1.91 or 10/11."
            self.add_error(name, f"“{text[:_MAX_DIGITS]}” is not a price. {hint}")
        return price

    def cents(self, name: str, *, required: bool = False) -> int | None:
        """Return an amount of dollars in cents."""
        text = self._read(name, required=required)
        number = _parse_number(_normalize(text).removeprefix("$")) if text else None
        cents = None if number is None else number * _HUNDRED
        fits = cents is not None and cents == cents.to_integral_value() and 0 < cents <= _MAX_CENTS
        if text and not fits:
            self.add_error(name, "Enter dollars and cents, such as 25 or 12.50.")
        return int(cents) if cents is not None and fits else None

    def percentage(
        self, name: str, low: int, high: int, *, required: bool = True
    ) -> Decimal | None:
        """Return a percentage as a fraction."""
        text = self._read(name, required=required)
        number = _parse_number(_normalize(text).removesuffix("%").strip()) if text else None
        if text and (number is None or not low <= number <= high):
            self.add_error(name, f"Enter a percentage from {low} to {high}.")
            return None
        return None if number is None else number / _HUNDRED

    def line(self, name: str) -> Decimal | None:
        """Return a line in quarter points."""
        text = self.texts.get(name, "").strip()
        number = _parse_number(_normalize(text)) if text else None
        fits = number is not None and abs(number) < _MAX_LINE and number % Decimal("0.25") == 0
        if text and not fits:
            self.add_error(name, "Enter a line in quarter points, such as -3.5 or 221.")
        return number if fits else None

    def integer(self, name: str, low: int, high: int, default: int) -> int:
        text = self.texts.get(name, "").strip()
        number = _parse_integer(text)
        if text and (number is None or not low <= number <= high):
            self.add_error(name, f"Enter a whole number from {low} to {high}.")
            return default
        return default if number is None else number

    def date(self, name: str) -> date | None:
        text = self._read(name, required=True)
        try:
            return date.fromisoformat(text) if text else None
        except ValueError:
            self.add_error(name, "Enter a date such as 2026-01-31.")
            return None

    def time(self, name: str, zone: str) -> datetime | None:
        """Return a local time of the zone in UTC."""
        text = self.texts.get(name, "").strip()
        try:
            local = datetime.fromisoformat(text) if text else None
            return None if local is None else _to_utc(local, zone)
        except (ValueError, OverflowError):
            self.add_error(name, "Enter a date and time such as 2026-01-31 20:15.")
            return None

    def _read(self, name: str, *, required: bool) -> str:
        text = self.texts.get(name, "").strip()
        if required and not text:
            self.add_error(name, "This field is required.")
        return text


def _to_utc(moment: datetime, zone: str) -> datetime:
    try:
        time_zone = ZoneInfo(zone)
    except (ZoneInfoNotFoundError, ValueError, OSError):
        time_zone = ZoneInfo("UTC")
    aware = moment if moment.tzinfo else moment.replace(tzinfo=time_zone)
    return aware.astimezone(UTC)


def _normalize(text: str) -> str:
    return text.strip().replace("\u2212", "-")


def _parse_number(text: str) -> Decimal | None:
    if len(text) > _MAX_DIGITS or not text.isascii() or any(sign.isalpha() for sign in text):
        return None
    try:
        number = Decimal(text)
    except InvalidOperation:
        return None
    return number if number.is_finite() else None


def _parse_integer(text: str) -> int | None:
    plain = text.strip()
    valid = plain.isascii() and plain.isdigit() and len(plain) <= _MAX_DIGITS
    return int(plain) if valid else None
