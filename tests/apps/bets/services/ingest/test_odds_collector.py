"""Prices are kept when they change, each with the flip of the one before; bad ones are refused."""

from dataclasses import replace
from datetime import timedelta
from decimal import Decimal

import pytest

from grandstand.apps.bets.domain.records import FeedGame, FeedPrice, PricedOutcome
from grandstand.apps.bets.services.ingest.odds_collector import OddsCollector, OddsNotConnected
from grandstand.apps.bets.store.games import AwaitedGame, GameInfo, GameOdds, PropOdds, QuotaUse
from grandstand.core.errors import NotFound, SourceFailed
from grandstand.storage.tables.errors import TransactionCancelled
from tests.apps.bets.stage import CELTICS, LAKERS, NBA, NOON, Stage, game, h2h, spread

pytestmark = pytest.mark.anyio
HOUR = timedelta(hours=1)
PROP = FeedPrice(
    "fanduel",
    "player_points",
    (PricedOutcome("Over", -115, Decimal("25.5")), PricedOutcome("Under", -105, Decimal("25.5"))),
    player="LeBron James",
)


async def test_only_what_changed_is_written_and_one_price_stays_the_latest(both: Stage) -> None:
    both.odds.games = [game(h2h("fanduel", -150, 130), spread("fanduel", "-3.5"))]
    first = await both.bets.odds_collector.collect(NBA)
    both.clock.advance(3600)
    both.odds.games = [game(h2h("fanduel", -160, 140), spread("fanduel", "-3.5"))]

    second = await both.bets.odds_collector.collect(NBA)

    rows = both.store(GameOdds.of_game("g1"))
    assert (first.written, second.written) == (2, 1)
    assert [(row.market_key, row.latest) for row in rows] == [
        ("h2h", False),
        ("h2h", True),
        ("spreads", True),
    ]
    assert len(both.store(GameOdds.upcoming(NBA, NOON))) == 2


async def test_the_same_prices_in_another_order_are_the_same(stage: Stage) -> None:
    price = h2h("fanduel", -150, 130)
    stage.odds.games = [game(price)]
    await stage.bets.odds_collector.collect(NBA)
    stage.clock.advance(60)
    stage.odds.games = [game(replace(price, outcomes=price.outcomes[::-1]))]

    again = await stage.bets.odds_collector.collect(NBA)

    assert again.written == 0


async def test_a_price_heard_late_is_kept_in_its_place_and_out_of_the_index(both: Stage) -> None:
    both.odds.games = [game(h2h("fanduel", -160, 140))]
    await both.bets.odds_collector.collect(NBA)
    told_at = both.store(GameInfo.of_game("g1"))
    both.clock.advance(-7200)
    both.odds.games = [game(h2h("fanduel", -150, 130))]

    late = await both.bets.odds_collector.collect(NBA)
    both.clock.advance(3600)
    again = await both.bets.odds_collector.collect(NBA)

    rows = both.store(GameOdds.of_game("g1"))
    note = both.store(GameInfo.of_game("g1"))
    assert (late.written, again.written) == (1, 0)
    assert [(row.outcomes[0].price, row.latest) for row in rows] == [(130, False), (140, True)]
    assert told_at is not None
    assert note == told_at.replace(known_at=NOON - 2 * HOUR)


async def test_of_two_who_collect_at_once_only_one_has_the_latest_price(stage: Stage) -> None:
    stage.odds.games = [game(h2h("fanduel", -150, 130))]
    await stage.bets.odds_collector.collect(NBA)
    (first,) = stage.store(GameOdds.of_game("g1"))
    stage.clock.advance(60)
    stage.odds.games = [game(h2h("fanduel", -160, 140))]
    await stage.bets.odds_collector.collect(NBA)
    other = first.replace(captured_at=NOON + 2 * HOUR)

    with pytest.raises(TransactionCancelled):
        stage.store.all(other.record(), first.retire())

    assert [row.latest for row in stage.store(GameOdds.of_game("g1"))] == [False, True]


