"""Walk-forward evaluation in the order in which facts became known."""

from __future__ import annotations

import math
from collections import Counter, defaultdict
from dataclasses import replace
from datetime import timedelta

import pytest

from grandstand.apps.bets.domain.calibration import (
    CalibratedPredictor,
    TrainingWindows,
    calibration_at,
)
from grandstand.apps.bets.domain.evaluation import (
    ForecastVerifier,
    WalkForwardPlan,
    WalkForwardResult,
    predict_game,
    walk_forward,
)
from grandstand.apps.bets.domain.history import Fact, History
from grandstand.apps.bets.domain.models import ConsensusModel
from grandstand.apps.bets.domain.records import Fixture, Score, VerifiedForecast
from grandstand.apps.bets.domain.registry import (
    MODEL_NAMES,
    ModelPanel,
    build_standard_panel,
    predict_props,
)
from grandstand.apps.bets.domain.selections import prop_stat_value
from grandstand.core.errors import Conflict, InvalidInput
from tests.apps.bets.domain.games import (
    BEGUN,
    DAY,
    HOUR,
    SPORT,
    fixture,
    h2h,
    league,
    record,
    score,
    small_history,
    spread,
)
from tests.apps.bets.domain.leaking_models import Boaster, Fitted
from tests.apps.bets.domain.test_models import prop, star_games

GAME = fixture(50, "ants", "bears")
START = GAME.commence_time


@pytest.fixture(scope="module")
def walked() -> WalkForwardResult:
    return walk_forward(
        small_history(60), build_standard_panel(TrainingWindows(test=timedelta(days=7)))
    )


def test_every_forecast_is_before_its_game_and_uses_nothing_later(
    walked: WalkForwardResult,
) -> None:
    starts = {game.game_id: game.commence_time for game in walked.history.games()}

    late = [
        each
        for each in walked.forecasts
        if each.as_of >= starts[each.game_id] or any(row.known_at > each.as_of for row in each.used)
    ]

    assert late == []
    assert {each.model for each in walked.forecasts} == set(MODEL_NAMES) - {"goals"}


def test_accuracy_and_inverse_accuracy_add_up_to_one(walked: WalkForwardResult) -> None:
    correct: dict[tuple[str, str, bool], list[bool]] = defaultdict(list)
    for outcome in walked.outcomes:
        forecast = outcome.forecast
        if outcome.correct is not None:
            inverse = forecast.inverse_of is not None
            correct[forecast.model, forecast.market, inverse].append(outcome.correct)
    rates = {key: sum(picks) / len(picks) for key, picks in correct.items()}
    originals = [key for key in rates if not key[2]]

    sums = [rates[key] + rates[*key[:2], True] for key in originals]

    assert all(math.isclose(total, 1.0) for total in sums)
    assert len(rates) == 2 * len(originals)


def test_only_results_known_by_then_were_trained_on(walked: WalkForwardResult) -> None:
    records = [fact for fact in walked.history.simple_facts() if isinstance(fact, VerifiedForecast)]
    known = Counter((each.model, each.market, each.known_at) for each in records)

    too_many = [
        each
        for each in walked.forecasts
        if each.inverse_of is None
        and each.trained_on
        > sum(
            count
            for (model, market, at), count in known.items()
            if (model, market) == (each.model, each.market) and at <= each.as_of
        )
    ]

    assert too_many == []
    assert max(each.trained_on for each in walked.forecasts) > 20


def test_the_history_given_is_not_changed() -> None:
    history = small_history(12)
    before = len(history.simple_facts())

    walk_forward(history, ModelPanel((ConsensusModel(),)))

    assert len(history.simple_facts()) == before


def test_two_walks_of_one_history_are_the_same_to_the_last_bit() -> None:
    history, panel = small_history(20), build_standard_panel()

    first, second = walk_forward(history, panel), walk_forward(history, panel)

    assert first.forecasts == second.forecasts
    assert first.outcomes == second.outcomes


