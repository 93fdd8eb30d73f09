"""Simulated seasons from a seed: games, prices, box scores, injuries and true probabilities."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Final

import numpy as np
import numpy.typing as npt

from grandstand.simulators.odds.box_scores import (
    Absences,
    Injuries,
    Player,
    PlayerBoxScores,
    TeamBoxScores,
    absence_mask,
    make_player_stats,
    make_players,
    make_team_stats,
    simulate_injuries,
)
from grandstand.simulators.odds.leagues import (
    BOOKS,
    DAY_US,
    HOUR_US,
    LEAGUES,
    Book,
    Calendar,
    Floats,
    Integers,
    League,
    SeasonTooShort,
    UnknownLeague,
    make_calendar,
)
from grandstand.simulators.odds.prices import (
    IN_PLAY,
    STEPS,
    InPlayScores,
    MarketBelief,
    Props,
    Quotes,
    fold_scores,
    goals_pmf,
    points_pmf,
    price_games,
    price_props,
    score_distribution,
    step_of,
)

OPENING: Final = datetime(2025, 10, 21, tzinfo=UTC)
_MAX_USEFUL_REST: Final = 3
_POSTPONED_SHARE: Final = 0.008
_CORRECTED_SHARE: Final = 0.01
_LATE_SHARE: Final = 0.02
Flags = npt.NDArray[np.bool_]


@dataclass(frozen=True, slots=True)
class GameProbabilities:
    """The probabilities of home, draw and away, summing to 1."""

    home: float
    draw: float
    away: float


@dataclass(frozen=True, slots=True)
class GroundTruth:
    """The true parameters of each game, and the market's estimate at the start.

    `home`, `draw` and `away` are the true probabilities per game.
    """

    league: League
    x: Floats
    y: Floats
    closing_x: Floats
    closing_y: Floats
    home: Floats
    draw: Floats
    away: Floats

    def chances(self, game: int) -> GameProbabilities:
        """Return the true probabilities of a game."""
        return GameProbabilities(
            float(self.home[game]), float(self.draw[game]), float(self.away[game])
        )

    def closing(self, game: int) -> GameProbabilities:
        """Return the fair probabilities by the market's last estimate before the start."""
        distribution, row = score_distribution(self.league), slice(game, game + 1)
        win, lose = distribution.cover(self.closing_x[row], self.closing_y[row], np.zeros(1))
        return GameProbabilities(float(win[0]), float(1 - win[0] - lose[0]), float(lose[0]))

    def closings(self) -> Floats:
        """Return the fair home probability by the market's last estimate, for each game."""
        return score_distribution(self.league).cover(
            self.closing_x, self.closing_y, np.zeros_like(self.x)
        )[0]

    def margins(self, game: int) -> tuple[Integers, Floats]:
        """Return the possible home margins and their probabilities."""
        row = slice(game, game + 1)
        if self.league.kind == "points":
            probabilities = points_pmf(self.x[row], self.league.margin_sd, self.league.key_margins)[
                0
            ]
        else:
            probabilities = fold_scores(self._grid(row))[0][0]
        largest = len(probabilities) // 2
        return np.arange(-largest, largest + 1), probabilities

    def totals(self, game: int) -> tuple[Integers, Floats]:
        """Return the possible totals and their probabilities."""
        if self.league.kind == "goals":
            chances = fold_scores(self._grid(slice(game, game + 1)))[1][0]
            return np.arange(len(chances)), chances
        from scipy.special import ndtr

        margins, margin_probabilities = self.margins(game)
        highest = int(self.y[game] + 9 * self.league.total_sd)
        values = np.arange(highest + 1)
        probabilities = np.zeros(highest + 1)
        sd, mean = self.league.total_sd, float(self.y[game])
        for margin, probability in zip(
            margins.tolist(), margin_probabilities.tolist(), strict=True
        ):
            lowest = abs(margin)
            reachable = values[(values >= lowest) & ((values - lowest) % 2 == 0)]
            low = np.where(reachable == lowest, -np.inf, reachable - 1)
            probabilities[reachable] += probability * (
                ndtr((reachable + 1 - mean) / sd) - ndtr((low - mean) / sd)
            )
        return values, probabilities

    def _grid(self, which: slice) -> Floats:
        x, y = self.x[which], self.y[which]
        return goals_pmf((y + x) / 2, (y - x) / 2, self.league.rho)