@pytest.mark.parametrize(
    ("fed", "why"),
    [
        (game(h2h("fanduel", -50, 130)), "Invalid American price -50"),
        (game(h2h("fanduel", 0, 130)), "Invalid American price 0"),
        (game(h2h("fanduel", -150, 130, "Heat", CELTICS)), "'Heat' is neither"),
        (game(replace(h2h("fanduel", -150, 130), outcomes=())), "The market has 0 outcomes"),
        (
            game(
                FeedPrice(
                    "fanduel", "h2h", (PricedOutcome(LAKERS, -150), PricedOutcome(LAKERS, 130))
                )
            ),
            "An outcome occurs twice",
        ),
        (
            game(FeedPrice("fanduel", "corners", h2h("x", -150, 130).outcomes)),
            "Unknown market 'corners'",
        ),
        (game(h2h("fanduel", -150, 130), home=CELTICS), "Both teams have the same name"),
        (game(h2h("fanduel", -150, 130), home="!"), "A team has no name"),
        (game(h2h("fanduel", -150, 130), game_id="a#b"), "The game id is invalid"),
        (game(h2h("fanduel", -150, 130), starts=NOON), "The game has started"),
    ],
)
async def test_what_cannot_be_used_is_refused_with_the_reason(
    stage: Stage, fed: FeedGame, why: str
) -> None:
    good = game(h2h("fanduel", -150, 130), game_id="good")
    stage.odds.games = [fed, good]

    report = await stage.bets.odds_collector.collect(NBA)

    assert [why in each.reason for each in report.rejected] == [True]
    assert report.written == 1
    assert {row.game_id for row in stage.store(GameOdds.upcoming(NBA, NOON))} == {"good"}


async def test_a_game_that_is_moved_is_awaited_at_its_new_start(stage: Stage) -> None:
    before = game(h2h("fanduel", -150, 130))
    after = replace(before, commence_time=before.commence_time + 24 * HOUR)
    stage.odds.games = [before]
    await stage.bets.odds_collector.collect(NBA)
    stage.clock.advance(60)
    stage.odds.games = [after]

    moved = await stage.bets.odds_collector.collect(NBA)

    awaited = stage.store(AwaitedGame.between(NBA, NOON, NOON + 72 * HOUR))
    assert [each.commence_time for each in awaited] == [after.commence_time]
    assert moved.written == 1
    assert stage.store.read(GameInfo.of_game("g1")).commence_time == after.commence_time


async def test_prices_about_players_are_kept_by_player(both: Stage) -> None:
    both.odds.games = [game(h2h("fanduel", -150, 130))]
    await both.bets.odds_collector.collect(NBA)
    both.odds.props = [game(PROP, replace(PROP, player="Jayson Tatum"))]

    report = await both.bets.odds_collector.collect_props(NBA)

    assert report.written == 2
    assert sorted(row.player for row in both.store(PropOdds.upcoming(NBA, NOON))) == [
        "Jayson Tatum",
        "LeBron James",
    ]
    page = await both.bets.games.props(NBA, bookmaker="fanduel")
    assert {prop.player for prop in page.items} == {"Jayson Tatum", "LeBron James"}


async def test_what_requests_cost_is_written_down(stage: Stage) -> None:
    stage.odds.games = [game(h2h("fanduel", -150, 130))]

    await stage.bets.odds_collector.collect(NBA)

    assert [
        (use.what, use.credits) for use in stage.store(QuotaUse.row(source="odds").since(at=NOON))
    ] == [(f"odds/{NBA}", 3)]


async def test_a_feed_that_fails_or_is_missing_is_said(stage: Stage) -> None:
    stage.odds.down = True

    with pytest.raises(SourceFailed, match="at lunch"):
        await stage.bets.odds_collector.collect(NBA)
    with pytest.raises(NotFound, match="Unknown sport 'curling'"):
        await stage.bets.odds_collector.collect("curling")
    with pytest.raises(OddsNotConnected, match="ODDS_KEY"):
        await OddsCollector(
            db=stage.db, settings=stage.bets.settings, publisher=stage.listener, feed=None
        ).collect(NBA)
