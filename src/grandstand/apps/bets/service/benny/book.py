"""Kept here: Benny's money: his weekly budget, his stakes and what comes back, each in one go."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from datetime import datetime

from grandstand.apps.bets.model.money.ledger import (
    BANKROLL,
    BENNY,
    HOUSE,
    STAKES,
    Cents,
    Event,
    Posting,
    cents_of,
    dollars,
    reversal,
    swept,
    transfer,
    week_of,
)
from grandstand.apps.bets.model.money.settlement import Verdict
from grandstand.apps.bets.service.means import Means
from grandstand.apps.bets.service.money.ledgers import Ledgers, Posted, Standing, Step
from grandstand.apps.bets.service.money.settled import (
    Closing,
    Ended,
    ended,
    maybe_rounded,
    settled_postings,
    told_of,
)
from grandstand.apps.bets.store import Bankroll, BankrollHistory, BennyBet
from grandstand.storage.tables.operations.batches import Write


class BennyBook:
    """Moves Benny's money: bet, bankroll and ledger change together or not at all."""

    def __init__(self, means: Means, ledgers: Ledgers) -> None:
        self._means = means
        self._ledgers = ledgers

    async def bankroll(self) -> Cents:
        """Answer what Benny may stake now."""
        return (await self._ledgers.standing(BENNY)).head.balance(BANKROLL)

    async def open_stakes(self) -> Cents:
        """Answer what is staked and not settled."""
        return (await self._ledgers.standing(BENNY)).head.balance(STAKES)

    async def begin_week(self) -> bool:
        """Bring the bankroll to the week's budget, once a week; False when that was done.

        What the bankroll is short of comes from the house, what it is above goes there.
        """
        now = self._means.now()
        week, budget = week_of(now), self._means.settings.benny_budget_cents
        key = f"week:{week:%Y-%m-%d}"
        if await self._ledgers.known(BENNY, key):
            return False
        await self._adopt(now)
        first = await self._means.store(Bankroll.current()) is None

        def step(standing: Standing) -> Step:
            missing = budget - standing.head.balance(BANKROLL)
            event = Event(key, "budget", now, transfer(HOUSE, BANKROLL, missing))
            row: Write
            if first:
                row = Bankroll(amount=dollars(budget), last_reset=week, updated_at=now).open()
            else:
                row = Bankroll.begin(dollars(missing), week, now)
            return Step((event,), (row, self._history(budget, now)))

        return await self._ledgers.post(BENNY, key, step) == "entered"

    async def _adopt(self, now: datetime) -> None:
        """Enter a bankroll that was kept before there was a ledger."""
        kept = await self._means.store(Bankroll.current())
        if kept is None or (await self._ledgers.standing(BENNY)).head.seq:
            return
        had = cents_of(kept.amount)

        def step(standing: Standing) -> Step | None:
            if standing.head.seq:
                return None
            return Step((Event("opening", "budget", now, transfer(HOUSE, BANKROLL, had)),))

        await self._ledgers.post(BENNY, "opening", step)

    async def place(self, bet: BennyBet, stake: Cents, beside: Sequence[Write] = ()) -> Posted:
        """Place a bet, once for a game and market; whatever is beside it is written with it.

        Raises AccountOverdrawn when the bankroll does not hold the stake.
        """
        key = place_key(bet.game_id, bet.market_key)

        def step(standing: Standing) -> Step:
            before = standing.head.balance(BANKROLL)
            placed = bet.replace(bankroll_before=dollars(before), week=week_of(bet.placed_at))
            event = Event(key, "place", bet.placed_at, transfer(BANKROLL, STAKES, stake))
            taken = Bankroll.take(dollars(stake), bet.placed_at)
            after = self._history(before - stake, bet.placed_at)
            return Step((event,), (placed.place(), taken, after, *beside))

        return await self._ledgers.post(BENNY, key, step)

    async def settle(self, bet: BennyBet, verdict: Verdict, closing: Closing) -> bool:
        """Settle a bet, or settle it anew when the result was corrected; False when it stands.

        Before it is settled anew, what it paid is taken back by an entry of its own.
        """
        stake = cents_of(bet.bet_amount)
        ending = ended(verdict, stake, bet.odds)
        if bet.revision is not None and bet.verdict == ending.verdict:
            return False
        revision, now = (bet.revision or 0) + 1, self._means.now()
        key = settle_key(bet.bet_id, revision)
        undone = await self._undone(bet, now)
        paid = Event(
            key,
            "settle" if revision == 1 else "resettle",
            now,
            settled_postings(stake, ending, self._target(bet, now)),
            correction=revision > 1,
        )
        events = (*undone, paid)
        told = told_of("Benny\u2019s", bet.prediction, (bet.home_team, bet.away_team), ending)
        news = self._means.events.made("bets", "settled", told, f"/bets/games/{bet.game_id}")

        def step(standing: Standing) -> Step:
            moved = _moved(BANKROLL, (each for event in events for each in event.postings))
            after = standing.head.balance(BANKROLL) + moved
            rows: list[Write] = [_judged(bet, ending, closing, now), news.keep()]
            if moved:
                rows += [Bankroll.change(dollars(moved), now), self._history(after, now)]
            return Step(events, rows)

        done = await self._ledgers.post(BENNY, key, step) == "entered"
        if done:
            self._means.events.tell(news)
        return done

    async def _undone(self, bet: BennyBet, now: datetime) -> tuple[Event, ...]:
        if bet.revision is None:
            return ()
        entry = await self._ledgers.entry(BENNY, settle_key(bet.bet_id, bet.revision))
        if entry is None:
            return ()
        taken_back = swept(reversal(entry.postings), BANKROLL, self._target(bet, now))
        key = f"reverse:{bet.bet_id}:{bet.revision}"
        return (Event(key, "reverse", now, taken_back, correction=True),)

    def _target(self, bet: BennyBet, now: datetime) -> str:
        """Where a bet pays to: the bankroll of its own week, and after that the house."""
        return BANKROLL if bet.week is None or bet.week == week_of(now) else HOUSE

    def _history(self, cents: Cents, now: datetime) -> Write:
        return BankrollHistory(amount=dollars(cents), updated_at=now).record()


def place_key(game_id: str, market_key: str) -> str:
    """Name the event of betting on a market of a game, which happens once."""
    return f"place:{game_id}:{market_key}"


def settle_key(bet_id: str, revision: int) -> str:
    """Name the event of settling a bet for the n-th time."""
    return f"settle:{bet_id}:{revision}"


def _judged(bet: BennyBet, ending: Ended, closing: Closing, now: datetime) -> Write:
    return bet.judge(
        now,
        ending.status,
        ending.verdict,
        payout=dollars(ending.payout),
        profit=dollars(ending.profit),
        closing=maybe_rounded(closing.fair),
        clv=maybe_rounded(closing.clv),
    )


def _moved(account: str, postings: Iterable[Posting]) -> Cents:
    return sum(each.cents for each in postings if each.account == account)
