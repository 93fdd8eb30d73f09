"""A history returns what was known at a time, and nothing later."""

from __future__ import annotations

from dataclasses import replace
from datetime import datetime

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from grandstand.apps.bets.domain import elo
from grandstand.apps.bets.domain.history import History
from grandstand.apps.bets.domain.models import elo_fold
from grandstand.apps.bets.domain.quotes import QuoteTable
from grandstand.apps.bets.domain.records import Fixture, Score, from_epoch_us, to_epoch_us
from grandstand.core.errors import InvalidInput, NotFound
from tests.apps.bets.domain.games import (
    BEGUN,
    DAY,
    HOUR,
    SPORT,
    fixture,
    h2h,
    league,
    score,
    small_history,
    spread,
)

GAME = fixture(0, "ants", "bears")
START = GAME.commence_time


def prices(history: History, instant: datetime) -> list[list[int]] | None:
    board = history.as_of(instant).board("g0", "h2h")
    return None if board is None else board.prices.tolist()


def test_a_board_has_the_last_price_of_each_book_known_by_then() -> None:
    history = History(
        [
            GAME,
            h2h(GAME, "alpha", START - 5 * HOUR, -150, 130),
            h2h(GAME, "beta", START - 4 * HOUR, -145, 125),
            h2h(GAME, "alpha", START - 3 * HOUR, -160, 140),
        ]
    )

    seen = [prices(history, START - hours * HOUR) for hours in (6, 5, 4, 3)]

    assert seen == [None, [[-150, 130]], [[-150, 130], [-145, 125]], [[-160, 140], [-145, 125]]]


def test_the_close_is_the_last_price_before_the_start_and_not_one_in_play() -> None:
    history = History(
        [
            GAME,
            h2h(GAME, "alpha", START - HOUR, -150, 130),
            h2h(GAME, "alpha", START, -300, 250),
            h2h(GAME, "alpha", START + HOUR, -900, 600),
        ]
    )

    close = history.closing_board("g0", "h2h")

    assert close is not None
    assert close.prices.tolist() == [[-150, 130]]


def test_a_corrected_score_counts_from_when_it_was_known() -> None:
    first = score(GAME, 100, 101)
    corrected = replace(first, home_score=103, known_at=first.known_at + DAY, corrected=True)
    history = History([GAME, first, corrected])

    margins = [
        history.as_of(instant).results(SPORT, "ants")[0].margin
        for instant in (first.known_at, corrected.known_at)
    ]

    assert margins == [-1, 2]


def test_a_rating_counts_each_game_once_and_follows_a_correction() -> None:
    games = [fixture(number, "ants", "bears") for number in range(3)]
    scores = [score(game, 100 + number, 95) for number, game in enumerate(games)]
    wrong = replace(scores[0], home_score=80, known_at=scores[2].known_at + DAY, corrected=True)
    history = History([*games, *scores, wrong])
    rules = elo.elo_rules_for(SPORT)

    def rating(instant: datetime) -> float:
        return history.as_of(instant).fold(elo_fold(SPORT, rules)).ratings.by_team["ants"][0]

    before = rating(scores[2].known_at)
    after = rating(wrong.known_at)
    again = rating(scores[2].known_at)

    assert before == again
    assert after < before


def test_a_fold_is_the_same_whether_it_went_step_by_step_or_at_once() -> None:
    step_by_step, at_once = small_history(30), small_history(30)
    fold = elo_fold(SPORT, elo.elo_rules_for(SPORT))
    for number in range(30):
        step_by_step.as_of(BEGUN + number * DAY).fold(fold)

    last = BEGUN + 31 * DAY

    assert step_by_step.as_of(last).fold(fold) == at_once.as_of(last).fold(fold)


def test_rest_is_counted_from_the_last_start_that_was_announced() -> None:
    games = [fixture(0, "ants", "bears"), fixture(3, "cats", "ants"), fixture(5, "ants", "dogs")]
    moved = replace(games[1], commence_time=games[1].commence_time + DAY, known_at=BEGUN)
    history = History([*games, moved])

    before = history.as_of(BEGUN - HOUR).rest_days(SPORT, "ants", games[2].commence_time)
    after = history.as_of(BEGUN).rest_days(SPORT, "ants", games[2].commence_time)

    assert (before, after) == (2.0, 1.0)


def test_the_last_report_of_a_player_holds() -> None:
    history = small_history(10)
    game = next(each for each in history.games() if each.game_id == "g9")
    before = history.as_of(game.commence_time - HOUR)
    within = history.as_of(game.commence_time - HOUR / 2)

    assert before.injuries(SPORT, game.home)[0].status == "active"
    assert within.injuries(SPORT, game.home)[0].status == "out"


