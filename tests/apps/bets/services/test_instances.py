"""Two instances on one store place no bet twice, whoever is quicker."""

import asyncio
from datetime import timedelta

import pytest

from grandstand.apps.bets.domain.ledger import BENNY
from grandstand.apps.bets.store.benny import BennyBet
from grandstand.core.clock import ManualClock
from grandstand.storage.tables import Store
from tests.apps.bets.soak import bet_at
from tests.apps.bets.stage import ADA, ALL_TABLES, NBA, NOON, Stage, game, h2h, staged

pytestmark = pytest.mark.anyio


def _priced() -> list[object]:
    # One book is far behind: its price is worth a bet.
    return [
        h2h("fanduel", -150, 130),
        h2h("draftkings", -152, 131),
        h2h("betmgm", -149, 129),
        h2h("caesars", -105, -112),
    ]


@pytest.fixture
def two(store: Store, clock: ManualClock) -> tuple[Stage, Stage]:
    """Two instances on one store."""
    store.create(ALL_TABLES)
    return (
        staged(store, clock, seed=1, sports=(NBA,)),
        staged(store, clock, seed=2, sports=(NBA,)),
    )


async def test_two_traders_place_one_bet(two: tuple[Stage, Stage]) -> None:
    one, other = two
    one.odds.games = [game(*_priced())]  # type: ignore[arg-type]
    await one.bets.odds_collector.collect(NBA)

    done = await asyncio.gather(one.bets.benny_trader.trade(), other.bets.benny_trader.trade())
    again = await other.bets.benny_trader.trade()

    assert sum(each.placed for each in done) == 1
    assert again.placed == 0
    assert len((await one.bets.benny.bets()).items) == 1
    assert (await one.bets.ledger.verify()).faults == ()


async def test_one_event_is_entered_once_by_many_at_the_same_time(
    two: tuple[Stage, Stage],
) -> None:
    books = [stage.bankroll() for stage in two]
    bet = bet_at(NOON, 1, two[0].db.random)
    await books[0].begin_week()

    posted = await asyncio.gather(*(book.place(bet, 500) for book in books * 3))

    assert sorted(posted) == [*["duplicate"] * 5, "posted"]
    assert await books[0].open_stakes() == 500
    assert len(await two[0].db.store(BennyBet.recent())) == 1


async def test_many_bets_at_once_all_find_their_place_in_the_book(
    two: tuple[Stage, Stage],
) -> None:
    books = [stage.bankroll() for stage in two]
    bets = [bet_at(NOON + timedelta(seconds=n), n, two[0].db.random) for n in range(8)]
    await books[0].begin_week()

    posted = await asyncio.gather(*(books[n % 2].place(bet, 100) for n, bet in enumerate(bets)))

    proof = await two[1].bets.ledger.verify(BENNY)
    assert set(posted) == {"posted"}
    assert proof.sound
    assert proof.balances["stakes"] == 800


async def test_a_week_is_begun_once_by_two(two: tuple[Stage, Stage]) -> None:
    books = [stage.bankroll() for stage in two]

    begun = await asyncio.gather(*(book.begin_week() for book in books))

    assert sorted(begun) == [False, True]
    assert await books[0].bankroll() == 10_000
    assert (await two[0].bets.limits.get(ADA)).staked_today_cents == 0
