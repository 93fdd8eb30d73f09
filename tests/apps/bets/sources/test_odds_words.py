"""What the odds feed says is matched by name; what is wrong is refused with the reason."""

from __future__ import annotations

from datetime import UTC, datetime
from decimal import Decimal
from typing import Any

import hypothesis
import pytest
from hypothesis import strategies as st

from grandstand.apps.bets.model import PricedOutcome
from grandstand.apps.bets.model.feeds import FedGame, FedScore
from grandstand.apps.bets.sources.odds_words import parse_games, parse_scores
from grandstand.apps.bets.sources.reading import Refusals
from tests.apps.bets.sources.feeding import AWAY, HOME, market, outcome, told, winner

NOON = datetime(2026, 1, 1, 12, tzinfo=UTC)


def parsed(*rows: Any, now: datetime | None = NOON) -> tuple[tuple[FedGame, ...], list[str]]:
    """The games taken, and why others were not."""
    refusals = Refusals()
    games = parse_games(rows, refusals, markets=("h2h", "spreads", "totals"), now=now)
    return games, [each.why for each in refusals.all]


def test_outcomes_are_matched_by_name_whatever_their_order() -> None:
    (game,), refused = parsed(told(winner()))

    assert refused == []
    assert (game.home_team, game.away_team) == (HOME, AWAY)
    assert game.prices[0].outcomes == (PricedOutcome(HOME, -150), PricedOutcome(AWAY, 130))


def test_lines_are_kept_as_exact_numbers() -> None:
    spread = market("spreads", outcome(AWAY, -110, 3.5), outcome(HOME, -110, -3.5))
    total = market("totals", outcome("Under", -105, 221), outcome("Over", -115, 221))

    (game,), refused = parsed(told(spread, total))

    assert refused == []
    assert [each.point for each in game.prices[0].outcomes] == [Decimal("-3.5"), Decimal("3.5")]
    assert game.prices[1].outcomes == (
        PricedOutcome("Over", -115, Decimal(221)),
        PricedOutcome("Under", -105, Decimal(221)),
    )


@pytest.mark.parametrize(
    ("bad", "why"),
    [
        (winner(first=-50), "-50 is no American price"),
        (winner(first=99), "99 is no American price"),
        (winner(first=0), "0 is no American price"),
        (winner(first=130.5), "no American price"),
        (winner(first="evens"), "a price is no number: 'evens'"),
        (winner(first="130"), "a price is no number"),
        (winner(first=None), "a price is no number"),
        (winner(first=True), "a price is no number"),
        (market("h2h", outcome(HOME, -150)), f"a side is missing: {AWAY}"),
        (market("h2h"), "a side is missing"),
        (market("h2h", outcome(HOME, -150), outcome("Harlem", 120)), "'Harlem' is no side"),
        (market("h2h", *[outcome(HOME, -150)] * 2, outcome(AWAY, 120)), "a side is told twice"),
        (market("spreads", outcome(HOME, -110, -3.5), outcome(AWAY, -110, 3)), "opposite"),
        (market("spreads", outcome(HOME, -110), outcome(AWAY, -110)), "opposite"),
        (market("spreads", outcome(HOME, -110, -3.3), outcome(AWAY, -110, 3.3)), "quarters"),
        (market("totals", outcome("Over", -110, 5), outcome("Under", -110, 6)), "not the same"),
        (market("h2h_lay", outcome(HOME, -110), outcome(AWAY, -110)), "not asked for"),
        ({**winner(), "last_update": "yesterday"}, "last_update is no moment"),
    ],
)
def test_a_market_that_is_wrong_is_refused_whole_and_the_others_are_taken(
    bad: dict[str, Any], why: str
) -> None:
    total = market("totals", outcome("Over", -110, 221.5), outcome("Under", -110, 221.5))

    (game,), refused = parsed(told(bad, total))

    assert [price.market_key for price in game.prices] == ["totals"]
    assert len(refused) == 1
    assert why in refused[0]


@pytest.mark.parametrize(
    ("row", "why"),
    [
        (told(winner(), id=""), "id is missing"),
        (told(winner(), home_team=None), "home_team is missing"),
        (told(winner(), away_team=HOME), "plays itself"),
        (told(winner(), commence_time=None), "commence_time is no moment"),
        (told(winner(), commence_time="2026-01-02T00:00:00"), "has no zone"),
        (told(winner(), commence_time="2026-01-01T11:59:00Z"), "it comes too late"),
        (told(winner(), bookmakers="none"), "bookmakers is no list"),
        ("a game", "a game is no object"),
    ],
)
def test_a_game_that_is_wrong_is_refused_whole(row: Any, why: str) -> None:
    games, refused = parsed(row, told(winner(), id="fine"))

    assert [game.game_id for game in games] == ["fine"]
    assert len(refused) == 1
    assert why in refused[0]


