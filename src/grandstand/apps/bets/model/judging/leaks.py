"""Kept here: the audit: past forecasts made again with the data as it was; leaks are named."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from itertools import groupby
from typing import Literal, Protocol, TypeAlias

from grandstand.apps.bets.model.known.facts import Fact, Fixture, micros, moment_of
from grandstand.apps.bets.model.known.history import History
from grandstand.apps.bets.model.known.stamps import named
from grandstand.apps.bets.model.predicting.forecasting import Forecast, Predictor
from grandstand.apps.bets.model.selections import code

LeakKind: TypeAlias = Literal["after_the_start", "late_row", "later_data", "not_reproducible"]
PredictorMaker: TypeAlias = Callable[[History], Predictor]
Signature: TypeAlias = tuple[object, ...]


@dataclass(frozen=True, slots=True)
class Leak:
    """What a forecast could not have known, the row it came from, and why we say so."""

    kind: LeakKind
    model: str
    game_id: str
    market: str
    as_of: datetime
    row: str
    known_at: datetime | None
    why: str


@dataclass(frozen=True, slots=True)
class Audit:
    """How many forecasts were looked at, and every leak found in them."""

    checked: int
    leaks: tuple[Leak, ...]

    @property
    def clean(self) -> bool:
        """Whether nothing leaked."""
        return not self.leaks


class Asked(Protocol):
    """What a model was asked: about which market of which game, and when; a forecast says so."""

    @property
    def model(self) -> str:
        """Who was asked."""
        ...

    @property
    def game_id(self) -> str:
        """About which game."""
        ...

    @property
    def market(self) -> str:
        """About which of its markets."""
        ...

    @property
    def as_of(self) -> datetime:
        """As of which moment."""
        ...


def audit(
    history: History, makers: Mapping[str, PredictorMaker], forecasts: Sequence[Forecast]
) -> Audit:
    """Make each forecast again from a history that ends at its moment, and compare.

    A forecast that comes out otherwise has read something later; the row is found by giving back
    what became known afterwards until the answer changes. Inverses follow from their forecasts and
    forecasts of models without a maker cannot be made again: both are left out.
    """
    known = [each for each in forecasts if each.inverse_of is None and each.model in makers]
    ordered = sorted(known, key=lambda each: (each.as_of, each.model, each.game_id, each.market))
    leaks: list[Leak] = []
    for as_of, group in groupby(ordered, key=lambda each: each.as_of):
        short = history.truncated(as_of)
        predictors: dict[str, Predictor] = {}
        for forecast in group:
            if forecast.model not in predictors:
                predictors[forecast.model] = makers[forecast.model](short)
            found = _on_its_face(forecast, history) or _made_again(
                forecast, history, short, predictors[forecast.model], makers[forecast.model]
            )
            leaks += [found] if found else []
    return Audit(len(ordered), tuple(leaks))


def signature(forecast: Forecast | None) -> Signature:
    """What must come out the same, to the last bit: pick, probabilities, price and reasons."""
    if forecast is None:
        return (None,)
    return (
        code(forecast.selection),
        forecast.raw,
        forecast.probability,
        forecast.fair,
        forecast.price,
        forecast.book,
        tuple((reason.source, reason.contribution) for reason in forecast.reasons),
    )


def traced(asked: Asked, history: History, maker: PredictorMaker) -> Leak:
    """The row known after a moment that changes what a model answers to a question of then.

    It is `not_reproducible` when there is no such row.
    """
    short = history.truncated(asked.as_of)
    return _named_leak(asked, history, maker, _answer(asked, short, maker(short)))


def _on_its_face(forecast: Forecast, history: History) -> Leak | None:
    game = history.fixture(forecast.game_id, micros(forecast.as_of))
    if game is not None and forecast.as_of >= game.commence_time:
        why = f"the game started at {game.commence_time.isoformat()}"
        return _leak("after_the_start", forecast, forecast.game_id, None, why)
    late = [row for row in forecast.used if row.known_at > forecast.as_of]
    if late:
        row = min(late, key=lambda each: each.known_at)
        why = "the forecast itself lists it among the rows it used"
        return _leak("late_row", forecast, f"{row.kind} {row.row}", row.known_at, why)
    return None


def _made_again(
    forecast: Forecast,
    history: History,
    short: History,
    predictor: Predictor,
    maker: PredictorMaker,
) -> Leak | None:
    before = _answer(forecast, short, predictor)
    if before == signature(forecast):
        return None
    return _named_leak(forecast, history, maker, before)


def _answer(asked: Asked, history: History, predictor: Predictor) -> Signature:
    view = history.as_of(asked.as_of)
    game = view.fixture(asked.game_id)
    if game is None:
        return ("no such game",)
    return signature(predictor.predict(game, view.anew(), asked.market))


def _named_leak(asked: Asked, history: History, maker: PredictorMaker, before: Signature) -> Leak:
    """The first row after the question's moment that changes the answer when it is given back."""

    def changed(stamp: int) -> bool:
        longer = history.truncated(moment_of(stamp))
        return _answer(asked, longer, maker(longer)) != before

    stamps = history.stamps()
    later = stamps[bisect_right(stamps, micros(asked.as_of)) :]
    if not later or not changed(later[-1]):
        why = "no row of the history changes the answer: the model remembers, or a row is gone"
        return _leak("not_reproducible", asked, "a row that is not in the history", None, why)
    low, high = -1, len(later) - 1
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (low, middle) if changed(later[middle]) else (middle, high)
    row = _one_of(asked, history, maker, (later[high], before))
    why = "without it the forecast comes out otherwise"
    return _leak("later_data", asked, row, moment_of(later[high]), why)


def _one_of(
    asked: Asked, history: History, maker: PredictorMaker, at: tuple[int, Signature]
) -> str:
    stamp, before = at
    facts = list(history.facts_at(stamp))
    for fact in _likeliest_first(facts, asked):
        longer = history.truncated(moment_of(stamp - 1))
        longer.add(fact)
        if _answer(asked, longer, maker(longer)) != before:
            return named(fact)
    return " and ".join(named(fact) for fact in facts)


def _likeliest_first(facts: Sequence[Fact], asked: Asked) -> Iterator[Fact]:
    """Facts of the question's own game before the others; fixtures first, others speak of them."""
    yield from sorted(
        facts,
        key=lambda fact: (
            not isinstance(fact, Fixture),
            getattr(fact, "game_id", None) != asked.game_id,
        ),
    )


def _leak(kind: LeakKind, asked: Asked, row: str, known_at: datetime | None, why: str) -> Leak:
    return Leak(
        kind,
        asked.model,
        asked.game_id,
        asked.market,
        asked.as_of,
        row,
        known_at,
        why,
    )


__all__ = ["Asked", "Audit", "Leak", "LeakKind", "PredictorMaker", "audit", "signature", "traced"]
