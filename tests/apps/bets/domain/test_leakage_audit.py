"""The leakage audit finds every planted look-ahead, and nothing else."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from datetime import datetime

import pytest

from grandstand.apps.bets.domain.evaluation import (
    WalkForwardPlan,
    WalkForwardResult,
    walk_forward,
)
from grandstand.apps.bets.domain.forecasts import Forecast, Predictor
from grandstand.apps.bets.domain.history import Fact, History
from grandstand.apps.bets.domain.leakage_audit import PredictorFactory, find_early_timestamps
from grandstand.apps.bets.domain.records import Fixture, Score, TeamGameStats
from grandstand.apps.bets.domain.registry import MODEL_NAMES, build_standard_panel
from tests.apps.bets.domain import leaking_models
from tests.apps.bets.domain.games import BEGUN, DAY, HOUR, fixture, h2h, league, record, score
from tests.apps.bets.domain.leakage import LeakageAudit, audit_forecasts

GAME = "g30"
AS_OF = BEGUN + 30 * DAY - HOUR


def history() -> History:
    """The league with a record of two models, a corrected score and a game that was put off."""
    facts = league(40)
    games = {fact.game_id: fact for fact in facts if isinstance(fact, Fixture)}
    game = games[GAME]
    scores = [fact for fact in facts if isinstance(fact, Score)]
    wrong = next(each for each in scores if games[each.game_id].home == game.home)
    corrected = replace(
        wrong, home_score=wrong.home_score + 9, known_at=AS_OF + 2 * HOUR, corrected=True
    )
    moved = replace(game, commence_time=game.commence_time + 2 * HOUR, known_at=AS_OF + HOUR / 2)
    records: list[Fact] = [record(number, 0.6, float(number % 3 > 0)) for number in range(40)]
    records += [record(number, 0.7, float(number % 2), model="elo") for number in range(40)]
    return History([*facts, corrected, moved, *records])


def caught(maker: PredictorFactory, known: History) -> LeakageAudit:
    forecast = forecast_by(maker(known), known, AS_OF)
    return audit_forecasts(known, {"culprit": maker}, [forecast])


def forecast_by(predictor: Predictor, known: History, as_of: datetime) -> Forecast:
    view = known.as_of(as_of)
    game = view.fixture(GAME)
    assert game is not None
    forecast = predictor.predict(game, view, "h2h")
    assert forecast is not None
    return forecast


def peeking(peek: leaking_models.Peek) -> PredictorFactory:
    return lambda _: leaking_models.Culprit(peek)


PLANTED: list[tuple[str, PredictorFactory, str]] = [
    ("closing price", peeking(leaking_models.closing_price), f"quote {GAME}/h2h/"),
    ("result", peeking(leaking_models.result), f"score {GAME} "),
    ("same-day figures", peeking(leaking_models.same_day_figures), "team stats "),
    ("late injury", peeking(leaking_models.late_injury), "injury "),
    ("future rating", leaking_models.rated_by_all, "corrected score "),
    ("scaling on all data", leaking_models.scaled_by_all, "team stats "),
    ("corrected score", peeking(leaking_models.corrected_score), "corrected score "),
    ("in-play price", peeking(leaking_models.in_play_price), f"quote {GAME}/h2h/"),
    ("future schedule", peeking(leaking_models.future_schedule), "fixture "),
    ("moved start", peeking(leaking_models.moved_start), f"fixture {GAME} "),
    ("calibration on test data", peeking(leaking_models.own_calibration), "verified momentum h2h "),
    ("weights from the future", peeking(leaking_models.later_weights), "verified "),
    ("custom row from the future", peeking(leaking_models.custom_row), "custom form/"),
    ("player's figures of the game", peeking(leaking_models.player_in_the_game), "player "),
    ("meeting to come", peeking(leaking_models.meeting_to_come), "score "),
]


@pytest.fixture(scope="module")
def known() -> History:
    return history()


@pytest.mark.parametrize(
    ("maker", "row"),
    [(maker, row) for _, maker, row in PLANTED],
    ids=[kind for kind, _, _ in PLANTED],
)
def test_a_planted_leak_is_found_and_its_row_named(
    known: History, maker: PredictorFactory, row: str
) -> None:
    found = caught(maker, known)

    assert [leak.kind for leak in found.leaks] == ["later_data"]
    assert found.leaks[0].row.startswith(row)
    assert found.leaks[0].known_at is not None
    assert found.leaks[0].known_at > AS_OF


def test_at_least_twelve_kinds_are_planted() -> None:
    assert len({kind for kind, _, _ in PLANTED}) >= 12


def test_a_model_that_remembers_later_games_cannot_be_reproduced(known: History) -> None:
    model = leaking_models.Rememberer()
    forecast_by(model, known, AS_OF + HOUR / 2)
    last = known.games()[-1]
    model.predict(last, known.as_of(last.commence_time - HOUR), "h2h")
    forecast = forecast_by(model, known, AS_OF)

    found = audit_forecasts(known, {"culprit": lambda _: leaking_models.Rememberer()}, [forecast])

    assert [leak.kind for leak in found.leaks] == ["not_reproducible"]


def test_a_forecast_that_lists_a_later_row_is_caught_by_its_own_words(known: History) -> None:
    found = caught(lambda _: leaking_models.Boaster(), known)

    assert [(leak.kind, leak.row) for leak in found.leaks] == [("late_row", "quote tomorrow")]


def test_a_forecast_after_the_start_is_a_leak(known: History) -> None:
    forecast = forecast_by(leaking_models.Fitted(0.5), known, AS_OF)
    late = replace(forecast, as_of=AS_OF + 4 * HOUR)

    found = audit_forecasts(known, {"culprit": lambda _: leaking_models.Fitted(0.5)}, [late])

    assert [leak.kind for leak in found.leaks] == ["after_the_start"]


@pytest.fixture(scope="module")
def walked() -> WalkForwardResult:
    return walk_forward(History(league(40)), build_standard_panel(), WalkForwardPlan())


def test_no_leak_is_found_in_the_clean_models(walked: WalkForwardResult) -> None:
    makers: dict[str, Callable[[History], Predictor]] = {
        name: maker_of(name) for name in MODEL_NAMES
    }
    late = [each for each in walked.forecasts if each.as_of >= BEGUN + 34 * DAY - HOUR]

    found = audit_forecasts(walked.history, makers, late)

    assert found.leaks == ()
    assert found.checked == sum(each.inverse_of is None for each in late)
    assert {each.model for each in late} == set(MODEL_NAMES) - {"goals"}


def maker_of(name: str) -> PredictorFactory:
    def made(_: History) -> Predictor:
        found = build_standard_panel().of(name)
        assert found is not None
        return found

    return made


def test_the_clean_facts_have_no_stamp_that_cannot_be_true(known: History) -> None:
    assert [each.reason for each in find_early_timestamps(known)] == []


@pytest.mark.parametrize("kind", ["score", "team stats", "quote"])
def test_a_row_known_before_it_happened_is_named(kind: str) -> None:
    game = fixture(0, "ants", "bears")
    before = game.commence_time - HOUR
    ended = game.commence_time + 2 * HOUR
    false: dict[str, Fact] = {
        "score": replace(score(game, 100, 90), known_at=before),
        "team stats": TeamGameStats(game.sport, "ants", {"points": 100.0}, ended, before, "g0"),
        "quote": replace(h2h(game, "alpha", ended, -150, 130), known_at=before),
    }

    found = list(find_early_timestamps(History([game, false[kind]])))

    assert [each.known_at for each in found] == [before]
    assert found[0].row.startswith(kind)
