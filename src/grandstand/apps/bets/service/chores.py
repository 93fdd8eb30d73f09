"""Kept here: the work of bets that nobody asks for: collecting, predicting, settling, telling."""

from __future__ import annotations

from grandstand.apps.bets.service.benny.trading import Trading
from grandstand.apps.bets.service.building.user_models import UserModels
from grandstand.apps.bets.service.incoming.cleaning import Cleaning
from grandstand.apps.bets.service.incoming.collecting import Collecting
from grandstand.apps.bets.service.incoming.stats import StatsCollecting
from grandstand.apps.bets.service.judging.adjusting import Adjusting
from grandstand.apps.bets.service.judging.verifying import Verifying
from grandstand.apps.bets.service.means import Means
from grandstand.apps.bets.service.money.ledgers import Ledgers
from grandstand.apps.bets.service.money.wagering import Wagering
from grandstand.apps.bets.service.money_values import Traded
from grandstand.apps.bets.service.people.alerting import Alerting
from grandstand.apps.bets.service.predicting.analysing import Analysing
from grandstand.apps.bets.service.values import Adjustment, Analysed, Collected, Verified
from grandstand.kit.outbox import Consequence


class Chores:
    """What is done by the clock, one method each; jobs and commands call them."""

    def __init__(self, means: Means) -> None:
        self._ledgers = Ledgers(means)
        self._collecting = Collecting(means)
        self._stats = StatsCollecting(means)
        self._analysing = Analysing(means)
        self._trading = Trading(means, self._ledgers)
        self._wagering = Wagering(means, self._ledgers)
        self._verifying = Verifying(means, self._trading, self._wagering)
        self._adjusting = Adjusting(means)
        self._models = UserModels(means)
        self._cleaning = Cleaning(means)
        self._alerting = Alerting(means)

    async def collect_odds(self, sport: str) -> Collected:
        """Fetch a sport's prices and keep what changed."""
        return await self._collecting.odds(sport)

    async def collect_props(self, sport: str) -> Collected:
        """Fetch prices about players in the games to come and keep what changed."""
        return await self._collecting.props(sport)

    async def collect_stats(self, sport: str) -> Collected:
        """Fetch figures of teams and players."""
        return await self._stats.figures(sport)

    async def collect_schedules(self, sport: str) -> Collected:
        """Fetch the schedules of teams."""
        return await self._stats.schedules(sport)

    async def collect_injuries(self, sport: str) -> Collected:
        """Fetch who is injured."""
        return await self._stats.injuries(sport)

    async def collect_outcomes(self, sport: str) -> Verified:
        """Fetch scores, keep results, verify predictions and settle every bet on them.

        Games awaited for longer than the feed reaches back are asked of the second source, and
        bets on what never came to a result are void in the end.
        """
        return await self._verifying.collect(sport)

    async def analyse(self, sport: str) -> Analysed:
        """Run every model, people's included, for the games to come, and publish."""
        return await self._analysing.run(sport)

    async def adjust(self, sport: str) -> tuple[Adjustment, ...]:
        """Work out anew what to do with each model."""
        return await self._adjusting.calculate(sport)

    async def adjust_weights(self) -> int:
        """Adjust the weights of people's models that allow it; answer how many changed."""
        return await self._models.adjust_weights()

    async def trade(self) -> Traded:
        """Let Benny bet for today; does nothing while another instance does."""
        return await self._trading.trade()

    async def clean_up(self) -> int:
        """Remove prices of games a week past their start without a result; answer how many."""
        return await self._cleaning.run()

    async def alert(self) -> int:
        """Tell people of their teams' games, and the house of stale lines and arbitrages."""
        return await self._alerting.run()

    async def tell(self, consequence: Consequence) -> None:
        """Tell one person what was noted for them; for the outbox."""
        await self._alerting.tell(consequence)