def true_probabilities(league: League, x: Floats, y: Floats) -> tuple[Floats, Floats, Floats]:
    """Return the exact probabilities of home, draw and away for each game."""
    from scipy.special import ndtr

    if league.kind == "points":
        home: Floats = ndtr(x / league.margin_sd)
        return home, np.zeros_like(home), 1 - home
    margins = fold_scores(goals_pmf((y + x) / 2, (y - x) / 2, league.rho))[0]
    middle = margins.shape[1] // 2
    ahead: Floats = margins[:, middle + 1 :].sum(axis=1)
    level: Floats = margins[:, middle].copy()
    return ahead, level, 1 - ahead - level


def sample_scores(
    league: League, x: Floats, y: Floats, random: np.random.Generator
) -> tuple[Integers, Integers]:
    """Return simulated scores of home and away."""
    uniform = random.random(len(x))
    if league.kind == "goals":
        grid = goals_pmf((y + x) / 2, (y - x) / 2, league.rho)
        side = grid.shape[1]
        place = _sample_columns(grid.reshape(len(x), -1), uniform)
        return place // side, place % side
    pmf = points_pmf(x, league.margin_sd, league.key_margins)
    margin = _sample_columns(pmf, uniform) - pmf.shape[1] // 2
    total = y + league.total_sd * random.standard_normal(len(x))
    lowest = np.abs(margin)
    # The nearest total with the margin's parity
    whole = np.maximum(lowest + 2 * np.floor((total - lowest + 1) / 2).astype(np.int64), lowest)
    return (whole + margin) // 2, (whole - margin) // 2


def _sample_columns(pmf: Floats, uniform: Floats) -> Integers:
    """Return the sampled column of each row of probabilities."""
    columns: Integers = (np.cumsum(pmf, axis=1) < uniform[:, None]).sum(axis=1)
    last: Integers = np.minimum(columns, pmf.shape[1] - 1)
    return last


@dataclass(frozen=True, slots=True)
class Games:
    """Games in order of their start, teams by number, times in microseconds UTC.

    A postponed game never has a result. A corrected game is first reported as `first_home_score`
    and `first_away_score`, and correctly from `corrected_us` on (0 without a correction).
    """

    ids: tuple[str, ...]
    home: Integers
    away: Integers
    season: Integers
    commence_us: Integers
    announced_us: Integers
    rest_home: Integers
    rest_away: Integers
    home_score: Integers
    away_score: Integers
    completed_us: Integers
    known_us: Integers
    postponed: Flags
    corrected: Flags
    first_home_score: Integers
    first_away_score: Integers
    corrected_us: Integers

    def __len__(self) -> int:
        return len(self.ids)


@dataclass(frozen=True, slots=True)
class SimulatedSeason:
    """Everything about a league's season; numbers index its tuples and columns."""

    league: League
    teams: tuple[str, ...]
    books: tuple[Book, ...]
    players: tuple[Player, ...]
    games: Games
    quotes: Quotes
    team_stats: TeamBoxScores
    player_stats: PlayerBoxScores
    injuries: Injuries
    absences: Absences
    props: Props
    play: InPlayScores
    truth: GroundTruth


