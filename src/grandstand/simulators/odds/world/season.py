"""Kept here: seasons made from a seed, in columns: games, prices, figures, injuries, truth."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Final

import numpy as np
import numpy.typing as npt

from grandstand.simulators.odds.world.books import BOOKS, Book
from grandstand.simulators.odds.world.calendar import DAY_US, HOUR_US, Calendar, calendar
from grandstand.simulators.odds.world.errors import LeagueUnknown, SeasonTooShort
from grandstand.simulators.odds.world.figures import (
    PlayerFigures,
    TeamFigures,
    absent_players,
    player_figures,
    team_figures,
)
from grandstand.simulators.odds.world.laws import Floats, Whole
from grandstand.simulators.odds.world.leagues import LEAGUES, League
from grandstand.simulators.odds.world.lines import (
    IN_PLAY,
    STEPS,
    Market,
    Play,
    Quotes,
    priced,
    step_of,
)
from grandstand.simulators.odds.world.people import Absences, Injuries, Player, injured, players_of
from grandstand.simulators.odds.world.props import Props, props
from grandstand.simulators.odds.world.truth import Truth, sampled, true_chances

OPENING: Final = datetime(2025, 10, 21, tzinfo=UTC)
_MOST_REST_THAT_HELPS: Final = 3
_POSTPONED_SHARE: Final = 0.008
_CORRECTED_SHARE: Final = 0.01
_LATE_SHARE: Final = 0.02

Flags = npt.NDArray[np.bool_]


@dataclass(frozen=True, slots=True)
class Games:
    """The games in the order of their start, teams by number, moments in microseconds UTC.

    A postponed game has no result, ever. A corrected one is first told as `first_home_score` and
    `first_away_score`, and rightly from `corrected_us` on (0 where nothing is corrected).
    """

    ids: tuple[str, ...]
    home: Whole
    away: Whole
    season: Whole
    commence_us: Whole
    announced_us: Whole
    rest_home: Whole
    rest_away: Whole
    home_score: Whole
    away_score: Whole
    completed_us: Whole
    known_us: Whole
    postponed: Flags
    corrected: Flags
    first_home_score: Whole
    first_away_score: Whole
    corrected_us: Whole

    def __len__(self) -> int:
        return len(self.ids)


@dataclass(frozen=True, slots=True)
class Season:
    """All there is to know of a league's games; every number names a place in a tuple or column."""

    league: League
    teams: tuple[str, ...]
    books: tuple[Book, ...]
    players: tuple[Player, ...]
    games: Games
    quotes: Quotes
    team_figures: TeamFigures
    player_figures: PlayerFigures
    injuries: Injuries
    absences: Absences
    props: Props
    play: Play
    truth: Truth


def season(
    seed: int,
    sport: str = "basketball_nba",
    games: int | None = None,
    *,
    starts_at: datetime = OPENING,
    changes: int = 22,
    in_play: bool = True,
    all_day: bool = False,
) -> Season:
    """Make a season, the same from the same seed; more games than a season's go on in the next.

    Each book changes each market's prices `changes` - 1 times before the start. With `all_day`
    games begin at any hour of any day. Raises LeagueUnknown and SeasonTooShort.
    """
    if sport not in LEAGUES:
        raise LeagueUnknown(sport, tuple(LEAGUES))
    league = LEAGUES[sport]
    games = league.season_games if games is None else games
    if games < 1 or changes < 2:  # noqa: PLR2004 - an opening and a closing price
        raise SeasonTooShort("a season needs at least 1 game, and 2 prices a book and market")
    chance = [np.random.default_rng(each) for each in np.random.SeedSequence(seed).spawn(9)]
    played = calendar(league, games, starts_at, chance[0], all_day=all_day)
    return _season(league, played, chance, changes=changes, in_play=in_play)


def _season(
    league: League,
    played: Calendar,
    chance: list[np.random.Generator],
    *,
    changes: int,
    in_play: bool,
) -> Season:
    players = players_of(league, chance[1])
    injuries, absences = injured(players, played, chance[1])
    first, second = _strengths(league, played, chance[2])
    market, truth = _believed(league, played, (first, second), (players, absences), chance[3])
    scores = sampled(league, truth.x, truth.y, chance[4])
    play = _played(scores, chance[5])
    absent = absent_players(league, played, absences)
    counted = player_figures(league, played, absent, chance[7])
    worth = _worth(league, first, second)
    tallied = team_figures(league, played, scores, worth, chance[7])
    results = _games(league, played, scores, chance[8])
    on = ~results.postponed
    quotes = priced(
        league, played, market, play if in_play else None, changes=changes, random=chance[6]
    )
    before = quotes.captured_us < played.commence_us[quotes.game]
    return Season(
        league=league,
        teams=league.teams,
        books=BOOKS,
        players=players,
        games=results,
        quotes=quotes.only(before | on[quotes.game]),
        team_figures=tallied.only(on[tallied.game]),
        player_figures=counted.only(on[counted.game]),
        injuries=injuries,
        absences=absences,
        props=props(league, played, counted, chance[7]),
        play=play,
        truth=truth,
    )


