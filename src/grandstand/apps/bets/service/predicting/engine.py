"""Kept here: the one way to the models: live, on paper and over the past."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Final

from grandstand.apps.bets.store import UserModel as KeptModel

if TYPE_CHECKING:
    from grandstand.apps.bets.model.known.asof import AsOf
    from grandstand.apps.bets.model.known.facts import Fixture
    from grandstand.apps.bets.model.known.windows import Windows
    from grandstand.apps.bets.model.predicting.forecasting import Forecast, Predictor

BENNY_MODEL: Final = "benny"
USER_PREFIX: Final = "user:"
PROP_MODELS: Final = ("player_stats",)


def model_names() -> tuple[str, ...]:
    """Answer the names of the built-in models, Benny included."""
    from grandstand.apps.bets.model.predicting.panel import standard_panel

    return (*standard_panel().names, *PROP_MODELS, BENNY_MODEL)


def forecasts_of(game: Fixture, view: AsOf) -> list[Forecast]:
    """Answer every built-in model's calibrated forecast of a game, inverses included."""
    from grandstand.apps.bets.model.predicting.panel import standard_panel
    from grandstand.apps.bets.model.predicting.walking import predict_game

    return list(predict_game(game, view, standard_panel()))


def prop_forecasts(game: Fixture, view: AsOf) -> list[Forecast]:
    """Answer every prop model's calibrated forecast of what is quoted, inverses included."""
    from grandstand.apps.bets.model.predicting.prop_panel import predict_props

    return list(predict_props(game, view))


def user_forecasts(game: Fixture, view: AsOf, people: Sequence[Predictor]) -> list[Forecast]:
    """Answer what people's models say of a game, each market they bet on, inverses included."""
    from grandstand.apps.bets.model.predicting.inverse import inverse

    made: list[Forecast] = []
    for model in people:
        for market in model.markets:
            found = model.predict(game, view, market)
            if found is not None:
                made += [found, inverse(found, view)]
    return made


def user_predictor(kept: KeptModel, windows: Windows | None = None) -> Predictor:
    """Answer a person's model as one the engine can run; raise UserModelRefused."""
    from grandstand.apps.bets.model.predicting.learning import Calibrated
    from grandstand.apps.bets.model.predicting.user_model import UserModel, UserPredictor

    model = UserModel(
        kept.name,
        kept.sport,
        kept.bet_types,
        {name: float(weight) for name, weight in kept.data_sources.items()},
        float(kept.min_confidence),
        tuple((name, float(weight)) for name, weight in (kept.datasets or {}).items()),
        kept.description or "",
    )
    own = UserPredictor(model, user_model_name(kept.model_id))
    return Calibrated(own) if windows is None else Calibrated(own, windows)


def user_model_name(model_id: str) -> str:
    """Answer what a person's model is called where predictions are kept."""
    return f"{USER_PREFIX}{model_id}"


def pairs_of(made: Sequence[Forecast]) -> Iterator[tuple[Forecast, Forecast]]:
    """Answer each forecast with its inverse."""
    inverses = {
        (each.inverse_of, each.market, each.selection.participant): each
        for each in made
        if each.inverse_of is not None
    }
    for each in made:
        if each.inverse_of is None:
            other = inverses.get((each.model, each.market, each.selection.participant))
            if other is not None:
                yield each, other
