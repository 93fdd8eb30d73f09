"""Simulated prices: score distributions, the market's belief, and how bookmakers follow it."""

from __future__ import annotations

from dataclasses import dataclass, fields
from math import log
from typing import Final, Protocol

import numpy as np
import numpy.typing as npt

from grandstand.simulators.odds.box_scores import PlayerBoxScores, player_shares
from grandstand.simulators.odds.leagues import BOOKS, HOUR_US, Calendar, Floats, Integers, League

_MAX_MARGIN: Final = 75
_MAX_GOALS: Final = 14
_X_STEP: Final = 0.25
_X_MAX: Final = 45.0
_LOG_STEP: Final = 0.05
_LOG_MIN: Final = -4.0
_LOG_MAX: Final = 1.8
_QUARTER: Final = 0.25
_table_cache: Final[dict[float, tuple[Floats, Floats]]] = {}
Prices = npt.NDArray[np.int32]
MARKETS: Final = ("h2h", "spreads", "totals")
H2H, SPREADS, TOTALS = range(3)
STEPS: Final = 97
IN_PLAY: Final = (0.25, 0.5, 0.75)
_LAST_MINUTES_US: Final = 90_000_000
_SECOND_US: Final = 1_000_000
_MAX_PRICE: Final = 5000
_EVEN_MONEY: Final = 100
_PROP_BOOKS: Final = (1, 2, 3)
_CHANGES: Final = 2
_MIN_PROP_SHARE: Final = 0.18
_NOISE: Final = 0.06


class ScoreDistribution(Protocol):
    """The distribution of a game's score given two parameters `x` and `y`.

    In points, `x` is the mean home margin and `y` the mean total. In goals, they are the difference
    and the sum of the logs of the expected goals.
    """

    def cover(self, x: Floats, y: Floats, line: Floats) -> tuple[Floats, Floats]:
        """Return the probabilities that home's margin plus a line is above and below 0."""
        ...

    def over(self, x: Floats, y: Floats, line: Floats) -> tuple[Floats, Floats]:
        """Return the probabilities that the total is above and below a line."""
        ...

    def lines(self, x: Floats, y: Floats) -> tuple[Floats, Floats]:
        """Return the home line and the total that split a game about evenly."""
        ...


def score_distribution(league: League, remaining: float = 1.0) -> ScoreDistribution:
    """Return the distribution of a league's games, or of the remaining part of them."""
    if league.kind == "goals":
        return GoalsDistribution(league.rho, log(remaining))
    return PointsDistribution.of(league, remaining)


def quarter_line_shares(
    distribution: ScoreDistribution, x: Floats, y: Floats, line: Floats, *, total: bool = False
) -> tuple[Floats, Floats]:
    """Return the shares of a stake won and lost; a quarter line is two half bets."""
    ask = distribution.over if total else distribution.cover
    whole = np.abs(line * 2 - np.round(line * 2)) < _QUARTER / 2
    step = np.where(whole, 0.0, _QUARTER)
    below, above = ask(x, y, line - step), ask(x, y, line + step)
    return (below[0] + above[0]) / 2, (below[1] + above[1]) / 2


@dataclass(frozen=True, slots=True)
class PointsDistribution:
    """A normal margin that is never 0, with key margins, and a normal total."""

    sd: float
    total_sd: float
    key_margins: tuple[tuple[int, float], ...]
    table: Floats

    @classmethod
    def of(cls, league: League, remaining: float = 1.0) -> PointsDistribution:
        """Build the distribution and its table for the remaining part of a game."""
        sd, total_sd = league.margin_sd * remaining**0.5, league.total_sd * remaining**0.5
        nodes = np.arange(-_X_MAX, _X_MAX + _X_STEP / 2, _X_STEP)
        pmf = points_pmf(nodes, sd, league.key_margins)
        return cls(sd, total_sd, league.key_margins, _above(pmf))

    def cover(self, x: Floats, y: Floats, line: Floats) -> tuple[Floats, Floats]:
        del y
        place = np.clip((x + _X_MAX) / _X_STEP, 0, len(self.table) - 1.001)
        node = place.astype(np.int64)
        part = place - node

        def above(margin: Floats) -> Floats:
            column = np.clip(margin + _MAX_MARGIN, 0, 2 * _MAX_MARGIN).astype(np.int64)
            lower, upper = self.table[node, column], self.table[node + 1, column]
            return lower + part * (upper - lower)

        return above(np.floor(-line)), 1 - above(np.ceil(-line) - 1)

    def over(self, x: Floats, y: Floats, line: Floats) -> tuple[Floats, Floats]:
        from scipy.special import ndtr

        del x
        win = 1 - ndtr((np.floor(line) + 0.5 - y) / self.total_sd)
        lose = ndtr((np.ceil(line) - 0.5 - y) / self.total_sd)
        return win, lose

    def lines(self, x: Floats, y: Floats) -> tuple[Floats, Floats]:
        return -np.round(x * 2) / 2 + 0.0, np.maximum(np.round(y * 2) / 2, 0.5)


