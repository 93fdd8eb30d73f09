"""Benny's bankroll: weekly budget, stakes and payouts."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from datetime import datetime

from grandstand.apps.bets.domain.ledger import (
    BANKROLL,
    BENNY,
    HOUSE,
    STAKES,
    Cents,
    LedgerEvent,
    Posting,
    cents_to_dollars,
    dollars_to_cents,
    replace_account,
    reverse_postings,
    transfer,
    week_start,
)
from grandstand.apps.bets.domain.settlement import Verdict
from grandstand.apps.bets.services.database import Database, round4_or_none
from grandstand.apps.bets.services.ledger import BookState, LedgerService, LedgerStep, PostStatus
from grandstand.apps.bets.services.settlement import (
    BetResult,
    ClosingValue,
    describe_result,
    settle_result,
    settlement_postings,
)
from grandstand.apps.bets.settings import BetsSettings
from grandstand.apps.bets.store.benny import Bankroll, BankrollHistory, BennyBet
from grandstand.kit.events import Events
from grandstand.storage.tables.operations.batches import Write


class BennyBankroll:
    """Moves Benny's money; bet, bankroll and ledger change in one transaction."""

    def __init__(
        self, *, db: Database, settings: BetsSettings, ledger: LedgerService, events: Events
    ) -> None:
        self._db = db
        self._settings = settings
        self._ledger = ledger
        self._events = events

    async def bankroll(self) -> Cents:
        """Return the available bankroll."""
        return (await self._ledger.state(BENNY)).head.balance(BANKROLL)

    async def open_stakes(self) -> Cents:
        """Return the stakes of unsettled bets."""
        return (await self._ledger.state(BENNY)).head.balance(STAKES)

    async def begin_week(self) -> bool:
        """Reset the bankroll to the weekly budget, once a week. Returns whether it was reset.

        The difference is transferred from or to the house account.
        """
        now = self._db.now()
        week, budget = week_start(now), self._settings.benny_budget_cents
        key = f"week:{week:%Y-%m-%d}"
        if await self._ledger.is_posted(BENNY, key):
            return False
        await self._adopt(now)
        first = await self._db.store(Bankroll.current()) is None

        def step(state: BookState) -> LedgerStep:
            missing = budget - state.head.balance(BANKROLL)
            event = LedgerEvent(key, "budget", now, transfer(HOUSE, BANKROLL, missing))
            row: Write
            if first:
                row = Bankroll(
                    amount=cents_to_dollars(budget), last_reset=week, updated_at=now
                ).open()
            else:
                row = Bankroll.start_week(cents_to_dollars(missing), week, now)
            return LedgerStep((event,), (row, self._history(budget, now)))

        return await self._ledger.post(BENNY, key, step) == "entered"

    async def _adopt(self, now: datetime) -> None:
        """Enter a bankroll that was stored before the ledger existed."""
        stored = await self._db.store(Bankroll.current())
        if stored is None or (await self._ledger.state(BENNY)).head.seq:
            return
        amount = dollars_to_cents(stored.amount)

        def step(state: BookState) -> LedgerStep | None:
            if state.head.seq:
                return None
            return LedgerStep(
                (LedgerEvent("opening", "budget", now, transfer(HOUSE, BANKROLL, amount)),)
            )

        await self._ledger.post(BENNY, "opening", step)

    async def place(
        self, bet: BennyBet, stake: Cents, extra_writes: Sequence[Write] = ()
    ) -> PostStatus:
        """Place a bet, once per game and market, together with `extra_writes`.

        Raises AccountOverdrawn if the bankroll does not cover the stake.
        """
        key = place_key(bet.game_id, bet.market_key)

        def step(state: BookState) -> LedgerStep:
            before = state.head.balance(BANKROLL)
            placed = bet.replace(
                bankroll_before=cents_to_dollars(before), week=week_start(bet.placed_at)
            )
            event = LedgerEvent(key, "place", bet.placed_at, transfer(BANKROLL, STAKES, stake))
            withdrawal = Bankroll.withdraw(cents_to_dollars(stake), bet.placed_at)
            after = self._history(before - stake, bet.placed_at)
            return LedgerStep((event,), (placed.place(), withdrawal, after, *extra_writes))

        return await self._ledger.post(BENNY, key, step)

    async def settle(self, bet: BennyBet, verdict: Verdict, closing: ClosingValue) -> bool:
        """Settle a bet, again after a corrected result. Returns whether anything changed.

        A correction first reverses the previous payout with an entry of its own.
        """
        stake = dollars_to_cents(bet.bet_amount)
        result = settle_result(verdict, stake, bet.odds)
        if bet.revision is not None and bet.verdict == result.verdict:
            return False
        revision, now = (bet.revision or 0) + 1, self._db.now()
        key = settle_key(bet.bet_id, revision)
        reversals = await self._reversals(bet, now)
        payment = LedgerEvent(
            key,
            "settle" if revision == 1 else "resettle",
            now,
            settlement_postings(stake, result, self._payout_account(bet, now)),
            correction=revision > 1,
        )
        events = (*reversals, payment)
        description = describe_result(
            "Benny\u2019s", bet.prediction, (bet.home_team, bet.away_team), result
        )
        event_record = self._events.made(
            "bets", "settled", description, f"/bets/games/{bet.game_id}"
        )

        def step(state: BookState) -> LedgerStep:
            change = _account_change(
                BANKROLL, (posting for event in events for posting in event.postings)
            )
            after = state.head.balance(BANKROLL) + change
            rows: list[Write] = [_settled_write(bet, result, closing, now), event_record.keep()]
            if change:
                rows += [Bankroll.adjust(cents_to_dollars(change), now), self._history(after, now)]
            return LedgerStep(events, rows)

        done = await self._ledger.post(BENNY, key, step) == "entered"
        if done:
            self._events.tell(event_record)
        return done

    async def _reversals(self, bet: BennyBet, now: datetime) -> tuple[LedgerEvent, ...]:
        if bet.revision is None:
            return ()
        entry = await self._ledger.entry(BENNY, settle_key(bet.bet_id, bet.revision))
        if entry is None:
            return ()
        postings = replace_account(
            reverse_postings(entry.postings), BANKROLL, self._payout_account(bet, now)
        )
        key = f"reverse:{bet.bet_id}:{bet.revision}"
        return (LedgerEvent(key, "reverse", now, postings, correction=True),)

    def _payout_account(self, bet: BennyBet, now: datetime) -> str:
        """Return the account paid: the bankroll in the week of the bet, later the house."""
        return BANKROLL if bet.week is None or bet.week == week_start(now) else HOUSE

    def _history(self, cents: Cents, now: datetime) -> Write:
        return BankrollHistory(amount=cents_to_dollars(cents), updated_at=now).record()


def place_key(game_id: str, market_key: str) -> str:
    return f"place:{game_id}:{market_key}"


def settle_key(bet_id: str, revision: int) -> str:
    return f"settle:{bet_id}:{revision}"


def _settled_write(bet: BennyBet, ending: BetResult, closing: ClosingValue, now: datetime) -> Write:
    return bet.settle(
        now,
        ending.status,
        ending.verdict,
        payout=cents_to_dollars(ending.payout),
        profit=cents_to_dollars(ending.profit),
        closing=round4_or_none(closing.fair),
        clv=round4_or_none(closing.clv),
    )


def _account_change(account: str, postings: Iterable[Posting]) -> Cents:
    return sum(posting.cents for posting in postings if posting.account == account)
