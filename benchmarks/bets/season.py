"""A full season forecast by all models: duration and growth."""

import gc
import statistics
import time
from collections.abc import Iterator
from contextlib import contextmanager

from benchmarks.harness.rows import Limit, Row
from grandstand.apps.bets.domain.evaluation import WalkForwardResult, walk_forward
from grandstand.apps.bets.domain.forecasts import Predictor
from grandstand.apps.bets.domain.history import History
from grandstand.apps.bets.domain.leakage_audit import PredictorFactory
from grandstand.apps.bets.domain.registry import MODEL_NAMES, build_standard_panel
from grandstand.simulators.odds.season import simulate_season
from tests.apps.bets.domain.leakage import audit_forecasts
from tests.apps.bets.facts_of import facts_of

_SEED = 9
_GAMES = 1_230
_MOST_SECONDS = 60.0
_LEAST_ROWS = 700_000
_SHORT, _LONG = 615, 1_230
_MOST_GROWTH = 1.35
_AUDITED = 60


def rows(*, full: bool) -> list[Row]:
    """Walk through a whole season once; `full` compares lengths three times instead of once."""
    began = time.perf_counter()
    used = time.process_time()
    made = simulate_season(_SEED, games=_GAMES)
    generated = time.perf_counter() - began
    prices = len(made.quotes.game)
    walked = walk_forward(History(facts_of(made, players=False)), build_standard_panel())
    taken, spent = time.perf_counter() - began, time.process_time() - used
    assert prices >= _LEAST_ROWS
    assert {each.model for each in walked.forecasts} == set(MODEL_NAMES) - {"goals"}
    what = f"{_GAMES:,} games, {prices:,} price rows, {len(walked.outcomes):,} forecasts settled"
    return [
        Row(
            f"a season walked by all models: {what}",
            "s",
            taken,
            aim=Limit(_MOST_SECONDS),
            higher_is_better=False,
        ),
        Row("the same by CPU time", "s", spent, aim=Limit(_MOST_SECONDS), higher_is_better=False),
        Row("of which the season was generated in", "s", generated, higher_is_better=False),
        Row("forecasts made and settled", "forecasts/s", len(walked.outcomes) / taken),
        *_audit(walked),
        *_growth(3 if full else 1),
    ]


def _audit(walked: WalkForwardResult) -> list[Row]:
    """Make the last forecasts of the season again with the data as it was."""
    makers = {name: _maker(name) for name in MODEL_NAMES}
    last = [each for each in walked.forecasts if each.inverse_of is None][-_AUDITED:]
    began = time.perf_counter()
    found = audit_forecasts(walked.history, makers, last)
    taken = time.perf_counter() - began
    assert found.checked == len(last)
    return [
        Row(
            f"leaks in {found.checked} forecasts made again with the data as it was",
            "leaks",
            len(found.leaks),
            aim=Limit(0),
            higher_is_better=False,
        ),
        Row("forecasts audited", "forecasts/s", found.checked / taken),
    ]


def _maker(name: str) -> PredictorFactory:
    def made(_: History) -> Predictor:
        found = build_standard_panel().of(name)
        assert found is not None
        return found

    return made


def _growth(times: int) -> list[Row]:
    """What a game costs in a season twice as long, by CPU time, both in turns."""
    ratios = []
    for _ in range(times):
        short, long = _cost(_SHORT), _cost(_LONG)
        ratios.append(long / short)
    return [
        Row(
            f"a game of {_LONG:,} beside one of {_SHORT:,}",
            "× the CPU",
            statistics.median(ratios),
            aim=Limit(_MOST_GROWTH),
            higher_is_better=False,
        )
    ]


def _cost(games: int) -> float:
    made = simulate_season(_SEED, games=games, changes=4)
    history = History(facts_of(made, players=False))
    panel = build_standard_panel()
    with _settled():
        used = time.process_time()
        walk_forward(history, panel)
        return (time.process_time() - used) / games


@contextmanager
def _settled() -> Iterator[None]:
    """Without everything kept for the benchmark being looked through as garbage."""
    gc.collect()
    gc.freeze()
    try:
        yield
    finally:
        gc.unfreeze()