@dataclass(frozen=True, slots=True)
class GoalsDistribution:
    """Dixon-Coles goals, interpolated from a table of log means."""

    rho: float
    shift: float = 0.0

    def cover(self, x: Floats, y: Floats, line: Floats) -> tuple[Floats, Floats]:
        return self._split(x, y, -line, _tables(self.rho)[0], _MAX_GOALS)

    def over(self, x: Floats, y: Floats, line: Floats) -> tuple[Floats, Floats]:
        return self._split(x, y, line, _tables(self.rho)[1], 0)

    def lines(self, x: Floats, y: Floats) -> tuple[Floats, Floats]:
        home, away = np.exp((y + x) / 2 + self.shift), np.exp((y - x) / 2 + self.shift)
        total = np.maximum(np.round((home + away - 0.15) * 4) / 4, 0.5)
        return -np.round((home - away) * 4) / 4 + 0.0, total

    def _split(
        self, x: Floats, y: Floats, at: Floats, table: Floats, zero: int
    ) -> tuple[Floats, Floats]:
        """Return the probabilities above and below a number, by bilinear interpolation."""
        size, most = table.shape[0], table.shape[2] - 1
        rows = np.clip(((y + x) / 2 + self.shift - _LOG_MIN) / _LOG_STEP, 0, size - 1.001)
        columns = np.clip(((y - x) / 2 + self.shift - _LOG_MIN) / _LOG_STEP, 0, size - 1.001)
        row, column = rows.astype(np.int64), columns.astype(np.int64)
        down, right = rows - row, columns - column

        def above(number: Floats) -> Floats:
            place = np.clip(number + zero, -1, most).astype(np.int64)
            inside = np.maximum(place, 0)
            upper = table[row, column, inside] * (1 - right)
            upper += table[row, column + 1, inside] * right
            lower = table[row + 1, column, inside] * (1 - right)
            lower += table[row + 1, column + 1, inside] * right
            interpolated: Floats = np.where(place < 0, 1.0, upper * (1 - down) + lower * down)
            return interpolated

        return above(np.floor(at)), 1 - above(np.ceil(at) - 1)


def points_pmf(x: Floats, sd: float, key_margins: tuple[tuple[int, float], ...]) -> Floats:
    """Return the probability of each margin from -75 to 75 for each mean.

    A tie goes to overtime, so 0 has no probability and the sides keep theirs.
    """
    from scipy.special import ndtr

    margins = np.arange(-_MAX_MARGIN, _MAX_MARGIN + 1)
    edges = np.concatenate((margins - 0.5, [_MAX_MARGIN + 0.5]))
    mass = np.diff(ndtr((edges[None, :] - x[:, None]) / sd), axis=1)
    for margin, weight in key_margins:
        mass[:, np.abs(margins) == margin] *= weight
    home = ndtr(x / sd)
    for side, probability in ((margins > 0, home), (margins < 0, 1 - home)):
        part = mass[:, side]
        mass[:, side] = part * (probability / np.maximum(part.sum(axis=1), 1e-300))[:, None]
    mass[:, margins == 0] = 0.0
    pmf: Floats = mass / mass.sum(axis=1, keepdims=True)
    return pmf


