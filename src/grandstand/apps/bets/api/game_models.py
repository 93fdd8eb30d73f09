"""Kept here: games, prices and predictions as they are told over HTTP."""

from __future__ import annotations

from collections.abc import Iterable
from datetime import date, datetime
from typing import Annotated

from pydantic import Field

from grandstand.apps.bets.api.shapes import Number, Percent, Told
from grandstand.apps.bets.model import AnalysisType
from grandstand.apps.bets.service import GameSummary, GameView, Quoted


class OutcomeModel(Told):
    """One side of a market: its American price and, where there is one, its line."""

    name: str
    price: int
    point: Number | None = None


class ExchangeModel(Told):
    """What an exchange asks for one side: a chance in ten-thousandths."""

    market_id: str
    title: str
    team: str
    bid: int | None
    ask: int | None
    at: datetime
    href: str


class GameModel(Told):
    """A game to come: `odds` by bookmaker and market.

    `captured_at` is since when a price stands, `age_seconds` since when nobody told it again.
    """

    game_id: str
    sport: str
    home_team: str
    away_team: str
    commence_time: datetime
    updated_at: datetime | None
    odds: dict[str, dict[str, tuple[OutcomeModel, ...]]]
    captured_at: dict[str, dict[str, datetime]]
    age_seconds: dict[str, dict[str, int]]
    exchange: tuple[ExchangeModel, ...] = ()

    @classmethod
    def of(cls, game: GameSummary) -> GameModel:
        """Answer a game as it is told; prices about players are left out."""
        quotes = [each for each in game.quotes if each.player is None]
        odds: dict[str, dict[str, tuple[OutcomeModel, ...]]] = {}
        captured: dict[str, dict[str, datetime]] = {}
        ages: dict[str, dict[str, int]] = {}
        for each in quotes:
            odds.setdefault(each.bookmaker, {})[each.market_key] = outcomes_of(each)
            captured.setdefault(each.bookmaker, {})[each.market_key] = each.captured_at
            ages.setdefault(each.bookmaker, {})[each.market_key] = each.age_seconds
        return cls(
            game_id=game.game_id,
            sport=game.sport,
            home_team=game.home_team,
            away_team=game.away_team,
            commence_time=game.commence_time,
            updated_at=max((each.captured_at for each in quotes), default=None),
            odds=odds,
            captured_at=captured,
            age_seconds=ages,
            exchange=tuple(map(ExchangeModel.model_validate, game.exchange)),
        )


class GameList(Told):
    """Games, soonest first; `cursor` leads to more."""

    games: tuple[GameModel, ...]
    count: int
    cursor: str | None


class NameList(Told):
    """Sports that are followed."""

    sports: tuple[str, ...]


class BookmakerList(Told):
    """Bookmakers that have given prices."""

    bookmakers: tuple[str, ...]


class ReasonModel(Told):
    """How far one input moved a prediction, in log-odds towards the pick."""

    source: str
    contribution: float
    text: str


class AnalysisModel(Told):
    """A model's prediction: `confidence` is a calibrated chance, `roi` expected, in per cent."""

    game_id: str
    model: str
    analysis_type: AnalysisType
    sport: str
    bookmaker: str
    prediction: str
    confidence: Annotated[float, Field(validation_alias="probability")]
    reasoning: str
    home_team: str
    away_team: str
    commence_time: datetime
    created_at: datetime
    roi: Annotated[Percent | None, Field(validation_alias="expected_return")]
    risk_level: str
    odds: Annotated[int | None, Field(validation_alias="price")]
    market_key: str
    side: str
    point: Number | None
    player_name: str | None
    is_inverse: bool
    original_prediction: str | None
    reasons: tuple[ReasonModel, ...]
    verdict: str | None
    analysis_correct: Annotated[bool | None, Field(validation_alias="correct")]
    closing_probability: float | None


class AnalysisList(Told):
    """Predictions for games to come; `cursor` leads to more."""

    analyses: tuple[AnalysisModel, ...]
    count: int
    cursor: str | None