def test_a_view_notes_the_rows_it_gives_out_with_their_moments() -> None:
    quoted = START - 3 * HOUR
    view = History([GAME, h2h(GAME, "alpha", quoted, -150, 130)]).as_of(START - HOUR)

    view.board("g0", "h2h")

    assert [tuple(row) for row in view.used] == [("quote", "g0/h2h/alpha", quoted)]


@settings(max_examples=25, deadline=None)
@given(st.integers(0, 12 * 24), st.integers(0, 9))
def test_nothing_given_out_was_known_later_than_the_view(hours: int, number: int) -> None:
    instant = BEGUN - 2 * DAY + hours * HOUR
    view = LEAGUE.as_of(instant)
    game = GAMES[number]
    for market in ("h2h", "spreads", "totals"):
        view.board(game.game_id, market)
        view.quotes(game.game_id, market)
    view.results(SPORT, game.home)
    view.meetings(SPORT, game.home, game.away)
    view.team_stats(SPORT, game.away)
    view.injuries(SPORT, game.home)
    view.rest_days(SPORT, game.home, game.commence_time)
    view.custom_row("form", game.home)
    view.player_games(SPORT, f"{game.home}_star")

    late = [row for row in view.used if row.known_at > instant]

    assert late == []


LEAGUE = small_history(10)
GAMES = LEAGUE.games()


def test_a_truncated_history_answers_as_the_whole_one_did_then() -> None:
    whole, instant = small_history(10), BEGUN + 6 * DAY
    short = whole.truncate(instant)

    boards = [
        [
            board.prices.tolist() if (board := each.as_of(instant).board(f"g{n}", "h2h")) else None
            for n in range(10)
        ]
        for each in (whole, short)
    ]

    assert boards[0] == boards[1]
    assert short.latest_score("g6") is None
    assert max(short.known_times()) <= to_epoch_us(instant)


def test_a_row_may_be_given_back_to_a_truncated_history() -> None:
    whole = small_history(3)
    game = whole.games()[2]
    short = whole.truncate(game.commence_time - 6 * HOUR)
    later = h2h(game, "omega", game.commence_time - HOUR, -200, 170)

    short.add(later)

    board = short.as_of(game.commence_time - HOUR).board(game.game_id, "h2h")
    assert board is not None
    assert "omega" in board.books
    assert len(board.books) > 1


def test_facts_may_come_in_any_order() -> None:
    facts, instant = league(8), BEGUN + 7 * DAY
    ordered, turned = History(facts), History(reversed(facts))

    answers = [each.as_of(instant).results(SPORT, "ants") for each in (ordered, turned)]

    assert answers[0] == answers[1] != []


def test_a_quote_of_an_unknown_game_is_refused() -> None:
    with pytest.raises(NotFound, match="Unknown game g0"):
        History([h2h(GAME, "alpha", BEGUN, -150, 130)])


def test_a_moment_without_a_zone_is_refused() -> None:
    naive = datetime(2026, 1, 1)  # noqa: DTZ001 a naive moment is what is refused

    with pytest.raises(InvalidInput, match="has no time zone"):
        History([Fixture("g0", SPORT, "ants", "bears", naive, naive)])


def quote_table(known: list[int], prices: list[list[int]]) -> QuoteTable:
    times = np.array(known, dtype=np.int64)
    points = np.full(len(prices), np.nan)
    return QuoteTable.of_book(
        game_id="g0",
        book="alpha",
        market="h2h",
        captured_at=times,
        known_at=times,
        prices=np.array(prices, dtype=np.int32),
        points=points,
    )


@pytest.mark.parametrize(
    ("invalid", "reason"),
    [
        (quote_table([1, 2], [[-150, 130]]), "differ in length"),
        (quote_table([1], [[-150, 50]]), "between -100 and 100"),
        (quote_table([2, 1], [[-150, 130], [-140, 120]]), "not in order"),
    ],
)
def test_columns_that_do_not_make_rows_are_refused(invalid: QuoteTable, reason: str) -> None:
    history = History([GAME])

    with pytest.raises(InvalidInput, match=reason):
        history.add(invalid)


def test_a_postponed_game_has_no_final_score_until_it_is_played() -> None:
    ended = score(GAME, 90, 80)
    put_off = Score("g0", 0, 0, START, START, status="postponed")
    history = History([GAME, put_off, ended])

    assert history.as_of(START + HOUR).results(SPORT, "ants") == []
    assert history.first_final_score("g0") == ended


def test_microseconds_go_there_and_back() -> None:
    moment = BEGUN.replace(microsecond=123_457)

    assert from_epoch_us(to_epoch_us(moment)) == moment


def test_a_spread_is_found_under_its_own_market() -> None:
    history = History([GAME, spread(GAME, "alpha", START - HOUR, "-3.5", (-110, -110))])

    assert history.as_of(START).quoted_markets("g0") == ["spreads"]
    assert history.as_of(START - 2 * HOUR).quoted_markets("g0") == []
    assert prices(history, START) is None
