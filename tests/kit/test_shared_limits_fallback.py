"""Rate limits and quotas while the store is unavailable."""

from datetime import timedelta
from random import Random

import pytest

from grandstand.core.clock import ManualClock
from grandstand.kit.shared_limits import LIMIT_TABLES, TableQuotas, TableRateLimiter
from grandstand.net.errors import QuotaExceeded, RateLimitTimeout
from grandstand.net.rate_limits import Quota, RateLimit
from grandstand.storage.tables import AsyncStore, Naming, Store
from grandstand.storage.tables.engines.sqlite import SqliteEngine
from grandstand.storage.tables.platform_tables import PLATFORM_TABLES
from tests.storage.tables.cache.races import Failing

pytestmark = pytest.mark.anyio

ONE = RateLimit(per_second=1, concurrent=1)
TWO_A_DAY = Quota(2, "day")


class Company:
    """A rate limiter and quotas on a store that can fail; time passes only in sleep."""

    def __init__(self) -> None:
        self.clock = ManualClock()
        self.engine = Failing(SqliteEngine.open(None, clock=self.clock), down=False)
        store = Store(self.engine, naming=Naming(), clock=self.clock)
        store.create((*LIMIT_TABLES, *PLATFORM_TABLES))
        kept, random = AsyncStore(store), Random(1)
        self.rates = TableRateLimiter(
            kept, owner="ada", clock=self.clock, random=random, sleep=self._sleep
        )
        self.quotas = TableQuotas(kept, clock=self.clock, random=random, sleep=self._sleep)

    async def _sleep(self, seconds: float) -> None:
        self.clock.advance(seconds)

    async def ask(self, times: int) -> list[float]:
        """Acquire a slot that many times; return when each began."""
        began = []
        for _ in range(times):
            async with self.rates.acquire("host", ONE, within_seconds=60, hold_seconds=5):
                began.append(self.clock.monotonic())
        return began


@pytest.fixture
def company() -> Company:
    return Company()


async def test_a_rate_is_kept_while_the_store_is_away(company: Company) -> None:
    company.engine.down, company.engine.asked = True, 0

    began = await company.ask(5)

    assert [round(moment - began[0]) for moment in began] == [0, 1, 2, 3, 4]
    assert company.engine.asked == 1


async def test_the_store_is_asked_again_after_half_a_minute(company: Company) -> None:
    company.engine.down = True
    await company.ask(1)
    company.engine.down, company.engine.asked = False, 0

    await company.ask(1)
    at_once = company.engine.asked
    company.clock.advance(30)
    await company.ask(1)

    assert at_once == 0
    assert company.engine.asked > 0


async def test_a_rest_a_host_wished_for_holds_while_the_store_is_away(company: Company) -> None:
    await company.rates.pause("host", 300)
    company.engine.down = True

    next_at = await company.rates.next_at("host", ONE)
    with pytest.raises(RateLimitTimeout):
        await company.ask(1)

    assert next_at == company.clock.now() + timedelta(seconds=300)


async def test_a_quota_is_counted_while_the_store_is_away(company: Company) -> None:
    company.engine.down = True

    await company.quotas.spend("netkeiba", TWO_A_DAY, 2)
    with pytest.raises(QuotaExceeded):
        await company.quotas.spend("netkeiba", TWO_A_DAY, 1)

    assert (await company.quotas.spent("netkeiba", TWO_A_DAY)).used == 2