def goals_pmf(log_home: Floats, log_away: Floats, rho: float) -> Floats:
    """Return the probability of each score up to 14 goals a side, for each pair of log means."""
    from scipy.special import gammaln

    goals = np.arange(_MAX_GOALS + 1)
    home, away = np.exp(log_home), np.exp(log_away)
    rate = [
        np.exp(goals * logs[:, None] - np.exp(logs)[:, None] - gammaln(goals + 1))
        for logs in (log_home, log_away)
    ]
    grid = rate[0][:, :, None] * rate[1][:, None, :]
    grid[:, 0, 0] *= 1 - home * away * rho
    grid[:, 0, 1] *= 1 + home * rho
    grid[:, 1, 0] *= 1 + away * rho
    grid[:, 1, 1] *= 1 - rho
    grid = np.maximum(grid, 0.0)
    pmf: Floats = grid / grid.sum(axis=(1, 2), keepdims=True)
    return pmf


def fold_scores(grid: Floats) -> tuple[Floats, Floats]:
    """Return the probabilities of each margin from -14 to 14 and each total up to 28."""
    side = grid.shape[1]
    margins = np.stack([np.trace(grid, -offset, 1, 2) for offset in range(1 - side, side)], axis=1)
    flipped = grid[:, :, ::-1]
    totals = np.stack(
        [np.trace(flipped, side - 1 - offset, 1, 2) for offset in range(2 * side - 1)], axis=1
    )
    return margins, totals


def _above(pmf: Floats) -> Floats:
    """Return the survival function of a probability mass function."""
    survival: Floats = np.maximum(1 - np.cumsum(pmf, axis=-1), 0.0)
    return survival


def clear_tables() -> None:
    """Free the cached tables; they are rebuilt on demand."""
    _table_cache.clear()


def _tables(rho: float) -> tuple[Floats, Floats]:
    """Return the survival tables of margin and total at each node, cached."""
    if rho not in _table_cache:
        nodes = np.arange(_LOG_MIN, _LOG_MAX + _LOG_STEP / 2, _LOG_STEP)
        home, away = (axis.ravel() for axis in np.meshgrid(nodes, nodes, indexing="ij"))
        margins, totals = fold_scores(goals_pmf(home, away, rho))
        shape = (len(nodes), len(nodes), -1)
        _table_cache[rho] = _above(margins).reshape(shape), _above(totals).reshape(shape)
    return _table_cache[rho]


@dataclass(frozen=True, slots=True)
class Quotes:
    """Prices in order of capture, one per row; books and games by number.

    `market` indexes MARKETS. `point` is the home line or the total, NaN in h2h; `first` is the
    price of home or over, `second` of away or under, `draw` 0 where there is none.
    """

    game: npt.NDArray[np.int32]
    book: npt.NDArray[np.int8]
    market: npt.NDArray[np.int8]
    captured_us: Integers
    point: Floats
    first: Prices
    second: Prices
    draw: Prices

    def __len__(self) -> int:
        return len(self.game)

    def only(self, rows: npt.NDArray[np.bool_]) -> Quotes:
        """Return the selected rows."""
        if rows.all():
            return self
        return Quotes(*(getattr(self, column.name)[rows] for column in fields(self)))


@dataclass(frozen=True, slots=True)
class MarketBelief:
    """The market's estimate of each game at each step from opening to the start."""

    x: Floats
    y: Floats

    @property
    def closing(self) -> tuple[Floats, Floats]:
        """The estimate at the start."""
        return self.x[:, -1], self.y[:, -1]


@dataclass(frozen=True, slots=True)
class InPlayScores:
    """Margin and total after each part in IN_PLAY, games by parts."""

    margin: Floats
    total: Floats


@dataclass(frozen=True, slots=True)
class PricePath:
    """Bookmakers' estimates, games by books by changes: capture time and parameters."""

    captured_us: Integers
    x: Floats
    y: Floats


def open_hours(league: League) -> float:
    """Return how long before a game its first price is published."""
    return 24.0 * min(6.0, 1.0 + 0.8 * league.days_between_rounds)


def step_of(league: League, before_us: npt.NDArray[np.int64]) -> npt.NDArray[np.int64]:
    """Return the market's step at a time before the start; steps are denser near it."""
    part = 1 - np.sqrt(np.clip(before_us / (open_hours(league) * HOUR_US), 0.0, 1.0))
    return np.clip((part * (STEPS - 1)).astype(np.int64), 0, STEPS - 1)


