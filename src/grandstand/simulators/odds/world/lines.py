"""Kept here: how prices move: news reaches the market, books follow it late and off the mark."""

from __future__ import annotations

from dataclasses import dataclass, fields
from typing import Final

import numpy as np
import numpy.typing as npt

from grandstand.simulators.odds.world.books import BOOKS
from grandstand.simulators.odds.world.calendar import HOUR_US, Calendar
from grandstand.simulators.odds.world.laws import Floats, Law, Whole, law_of, quartered
from grandstand.simulators.odds.world.leagues import League

Prices = npt.NDArray[np.int32]

MARKETS: Final = ("h2h", "spreads", "totals")
H2H, SPREADS, TOTALS = range(3)
STEPS: Final = 97
IN_PLAY: Final = (0.25, 0.5, 0.75)
_LAST_MINUTES_US: Final = 90_000_000
_SECOND_US: Final = 1_000_000
_LONGEST: Final = 5000
_EVEN: Final = 100


@dataclass(frozen=True, slots=True)
class Quotes:
    """Prices in the order of their capture, a row for each; books and games by number.

    `market` is a place in MARKETS. `point` is the line of home, or the total, NaN in h2h; `first`
    is the price of home or over, `second` of away or under, `draw` 0 where there is none.
    """

    game: npt.NDArray[np.int32]
    book: npt.NDArray[np.int8]
    market: npt.NDArray[np.int8]
    captured_us: Whole
    point: Floats
    first: Prices
    second: Prices
    draw: Prices

    def __len__(self) -> int:
        return len(self.game)

    def only(self, rows: npt.NDArray[np.bool_]) -> Quotes:
        """Answer the rows that are wanted."""
        if rows.all():
            return self
        return Quotes(*(getattr(self, each.name)[rows] for each in fields(self)))


@dataclass(frozen=True, slots=True)
class Market:
    """What the market as a whole believes of each game at each step from opening to the start."""

    x: Floats
    y: Floats

    @property
    def closing(self) -> tuple[Floats, Floats]:
        """What it believes at the start."""
        return self.x[:, -1], self.y[:, -1]


@dataclass(frozen=True, slots=True)
class Play:
    """How games stand after each part in IN_PLAY: the margin and the total, games by parts."""

    margin: Floats
    total: Floats


@dataclass(frozen=True, slots=True)
class Path:
    """What books believe, games by books by changes: when, and the two numbers of the law."""

    captured_us: Whole
    x: Floats
    y: Floats


def open_hours(league: League) -> float:
    """Answer how long before a game its first price is given."""
    return 24.0 * min(6.0, 1.0 + 0.8 * league.days_between_rounds)


def step_of(league: League, before_us: npt.NDArray[np.int64]) -> npt.NDArray[np.int64]:
    """Answer the market's step at a time before the start; steps are denser near it."""
    part = 1 - np.sqrt(np.clip(before_us / (open_hours(league) * HOUR_US), 0.0, 1.0))
    return np.clip((part * (STEPS - 1)).astype(np.int64), 0, STEPS - 1)


def priced(
    league: League,
    played: Calendar,
    market: Market,
    play: Play | None,
    *,
    changes: int,
    random: np.random.Generator,
) -> Quotes:
    """Answer every price of every book, before the start and, with `play`, after it."""
    parts = []
    for number in (H2H, SPREADS, TOTALS):
        path = _believed(league, played, market, changes, random)
        parts.append(_columns(number, path, _posted(law_of(league), league, path, number)))
    if play is not None:
        for at, part in enumerate(IN_PLAY):
            parts += _in_play(league, played, market, (play, at, part), random)
    joined = [np.concatenate(column) for column in zip(*parts, strict=True)]
    order = np.argsort(joined[3], kind="stable")
    return Quotes(*(column[order] for column in joined))


def american(chance: Floats, step: npt.NDArray[np.int64] | int = 1) -> Prices:
    """Turn chances into American prices, in multiples of a step and never within ±100."""
    chance = np.clip(chance, 1 / (1 + _LONGEST / 100), 1 / (1 + 100 / _LONGEST))
    long = chance <= 0.5  # noqa: PLR2004 - even
    size = np.where(long, 100 / chance - 100, 100 * chance / (1 - chance))
    size = np.maximum(np.round(size / step) * step, _EVEN)
    return np.where(long, size, -size).astype(np.int32)


