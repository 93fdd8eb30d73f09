"""Kept here: what models predict, how it turned out, and how far each is to be trusted."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime, timedelta
from decimal import Decimal
from typing import Final, Self

from grandstand.apps.bets.model import AnalysisType, Evidence, Recommendation, VerifiedType
from grandstand.apps.bets.store.table import bets
from grandstand.storage.tables import Entity, Put, Query, Update, absent, key, ttl

ADJUSTMENT_LIFETIME: Final = timedelta(days=1)


@dataclass(frozen=True, slots=True)
class KeptReason:
    """How far one input moved a prediction, in log-odds towards the pick."""

    source: str
    contribution: Decimal
    text: str = ""


class Forecast(Entity):
    """What a prediction says, wherever it is kept; a prop names its player and market.

    `selection` is the pick as a typed code, `raw` its chance before calibration, `fair` that of
    the market, `price` the bookmaker's American price of it, and `as_of` up to when facts were
    known to it.
    """

    model: str
    analysis_type: AnalysisType
    sport: str
    bookmaker: str
    game_id: str
    home_team: str
    away_team: str
    player_name: str | None = None
    market_key: str | None = None
    prediction: str
    confidence: Decimal
    reasoning: str
    commence_time: datetime
    created_at: datetime
    is_inverse: bool | None = None
    original_prediction: str | None = None
    selection: str | None = None
    raw: Decimal | None = None
    fair: Decimal | None = None
    price: int | None = None
    as_of: datetime | None = None
    reasons: tuple[KeptReason, ...] | None = None

    @property
    def subject(self) -> str:
        """What the key says of a prop or another market beside the model: empty for a winner."""
        if self.player_name is not None:
            return f"{self.player_name}#{self.market_key}#"
        return "" if self.market_key is None else f"{self.market_key}#"


class Analysis(Forecast, table=bets, times="seconds"):
    """A model's prediction as it stands, or its inverse; frozen once the game has begun."""

    latest: bool = True
    actual_home_won: bool | None = None
    analysis_correct: bool | None = None
    outcome_verified_at: datetime | None = None
    verdict: str | None = None
    outcome: Decimal | None = None
    closing: Decimal | None = None
    clv: Decimal | None = None

    row = key("ANALYSIS#{sport}#{game_id}#{bookmaker}", "{model}#{analysis_type}#{slot}")
    by_model = key(
        "ANALYSIS#{sport}#{bookmaker}#{model}#{analysis_type}",
        "{model}#{analysis_type}",
        index="AnalysisGSI",
    )
    by_time = key(
        "ANALYSIS#{sport}#{bookmaker}#{model}#{analysis_type}",
        "{commence_time}",
        index="AnalysisTimeGSI",
    )
    verified = key(
        "VERIFIED#{model}#{sport}#{verified_type}",
        "{outcome_verified_at}",
        index="VerifiedAnalysisGSI",
    )

    @property
    def slot(self) -> str:
        """The end of its key: LATEST or INVERSE, for a prop after its player and market."""
        return self.subject + ("INVERSE" if self.is_inverse else "LATEST")

    @property
    def verified_type(self) -> str:
        """What it counts for once verified: its type, and whether it is an inverse."""
        inverse = self.slot.endswith("INVERSE")
        return f"{self.analysis_type}#inverse" if inverse else self.analysis_type

    @classmethod
    def of_game(cls, sport: str, game_id: str, bookmaker: str) -> Query[Self]:
        """Every model's prediction for a game at a bookmaker's prices."""
        return cls.row(sport=sport, game_id=game_id, bookmaker=bookmaker)

    @classmethod
    def of_model_for_game(cls, sport: str, game_id: str, bookmaker: str, model: str) -> Query[Self]:
        """One model's predictions for a game at a bookmaker's prices."""
        return cls.row(sport=sport, game_id=game_id, bookmaker=bookmaker, model=model)

    @classmethod
    def of_model(
        cls, sport: str, bookmaker: str, model: str, analysis_type: AnalysisType = "game"
    ) -> Query[Self]:
        """A model's predictions in a sport at a bookmaker's prices."""
        return cls.by_model(
            sport=sport, bookmaker=bookmaker, model=model, analysis_type=analysis_type
        )

    @classmethod
    def picks(
        cls,
        sport: str,
        bookmaker: str,
        model: str,
        since: datetime,
        analysis_type: AnalysisType = "game",
    ) -> Query[Self]:
        """A model's predictions, without inverses, for games that begin from a moment on."""
        given = cls.by_time(
            sport=sport, bookmaker=bookmaker, model=model, analysis_type=analysis_type
        )
        return given.since(commence_time=since).where(absent(Analysis.is_inverse))

    @classmethod
    def performance(
        cls, model: str, sport: str, since: datetime, verified_type: VerifiedType = "game"
    ) -> Query[Self]:
        """A model's verified predictions since a moment."""
        told = cls.verified(model=model, sport=sport, verified_type=verified_type)
        return told.since(outcome_verified_at=since)

    def publish(self, now: datetime) -> Put[Self]:
        """Replace what stood here, unless its game has begun."""
        return self.put().when(absent(Analysis.model) | (Analysis.commence_time > now))

    def verify(
        self, at: datetime, *, actual_home_won: bool | None, analysis_correct: bool | None
    ) -> Update[Self]:
        """Note how a prediction turned out; with None, that it cannot be told right or wrong."""
        return (
            type(self)
            .update(**self.identity())
            .set(
                actual_home_won=actual_home_won,
                analysis_correct=analysis_correct,
                outcome_verified_at=at,
            )
        )

    def judge(
        self,
        at: datetime,
        verdict: str,
        *,
        actual_home_won: bool | None = None,
        analysis_correct: bool | None = None,
        outcome: Decimal | None = None,
        closing: Decimal | None = None,
        clv: Decimal | None = None,
    ) -> Update[Self]:
        """Note how a prediction was settled, and what the closing price made of it."""
        told = self.verify(at, actual_home_won=actual_home_won, analysis_correct=analysis_correct)
        return told.set(verdict=verdict, outcome=outcome, closing=closing, clv=clv)