def price_games(
    league: League,
    played: Calendar,
    market: MarketBelief,
    play: InPlayScores | None,
    *,
    changes: int,
    random: np.random.Generator,
) -> Quotes:
    """Return every price of every bookmaker, before the start and, with `play`, in play."""
    parts = []
    for number in (H2H, SPREADS, TOTALS):
        path = _bookmaker_estimates(league, played, market, changes, random)
        parts.append(
            _to_columns(
                number, path, _post_prices(score_distribution(league), league, path, number)
            )
        )
    if play is not None:
        for at, part in enumerate(IN_PLAY):
            parts += _in_play(league, played, market, (play, at, part), random)
    joined = [np.concatenate(column) for column in zip(*parts, strict=True)]
    order = np.argsort(joined[3], kind="stable")
    return Quotes(*(column[order] for column in joined))


def to_american(probability: Floats, step: npt.NDArray[np.int64] | int = 1) -> Prices:
    """Convert probabilities to American prices, in multiples of a step."""
    probability = np.clip(probability, 1 / (1 + _MAX_PRICE / 100), 1 / (1 + 100 / _MAX_PRICE))
    long = probability <= 0.5
    size = np.where(long, 100 / probability - 100, 100 * probability / (1 - probability))
    size = np.maximum(np.round(size / step) * step, _EVEN_MONEY)
    return np.where(long, size, -size).astype(np.int32)


def _bookmaker_estimates(
    league: League,
    played: Calendar,
    market: MarketBelief,
    changes: int,
    random: np.random.Generator,
) -> PricePath:
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
    return PricePath(captured, x, market.y[number, step] + noise * _wander(shape, random))


def _wander(shape: tuple[int, ...], random: np.random.Generator) -> Floats:
    """Return autocorrelated errors of unit size."""
    errors = random.standard_normal(shape)
    for index in range(1, shape[-1]):
        errors[..., index] = 0.8 * errors[..., index - 1] + 0.6 * errors[..., index]
    return errors


def _post_prices(
    distribution: ScoreDistribution,
    league: League,
    path: PricePath,
    market: int,
    *,
    score_so_far: tuple[Floats, Floats] | None = None,
) -> tuple[Floats, list[Prices]]:
    """Return lines and the two or three prices.

    `score_so_far` is the margin and total of a goals game in play.
    """
    margin, total = score_so_far or (np.zeros_like(path.x), np.zeros_like(path.x))
    spread, goals = distribution.lines(path.x, path.y)
    if market == H2H:
        line = np.full_like(path.x, np.nan)
        win, lose = distribution.cover(path.x, path.y, margin)
        probabilities = [win, lose, 1 - win - lose] if league.has_draws else [win, lose]
    else:
        line = spread - margin if market == SPREADS else goals + total
        at = spread if market == SPREADS else goals
        win, lose = quarter_line_shares(distribution, path.x, path.y, at, total=market == TOTALS)
        probabilities = [win / (win + lose), lose / (win + lose)]
    return line, _force_changes(line, _with_margin(probabilities))


def _with_margin(probabilities: list[Floats]) -> list[Prices]:
    margin = np.array([book.margin for book in BOOKS])[None, :, None]
    longshot = np.array([book.longshot for book in BOOKS])[None, :, None]
    step = np.array([book.step for book in BOOKS])[None, :, None]
    skewed = [np.maximum(value, 1e-4) ** (1 / longshot) for value in probabilities]
    whole = sum(skewed[1:], skewed[0])
    return [to_american(value / whole * (1 + margin), step) for value in skewed]


def _force_changes(line: Floats, prices: list[Prices]) -> list[Prices]:
    """Make every price differ from the previous one: feeds only report changes."""
    first = prices[0]
    for at in range(1, line.shape[-1]):
        moved = (line[..., at] != line[..., at - 1]) & ~np.isnan(line[..., at])
        same = ~moved
        for price in prices:
            same &= price[..., at] == price[..., at - 1]
        away = np.where(first[..., at] > 0, 1, -1).astype(np.int32)
        first[..., at] += np.where(same, away, 0).astype(np.int32)
    return prices


