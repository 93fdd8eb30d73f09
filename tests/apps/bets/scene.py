"""Two days of bets: a game that was predicted, bet on and settled, and two that are to come."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from decimal import Decimal

from grandstand.apps.bets.domain.records import FeedGame, FeedPrice, PricedOutcome
from grandstand.apps.bets.services import Bets
from grandstand.core.clock import ManualClock
from grandstand.simulators.odds.season import simulate_season
from tests.apps.bets.stage import EPL, NBA, ScriptedOdds, game, h2h, score, spread, total
from tests.simulators.odds.football_data_csv import football_data_csv

BEGUN = datetime(2026, 2, 10, 12, tzinfo=UTC)
SPORTS = (NBA, EPL)

# One book gives the favourite away.
OVER = game(
    h2h("fanduel", -125, 110),
    h2h("draftkings", -165, 140),
    h2h("betmgm", -160, 138),
    h2h("caesars", -162, 140),
    spread("fanduel", "-3.5"),
    total("fanduel", "221.5"),
    game_id="over",
    starts=BEGUN + timedelta(hours=8),
)
# The prices of the first book stand still while the others move, and its line lies apart.
STILL = h2h("fanduel", 150, -170)
MOVED = (h2h("draftkings", -120, 105), h2h("betmgm", -125, 106), h2h("caesars", -122, 104))
LINES = (total("fanduel", "218.5"), total("draftkings", "223.5"), spread("fanduel", "-3.5"))
SOON_AT = BEGUN + timedelta(hours=36)
PROP = FeedPrice(
    "fanduel",
    "player_points",
    (PricedOutcome("Over", -115, Decimal("25.5")), PricedOutcome("Under", -105, Decimal("25.5"))),
    player="Jayson Tatum",
)


def soon(*prices: FeedPrice) -> FeedGame:
    """The next game."""
    return game(*prices, game_id="soon", starts=SOON_AT)


LATER = game(
    h2h("fanduel", -200, 170, "Denver Nuggets", "Phoenix Suns"),
    game_id="later",
    starts=BEGUN + timedelta(hours=60),
    home="Denver Nuggets",
    away="Phoenix Suns",
)


def season_csv() -> bytes:
    """A small season as football-data.co.uk would write it."""
    return football_data_csv(simulate_season(7, EPL, 60), "2019")


async def played(bets: Bets, odds: ScriptedOdds, clock: ManualClock) -> None:
    """Let two days pass."""
    odds.games = [OVER]
    await bets.odds_collector.collect(NBA)
    await bets.analysis_generator.run(NBA)
    await bets.benny_trader.trade()
    clock.advance(24 * 3600)
    odds.scores = [score(OVER, 110, 100)]
    await bets.outcome_collector.collect(NBA)
    odds.games = [soon(STILL, h2h("draftkings", 148, -168), *LINES), LATER]
    odds.props = [soon(PROP)]
    await bets.odds_collector.collect(NBA)
    await bets.odds_collector.collect_props(NBA)
    clock.advance(3600)
    odds.games = [soon(STILL, *MOVED, *LINES), LATER]
    await bets.odds_collector.collect(NBA)
    await bets.analysis_generator.run(NBA)
