"""A simulated season as facts of a history."""

from __future__ import annotations

from collections.abc import Collection, Iterator

import numpy as np

from grandstand.apps.bets.domain.history import Fact
from grandstand.apps.bets.domain.quotes import QuoteTable
from grandstand.apps.bets.domain.records import (
    Fixture,
    InjuryReport,
    PlayerGameStats,
    Score,
    TeamGameStats,
    from_epoch_us,
    slug,
)
from grandstand.simulators.odds.box_scores import STATUSES
from grandstand.simulators.odds.prices import MARKETS
from grandstand.simulators.odds.season import SimulatedSeason


def facts_of(season: SimulatedSeason, *, players: bool = True) -> Iterator[Fact]:
    """Every fact of a season; those about players may be left out."""
    yield from fixtures_of(season)
    yield from quotes_of(season)
    yield from scores_of(season)
    yield from team_stats_of(season)
    yield from injuries_of(season)
    if players:
        yield from player_stats_of(season)
        yield from props_of(season)


def fixtures_of(season: SimulatedSeason) -> Iterator[Fixture]:
    """The games as announced."""
    games, teams, sport = season.games, [slug(team) for team in season.teams], season.league.key
    columns = (games.home, games.away, games.commence_us, games.announced_us)
    for game_id, (home, away, begins, known) in zip(
        games.ids, zip(*(each.tolist() for each in columns), strict=True), strict=True
    ):
        yield Fixture(
            game_id, sport, teams[home], teams[away], from_epoch_us(begins), from_epoch_us(known)
        )


def quotes_of(
    season: SimulatedSeason,
    *,
    markets: Collection[str] = MARKETS,
    books: Collection[str] | None = None,
) -> Iterator[QuoteTable]:
    """The prices of each market at each book, or at some, in play included."""
    quotes, ids = season.quotes, season.games.ids
    wanted = [at for at, each in enumerate(season.books) if books is None or each.key in books]
    kept = np.isin(quotes.market, [MARKETS.index(each) for each in markets])
    kept &= np.isin(quotes.book, wanted)
    order = np.lexsort((quotes.captured_us, quotes.market, quotes.book, quotes.game))
    order = order[kept[order]]
    group = (quotes.game.astype(np.int64) * 128 + quotes.book) * 8 + quotes.market
    group = group[order]
    captured, point = quotes.captured_us[order], quotes.point[order]
    prices = np.stack((quotes.first, quotes.second, quotes.draw), 1)[order]
    edges = np.flatnonzero(np.diff(group)) + 1
    starts, ends = np.concatenate(([0], edges)), np.concatenate((edges, [len(group)]))
    names = [
        each if each != "h2h" or not season.league.has_draws else "h2h_3way" for each in MARKETS
    ]
    for start, end, number in zip(
        starts.tolist(), ends.tolist(), group[starts].tolist(), strict=True
    ):
        rest, market = divmod(number, 8)
        game, book = divmod(rest, 128)
        ways = 3 if names[market] == "h2h_3way" else 2
        when = captured[start:end]
        yield QuoteTable.of_book(
            game_id=ids[game],
            book=season.books[book].key,
            market=names[market],
            captured_at=when,
            known_at=when,
            prices=prices[start:end, :ways],
            points=point[start:end],
        )


def props_of(season: SimulatedSeason) -> Iterator[QuoteTable]:
    """The prices about players."""
    props = season.props
    order = np.lexsort((props.captured_us, props.market, props.player, props.book, props.game))
    group = (props.game.astype(np.int64) * 128 + props.book) * 8 + props.market
    group = (group * 4096 + props.player)[order]
    captured, point = props.captured_us[order], props.point[order]
    prices = np.stack((props.over, props.under), 1)[order]
    edges = np.flatnonzero(np.diff(group)) + 1
    starts, ends = np.concatenate(([0], edges)), np.concatenate((edges, [len(group)]))
    for start, end, row in zip(starts.tolist(), ends.tolist(), order[starts].tolist(), strict=True):
        yield QuoteTable.of_book(
            game_id=season.games.ids[props.game[row]],
            book=season.books[props.book[row]].key,
            market=props.markets[props.market[row]],
            captured_at=captured[start:end],
            known_at=captured[start:end],
            prices=prices[start:end],
            points=point[start:end],
            participant=slug(season.players[props.player[row]].name),
        )


def scores_of(season: SimulatedSeason) -> Iterator[Score]:
    """The results of games that were played, a corrected one as a second row."""
    games = season.games
    for at in np.flatnonzero(~games.postponed).tolist():
        ended, known = from_epoch_us(games.completed_us[at]), from_epoch_us(games.known_us[at])
        first = int(games.first_home_score[at]), int(games.first_away_score[at])
        yield Score(games.ids[at], *first, ended, known)
        if games.corrected[at]:
            last = int(games.home_score[at]), int(games.away_score[at])
            later = from_epoch_us(games.corrected_us[at])
            yield Score(games.ids[at], *last, ended, later, corrected=True)


def team_stats_of(season: SimulatedSeason) -> Iterator[TeamGameStats]:
    """What teams did in their games."""
    counted, games, sport = season.team_stats, season.games, season.league.key
    teams = [slug(team) for team in season.teams]
    names = tuple(counted.stats)
    rows = np.stack([counted.stats[name] for name in names], 1).tolist()
    for game, team, known, row in zip(
        counted.game.tolist(), counted.team.tolist(), counted.known_us.tolist(), rows, strict=True
    ):
        if not games.postponed[game]:
            ended = from_epoch_us(min(games.completed_us[game], known))
            row_stats = dict(zip(names, row, strict=True))
            yield TeamGameStats(
                sport, teams[team], row_stats, ended, from_epoch_us(known), games.ids[game]
            )


def player_stats_of(season: SimulatedSeason) -> Iterator[PlayerGameStats]:
    """What players did in their games."""
    counted, games, sport = season.player_stats, season.games, season.league.key
    teams = [slug(team) for team in season.teams]
    people = [slug(player.name) for player in season.players]
    names = tuple(counted.stats)
    rows = np.stack([counted.stats[name] for name in names], 1).tolist()
    columns = (counted.game, counted.team, counted.player, counted.known_us)
    for (game, team, player, known), row in zip(
        zip(*(each.tolist() for each in columns), strict=True), rows, strict=True
    ):
        if not games.postponed[game]:
            home, away = int(games.home[game]), int(games.away[game])
            yield PlayerGameStats(
                sport,
                people[player],
                teams[team],
                teams[away if team == home else home],
                games.ids[game],
                dict(zip(names, row, strict=True)),
                from_epoch_us(min(games.completed_us[game], known)),
                from_epoch_us(known),
            )


def injuries_of(season: SimulatedSeason) -> Iterator[InjuryReport]:
    """What was said of players' fitness; the impact is a share of the league's best player's."""
    injuries, sport, best = season.injuries, season.league.key, season.league.star_impact
    teams = [slug(team) for team in season.teams]
    columns = (injuries.team, injuries.player, injuries.status, injuries.known_us)
    for team, player, status, known in zip(*(each.tolist() for each in columns), strict=True):
        who, when = season.players[player], from_epoch_us(known)
        yield InjuryReport(
            sport, teams[team], slug(who.name), STATUSES[status], who.impact / best, when, when
        )