def test_live_gives_what_the_walk_gave(walked: WalkForwardResult) -> None:
    game = next(each for each in walked.history.games() if each.game_id == "g40")
    panel = build_standard_panel(TrainingWindows(test=timedelta(days=7)))
    view = walked.history.truncate(game.commence_time - HOUR).as_of(game.commence_time - HOUR)

    live = predict_game(game, view, panel)

    walked_then = [each for each in walked.forecasts if each.game_id == "g40"]
    assert sorted(live, key=str) == sorted(walked_then, key=str)


@pytest.mark.parametrize("late", [timedelta(0), HOUR])
def test_a_prediction_at_or_after_the_start_is_refused(late: timedelta) -> None:
    view = History([GAME]).as_of(START + late)

    with pytest.raises(Conflict, match=r"g50 as of .* starts at"):
        predict_game(GAME, view, build_standard_panel())


def test_a_model_that_used_a_later_row_is_stopped() -> None:
    view = History([GAME]).as_of(START - HOUR)

    with pytest.raises(Conflict, match="quote tomorrow"):
        predict_game(GAME, view, ModelPanel((Boaster(),)))


def test_a_walk_may_begin_and_end_anywhere() -> None:
    plan = WalkForwardPlan(since=BEGUN + 5 * DAY, until=BEGUN + 8 * DAY)

    found = walk_forward(small_history(12), ModelPanel((ConsensusModel(),)), plan)

    assert {each.game_id for each in found.forecasts} == {"g6", "g7", "g8"}


@pytest.mark.parametrize(
    "wrong", [{"lead": timedelta(0)}, {"since": BEGUN, "until": BEGUN}, {"lead": -HOUR}]
)
def test_a_plan_that_cannot_be_walked_is_refused(wrong: dict[str, object]) -> None:
    with pytest.raises(InvalidInput):
        WalkForwardPlan(**wrong)  # type: ignore[arg-type]


def games_and(*more: Fact) -> list[Fact]:
    return [GAME, h2h(GAME, "alpha", START - 5 * HOUR, -150, 130), *more]


def decided_picks(facts: list[Fact]) -> list[bool]:
    result = walk_forward(History(facts), ModelPanel((ConsensusModel(),)))
    return [
        outcome.correct
        for outcome in result.outcomes
        if outcome.forecast.inverse_of is None and outcome.correct is not None
    ]


def test_the_corrected_score_is_the_one_that_counts() -> None:
    first = score(GAME, 100, 101)
    corrected = replace(first, home_score=103, known_at=first.known_at + DAY, corrected=True)

    assert decided_picks(games_and(first)) == [False]
    assert decided_picks(games_and(first, corrected)) == [True]


def test_a_postponed_game_counts_when_played_soon_and_is_void_when_not() -> None:
    put_off = Score("g50", 0, 0, START, START, status="postponed")
    soon = replace(score(GAME, 101, 99), completed_at=START + DAY, known_at=START + DAY)
    late = replace(soon, completed_at=START + 9 * DAY, known_at=START + 9 * DAY)

    assert len(decided_picks(games_and(put_off, soon))) == 1
    assert len(decided_picks(games_and(put_off, late))) == 0


def test_a_moved_game_is_predicted_before_the_start_it_then_had() -> None:
    moved = replace(GAME, commence_time=START + 3 * DAY, known_at=START - 6 * HOUR)
    ended = replace(score(moved, 100, 90))

    found = walk_forward(History([*games_and(), moved, ended]), ModelPanel((ConsensusModel(),)))

    assert {each.as_of for each in found.forecasts} == {START + 3 * DAY - HOUR}


def test_a_push_is_neither_right_nor_wrong() -> None:
    facts: list[Fact] = [
        GAME,
        spread(GAME, "alpha", START - 5 * HOUR, "-4", (-120, 100)),
        score(GAME, 104, 100),
    ]

    result = walk_forward(History(facts), ModelPanel((ConsensusModel(),)))

    original = [item for item in result.outcomes if item.forecast.inverse_of is None]
    assert [outcome.correct for outcome in original] == [None]


