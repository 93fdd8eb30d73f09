"""Running the models, and loading the history they see."""

from __future__ import annotations

from collections.abc import AsyncIterator, Iterable, Iterator, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, time, timedelta
from typing import TYPE_CHECKING, Final

from grandstand.apps.bets.domain.history import Fact
from grandstand.apps.bets.domain.records import (
    Fixture,
    InjuryReport,
    PlayerGameStats,
    Quote,
    Score,
    TeamGameStats,
    VerifiedForecast,
    VerifiedType,
    slug,
)
from grandstand.apps.bets.services.database import Database, copy_as
from grandstand.apps.bets.settings import BetsSettings
from grandstand.apps.bets.store.games import (
    AwaitedGame,
    GameInfo,
    GameOdds,
    Injury,
    PlayerStats,
    PropOdds,
    ResultRecord,
    ScheduledGame,
    TeamStats,
)
from grandstand.apps.bets.store.predictions import Analysis
from grandstand.apps.bets.store.user_models import UserModel

if TYPE_CHECKING:
    from grandstand.apps.bets.domain.calibration import TrainingWindows
    from grandstand.apps.bets.domain.forecasts import Forecast, Predictor
    from grandstand.apps.bets.domain.history import AsOfView, History

BENNY_MODEL: Final = "benny"
PROP_MODELS: Final = ("player_stats",)


def model_names() -> tuple[str, ...]:
    """Return the names of the built-in models, including Benny."""
    from grandstand.apps.bets.domain.registry import MODEL_NAMES

    return (*MODEL_NAMES, *PROP_MODELS, BENNY_MODEL)


def model_forecasts(game: Fixture, view: AsOfView) -> list[Forecast]:
    """Return the calibrated forecasts of all built-in models for a game, inverses included."""
    from grandstand.apps.bets.domain.evaluation import predict_game
    from grandstand.apps.bets.domain.registry import build_standard_panel

    return list(predict_game(game, view, build_standard_panel()))


def user_forecasts(
    game: Fixture, view: AsOfView, user_models: Sequence[Predictor]
) -> list[Forecast]:
    """Return the forecasts of user models for a game, inverses included."""
    from grandstand.apps.bets.domain.forecasts import invert_forecast

    forecasts: list[Forecast] = []
    for model in user_models:
        for market in model.markets:
            forecast = model.predict(game, view, market)
            if forecast is not None:
                forecasts += [forecast, invert_forecast(forecast, view)]
    return forecasts


def user_predictor(model: UserModel, windows: TrainingWindows | None = None) -> Predictor:
    """Return a predictor for a user model.

    Raises InvalidInput if the model is invalid.
    """
    from grandstand.apps.bets.domain.calibration import DEFAULT_WINDOWS, CalibratedPredictor
    from grandstand.apps.bets.domain.user_models import UserModelSpec, UserPredictor

    spec = UserModelSpec(
        model.name,
        model.sport,
        model.bet_types,
        {name: float(weight) for name, weight in model.data_sources.items()},
        float(model.min_confidence),
        tuple((name, float(weight)) for name, weight in (model.datasets or {}).items()),
        model.description or "",
    )
    predictor = UserPredictor(spec, user_model_name(model.model_id))
    return CalibratedPredictor(predictor, windows or DEFAULT_WINDOWS)


def user_model_name(model_id: str) -> str:
    """Return the name under which the predictions of a user model are stored."""
    return f"user:{model_id}"


def with_inverses(forecasts: Sequence[Forecast]) -> Iterator[tuple[Forecast, Forecast]]:
    """Yield each forecast with its inverse."""
    inverses = {
        (forecast.inverse_of, forecast.market, forecast.selection.participant): forecast
        for forecast in forecasts
        if forecast.inverse_of is not None
    }
    for forecast in forecasts:
        if forecast.inverse_of is None:
            inverse = inverses.get(
                (forecast.model, forecast.market, forecast.selection.participant)
            )
            if inverse is not None:
                yield forecast, inverse


_ONE_DAY: Final = timedelta(days=1)
# Kiribati's clocks are the furthest ahead of UTC.
_FIRST_MIDNIGHT: Final = timedelta(hours=14)
_KINDS: Final[tuple[VerifiedType, ...]] = ("game", "prop")


