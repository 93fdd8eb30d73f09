"""Benny's ledger balances whatever dies between any two writes."""

from contextlib import closing
from decimal import Decimal

import pytest

from grandstand.apps.bets.domain.ledger import BANKROLL, BENNY, STAKES, dollars_to_cents
from grandstand.apps.bets.store.benny import Bankroll, BennyBet
from tests.apps.bets.soak import Course, course

pytestmark = pytest.mark.anyio
EVENTS = 10_000


async def test_ten_thousand_random_events_with_crashes_lose_and_double_nothing() -> None:
    made, store = course(7)

    with closing(store):
        proof = await made.run(EVENTS)
        pending, placed = await _bets(made)
        standing = await made.ledgers.state(BENNY)
        bankroll = await made.store.read(Bankroll.current())

    assert proof.faults == ()
    assert made.engine.crashes > EVENTS // 10
    assert placed > EVENTS // 5
    assert standing.head.balances.get(STAKES, 0) == sum(pending)
    assert sum(standing.head.balances.values()) == 0
    assert standing.head.balances.get(BANKROLL, 0) == dollars_to_cents(bankroll.amount)


async def _bets(made: Course) -> tuple[list[int], int]:
    bets = [each async for each in made.store.each(BennyBet.history())]
    return [dollars_to_cents(each.bet_amount) for each in bets if each.status == "pending"], len(
        bets
    )


async def test_a_changed_bankroll_is_found() -> None:
    made, store = course(8)

    with closing(store):
        await made.run(40)
        await made.store(Bankroll.adjust(Decimal("0.01"), made.clock.now()))
        proof = await made.ledgers.verify(BENNY)

    assert [each for each in proof.faults if "the bankroll is" in each] == list(proof.faults)
    assert not proof.sound