def test_the_close_is_measured_on_the_line_that_was_taken() -> None:
    facts: list[Fact] = [
        GAME,
        spread(GAME, "alpha", START - 5 * HOUR, "-3.5", (-110, -110)),
        spread(GAME, "alpha", START - HOUR / 4, "-6.5", (-110, -110)),
        score(GAME, 104, 100),
    ]
    history = History(facts)
    forecast = ConsensusModel().predict(GAME, history.as_of(START - HOUR), "spreads")
    assert forecast is not None

    close = ForecastVerifier(history).closing_probability(forecast)

    assert close is not None
    assert math.isclose(close, 0.6 if forecast.selection.side == "home" else 0.4, abs_tol=0.02)


def test_a_calibration_holds_for_one_window_and_learns_from_before_it() -> None:
    rows = [record(number, 0.7, float(number % 2)) for number in range(50)]
    history = History([*league(2), *rows])
    windows = TrainingWindows(kind="anchored", test=timedelta(days=7), embargo=timedelta(days=2))
    instants = [BEGUN + 45 * DAY + hours * HOUR for hours in (0, 30, 24 * 8)]

    trained = [
        calibration_at(history.as_of(instant), windows, (SPORT, "h2h", "momentum")).results
        for instant in instants
    ]

    starts = [windows.at(instant).until for instant in instants]
    assert trained == [sum(row.known_at <= start for row in rows) for start in starts]
    assert trained[0] < trained[2]


def test_a_rolling_window_forgets_what_is_long_ago() -> None:
    rows = [record(number, 0.7, 1.0) for number in range(50)]
    history = History([*league(2), *rows])
    rolling = TrainingWindows(train=timedelta(days=10), test=timedelta(days=1))

    trained = calibration_at(history.as_of(BEGUN + 45 * DAY), rolling, (SPORT, "h2h", "momentum"))

    assert trained.results == 10


@pytest.mark.parametrize(
    "wrong",
    [{"test": timedelta(0)}, {"train": timedelta(0)}, {"embargo": timedelta(days=-1)}],
)
def test_windows_without_time_are_refused(wrong: dict[str, timedelta]) -> None:
    with pytest.raises(InvalidInput):
        TrainingWindows(**wrong)  # type: ignore[arg-type]


def test_with_few_results_a_forecast_stays_near_the_market() -> None:
    bold = CalibratedPredictor(Fitted(2.0, "momentum"))
    facts: list[Fact] = [GAME, h2h(GAME, "alpha", START - 5 * HOUR, -110, -110)]
    rows = [record(number, 0.88, float(number % 8 > 0)) for number in range(48)]

    alone = bold.predict(GAME, History(facts).as_of(START - HOUR), "h2h")
    proven = bold.predict(GAME, History([*facts, *rows]).as_of(START - HOUR), "h2h")

    assert alone is not None
    assert proven is not None
    assert math.isclose(alone.probability, 0.5)
    assert 0.5 < proven.probability < proven.raw


def test_props_are_predicted_with_inverses_and_settled_by_stats() -> None:
    facts = [GAME, *prop("20.5"), *star_games([24, 26, 25, 23, 27, 26])]
    view = History(facts).as_of(START - HOUR)

    found = predict_props(GAME, view)

    assert {(each.model, each.selection.side) for each in found} >= {
        ("player_stats", "over"),
        ("player_stats", "under"),
    }
    with pytest.raises(Conflict):
        predict_props(GAME, History(facts).as_of(START))


def test_prop_counts_the_stats_of_its_market() -> None:
    assert prop_stat_value("player_rebounds", {"PTS": 20}) is None
    assert prop_stat_value("player_points_rebounds_assists", {"PTS": 20, "REB": 5, "AST": 7}) == 32


def test_a_game_quoted_in_other_markets_only_is_passed_over() -> None:
    unpriced = Fixture("g51", SPORT, "cats", "dogs", START + DAY, BEGUN)

    found = walk_forward(
        History([*games_and(score(GAME, 9, 8)), unpriced]), ModelPanel((ConsensusModel(),))
    )

    assert {each.game_id for each in found.forecasts} == {"g50"}


def test_progress_is_reported() -> None:
    seen: list[tuple[int, int]] = []

    walk_forward(
        small_history(8),
        ModelPanel((ConsensusModel(),)),
        on_progress=lambda *progress: seen.append(progress),
    )

    (games,) = {total for _, total in seen}
    assert [done for done, _ in seen] == [*range(games)]
