"""Kept here: what is kept, read back as facts with the moment each was known."""

from __future__ import annotations

from collections.abc import AsyncIterator, Iterable
from dataclasses import dataclass
from datetime import UTC, datetime, time, timedelta
from typing import TYPE_CHECKING, Final

from grandstand.apps.bets.model import VerifiedType, slug
from grandstand.apps.bets.model.known.facts import (
    Fact,
    Fixture,
    InjuryReport,
    PlayerFigures,
    Quote,
    Score,
    TeamFigures,
    Verified,
)
from grandstand.apps.bets.service.means import Means
from grandstand.apps.bets.store import (
    Analysis,
    Awaited,
    GameNote,
    GameOdds,
    Injury,
    Meeting,
    PlayerStats,
    PropOdds,
    ResultLine,
    TeamStats,
)

if TYPE_CHECKING:
    from grandstand.apps.bets.model.known.history import History

_ONE_DAY: Final = timedelta(days=1)
# Kiribati's clocks are the furthest ahead of UTC.
_FIRST_MIDNIGHT: Final = timedelta(hours=14)
_KINDS: Final[tuple[VerifiedType, ...]] = ("game", "prop")


@dataclass(frozen=True, slots=True)
class Span:
    """Which past is read: results and records since a moment."""

    since: datetime
    until: datetime


class Loading:
    """Reads rows of the table as facts; what a model sees of them is decided by their moments."""

    def __init__(self, means: Means) -> None:
        self._means = means

    async def results(self, sport: str, span: Span) -> AsyncIterator[Fact]:
        """Answer a sport's games that ended within a span, each as a fixture and its scores."""
        seen: set[str] = set()
        lines = ResultLine.within(sport, span.since, span.until)
        async for line in self._means.each(lines):
            if line.game_id not in seen:
                seen.add(line.game_id)
                yield fixture_of(line, known_at=line.commence_time - _ONE_DAY)
            yield Score(
                line.game_id,
                int(line.home_score),
                int(line.away_score),
                line.completed_at,
                max(line.known_at, line.completed_at),
                line.status,
                line.corrected,
            )

    async def prices(self, game_id: str) -> AsyncIterator[Fact]:
        """Answer every price of a game before its start, players' included."""
        async for row in self._means.each(GameOdds.of_game(game_id)):
            if row.captured_at < row.commence_time:
                yield quote_of(row)
        async for prop in self._means.each(PropOdds.of_game(game_id)):
            if prop.captured_at < prop.commence_time:
                yield quote_of(prop)

    async def of_team(self, sport: str, team: str, span: Span) -> AsyncIterator[Fact]:
        """Answer a team's figures, injuries and schedule."""
        for season in seasons_of(span):
            async for row in self._means.each(TeamStats.of_season(sport, team, season)):
                yield figures_of(row)
        async for injury in self._means.each(Injury.of_team(sport, team)):
            yield injury_of(injury)
        async for meeting in self._means.each(Meeting.of_team(sport, team, span.since)):
            yield meeting_of(meeting)

    async def of_player(self, sport: str, player: str, history: History) -> AsyncIterator[Fact]:
        """Answer a player's figures in the games a history knows the end of."""
        async for row in self._means.each(PlayerStats.of_player(sport, player)):
            score, game = history.result(row.game_id), history.announced(row.game_id)
            if score is None or game is None:
                continue
            team = slug(row.team)
            yield PlayerFigures(
                sport,
                slug(row.player_name),
                team,
                game.away if team == game.home else game.home,
                row.game_id,
                {name: float(value) for name, value in row.stats.items()},
                score.completed_at,
                max(row.updated_at, score.completed_at),
            )

    async def records(self, sport: str, models: Iterable[str], since: datetime) -> list[Verified]:
        """Answer what models predicted and what came of it, each game and market once."""
        found: list[Verified] = []
        for model in models:
            found += await self.record(sport, model, since)
        return found

    async def record(self, sport: str, model: str, since: datetime) -> list[Verified]:
        """Do so for one model."""
        once: dict[tuple[str, str, str], Verified] = {}
        for kind in _KINDS:
            async for row in self._means.each(Analysis.performance(model, sport, since, kind)):
                made = verified_of(row)
                if made is not None:
                    once.setdefault((made.game_id, made.market, row.subject), made)
        return list(once.values())

    async def games_to_come(self, sport: str, start: datetime, end: datetime) -> list[GameNote]:
        """Answer a sport's games that begin within a span of time."""
        return [
            GameNote(
                game_id=each.game_id,
                sport=each.sport,
                home_team=each.home_team,
                away_team=each.away_team,
                commence_time=each.commence_time,
                known_at=start,
            )
            async for each in self._means.each(Awaited.between(sport, start, end))
        ]

    async def season(self, sport: str, now: datetime, models: Iterable[str]) -> History:
        """Answer a history of a sport's results and the models' records, for the games to come."""
        from grandstand.apps.bets.model.known.history import History

        since = now - timedelta(days=self._means.settings.history_days)
        facts: list[Fact] = [each async for each in self.results(sport, Span(since, now))]
        facts += await self.records(sport, models, since)
        return History(facts)

    async def add_game(self, history: History, note: GameNote, now: datetime) -> Fixture:
        """Add a game to come, its prices and its teams' figures to a history."""
        since = now - timedelta(days=self._means.settings.history_days)
        game = fixture_of(note, known_at=min(note.known_at, now))
        history.add(game)
        async for fact in self.prices(note.game_id):
            history.add(fact)
        for team in (note.home_team, note.away_team):
            async for fact in self.of_team(note.sport, team, Span(since, now)):
                if not (isinstance(fact, Fixture) and _is_itself(fact, game)):
                    history.add(fact)
        for player in await self.players(note.game_id):
            for fact in [one async for one in self.of_player(note.sport, player, history)]:
                history.add(fact)
        return game

    async def players(self, game_id: str) -> tuple[str, ...]:
        """Answer the players there are prices about in a game."""
        rows = self._means.each(PropOdds.of_game(game_id))
        return tuple(sorted({row.player async for row in rows}))


