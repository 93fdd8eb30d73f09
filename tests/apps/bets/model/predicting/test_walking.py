"""One engine predicts, settles and learns in the order in which things became known."""

from __future__ import annotations

import math
from collections import Counter
from dataclasses import replace
from datetime import timedelta

import pytest

from grandstand.apps.bets.model.judging.scorecards import Scorecard
from grandstand.apps.bets.model.judging.verifying import Judge
from grandstand.apps.bets.model.known.facts import Fact, Fixture, Score, Verified
from grandstand.apps.bets.model.known.history import History
from grandstand.apps.bets.model.known.windows import Windows
from grandstand.apps.bets.model.models.consensus import Consensus
from grandstand.apps.bets.model.predicting.learning import Calibrated, learnt_at
from grandstand.apps.bets.model.predicting.panel import MODEL_NAMES, Panel, standard_panel
from grandstand.apps.bets.model.predicting.prop_panel import predict_props
from grandstand.apps.bets.model.predicting.walking import Plan, Walk, predict_game, walk
from grandstand.apps.bets.model.props import counted
from grandstand.apps.bets.model.refusals import FromTheFuture, PlanRefused, TooLate
from tests.apps.bets.model.culprits import Boaster, Fitted
from tests.apps.bets.model.games import (
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
from tests.apps.bets.model.test_models import prop, star_games

GAME = fixture(50, "ants", "bears")
START = GAME.commence_time


@pytest.fixture(scope="module")
def walked() -> Walk:
    return walk(small_history(60), standard_panel(Windows(test=timedelta(days=7))))


def test_every_forecast_is_stamped_before_its_game_and_uses_nothing_later(walked: Walk) -> None:
    starts = {game.game_id: game.commence_time for game in walked.history.games()}

    late = [
        each
        for each in walked.forecasts
        if each.as_of >= starts[each.game_id] or any(row.known_at > each.as_of for row in each.used)
    ]

    assert late == []
    assert {each.model for each in walked.forecasts} == set(MODEL_NAMES) - {"goals"}


def test_accuracy_and_inverse_accuracy_add_up_to_one(walked: Walk) -> None:
    cards = {(card.model, card.market, card.is_inverse): card for card in walked.scorecards}
    straight = [key for key in cards if not key[2]]

    sums = {cards[key].accuracy.rate + cards[*key[:2], True].accuracy.rate for key in straight}

    assert all(math.isclose(each, 1.0) for each in sums)
    assert len(cards) == 2 * len(straight)


def test_only_results_known_by_then_were_learnt_from(walked: Walk) -> None:
    records = [fact for fact in walked.history.plain_facts() if isinstance(fact, Verified)]
    known = Counter((each.model, each.market, each.known_at) for each in records)

    too_many = [
        each
        for each in walked.forecasts
        if each.inverse_of is None
        and each.learnt_from
        > sum(
            count
            for (model, market, at), count in known.items()
            if (model, market) == (each.model, each.market) and at <= each.as_of
        )
    ]

    assert too_many == []
    assert max(each.learnt_from for each in walked.forecasts) > 20


def test_the_history_given_is_not_changed() -> None:
    history = small_history(12)
    before = len(history.plain_facts())

    walk(history, Panel((Consensus(),)))

    assert len(history.plain_facts()) == before


def test_two_walks_of_one_history_are_the_same_to_the_last_bit() -> None:
    history, panel = small_history(20), standard_panel()

    first, second = walk(history, panel), walk(history, panel)

    assert first.forecasts == second.forecasts
    assert first.scorecards == second.scorecards


def test_live_gives_what_the_walk_gave(walked: Walk) -> None:
    game = next(each for each in walked.history.games() if each.game_id == "g40")
    panel = standard_panel(Windows(test=timedelta(days=7)))
    view = walked.history.truncated(game.commence_time - HOUR).as_of(game.commence_time - HOUR)

    live = predict_game(game, view, panel)

    walked_then = [each for each in walked.forecasts if each.game_id == "g40"]
    assert sorted(live, key=str) == sorted(walked_then, key=str)


@pytest.mark.parametrize("late", [timedelta(0), HOUR])
def test_a_prediction_at_or_after_the_start_is_refused(late: timedelta) -> None:
    view = History([GAME]).as_of(START + late)

    with pytest.raises(TooLate, match="g50 starts at"):
        predict_game(GAME, view, standard_panel())


def test_a_model_that_used_a_later_row_is_stopped() -> None:
    view = History([GAME]).as_of(START - HOUR)

    with pytest.raises(FromTheFuture, match="quote tomorrow"):
        predict_game(GAME, view, Panel((Boaster(),)))


def test_every_model_and_market_tried_is_counted_with_those_before(walked: Walk) -> None:
    history = small_history(12)

    found = walk(history, Panel((Consensus(),)), Plan(trials_before=40))

    assert found.trials == 43
    assert walked.trials == len({(each.model, each.market) for each in walked.scorecards})


def test_more_trials_make_the_same_returns_less_believable() -> None:
    history = small_history(30)

    few, many = (
        walk(history, Panel((Consensus(),)), Plan(trials_before=before)).scorecards
        for before in (0, 500)
    )

    chances = [
        (a.priced.deflated or 0.0) - (b.priced.deflated or 0.0)
        for a, b in zip(few, many, strict=True)
    ]
    assert min(chances) >= 0.0
    assert max(chances) > 0.5


def test_a_walk_may_begin_and_end_anywhere() -> None:
    plan = Plan(since=BEGUN + 5 * DAY, until=BEGUN + 8 * DAY)

    found = walk(small_history(12), Panel((Consensus(),)), plan)

    assert {each.game_id for each in found.forecasts} == {"g6", "g7", "g8"}


@pytest.mark.parametrize(
    "wrong", [{"lead": timedelta(0)}, {"since": BEGUN, "until": BEGUN}, {"lead": -HOUR}]
)
def test_a_plan_that_cannot_be_walked_is_refused(wrong: dict[str, object]) -> None:
    with pytest.raises(PlanRefused):
        Plan(**wrong)  # type: ignore[arg-type]


def games_and(*more: Fact) -> list[Fact]:
    return [GAME, h2h(GAME, "alpha", START - 5 * HOUR, -150, 130), *more]


def card_of(facts: list[Fact]) -> Scorecard:
    found = walk(History(facts), Panel((Consensus(),)))
    return next(card for card in found.scorecards if not card.is_inverse)


def test_the_corrected_score_is_the_one_that_counts() -> None:
    first = score(GAME, 100, 101)
    corrected = replace(first, home_score=103, known_at=first.known_at + DAY, corrected=True)

    assert card_of(games_and(first)).accuracy.right == 0
    assert card_of(games_and(first, corrected)).accuracy.right == 1


def test_a_postponed_game_counts_when_played_soon_and_is_void_when_not() -> None:
    put_off = Score("g50", 0, 0, START, START, status="postponed")
    soon = replace(score(GAME, 101, 99), completed_at=START + DAY, known_at=START + DAY)
    late = replace(soon, completed_at=START + 9 * DAY, known_at=START + 9 * DAY)

    assert card_of(games_and(put_off, soon)).accuracy.total == 1
    assert card_of(games_and(put_off, late)).accuracy.total == 0


def test_a_moved_game_is_predicted_before_the_start_it_then_had() -> None:
    moved = replace(GAME, commence_time=START + 3 * DAY, known_at=START - 6 * HOUR)
    ended = replace(score(moved, 100, 90))

    found = walk(History([*games_and(), moved, ended]), Panel((Consensus(),)))

    assert {each.as_of for each in found.forecasts} == {START + 3 * DAY - HOUR}


def test_a_push_is_neither_right_nor_wrong() -> None:
    facts: list[Fact] = [
        GAME,
        spread(GAME, "alpha", START - 5 * HOUR, "-4", (-120, 100)),
        score(GAME, 104, 100),
    ]

    card = card_of(facts)

    assert (card.forecasts, card.accuracy.total, card.brier) == (1, 0, None)


def test_the_close_is_measured_on_the_line_that_was_taken() -> None:
    facts: list[Fact] = [
        GAME,
        spread(GAME, "alpha", START - 5 * HOUR, "-3.5", (-110, -110)),
        spread(GAME, "alpha", START - HOUR / 4, "-6.5", (-110, -110)),
        score(GAME, 104, 100),
    ]
    history = History(facts)
    forecast = Consensus().predict(GAME, history.as_of(START - HOUR), "spreads")
    assert forecast is not None

    close = Judge(history).close_of(forecast)

    assert close is not None
    assert math.isclose(close, 0.6 if forecast.selection.side == "home" else 0.4, abs_tol=0.02)


def test_a_calibration_holds_for_one_window_and_learns_from_before_it() -> None:
    rows = [record(number, 0.7, float(number % 2)) for number in range(50)]
    history = History([*league(2), *rows])
    windows = Windows(kind="anchored", test=timedelta(days=7), embargo=timedelta(days=2))
    instants = [BEGUN + 45 * DAY + hours * HOUR for hours in (0, 30, 24 * 8)]

    learnt = [
        learnt_at(history.as_of(instant), windows, (SPORT, "h2h", "momentum")).results
        for instant in instants
    ]

    starts = [windows.at(instant).until for instant in instants]
    assert learnt == [sum(row.known_at <= start for row in rows) for start in starts]
    assert learnt[0] < learnt[2]


def test_a_rolling_window_forgets_what_is_long_ago() -> None:
    rows = [record(number, 0.7, 1.0) for number in range(50)]
    history = History([*league(2), *rows])
    rolling = Windows(train=timedelta(days=10), test=timedelta(days=1))

    learnt = learnt_at(history.as_of(BEGUN + 45 * DAY), rolling, (SPORT, "h2h", "momentum"))

    assert learnt.results == 10


@pytest.mark.parametrize(
    "wrong",
    [{"test": timedelta(0)}, {"train": timedelta(0)}, {"embargo": timedelta(days=-1)}],
)
def test_windows_without_time_are_refused(wrong: dict[str, timedelta]) -> None:
    with pytest.raises(PlanRefused):
        Windows(**wrong)  # type: ignore[arg-type]


def test_with_few_results_a_forecast_stays_near_the_market() -> None:
    bold = Calibrated(Fitted(2.0, "momentum"))
    facts: list[Fact] = [GAME, h2h(GAME, "alpha", START - 5 * HOUR, -110, -110)]
    rows = [record(number, 0.88, float(number % 8 > 0)) for number in range(48)]

    alone = bold.predict(GAME, History(facts).as_of(START - HOUR), "h2h")
    proven = bold.predict(GAME, History([*facts, *rows]).as_of(START - HOUR), "h2h")

    assert alone is not None
    assert proven is not None
    assert math.isclose(alone.probability, 0.5)
    assert 0.5 < proven.probability < proven.raw


def test_props_are_predicted_with_their_inverses_and_settled_by_figures() -> None:
    facts = [GAME, *prop("20.5"), *star_games([24, 26, 25, 23, 27, 26])]
    view = History(facts).as_of(START - HOUR)

    found = predict_props(GAME, view)

    assert {(each.model, each.selection.side) for each in found} >= {
        ("player_stats", "over"),
        ("player_stats", "under"),
    }
    with pytest.raises(TooLate):
        predict_props(GAME, History(facts).as_of(START))


def test_a_prop_counts_the_figures_its_market_names() -> None:
    assert counted("player_rebounds", {"PTS": 20}) is None
    assert counted("player_points_rebounds_assists", {"PTS": 20, "REB": 5, "AST": 7}) == 32


def test_a_game_quoted_in_other_markets_only_is_passed_over() -> None:
    unpriced = Fixture("g51", SPORT, "cats", "dogs", START + DAY, BEGUN)

    found = walk(History([*games_and(score(GAME, 9, 8)), unpriced]), Panel((Consensus(),)))

    assert {each.game_id for each in found.forecasts} == {"g50"}


def test_whoever_waits_hears_how_many_games_are_predicted() -> None:
    heard: list[tuple[int, int]] = []

    walk(small_history(8), Panel((Consensus(),)), told=lambda *so_far: heard.append(so_far))

    (games,) = {total for _, total in heard}
    assert [done for done, _ in heard] == [*range(games)]
