"""Odds are matched by name; invalid rows are rejected with a reason."""

from __future__ import annotations

from datetime import UTC, datetime
from decimal import Decimal
from typing import Any

import hypothesis
import pytest
from hypothesis import strategies as st

from grandstand.apps.bets.domain.records import FeedGame, FeedScore, PricedOutcome
from grandstand.apps.bets.sources.odds_api import parse_games, parse_scores
from grandstand.apps.bets.sources.validation import Rejections
from tests.apps.bets.sources.feeds import AWAY, HOME, game_json, market, outcome, winner

NOON = datetime(2026, 1, 1, 12, tzinfo=UTC)


def parsed(*rows: Any, now: datetime | None = NOON) -> tuple[tuple[FeedGame, ...], list[str]]:
    """The games taken, and why others were not."""
    rejections = Rejections()
    games = parse_games(rows, rejections, markets=("h2h", "spreads", "totals"), now=now)
    return games, [each.reason for each in rejections.all]


def test_outcomes_are_matched_by_name_whatever_their_order() -> None:
    (game,), rejected = parsed(game_json(winner()))

    assert rejected == []
    assert (game.home_team, game.away_team) == (HOME, AWAY)
    assert game.prices[0].outcomes == (PricedOutcome(HOME, -150), PricedOutcome(AWAY, 130))


def test_lines_are_exact_numbers() -> None:
    spread = market("spreads", outcome(AWAY, -110, 3.5), outcome(HOME, -110, -3.5))
    total = market("totals", outcome("Under", -105, 221), outcome("Over", -115, 221))

    (game,), rejected = parsed(game_json(spread, total))

    assert rejected == []
    assert [each.point for each in game.prices[0].outcomes] == [Decimal("-3.5"), Decimal("3.5")]
    assert game.prices[1].outcomes == (
        PricedOutcome("Over", -115, Decimal(221)),
        PricedOutcome("Under", -105, Decimal(221)),
    )


@pytest.mark.parametrize(
    ("bad", "why"),
    [
        (winner(first=-50), "-50 is not an American price"),
        (winner(first=99), "99 is not an American price"),
        (winner(first=0), "0 is not an American price"),
        (winner(first=130.5), "not an American price"),
        (winner(first="evens"), "a price is not a number: 'evens'"),
        (winner(first="130"), "a price is not a number"),
        (winner(first=None), "a price is not a number"),
        (winner(first=True), "a price is not a number"),
        (market("h2h", outcome(HOME, -150)), f"a side is missing: {AWAY}"),
        (market("h2h"), "a side is missing"),
        (market("h2h", outcome(HOME, -150), outcome("Harlem", 120)), "'Harlem' is not a side"),
        (market("h2h", *[outcome(HOME, -150)] * 2, outcome(AWAY, 120)), "a side occurs twice"),
        (market("spreads", outcome(HOME, -110, -3.5), outcome(AWAY, -110, 3)), "opposite"),
        (market("spreads", outcome(HOME, -110), outcome(AWAY, -110)), "opposite"),
        (
            market("spreads", outcome(HOME, -110, -3.3), outcome(AWAY, -110, 3.3)),
            "multiples of 0.25",
        ),
        (market("totals", outcome("Over", -110, 5), outcome("Under", -110, 6)), "differ"),
        (market("h2h_lay", outcome(HOME, -110), outcome(AWAY, -110)), "not requested"),
        ({**winner(), "last_update": "yesterday"}, "last_update is not a time"),
    ],
)
def test_a_market_that_is_wrong_is_refused_whole_and_the_others_are_taken(
    bad: dict[str, Any], why: str
) -> None:
    total = market("totals", outcome("Over", -110, 221.5), outcome("Under", -110, 221.5))

    (game,), rejected = parsed(game_json(bad, total))

    assert [price.market_key for price in game.prices] == ["totals"]
    assert len(rejected) == 1
    assert why in rejected[0]


@pytest.mark.parametrize(
    ("row", "why"),
    [
        (game_json(winner(), id=""), "id is missing"),
        (game_json(winner(), home_team=None), "home_team is missing"),
        (game_json(winner(), away_team=HOME), "cannot play itself"),
        (game_json(winner(), commence_time=None), "commence_time is not a time"),
        (game_json(winner(), commence_time="2026-01-02T00:00:00"), "has no time zone"),
        (game_json(winner(), commence_time="2026-01-01T11:59:00Z"), "too late for pregame prices"),
        (game_json(winner(), bookmakers="none"), "bookmakers is not a list"),
        ("a game", "a game is not an object"),
    ],
)
def test_a_game_that_is_wrong_is_refused_whole(row: Any, why: str) -> None:
    games, rejected = parsed(row, game_json(winner(), id="fine"))

    assert [game.game_id for game in games] == ["fine"]
    assert len(rejected) == 1
    assert why in rejected[0]