def _to_columns(
    market: int, path: PricePath, posted: tuple[Floats, list[Prices]]
) -> tuple[npt.NDArray[np.generic], ...]:
    line, prices = posted
    games, books, changes = path.x.shape
    draw = prices[2] if len(prices) == 3 else np.zeros_like(prices[0])
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
    market: MarketBelief,
    stand: tuple[InPlayScores, int, float],
    random: np.random.Generator,
) -> list[tuple[npt.NDArray[np.generic], ...]]:
    """Return the prices of all markets after a part of each game."""
    play, at, part = stand
    shape = (len(played.home), len(BOOKS), 1)
    elapsed = int(part * league.hours * HOUR_US) + random.integers(0, 240, shape) * _SECOND_US
    x, y = (np.broadcast_to(values[:, None, None], shape).copy() for values in market.closing)
    margin, total = (
        np.broadcast_to(values[:, at][:, None, None], shape) for values in (play.margin, play.total)
    )
    score_so_far: tuple[Floats, Floats] | None = (margin, total)
    if league.kind == "points":
        x, y, score_so_far = margin + x * (1 - part), total + y * (1 - part), None
    path = PricePath(played.commence_us[:, None, None] + elapsed, x, y)
    distribution = score_distribution(league, 1 - part)
    return [
        _to_columns(
            number,
            path,
            _post_prices(distribution, league, path, number, score_so_far=score_so_far),
        )
        for number in (H2H, SPREADS, TOTALS)
    ]


@dataclass(frozen=True, slots=True)
class Props:
    """Player prices in order of capture; `market` indexes `markets`.

    `true_over` is the true probability of the over, given that the player plays.
    """

    markets: tuple[str, ...]
    game: npt.NDArray[np.int32]
    book: npt.NDArray[np.int8]
    market: npt.NDArray[np.int8]
    player: npt.NDArray[np.int32]
    captured_us: Integers
    point: Floats
    over: Prices
    under: Prices
    true_over: Floats

    def __len__(self) -> int:
        return len(self.game)


def price_props(
    league: League, played: Calendar, box_scores: PlayerBoxScores, random: np.random.Generator
) -> Props:
    """Price the stats of players with a large share of their team's."""
    from scipy.special import pdtr

    offered = (player_shares(league) >= _MIN_PROP_SHARE)[box_scores.player % league.players]
    row, market = np.nonzero(offered)
    unit = np.array([stat.chance for stat in league.props])[market]
    size = (len(row), len(_PROP_BOOKS), _CHANGES)
    mean = box_scores.mean[row, market] / unit
    estimate = mean[:, None, None] * np.exp(random.normal(0, _NOISE, size))
    half = np.maximum(np.floor(estimate[:, :1, :1]), 0.0) + np.zeros(size)
    over = 1 - pdtr(half, estimate)
    margin = np.array([BOOKS[at].margin for at in _PROP_BOOKS])[None, :, None] + 0.02
    first, second = to_american(over * (1 + margin)), to_american((1 - over) * (1 + margin))
    hours = random.uniform(1.0, 24.0, size)
    hours.sort(axis=-1)
    captured = played.commence_us[box_scores.game[row]][:, None, None] - (
        hours[..., ::-1] * HOUR_US
    ).astype(np.int64)
    captured -= captured % 1_000_000
    book = np.broadcast_to(np.array(_PROP_BOOKS, dtype=np.int8)[None, :, None], size)
    stat = len(_PROP_BOOKS) * _CHANGES
    order = np.argsort(captured.ravel(), kind="stable")
    # With a unit of 9 yards, 9 k + 4.5 is the line above k units.
    point = (half + 0.5) * unit[:, None, None]
    true_over = 1 - pdtr(half, np.broadcast_to(mean[:, None, None], size))
    return Props(
        tuple(count.market for count in league.props),
        np.repeat(box_scores.game[row], stat).astype(np.int32)[order],
        book.ravel()[order],
        np.repeat(market, stat).astype(np.int8)[order],
        np.repeat(box_scores.player[row], stat).astype(np.int32)[order],
        captured.ravel()[order],
        point.ravel()[order],
        first.ravel()[order],
        second.ravel()[order],
        true_over.ravel()[order],
    )