def test_the_second_telling_of_a_game_is_refused() -> None:
    games, refused = parsed(told(winner()), told(winner(first=500)))

    assert games[0].prices[0].outcomes[1].price == 130
    assert len(games) == 1
    assert "told twice" in refused[0]


def test_in_soccer_a_missing_draw_is_a_missing_side() -> None:
    three = market("h2h", outcome(AWAY, 200), outcome(HOME, 110), outcome("Draw", 240))

    games, refused = parsed(
        told(winner(), sport_key="soccer_epl"), told(three, sport_key="soccer_epl", id="g2")
    )

    assert games[0].prices == ()
    assert [each.name for each in games[1].prices[0].outcomes] == [HOME, AWAY, "Draw"]
    assert refused == ["a side is missing: Draw"]


def test_a_prop_without_its_other_side_is_refused_and_the_others_are_taken() -> None:
    props = market(
        "player_points",
        outcome("Under", -120, 25.5, description="Kofi Vance"),
        outcome("Over", -102, 25.5, description="Kofi Vance"),
        outcome("Over", 300, 35.5, description="Kofi Vance"),
        outcome("Over", -110, 9.5),
    )
    refusals = Refusals()

    (game,) = parse_games([told(props)], refusals, markets=("player_points",), now=NOON)

    (price,) = game.prices
    assert (price.player, [each.price for each in price.outcomes]) == ("Kofi Vance", [-102, -120])
    assert [each.why for each in refusals.all] == [
        "an outcome is about no player, or has no line",
        "Kofi Vance: a side is missing: Under",
    ]


def scored(**changed: Any) -> dict[str, Any]:
    """A game that is over, as the feed tells it."""
    scores = [{"name": AWAY, "score": "101"}, {"name": HOME, "score": "115"}]
    row = told(completed=True, scores=scores, last_update="2026-01-02T02:40:00Z")
    return {**row, **changed}


def scores_of(*rows: Any) -> tuple[tuple[FedScore, ...], list[str]]:
    refusals = Refusals()
    scores = parse_scores(rows, refusals)
    return scores, [each.why for each in refusals.all]


def test_scores_are_texts_matched_by_name() -> None:
    (score,), refused = scores_of(scored())

    assert refused == []
    assert (score.home_score, score.away_score, score.completed) == (
        Decimal(115),
        Decimal(101),
        True,
    )


def test_a_game_that_is_not_over_has_no_score_yet() -> None:
    (score,), refused = scores_of(scored(completed=False))

    assert refused == []
    assert (score.completed, score.home_score) == (False, None)


@pytest.mark.parametrize(
    ("changed", "why"),
    [
        ({"scores": None}, "its scores are of nobody"),
        ({"scores": [{"name": HOME, "score": "1"}]}, f"its scores are of {HOME}"),
        ({"scores": [{"name": HOME, "score": "1"}, {"name": "Harlem", "score": "2"}]}, "Harlem"),
        ({"scores": [{"name": HOME, "score": "forfeit"}]}, "a score is no number: 'forfeit'"),
        ({"scores": [{"name": HOME, "score": "-3"}]}, "'-3' is no score"),
        ({"scores": [{"name": HOME, "score": "1.5"}]}, "'1.5' is no score"),
        ({"scores": [{"name": HOME, "score": "1e9"}]}, "is no score"),
        ({"scores": "115-101"}, "scores is no list"),
        ({"completed": "yes"}, "completed is neither true nor false"),
    ],
)
def test_a_score_that_is_none_is_refused_with_the_reason(changed: dict[str, Any], why: str) -> None:
    scores, refused = scores_of(scored(**changed), scored(id="fine"))

    assert [score.game_id for score in scores] == ["fine"]
    assert why in refused[0]


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
        name: _anything | st.just(value) for name, value in {**told(winner()), **scored()}.items()
    },
)


@hypothesis.settings(max_examples=60, deadline=None)
@hypothesis.given(rows=st.lists(_anything | _row, max_size=4))
def test_whatever_the_feed_says_is_taken_or_refused(rows: list[Any]) -> None:
    games, scores = Refusals(), Refusals()

    taken = parse_games(rows, games, markets=("h2h",), now=NOON)
    ended = parse_scores(rows, scores)

    assert bool(rows) <= bool(taken or games.all)
    assert bool(rows) <= bool(ended or scores.all)