def _is_itself(listed: Fixture, game: Fixture) -> bool:
    """Tell whether a game of a schedule is this one, whose start others may tell otherwise."""
    return abs(listed.commence_time - game.commence_time) < _ONE_DAY / 2


def fixture_of(row: GameNote | ResultLine | Awaited, *, known_at: datetime) -> Fixture:
    """Answer a game as a fact."""
    return Fixture(
        row.game_id,
        row.sport,
        slug(row.home_team),
        slug(row.away_team),
        row.commence_time,
        known_at,
    )


def quote_of(row: GameOdds | PropOdds) -> Quote:
    """Answer a price as a fact; it was known when it was written down."""
    player = slug(row.player) if isinstance(row, PropOdds) else None
    return Quote(
        row.game_id,
        row.bookmaker,
        row.market_key,
        row.captured_at,
        row.outcomes,
        max(row.created_at, row.captured_at),
        player,
    )


def figures_of(row: TeamStats) -> TeamFigures:
    """Answer a team's figures as a fact: of the day they speak of, known when they were told."""
    played = datetime.combine(row.stat_date, time(), UTC)
    figures = {name: float(value) for name, value in row.stats.items()}
    return TeamFigures(row.sport, slug(row.team), figures, played, max(played, row.updated_at))


def injury_of(row: Injury) -> InjuryReport:
    """Answer an injury as a fact; nobody reported it before its day began anywhere on earth."""
    begun = datetime.combine(row.reported_on, time(), UTC) - _FIRST_MIDNIGHT
    return InjuryReport(
        row.sport,
        slug(row.team),
        slug(row.player),
        row.status,
        float(row.impact),
        max(row.updated_at, begun),
        row.updated_at,
    )


def meeting_of(row: Meeting) -> Fixture:
    """Answer a game of a schedule as a fact, which tells how long a team has rested."""
    home, away = (row.team, row.opponent) if row.is_home else (row.opponent, row.team)
    day = f"{row.starts_at:%Y%m%d}"
    game_id = f"schedule/{row.sport}/{day}/{slug(home)}/{slug(away)}"
    return Fixture(game_id, row.sport, slug(home), slug(away), row.starts_at, row.known_at)


def verified_of(row: Analysis) -> Verified | None:
    """Answer a verified prediction as a fact; None when nothing was won or lost by it."""
    if row.selection is None or row.outcome is None or row.outcome_verified_at is None:
        return None
    market = row.selection.partition("|")[0]
    return Verified(
        row.model,
        row.sport,
        row.market_key or market,
        row.game_id,
        float(row.raw if row.raw is not None else row.confidence),
        float(row.confidence),
        None if row.fair is None else float(row.fair),
        float(row.outcome),
        row.as_of or row.created_at,
        row.outcome_verified_at,
        tuple((each.source, float(each.contribution)) for each in row.reasons or ()),
    )


def seasons_of(span: Span) -> tuple[str, ...]:
    """Answer the names seasons may have within a span: `2025`, and `2025-26` in winter."""
    years = range(span.since.year - 1, span.until.year + 1)
    return tuple(name for year in years for name in (str(year), f"{year}-{(year + 1) % 100:02d}"))