class TopAnalysis(Told):
    """The prediction with the greatest expected return; None without any."""

    top_analysis: AnalysisModel | None


class PropModel(Told):
    """A bookmaker's price about a player."""

    game_id: str
    sport: str
    home_team: str
    away_team: str
    commence_time: datetime
    player: str
    bookmaker: str
    market_key: str
    outcomes: tuple[OutcomeModel, ...]
    updated_at: datetime

    @classmethod
    def of(cls, game: GameSummary, quote: Quoted) -> PropModel:
        """Answer a price about a player as it is told."""
        return cls(
            game_id=game.game_id,
            sport=game.sport,
            home_team=game.home_team,
            away_team=game.away_team,
            commence_time=game.commence_time,
            player=quote.player or "",
            bookmaker=quote.bookmaker,
            market_key=quote.market_key,
            outcomes=outcomes_of(quote),
            updated_at=quote.captured_at,
        )


class PropFilters(Told):
    """What was asked for."""

    sport: str
    bookmaker: str | None
    prop_type: str | None


class PropList(Told):
    """Prices about players, and what was asked for; `cursor` leads to more."""

    props: tuple[PropModel, ...]
    count: int
    filters: PropFilters
    cursor: str | None


class LinePointModel(Told):
    """One captured price."""

    captured_at: datetime
    outcomes: tuple[OutcomeModel, ...]


class LineModel(Told):
    """Every price of one bookmaker's market, oldest first."""

    bookmaker: str
    market_key: str
    player: str | None
    points: tuple[LinePointModel, ...]


class ClosingModel(Told):
    """The last price before the start; `age_seconds` is how long before."""

    bookmaker: str
    market_key: str
    player: str | None
    outcomes: tuple[OutcomeModel, ...]
    captured_at: datetime
    age_seconds: int


class ResultModel(Told):
    """A finished game seen from one team."""

    game_id: str
    completed_at: datetime
    team: str
    opponent: str
    team_score: Number
    opponent_score: Number
    is_home: bool


class InjuryModel(Told):
    """Who is injured, as last reported."""

    team: str
    player: str
    status: str
    injury: str
    reported_on: date


class ScoreModel(Told):
    """How a game ended; `corrected_at` when the score was told anew."""

    home_score: Number
    away_score: Number
    completed_at: datetime
    corrected_at: datetime | None


class GameDetail(Told):
    """Everything about one game."""

    game: GameModel
    props: tuple[PropModel, ...]
    lines: tuple[LineModel, ...]
    closing: tuple[ClosingModel, ...]
    analyses: tuple[AnalysisModel, ...]
    home_form: tuple[ResultModel, ...]
    away_form: tuple[ResultModel, ...]
    meetings: tuple[ResultModel, ...]
    injuries: tuple[InjuryModel, ...]
    score: ScoreModel | None

    @classmethod
    def of(cls, found: GameView) -> GameDetail:
        """Answer everything about a game as it is told."""
        told = [each for each in found.game.quotes if each.player is not None]
        score = None if found.score is None else ScoreModel.model_validate(found.score)
        return cls(
            game=GameModel.of(found.game),
            props=tuple(PropModel.of(found.game, each) for each in told),
            lines=tuple(map(LineModel.model_validate, found.lines)),
            closing=tuple(map(ClosingModel.model_validate, found.closing)),
            analyses=tuple(map(AnalysisModel.model_validate, found.picks)),
            home_form=_results(found.home_form),
            away_form=_results(found.away_form),
            meetings=_results(found.meetings),
            injuries=tuple(map(InjuryModel.model_validate, found.injuries)),
            score=score,
        )


def outcomes_of(quote: Quoted) -> tuple[OutcomeModel, ...]:
    """Answer the sides of a price as they are told."""
    return tuple(map(OutcomeModel.model_validate, quote.outcomes))


def _results(found: Iterable[object]) -> tuple[ResultModel, ...]:
    return tuple(map(ResultModel.model_validate, found))
