"""The ledger balances, enters an event once, and detects changes."""

from dataclasses import replace
from datetime import UTC, datetime, timedelta
from decimal import Decimal

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from grandstand.apps.bets.domain.ledger import (
    BANKROLL,
    HOUSE,
    STAKES,
    AccountOverdrawn,
    LedgerEvent,
    LedgerLine,
    LedgerReplay,
    LedgerState,
    Posting,
    UnbalancedEntry,
    append_event,
    cents_to_dollars,
    dollars_to_cents,
    replace_account,
    reverse_postings,
    transfer,
    week_start,
)

MONDAY = datetime(2026, 2, 9, tzinfo=UTC)
BUDGET = LedgerEvent("week", "budget", MONDAY, transfer(HOUSE, BANKROLL, 10_000))
PLACE = LedgerEvent("place:1", "place", MONDAY, transfer(BANKROLL, STAKES, 1_550))


def book(*events: LedgerEvent) -> tuple[list[LedgerLine], LedgerState]:
    head, entries = LedgerState("benny"), []
    for event in events:
        entry, head = append_event(head, event)
        entries.append(entry)
    return entries, head


def faults(entries: list[LedgerLine], head: LedgerState) -> tuple[str, ...]:
    replay = LedgerReplay("benny")
    for entry in entries:
        replay.check(entry)
    return replay.finish(head)


def test_money_moves_and_none_appears() -> None:
    entries, head = book(BUDGET, PLACE)

    assert head.balances == {HOUSE: -10_000, BANKROLL: 8_450, STAKES: 1_550}
    assert faults(entries, head) == ()


def test_an_entry_that_does_not_add_up_is_refused() -> None:
    crooked = LedgerEvent("gift", "gift", MONDAY, (Posting(BANKROLL, 1),))

    with pytest.raises(UnbalancedEntry, match="unbalanced by 1 cents"):
        append_event(LedgerState("benny"), crooked)


def test_a_stake_above_the_bankroll_is_refused_and_a_correction_is_not() -> None:
    _, head = book(BUDGET)
    much = transfer(BANKROLL, STAKES, 10_001)

    _, after = append_event(head, LedgerEvent("fix", "reverse", MONDAY, much, correction=True))

    assert after.balances.get(BANKROLL, 0) == -1
    with pytest.raises(AccountOverdrawn, match="holds 10000 cents, 10001 are required"):
        append_event(head, LedgerEvent("much", "place", MONDAY, much))


def test_taking_an_entry_back_leaves_every_balance_as_it_was() -> None:
    entries, head = book(BUDGET, PLACE)

    back = LedgerEvent("reverse:1", "reverse", MONDAY, reverse_postings(entries[1].postings))
    _, after = append_event(head, back)

    assert {name: cents for name, cents in after.balances.items() if cents} == {
        HOUSE: -10_000,
        BANKROLL: 10_000,
    }


def test_what_a_past_week_pays_goes_to_the_house() -> None:
    moved = replace_account((Posting(BANKROLL, 5), Posting(STAKES, -5)), BANKROLL, HOUSE)

    assert moved == (Posting(HOUSE, 5), Posting(STAKES, -5))


@pytest.mark.parametrize(
    ("change", "said"),
    [
        (
            {"postings": (Posting(BANKROLL, -1_000), Posting(STAKES, 1_000))},
            "does not match its digest",
        ),
        ({"postings": (Posting(BANKROLL, -1_550), Posting(STAKES, 1_600))}, "unbalanced"),
        ({"at": MONDAY + timedelta(seconds=1)}, "does not match its digest"),
        ({"key": "week"}, "repeats an event"),
        ({"seq": 3}, "follows entry 1"),
    ],
)
def test_a_changed_entry_is_found(change: dict[str, object], said: str) -> None:
    entries, head = book(BUDGET, PLACE)

    found = faults([entries[0], replace(entries[1], **change)], head)  # type: ignore[arg-type]

    assert any(said in each for each in found)


def test_a_removed_entry_and_a_changed_balance_are_found() -> None:
    entries, head = book(BUDGET, PLACE)
    rich = replace(head, balances={**head.balances, BANKROLL: 99_999})

    assert "the stored state is at entry 2, the entries end at 1" in faults(entries[:1], head)
    assert faults(entries, rich) == ("bankroll holds 99999 cents, its entries add up to 8450",)


@given(st.lists(st.integers(1, 3_000), max_size=30))
@settings(max_examples=50, deadline=None)
def test_whatever_is_staked_the_accounts_add_up_to_nothing(stakes: list[int]) -> None:
    events = [
        LedgerEvent(f"p{n}", "place", MONDAY, transfer(BANKROLL, STAKES, stake), correction=True)
        for n, stake in enumerate(stakes)
    ]

    entries, head = book(BUDGET, *events)

    assert sum(head.balances.values()) == 0
    assert faults(entries, head) == ()


def test_a_week_begins_on_monday_in_utc() -> None:
    assert week_start(datetime(2026, 2, 15, 23, 59, 59, tzinfo=UTC)) == MONDAY
    assert week_start(MONDAY) == MONDAY
    assert week_start(MONDAY - timedelta(seconds=1)) == MONDAY - timedelta(days=7)


def test_cents_and_dollars_are_exact() -> None:
    assert cents_to_dollars(1_550) == Decimal("15.5")
    assert dollars_to_cents(Decimal("10.33")) == 1_033
    with pytest.raises(UnbalancedEntry, match="not a whole number of cents"):
        dollars_to_cents(Decimal("0.001"))