class Prediction(Forecast, table=bets, times="seconds"):
    """A prediction as it was made; it stays when the one that stands as latest is replaced."""

    row = key(
        "PREDICTION#{sport}#{game_id}#{bookmaker}", "{model}#{analysis_type}#{created_at}#{side}"
    )

    @property
    def side(self) -> str:
        """The end of its key: ORIGINAL or INVERSE, for a prop after its player and market."""
        return self.subject + ("INVERSE" if self.is_inverse else "ORIGINAL")

    @classmethod
    def of_game(cls, sport: str, game_id: str, bookmaker: str) -> Query[Self]:
        """Every prediction ever made for a game at a bookmaker's prices."""
        return cls.row(sport=sport, game_id=game_id, bookmaker=bookmaker)

    @classmethod
    def of_model(
        cls,
        sport: str,
        game_id: str,
        bookmaker: str,
        model: str,
        analysis_type: AnalysisType = "game",
    ) -> Query[Self]:
        """Every prediction a model ever made for a game, oldest first."""
        return cls.row(
            sport=sport,
            game_id=game_id,
            bookmaker=bookmaker,
            model=model,
            analysis_type=analysis_type,
        )

    def record(self) -> Put[Self]:
        """Keep a prediction, once."""
        return self.put().if_absent()


class ModelAdjustment(Entity, table=bets, times="seconds"):
    """How far a model is to be trusted, inverted or avoided in a sport; good for a day."""

    model: str
    sport: str
    bet_type: AnalysisType
    recommendation: Recommendation
    original_accuracy: Decimal
    inverse_accuracy: Decimal
    sample_size: int
    confidence_multiplier: Decimal
    lookback_days: int | None = None
    updated_at: datetime | None = None
    calculated_at: datetime | None = None
    expires_at: datetime | None = None
    evidence: Evidence | None = None
    expires: datetime | None = ttl(after=ADJUSTMENT_LIFETIME, of="calculated_at")

    row = key("MODEL_ADJUSTMENT#{sport}#{bet_type}", "{model}")

    @classmethod
    def of_sport(cls, sport: str, bet_type: AnalysisType = "game") -> Query[Self]:
        """Every model's adjustment in a sport, those that are still good."""
        return cls.row(sport=sport, bet_type=bet_type)

    def keep(self) -> Put[Self]:
        """Write an adjustment over yesterday's."""
        return self.put()