@dataclass(frozen=True, slots=True, kw_only=True)
class HistoryLoader:
    """Loads rows as facts with the time each became known; that time decides what a model sees."""

    db: Database
    settings: BetsSettings

    async def results(self, sport: str, since: datetime, until: datetime) -> AsyncIterator[Fact]:
        """Yield the games completed in a period, each as a fixture and its scores."""
        game_ids: set[str] = set()
        lines = ResultRecord.between(sport, since, until)
        async for line in self.db.each(lines):
            if line.game_id not in game_ids:
                game_ids.add(line.game_id)
                yield to_fixture(line, known_at=line.commence_time - _ONE_DAY)
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
        """Yield all pregame prices of a game, including player props."""
        async for row in self.db.each(GameOdds.of_game(game_id)):
            if row.captured_at < row.commence_time:
                yield to_quote(row)
        async for prop in self.db.each(PropOdds.of_game(game_id)):
            if prop.captured_at < prop.commence_time:
                yield to_quote(prop)

    async def of_team(
        self, sport: str, team: str, since: datetime, until: datetime
    ) -> AsyncIterator[Fact]:
        """Yield a team's statistics, injuries and schedule."""
        for season in season_names(since.year - 1, until.year):
            async for row in self.db.each(TeamStats.of_season(sport, team, season)):
                yield to_team_figures(row)
        async for injury in self.db.each(Injury.of_team(sport, team)):
            yield to_injury_report(injury)
        async for meeting in self.db.each(ScheduledGame.of_team(sport, team, since)):
            yield to_scheduled_fixture(meeting)

    async def of_player(self, sport: str, player: str, history: History) -> AsyncIterator[Fact]:
        """Yield a player's statistics in the completed games of a history."""
        async for row in self.db.each(PlayerStats.of_player(sport, player)):
            score, game = history.latest_score(row.game_id), history.latest_fixture(row.game_id)
            if score is None or game is None:
                continue
            team = slug(row.team)
            yield PlayerGameStats(
                sport,
                slug(row.player_name),
                team,
                game.away if team == game.home else game.home,
                row.game_id,
                {name: float(value) for name, value in row.stats.items()},
                score.completed_at,
                max(row.updated_at, score.completed_at),
            )

    async def records(
        self, sport: str, models: Iterable[str], since: datetime
    ) -> list[VerifiedForecast]:
        """Return the verified predictions of several models, one per game and market."""
        records: list[VerifiedForecast] = []
        for model in models:
            records += await self.record(sport, model, since)
        return records

    async def record(self, sport: str, model: str, since: datetime) -> list[VerifiedForecast]:
        unique: dict[tuple[str, str, str], VerifiedForecast] = {}
        for kind in _KINDS:
            async for row in self.db.each(Analysis.performance(model, sport, since, kind)):
                verified = to_verified(row)
                if verified is not None:
                    unique.setdefault((verified.game_id, verified.market, row.subject), verified)
        return list(unique.values())

    async def upcoming_games(self, sport: str, start: datetime, end: datetime) -> list[GameInfo]:
        """Return the games of a sport that start in a period."""
        return [
            copy_as(GameInfo, game, known_at=start)
            async for game in self.db.each(AwaitedGame.between(sport, start, end))
        ]

    async def season(self, sport: str, now: datetime, models: Iterable[str]) -> History:
        """Return the results and the models' records as a history."""
        from grandstand.apps.bets.domain.history import History

        since = now - timedelta(days=self.settings.history_days)
        facts: list[Fact] = [fact async for fact in self.results(sport, since, now)]
        facts += await self.records(sport, models, since)
        return History(facts)

    async def add_game(self, history: History, info: GameInfo, now: datetime) -> Fixture:
        """Add an upcoming game, its prices and its teams' data to a history."""
        since = now - timedelta(days=self.settings.history_days)
        game = to_fixture(info, known_at=min(info.known_at, now))
        history.add(game)
        async for fact in self.prices(info.game_id):
            history.add(fact)
        for team in (info.home_team, info.away_team):
            async for fact in self.of_team(info.sport, team, since, now):
                if not (isinstance(fact, Fixture) and _is_itself(fact, game)):
                    history.add(fact)
        for player in await self.players(info.game_id):
            for fact in [fact async for fact in self.of_player(info.sport, player, history)]:
                history.add(fact)
        return game

    async def players(self, game_id: str) -> tuple[str, ...]:
        """Return the players with props in a game."""
        rows = self.db.each(PropOdds.of_game(game_id))
        return tuple(sorted({row.player async for row in rows}))


def _is_itself(listed: Fixture, game: Fixture) -> bool:
    """Return whether a scheduled game is this one; sources may disagree about the start."""
    return abs(listed.commence_time - game.commence_time) < _ONE_DAY / 2


def to_fixture(row: GameInfo | ResultRecord | AwaitedGame, *, known_at: datetime) -> Fixture:
    return Fixture(
        row.game_id,
        row.sport,
        slug(row.home_team),
        slug(row.away_team),
        row.commence_time,
        known_at,
    )


def to_quote(row: GameOdds | PropOdds) -> Quote:
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


def to_team_figures(row: TeamStats) -> TeamGameStats:
    played = datetime.combine(row.stat_date, time(), UTC)
    stats = {name: float(value) for name, value in row.stats.items()}
    return TeamGameStats(row.sport, slug(row.team), stats, played, max(played, row.updated_at))


def to_injury_report(row: Injury) -> InjuryReport:
    """Return an injury as a fact that is not known before its day begins anywhere on Earth."""
    day_start = datetime.combine(row.reported_on, time(), UTC) - _FIRST_MIDNIGHT
    return InjuryReport(
        row.sport,
        slug(row.team),
        slug(row.player),
        row.status,
        float(row.impact),
        max(row.updated_at, day_start),
        row.updated_at,
    )


def to_scheduled_fixture(row: ScheduledGame) -> Fixture:
    """Return a scheduled game as a fact, which shows how long a team has rested."""
    home, away = (row.team, row.opponent) if row.is_home else (row.opponent, row.team)
    day = f"{row.starts_at:%Y%m%d}"
    game_id = f"schedule/{row.sport}/{day}/{slug(home)}/{slug(away)}"
    return Fixture(game_id, row.sport, slug(home), slug(away), row.starts_at, row.known_at)


def to_verified(row: Analysis) -> VerifiedForecast | None:
    """Return a verified prediction as a fact; None if it was neither won nor lost."""
    if row.selection is None or row.outcome is None or row.outcome_verified_at is None:
        return None
    market = row.selection.partition("|")[0]
    return VerifiedForecast(
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
        tuple((reason.source, float(reason.contribution)) for reason in row.reasons or ()),
    )


def season_names(first: int, last: int) -> tuple[str, ...]:
    """Return the possible season names of years: `2025`, and `2025-26` for winter sports."""
    years = range(first, last + 1)
    return tuple(name for year in years for name in (str(year), f"{year}-{(year + 1) % 100:02d}"))