def simulate_season(
    seed: int,
    sport: str = "basketball_nba",
    games: int | None = None,
    *,
    starts_at: datetime = OPENING,
    changes: int = 22,
    in_play: bool = True,
    all_day: bool = False,
) -> SimulatedSeason:
    """Simulate a season, reproducible by seed; extra games continue in the next season.

    Each bookmaker changes each market's prices `changes` - 1 times before the start. With `all_day`
    games start at any hour of any day.

    Raises UnknownLeague and SeasonTooShort.
    """
    if sport not in LEAGUES:
        raise UnknownLeague(sport, tuple(LEAGUES))
    league = LEAGUES[sport]
    games = league.season_games if games is None else games
    if games < 1 or changes < 2:
        raise SeasonTooShort("a season needs at least 1 game, and 2 prices a book and market")
    rng = [np.random.default_rng(child) for child in np.random.SeedSequence(seed).spawn(9)]
    played = make_calendar(league, games, starts_at, rng[0], all_day=all_day)
    return _season(league, played, rng, changes=changes, in_play=in_play)


def _season(
    league: League,
    played: Calendar,
    rng: list[np.random.Generator],
    *,
    changes: int,
    in_play: bool,
) -> SimulatedSeason:
    players = make_players(league, rng[1])
    injuries, absences = simulate_injuries(players, played, rng[1])
    first, second = _strengths(league, played, rng[2])
    market, truth = _market_belief(league, played, (first, second), (players, absences), rng[3])
    scores = sample_scores(league, truth.x, truth.y, rng[4])
    play = _in_play_scores(scores, rng[5])
    absent = absence_mask(league, played, absences)
    counted = make_player_stats(league, played, absent, rng[7])
    worth = _team_quality(league, first, second)
    tallied = make_team_stats(league, played, scores, worth, rng[7])
    results = _publish_results(league, played, scores, rng[8])
    on = ~results.postponed
    quotes = price_games(
        league, played, market, play if in_play else None, changes=changes, random=rng[6]
    )
    before = quotes.captured_us < played.commence_us[quotes.game]
    return SimulatedSeason(
        league=league,
        teams=league.teams,
        books=BOOKS,
        players=players,
        games=results,
        quotes=quotes.only(before | on[quotes.game]),
        team_stats=tallied.only(on[tallied.game]),
        player_stats=counted.only(on[counted.game]),
        injuries=injuries,
        absences=absences,
        props=price_props(league, played, counted, rng[7]),
        play=play,
        truth=truth,
    )


def _team_quality(league: League, first: Floats, second: Floats) -> tuple[Floats, Floats]:
    """Return home and away quality: strength in points, attack plus defense in goals."""
    both = first if league.kind == "points" else first + second
    return both[:, 0], both[:, 1]


def _strengths(
    league: League, played: Calendar, random: np.random.Generator
) -> tuple[Floats, Floats]:
    """Return two strengths per team of each game; both drift from day to day.

    In points they are strength and pace; in goals attack and defense.
    """
    day = (played.commence_us - played.commence_us[0]) // DAY_US
    days, teams = int(day[-1]) + 1, len(league.teams)
    keep = (1 - (league.drift_sd / league.strength_sd) ** 2) ** 0.5
    sides = np.stack((played.home, played.away), 1)
    strengths = []
    for _ in range(2):
        walk = random.standard_normal((days, teams)) * league.drift_sd
        walk[0] = random.standard_normal(teams) * league.strength_sd
        for day_number in range(1, days):
            walk[day_number] += keep * walk[day_number - 1]
        walk -= walk.mean(axis=1, keepdims=True)
        strengths.append(walk[day[:, None], sides])
    return strengths[0], strengths[1]