def _worth(league: League, first: Floats, second: Floats) -> tuple[Floats, Floats]:
    """Answer how good home and away are: strength in points, attack and defence in goals."""
    both = first if league.kind == "points" else first + second
    return both[:, 0], both[:, 1]


def _strengths(
    league: League, played: Calendar, random: np.random.Generator
) -> tuple[Floats, Floats]:
    """Answer two strengths of the teams of each game, games by sides; both wander from day to day.

    In points they are strength and pace; in goals attack and defence.
    """
    day = (played.commence_us - played.commence_us[0]) // DAY_US
    days, teams = int(day[-1]) + 1, len(league.teams)
    keep = (1 - (league.drift_sd / league.strength_sd) ** 2) ** 0.5
    sides = np.stack((played.home, played.away), 1)
    found = []
    for _ in range(2):
        walk = random.standard_normal((days, teams)) * league.drift_sd
        walk[0] = random.standard_normal(teams) * league.strength_sd
        for at in range(1, days):
            walk[at] += keep * walk[at - 1]
        walk -= walk.mean(axis=1, keepdims=True)
        found.append(walk[day[:, None], sides])
    return found[0], found[1]


def _believed(
    league: League,
    played: Calendar,
    strengths: tuple[Floats, Floats],
    missing: tuple[tuple[Player, ...], Absences],
    random: np.random.Generator,
) -> tuple[Market, Truth]:
    """Let news arrive from opening to start; a little stays hidden, which nobody can price.

    The market adds up all news so far, so what it believes is right on average at every step.
    """
    games = len(played.home)
    x, y = _plain(league, played, strengths)
    news = random.standard_normal((2, games, STEPS)) * league.news_sd / (STEPS - 1) ** 0.5
    news[:, :, 0] = (x, y)
    players, absences = missing
    impact = np.array([player.impact for player in players])[absences.player]
    team = np.array([player.team for player in players])[absences.player]
    sign = np.where(played.home[absences.game] == team, -1.0, 1.0)
    before = played.commence_us[absences.game] - absences.known_us
    np.add.at(news[0], (absences.game, step_of(league, before)), sign * impact)
    market = Market(news[0].cumsum(axis=1), news[1].cumsum(axis=1))
    closing_x, closing_y = market.closing
    true_x = closing_x + random.normal(0, league.hidden_sd, games)
    true_y = closing_y + random.normal(0, league.hidden_sd, games)
    chances = true_chances(league, true_x, true_y)
    return market, Truth(league, true_x, true_y, closing_x.copy(), closing_y.copy(), *chances)


def _plain(
    league: League, played: Calendar, strengths: tuple[Floats, Floats]
) -> tuple[Floats, Floats]:
    """Answer what strengths, the home ground and rest alone say of each game."""
    first, second = strengths
    rest = league.rest_effect * (
        np.minimum(played.rest_home, _MOST_REST_THAT_HELPS)
        - np.minimum(played.rest_away, _MOST_REST_THAT_HELPS)
    )
    if league.kind == "points":
        margin = first[:, 0] - first[:, 1] + league.home_advantage + rest
        return margin, league.total_mean + second.sum(axis=1)
    home = league.total_mean + first[:, 0] - second[:, 1] + league.home_advantage + rest
    away = league.total_mean + first[:, 1] - second[:, 0] - rest
    return home - away, home + away


def _played(scores: tuple[Whole, Whole], random: np.random.Generator) -> Play:
    """Let each score come about: after each part of a game, how much of it was there."""
    margins, totals = [], []
    scored = [np.zeros_like(each) for each in scores]
    done = 0.0
    for part in IN_PLAY:
        share = (part - done) / (1 - done)
        scored = [
            had + random.binomial(end - had, share) for had, end in zip(scored, scores, strict=True)
        ]
        done = part
        margins.append(scored[0] - scored[1])
        totals.append(scored[0] + scored[1])
    return Play(np.stack(margins, 1).astype(np.float64), np.stack(totals, 1).astype(np.float64))


def _games(
    league: League, played: Calendar, scores: tuple[Whole, Whole], random: np.random.Generator
) -> Games:
    """Publish the results: some late, some wrong at first, and a few games are never played."""
    games = len(played.home)
    told = random.bytes(16 * games).hex()
    lot = random.random(games)
    postponed = lot < _POSTPONED_SHARE
    corrected = (lot >= _POSTPONED_SHARE) & (lot < _POSTPONED_SHARE + _CORRECTED_SHARE)
    minutes = random.integers(0, 25, games)
    completed = played.commence_us + int(league.hours * HOUR_US) + minutes * 60_000_000
    wait = np.where(random.random(games) < _LATE_SHARE, 40 * HOUR_US, 5 * 60_000_000)
    wrong = corrected * random.integers(1, 3, games)
    at_home = random.random(games) < 0.5  # noqa: PLR2004 - either side
    return Games(
        ids=tuple(told[at * 32 : at * 32 + 32] for at in range(games)),
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
        known_us=completed + wait,
        postponed=postponed,
        corrected=corrected,
        first_home_score=scores[0] + wrong * at_home,
        first_away_score=scores[1] + wrong * ~at_home,
        corrected_us=np.where(corrected, completed + wait + 20 * HOUR_US, 0),
    )
