"""Prices by book: whose is best, which are old, and what the models agree on."""

from dataclasses import replace

import pytest

from grandstand.apps.bets.pages.games import agreed, board_game, model_views, sheet_of
from grandstand.apps.bets.services.predictions import Contribution
from grandstand.kit.app import ExchangePrice
from tests.apps.bets.pages.samples import CELTICS, LAKERS, NOON, game, pick, quoted

HOUR = 3600


def test_prices_stand_by_the_names_of_the_sides_whatever_order_a_book_has() -> None:
    home_first = quoted("fanduel", "h2h", (LAKERS, -150, None), (CELTICS, 130, None))
    away_first = quoted("bovada", "h2h", (CELTICS, 140, None), (LAKERS, -160, None))

    sheet = sheet_of(game(home_first, away_first), "h2h", HOUR)

    assert sheet.sides == (LAKERS, CELTICS)
    assert [
        (row.bookmaker, [one and one.american for one in row.prices]) for row in sheet.rows
    ] == [
        ("bovada", [-160, 140]),
        ("fanduel", [-150, 130]),
    ]


def test_the_best_price_of_each_side_is_marked_and_old_ones_do_not_count() -> None:
    quotes = (
        quoted("a", "h2h", (LAKERS, -150, None), (CELTICS, 130, None)),
        quoted("b", "h2h", (LAKERS, -140, None), (CELTICS, 125, None)),
        quoted("c", "h2h", (LAKERS, 100, None), (CELTICS, 200, None), age=2 * HOUR),
    )

    sheet = sheet_of(game(*quotes), "h2h", HOUR)

    best = [[one is not None and one.best for one in row.prices] for row in sheet.rows]
    assert best == [[False, True], [True, False], [False, False]]
    assert [row.old for row in sheet.rows] == [False, False, True]


def test_prices_of_other_lines_are_not_held_against_the_usual_one() -> None:
    quotes = (
        quoted("a", "spreads", (LAKERS, -110, "-3.5"), (CELTICS, -110, "3.5")),
        quoted("b", "spreads", (LAKERS, -108, "-3.5"), (CELTICS, -112, "3.5")),
        quoted("c", "spreads", (LAKERS, 120, "-6.5"), (CELTICS, -140, "6.5")),
    )

    sheet = sheet_of(game(*quotes), "spreads", HOUR)

    best = [row.bookmaker for row in sheet.rows if row.prices[0] and row.prices[0].best]
    assert best == ["b"]


def test_a_market_with_a_draw_has_three_sides_and_a_missing_one_stays_empty() -> None:
    three = quoted("a", "h2h", (CELTICS, 200, None), ("Draw", 240, None), (LAKERS, 130, None))
    two = quoted("b", "h2h", (CELTICS, 200, None), (LAKERS, 130, None))

    sheet = sheet_of(game(three, two), "h2h", HOUR)

    assert sheet.sides == (LAKERS, "Draw", CELTICS)
    assert sheet.rows[1].prices[1] is None


def test_the_exchange_stands_beside_the_books_at_what_each_side_pays() -> None:
    book = quoted("a", "h2h", (LAKERS, -150, None), (CELTICS, 130, None))
    offer = ExchangePrice("M1", "Lakers to win", LAKERS, 5900, 6250, NOON, "/gatherer/markets/M1")
    priced = replace(game(book), exchange=(offer,))

    winner, spread = sheet_of(priced, "h2h", HOUR), sheet_of(priced, "spreads", HOUR)

    assert [row.bookmaker for row in winner.rows] == ["a", "exchange"]
    home, away = winner.rows[1].prices
    assert home is not None
    assert away is not None
    assert (home.decimal, home.best) == (1.6, False)
    assert away.decimal == pytest.approx(1 / 0.41)
    assert winner.newest == book.captured_at
    assert spread.rows == ()


def test_with_a_draw_the_exchange_prices_only_the_side_it_names() -> None:
    three = quoted("a", "h2h", (CELTICS, 200, None), ("Draw", 240, None), (LAKERS, 130, None))
    offer = ExchangePrice("M1", "Lakers to win", LAKERS, 5900, 6250, NOON, "/gatherer/markets/M1")

    sheet = sheet_of(replace(game(three), exchange=(offer,)), "h2h", HOUR)

    assert [one and one.decimal for one in sheet.rows[1].prices] == [1.6, None, None]


def test_models_of_one_mind_stand_together_and_inverses_apart() -> None:
    picks = (
        pick("elo", LAKERS, 0.61),
        pick("consensus", LAKERS, 0.55, expected_return=0.02),
        pick("contrarian", CELTICS, 0.52),
        pick("elo", CELTICS, 0.39, inverse=True),
        pick("elo", LAKERS, 0.7, market="spreads"),
    )

    found = agreed(picks, "h2h")

    assert [(one.prediction, one.models) for one in found] == [
        (LAKERS, ("elo", "consensus")),
        (CELTICS, ("contrarian",)),
    ]
    assert (found[0].low, found[0].high, found[0].expected_return) == (0.55, 0.61, 0.02)


def test_the_movement_is_described() -> None:
    item = board_game(game(), "h2h", HOUR)

    assert item.path == (0.5, 0.54)
    assert item.movement.startswith("Los Angeles Lakers’s win probability: 54.0")
    assert "+4.0" in item.movement


def test_a_model_has_its_inverse_beside_each_pick_and_the_surest_comes_first() -> None:
    why = (Contribution("recent_form", -0.4, "last 5"), Contribution("injuries", 0.1, "out"))
    picks = (
        pick("elo", LAKERS, 0.55, reasons=why),
        pick("elo", CELTICS, 0.45, inverse=True),
        pick("value", LAKERS, 0.7),
    )

    value, elo = model_views(picks)

    assert (value.model, elo.model) == ("value", "elo")
    assert [inverse and inverse.prediction for _, inverse in elo.picks] == [CELTICS]
    assert elo.max_contribution == 0.4