def _market_belief(
    league: League,
    played: Calendar,
    strengths: tuple[Floats, Floats],
    missing: tuple[tuple[Player, ...], Absences],
    random: np.random.Generator,
) -> tuple[MarketBelief, GroundTruth]:
    """Let news arrive from opening to start; a part stays hidden, which nobody can price.

    The market adds up all news so far, so its estimate is unbiased at every step.
    """
    games = len(played.home)
    x, y = _base_estimate(league, played, strengths)
    news = random.standard_normal((2, games, STEPS)) * league.news_sd / (STEPS - 1) ** 0.5
    news[:, :, 0] = (x, y)
    players, absences = missing
    impact = np.array([player.impact for player in players])[absences.player]
    team = np.array([player.team for player in players])[absences.player]
    sign = np.where(played.home[absences.game] == team, -1.0, 1.0)
    before = played.commence_us[absences.game] - absences.known_us
    np.add.at(news[0], (absences.game, step_of(league, before)), sign * impact)
    market = MarketBelief(news[0].cumsum(axis=1), news[1].cumsum(axis=1))
    closing_x, closing_y = market.closing
    true_x = closing_x + random.normal(0, league.hidden_sd, games)
    true_y = closing_y + random.normal(0, league.hidden_sd, games)
    chances = true_probabilities(league, true_x, true_y)
    return market, GroundTruth(league, true_x, true_y, closing_x.copy(), closing_y.copy(), *chances)


def _base_estimate(
    league: League, played: Calendar, strengths: tuple[Floats, Floats]
) -> tuple[Floats, Floats]:
    """Return the estimate of each game by strengths, home advantage and rest alone."""
    first, second = strengths
    rest = league.rest_effect * (
        np.minimum(played.rest_home, _MAX_USEFUL_REST)
        - np.minimum(played.rest_away, _MAX_USEFUL_REST)
    )
    if league.kind == "points":
        margin = first[:, 0] - first[:, 1] + league.home_advantage + rest
        return margin, league.total_mean + second.sum(axis=1)
    home = league.total_mean + first[:, 0] - second[:, 1] + league.home_advantage + rest
    away = league.total_mean + first[:, 1] - second[:, 0] - rest
    return home - away, home + away


def _in_play_scores(scores: tuple[Integers, Integers], random: np.random.Generator) -> InPlayScores:
    """Simulate the score after each part of a game."""
    margins, totals = [], []
    scored = [np.zeros_like(score) for score in scores]
    done = 0.0
    for part in IN_PLAY:
        share = (part - done) / (1 - done)
        scored = [
            had + random.binomial(end - had, share) for had, end in zip(scored, scores, strict=True)
        ]
        done = part
        margins.append(scored[0] - scored[1])
        totals.append(scored[0] + scored[1])
    return InPlayScores(
        np.stack(margins, 1).astype(np.float64), np.stack(totals, 1).astype(np.float64)
    )


def _publish_results(
    league: League, played: Calendar, scores: tuple[Integers, Integers], random: np.random.Generator
) -> Games:
    """Publish the results: some late, some wrong at first, and a few games never played."""
    games = len(played.home)
    random_ids = random.bytes(16 * games).hex()
    lot = random.random(games)
    postponed = lot < _POSTPONED_SHARE
    corrected = (lot >= _POSTPONED_SHARE) & (lot < _POSTPONED_SHARE + _CORRECTED_SHARE)
    minutes = random.integers(0, 25, games)
    completed = played.commence_us + int(league.hours * HOUR_US) + minutes * 60_000_000
    delay = np.where(random.random(games) < _LATE_SHARE, 40 * HOUR_US, 5 * 60_000_000)
    wrong = corrected * random.integers(1, 3, games)
    at_home = random.random(games) < 0.5
    return Games(
        ids=tuple(random_ids[index * 32 : index * 32 + 32] for index in range(games)),
        home=played.home,
        away=played.away,
        season=played.season,
        commence_us=played.commence_us,
        announced_us=played.commence_us - 14 * DAY_US,
        rest_home=played.rest_home,
        rest_away=played.rest_away,
        home_score=scores[0],
        away_score=scores[1],
        completed_us=completed,
        known_us=completed + delay,
        postponed=postponed,
        corrected=corrected,
        first_home_score=scores[0] + wrong * at_home,
        first_away_score=scores[1] + wrong * ~at_home,
        corrected_us=np.where(corrected, completed + delay + 20 * HOUR_US, 0),
    )