def _believed(
    league: League,
    played: Calendar,
    market: Market,
    changes: int,
    random: np.random.Generator,
) -> Path:
    games, books = len(played.home), len(BOOKS)
    shape = (games, books, changes)
    part = (np.arange(changes) + random.uniform(0.05, 0.95, shape)) / changes
    before = (open_hours(league) * HOUR_US * (1 - part) ** 2).astype(np.int64) + _LAST_MINUTES_US
    captured = played.commence_us[:, None, None] - before
    captured -= captured % _SECOND_US
    lag = np.array([book.lag_minutes for book in BOOKS]) * 60_000_000
    step = step_of(league, before + lag.astype(np.int64)[None, :, None])
    number = np.arange(games)[:, None, None]
    noise = np.array([book.noise for book in BOOKS])[None, :, None] * league.news_sd
    bias = np.array([book.home_bias for book in BOOKS])[None, :, None] * league.news_sd
    x = market.x[number, step] + bias + noise * _wander(shape, random)
    return Path(captured, x, market.y[number, step] + noise * _wander(shape, random))


def _wander(shape: tuple[int, ...], random: np.random.Generator) -> Floats:
    """Errors of unit size, each much like the one before."""
    found = random.standard_normal(shape)
    for at in range(1, shape[-1]):
        found[..., at] = 0.8 * found[..., at - 1] + 0.6 * found[..., at]
    return found


def _posted(
    law: Law,
    league: League,
    path: Path,
    market: int,
    *,
    stands: tuple[Floats, Floats] | None = None,
) -> tuple[Floats, list[Prices]]:
    """Answer lines and the two or three prices; `stands` is a goal game's score so far."""
    margin, total = stands or (np.zeros_like(path.x), np.zeros_like(path.x))
    spread, goals = law.lines(path.x, path.y)
    if market == H2H:
        line = np.full_like(path.x, np.nan)
        win, lose = law.cover(path.x, path.y, margin)
        chances = [win, lose, 1 - win - lose] if league.has_draws else [win, lose]
    else:
        line = spread - margin if market == SPREADS else goals + total
        at = spread if market == SPREADS else goals
        win, lose = quartered(law, path.x, path.y, at, total=market == TOTALS)
        chances = [win / (win + lose), lose / (win + lose)]
    return line, _changed(line, _with_margin(chances))


def _with_margin(chances: list[Floats]) -> list[Prices]:
    margin = np.array([book.margin for book in BOOKS])[None, :, None]
    longshot = np.array([book.longshot for book in BOOKS])[None, :, None]
    step = np.array([book.step for book in BOOKS])[None, :, None]
    bent = [np.maximum(each, 1e-4) ** (1 / longshot) for each in chances]
    whole = sum(bent[1:], bent[0])
    return [american(each / whole * (1 + margin), step) for each in bent]


def _changed(line: Floats, prices: list[Prices]) -> list[Prices]:
    """Let every price differ from the one before: a book that repeats itself tells nothing."""
    first = prices[0]
    for at in range(1, line.shape[-1]):
        moved = (line[..., at] != line[..., at - 1]) & ~np.isnan(line[..., at])
        same = ~moved
        for each in prices:
            same &= each[..., at] == each[..., at - 1]
        away = np.where(first[..., at] > 0, 1, -1).astype(np.int32)
        first[..., at] += np.where(same, away, 0).astype(np.int32)
    return prices


def _columns(
    market: int, path: Path, posted: tuple[Floats, list[Prices]]
) -> tuple[npt.NDArray[np.generic], ...]:
    line, prices = posted
    games, books, changes = path.x.shape
    draw = prices[2] if len(prices) == 3 else np.zeros_like(prices[0])  # noqa: PLR2004 - three ways
    return (
        np.repeat(np.arange(games, dtype=np.int32), books * changes),
        np.tile(np.repeat(np.arange(books, dtype=np.int8), changes), games),
        np.full(line.size, market, dtype=np.int8),
        path.captured_us.ravel(),
        line.ravel(),
        prices[0].ravel(),
        prices[1].ravel(),
        draw.ravel(),
    )


def _in_play(
    league: League,
    played: Calendar,
    market: Market,
    stand: tuple[Play, int, float],
    random: np.random.Generator,
) -> list[tuple[npt.NDArray[np.generic], ...]]:
    """Answer the prices of all markets after a part of each game."""
    play, at, part = stand
    shape = (len(played.home), len(BOOKS), 1)
    elapsed = int(part * league.hours * HOUR_US) + random.integers(0, 240, shape) * _SECOND_US
    x, y = (np.broadcast_to(each[:, None, None], shape).copy() for each in market.closing)
    margin, total = (
        np.broadcast_to(each[:, at][:, None, None], shape) for each in (play.margin, play.total)
    )
    stands: tuple[Floats, Floats] | None = (margin, total)
    if league.kind == "points":
        x, y, stands = margin + x * (1 - part), total + y * (1 - part), None
    path = Path(played.commence_us[:, None, None] + elapsed, x, y)
    law = law_of(league, 1 - part)
    return [
        _columns(number, path, _posted(law, league, path, number, stands=stands))
        for number in (H2H, SPREADS, TOTALS)
    ]