def test_duplicate_game_is_rejected() -> None:
    games, rejected = parsed(game_json(winner()), game_json(winner(first=500)))

    assert games[0].prices[0].outcomes[1].price == 130
    assert len(games) == 1
    assert "duplicate" in rejected[0]


def test_in_soccer_a_missing_draw_is_a_missing_side() -> None:
    three = market("h2h", outcome(AWAY, 200), outcome(HOME, 110), outcome("Draw", 240))

    games, rejected = parsed(
        game_json(winner(), sport_key="soccer_epl"),
        game_json(three, sport_key="soccer_epl", id="g2"),
    )

    assert games[0].prices == ()
    assert [each.name for each in games[1].prices[0].outcomes] == [HOME, AWAY, "Draw"]
    assert rejected == ["a side is missing: Draw"]


def test_a_prop_without_its_other_side_is_refused_and_the_others_are_taken() -> None:
    props = market(
        "player_points",
        outcome("Under", -120, 25.5, description="Kofi Vance"),
        outcome("Over", -102, 25.5, description="Kofi Vance"),
        outcome("Over", 300, 35.5, description="Kofi Vance"),
        outcome("Over", -110, 9.5),
    )
    rejections = Rejections()

    (game,) = parse_games([game_json(props)], rejections, markets=("player_points",), now=NOON)

    (price,) = game.prices
    assert (price.player, [each.price for each in price.outcomes]) == ("Kofi Vance", [-102, -120])
    assert [each.reason for each in rejections.all] == [
        "an outcome has no player or no line",
        "Kofi Vance: a side is missing: Under",
    ]


def scored(**changed: Any) -> dict[str, Any]:
    """A game that is over, as the feed tells it."""
    scores = [{"name": AWAY, "score": "101"}, {"name": HOME, "score": "115"}]
    row = game_json(completed=True, scores=scores, last_update="2026-01-02T02:40:00Z")
    return {**row, **changed}


def scores_of(*rows: Any) -> tuple[tuple[FeedScore, ...], list[str]]:
    rejections = Rejections()
    scores = parse_scores(rows, rejections)
    return scores, [each.reason for each in rejections.all]


def test_scores_are_texts_matched_by_name() -> None:
    (score,), rejected = scores_of(scored())

    assert rejected == []
    assert (score.home_score, score.away_score, score.completed) == (
        Decimal(115),
        Decimal(101),
        True,
    )


def test_a_game_that_is_not_over_has_no_score_yet() -> None:
    (score,), rejected = scores_of(scored(completed=False))

    assert rejected == []
    assert (score.completed, score.home_score) == (False, None)


@pytest.mark.parametrize(
    ("changed", "why"),
    [
        ({"scores": None}, "its scores are of nobody"),
        ({"scores": [{"name": HOME, "score": "1"}]}, f"its scores are of {HOME}"),
        ({"scores": [{"name": HOME, "score": "1"}, {"name": "Harlem", "score": "2"}]}, "Harlem"),
        ({"scores": [{"name": HOME, "score": "forfeit"}]}, "a score is not a number: 'forfeit'"),
        ({"scores": [{"name": HOME, "score": "-3"}]}, "'-3' is not a score"),
        ({"scores": [{"name": HOME, "score": "1.5"}]}, "'1.5' is not a score"),
        ({"scores": [{"name": HOME, "score": "1e9"}]}, "is not a score"),
        ({"scores": "115-101"}, "scores is not a list"),
        ({"completed": "yes"}, "completed is not a boolean"),
    ],
)
def test_a_score_that_is_none_is_refused_with_the_reason(changed: dict[str, Any], why: str) -> None:
    scores, rejected = scores_of(scored(**changed), scored(id="fine"))

    assert [score.game_id for score in scores] == ["fine"]
    assert why in rejected[0]


_anything = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=8),
    lambda inner: (
        st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=6), inner, max_size=3)
    ),
    max_leaves=6,
)
_row = st.fixed_dictionaries(
    {},
    optional={
        name: _anything | st.just(value)
        for name, value in {**game_json(winner()), **scored()}.items()
    },
)


@hypothesis.settings(max_examples=60, deadline=None)
@hypothesis.given(rows=st.lists(_anything | _row, max_size=4))
def test_whatever_the_feed_says_is_taken_or_refused(rows: list[Any]) -> None:
    games, scores = Rejections(), Rejections()

    taken = parse_games(rows, games, markets=("h2h",), now=NOON)
    ended = parse_scores(rows, scores)

    assert bool(rows) <= bool(taken or games.all)
    assert bool(rows) <= bool(ended or scores.all)
