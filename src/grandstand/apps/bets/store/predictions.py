"""Stored predictions: current and past ones, their outcomes, and model adjustments."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime, timedelta
from decimal import Decimal
from typing import Final, Self

from grandstand.apps.bets.domain.records import AnalysisType, Evidence, Recommendation, VerifiedType
from grandstand.apps.bets.store import GameRow, bets
from grandstand.storage.tables import Entity, Put, Query, Update, absent, key, ttl

ADJUSTMENT_LIFETIME: Final = timedelta(days=1)


@dataclass(frozen=True, slots=True)
class StoredReason:
    """How far one input moved a prediction, in log-odds toward the pick."""

    source: str
    contribution: Decimal
    text: str = ""


class StoredForecast(GameRow):
    """The fields every stored prediction has; a prop names its player and market.

    `selection` is the encoded pick, `raw` its probability before calibration, `fair` that of the
    market, `price` the bookmaker's American price of it, and `as_of` the time up to which facts
    were used.
    """

    model: str
    analysis_type: AnalysisType
    bookmaker: str
    player_name: str | None = None
    market_key: str | None = None
    prediction: str
    confidence: Decimal
    reasoning: str
    created_at: datetime
    is_inverse: bool | None = None
    original_prediction: str | None = None
    selection: str | None = None
    raw: Decimal | None = None
    fair: Decimal | None = None
    price: int | None = None
    as_of: datetime | None = None
    reasons: tuple[StoredReason, ...] | None = None

    @property
    def subject(self) -> str:
        """The part of the key that names a prop or market; empty for the winner market."""
        if self.player_name is not None:
            return f"{self.player_name}#{self.market_key}#"
        return "" if self.market_key is None else f"{self.market_key}#"


class Analysis(StoredForecast, table=bets, times="seconds"):
    """A model's current prediction, or its inverse; frozen once the game has started."""

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
        """The type it counts for once verified."""
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
        """A model's predictions, without inverses, for games that start from a time on."""
        query = cls.by_time(
            sport=sport, bookmaker=bookmaker, model=model, analysis_type=analysis_type
        )
        return query.since(commence_time=since).where(absent(Analysis.is_inverse))

    @classmethod
    def performance(
        cls, model: str, sport: str, since: datetime, verified_type: VerifiedType = "game"
    ) -> Query[Self]:
        """A model's verified predictions since a time."""
        query = cls.verified(model=model, sport=sport, verified_type=verified_type)
        return query.since(outcome_verified_at=since)

    def publish(self, now: datetime) -> Put[Self]:
        """Replace the current prediction unless its game has started."""
        return self.put().when(absent(Analysis.model) | (Analysis.commence_time > now))

    def settle(
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
        """Store the verdict of a prediction and its closing line value."""
        update = type(self).update(**self.identity())
        return update.set(
            actual_home_won=actual_home_won,
            analysis_correct=analysis_correct,
            outcome_verified_at=at,
            verdict=verdict,
            outcome=outcome,
            closing=closing,
            clv=clv,
        )


class Prediction(StoredForecast, table=bets, times="seconds"):
    """A published prediction; it stays when the current one is replaced."""

    row = key(
        "PREDICTION#{sport}#{game_id}#{bookmaker}", "{model}#{analysis_type}#{created_at}#{side}"
    )

    @property
    def side(self) -> str:
        """The end of its key: ORIGINAL or INVERSE, for a prop after its player and market."""
        return self.subject + ("INVERSE" if self.is_inverse else "ORIGINAL")

    @classmethod
    def of_game(cls, sport: str, game_id: str, bookmaker: str) -> Query[Self]:
        """Every prediction published for a game at a bookmaker's prices."""
        return cls.row(sport=sport, game_id=game_id, bookmaker=bookmaker)

    def record(self) -> Put[Self]:
        """Store a prediction once."""
        return self.put().if_absent()


class ModelAdjustment(Entity, table=bets, times="seconds"):
    """Whether to follow, invert or avoid a model in a sport; valid for a day."""

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
        """Every model's valid adjustment in a sport."""
        return cls.row(sport=sport, bet_type=bet_type)

    def save(self) -> Put[Self]:
        """Write an adjustment, replacing the previous one."""
        return self.put()
