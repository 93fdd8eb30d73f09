"""Kept here: the bets of people: recorded within their limits, settled, and summed up."""

from __future__ import annotations

import hashlib
from datetime import datetime, timedelta
from typing import Final

from grandstand.apps.bets.model.errors import PriceImpossible, SelectionImpossible
from grandstand.apps.bets.model.money.ledger import (
    PURSE,
    STAKES,
    Event,
    reversal,
    transfer,
)
from grandstand.apps.bets.model.money.limits import earned, staked
from grandstand.apps.bets.model.prices.odds import parse_american
from grandstand.apps.bets.model.selections import code, display, parse_code
from grandstand.apps.bets.service.incoming.collecting import awaited_of
from grandstand.apps.bets.service.means import Means
from grandstand.apps.bets.service.money.closing import Ending
from grandstand.apps.bets.service.money.ledgers import Ledgers, Standing, Step
from grandstand.apps.bets.service.money.restraint import Restraint, book_of
from grandstand.apps.bets.service.money.settled import (
    Closing,
    Ended,
    ended,
    maybe_rounded,
    settled_postings,
    told_of,
)
from grandstand.apps.bets.service.money.wager_files import drafts_of, selection_of
from grandstand.apps.bets.service.money.wager_sums import summed, view_of
from grandstand.apps.bets.service.money_values import (
    LimitsDraft,
    LimitsView,
    WagerDraft,
    WagersImported,
    WagerSummary,
    WagerView,
)
from grandstand.apps.bets.service.refusals import (
    GameUnknown,
    WagerClosed,
    WagerRefused,
    WagerUnknown,
)
from grandstand.apps.bets.service.values import Page
from grandstand.apps.bets.store import GameNote, Wager
from grandstand.base.errors import GrandstandError
from grandstand.base.ids import new_id
from grandstand.kit.events import Event as Happened
from grandstand.kit.who.caller import Caller
from grandstand.storage.tables.operations.batches import Write

_MOST_STAKE: Final = 100_000_000
_LONGEST_NOTE: Final = 500
_CLOCKS_APART: Final = timedelta(minutes=5)
_DIGEST: Final = 20


class Wagering:
    """Records what people bet elsewhere; each bet is an entry in a book of their own."""

    def __init__(self, means: Means, ledgers: Ledgers) -> None:
        self._means = means
        self._ledgers = ledgers
        self._restraint = Restraint(means, ledgers)

    async def of(self, caller: Caller, *, limit: int, after: str | None) -> Page[WagerView]:
        """Answer a person's bets, newest first."""
        page = await self._means.store.page(Wager.of_user(caller.user_id), limit, after=after)
        return Page(tuple(view_of(each) for each in page.items), page.cursor)

    async def record(self, caller: Caller, draft: WagerDraft) -> WagerView:
        """Record a bet, once for its token; see `Bets.record_wager`."""
        note = await self._means.store(GameNote.of_game(draft.game_id))
        if note is None:
            message = f"There is no game {draft.game_id}"
            raise GameUnknown(message)
        wager = self._wager(caller.user_id, draft, note)
        known = await self._means.store(Wager.one(caller.user_id, wager.wager_id))
        if known is None:
            known = await self._enter(wager, note)
        self._means.teller.tell(f"bets/wagers/user/{caller.user_id}", {"recorded": known.wager_id})
        return view_of(known)

    async def _enter(self, wager: Wager, note: GameNote) -> Wager:
        kept, now = await self._restraint.kept(wager.user_id), self._means.now()
        book, key = book_of(wager.user_id), f"place:{wager.wager_id}"

        def step(standing: Standing) -> Step:
            self._restraint.check(kept, standing, wager.stake_cents, now)
            event = Event(key, "place", now, transfer(PURSE, STAKES, wager.stake_cents))
            writes: list[Write] = [wager.record(), awaited_of(note).expect()]
            still = self._restraint.unchanged(kept)
            if still is not None:
                writes.append(still)
            return Step((event,), writes, staked(standing.usage, wager.stake_cents, now))

        posted = await self._ledgers.post(book, key, step)
        if posted == "refused":
            message = "The limits were changed while the bet was recorded: try again"
            raise WagerRefused(message)
        found = await self._means.store(Wager.one(wager.user_id, wager.wager_id))
        if found is None:
            message = "The bet was taken back before: record it as a new one"
            raise WagerRefused(message)
        return found

    def _wager(self, user_id: str, draft: WagerDraft, note: GameNote) -> Wager:
        now = self._means.now()
        placed = (draft.placed_at or now).replace(microsecond=0)
        try:
            price = parse_american(draft.price)
            selection = selection_of(draft)
        except (PriceImpossible, SelectionImpossible) as fault:
            raise WagerRefused(str(fault)) from fault
        _check(draft, note, placed, now)
        return Wager(
            user_id=user_id,
            wager_id=self._id(user_id, draft.token, note),
            game_id=note.game_id,
            sport=note.sport,
            home_team=note.home_team,
            away_team=note.away_team,
            commence_time=note.commence_time,
            market_key=draft.market_key,
            selection=code(selection),
            prediction=display(selection, note.home_team, note.away_team),
            odds=price,
            stake_cents=draft.stake_cents,
            bookmaker=draft.bookmaker or None,
            note=draft.note or None,
            placed_at=placed,
        )

    def _id(self, user_id: str, token: str | None, note: GameNote) -> str:
        """Answer an id that sorts by the start of the game, the same for the same token."""
        if token:
            end = hashlib.sha256(f"{user_id}\0{token}".encode()).hexdigest()[:_DIGEST]
        else:
            end = new_id(self._means.clock, self._means.random)
        return f"{note.commence_time:%Y%m%dT%H%M}-{end}"

    async def record_file(self, caller: Caller, content: bytes) -> WagersImported:
        """Record the bets of a file line by line; raise FileRefused."""
        recorded, known, refused = 0, 0, []
        for number, draft in drafts_of(content):
            if isinstance(draft, str):
                refused.append((number, draft))
                continue
            before = (await self._ledgers.standing(book_of(caller.user_id))).head.seq
            try:
                await self.record(caller, draft)
            except GrandstandError as fault:
                refused.append((number, str(fault)))
                continue
            after = (await self._ledgers.standing(book_of(caller.user_id))).head.seq
            recorded, known = recorded + (after > before), known + (after == before)
        return WagersImported(recorded, known, tuple(refused))

    async def remove(self, caller: Caller, wager_id: str) -> None:
        """Take an open bet back before its game; raise WagerUnknown, WagerClosed."""
        wager, now = await self._read(caller, wager_id), self._means.now()
        if wager.status != "open" or wager.commence_time <= now:
            message = "The bet is settled, or its game has begun: it stays"
            raise WagerClosed(message)
        key = f"withdraw:{wager.wager_id}"

        def step(standing: Standing) -> Step:
            event = Event(key, "withdraw", now, transfer(STAKES, PURSE, wager.stake_cents))
            return Step((event,), (wager.withdraw(),), staked(standing.usage, 0, now))

        if await self._ledgers.post(book_of(caller.user_id), key, step) == "refused":
            message = "The bet was settled meanwhile: it stays"
            raise WagerClosed(message)

    async def summary(self, caller: Caller) -> WagerSummary:
        """Answer a person's bets in sum."""
        found = [one async for one in self._means.each(Wager.of_user(caller.user_id))]
        return summed(found)

    async def limits(self, caller: Caller) -> LimitsView:
        """Answer what a person allows themselves."""
        return await self._restraint.view(caller.user_id)

    async def set_limits(self, caller: Caller, draft: LimitsDraft) -> LimitsView:
        """Change what a person allows themselves; raise LimitsRefused."""
        return await self._restraint.change(caller.user_id, draft)

    async def time_out(self, caller: Caller, until: datetime) -> LimitsView:
        """Let a person take no bets until a moment; raise LimitsRefused."""
        return await self._restraint.time_out(caller.user_id, until)

    async def settle(self, ending: Ending) -> tuple[int, int]:
        """Settle everybody's bets on a game; answer how many, and how many wait on."""
        settled, left = 0, 0
        for wager in [one async for one in self._means.each(Wager.of_game(ending.game_id))]:
            selection = parse_code(wager.selection)
            verdict = ending.verdict(selection)
            if verdict is None or verdict.name == "pending":
                left += 1
                continue
            if wager.verdict == verdict.name:
                continue
            closed = ending.closed(selection, wager.odds)
            outcome = ended(verdict, wager.stake_cents, wager.odds)
            settled += await self._settle_one(wager, outcome, closed)
        return settled, left

    async def _settle_one(self, found: Wager, outcome: Ended, closed: Closing) -> bool:
        """Settle one bet, or settle it anew after taking back what it paid."""
        wager = await self._means.store(Wager.one(found.user_id, found.wager_id))
        if wager is None or wager.verdict == outcome.verdict:
            return False
        now, book, revision = self._means.now(), book_of(wager.user_id), wager.revision + 1
        key = f"settle:{wager.wager_id}:{revision}"
        events: list[Event] = []
        before = await self._ledgers.entry(book, f"settle:{wager.wager_id}:{wager.revision}")
        if before is not None:
            back = reversal(before.postings)
            events.append(
                Event(f"reverse:{wager.wager_id}:{revision - 1}", "reverse", now, back, True)
            )
        paid = settled_postings(wager.stake_cents, outcome, PURSE)
        events.append(Event(key, "settle" if revision == 1 else "resettle", now, paid))
        gained = outcome.profit - (wager.profit_cents or 0)
        news = self._news(wager, outcome)

        def step(standing: Standing) -> Step:
            row = _judged(wager, outcome, closed, now)
            return Step(tuple(events), (row, news.keep()), earned(standing.usage, gained, now))

        done = await self._ledgers.post(book, key, step) == "entered"
        if done:
            topic = f"bets/wagers/user/{wager.user_id}"
            self._means.teller.tell(topic, {"settled": wager.wager_id})
            self._means.events.tell(news)
        return done

    def _news(self, wager: Wager, outcome: Ended) -> Happened:
        """Answer how a bet ended, as the house tells its owner."""
        told = told_of("Your", wager.prediction, (wager.home_team, wager.away_team), outcome)
        href = f"/bets/games/{wager.game_id}"
        return self._means.events.made("bets", "settled", told, href, user_id=wager.user_id)

    async def _read(self, caller: Caller, wager_id: str) -> Wager:
        found = await self._means.store(Wager.one(caller.user_id, wager_id))
        if found is None:
            message = f"There is no bet {wager_id}"
            raise WagerUnknown(message)
        return found


def _check(draft: WagerDraft, note: GameNote, placed: datetime, now: datetime) -> None:
    """Raise WagerRefused for a bet that cannot have been made so."""
    if not 0 < draft.stake_cents <= _MOST_STAKE:
        message = (
            f"A stake is at least a cent and at most a million dollars, not {draft.stake_cents}"
        )
        raise WagerRefused(message)
    if placed > now + _CLOCKS_APART:
        message = f"The bet is placed in the future, at {placed:%Y-%m-%d %H:%M} UTC"
        raise WagerRefused(message)
    if placed >= note.commence_time:
        message = f"The game began at {note.commence_time:%Y-%m-%d %H:%M} UTC, before the bet"
        raise WagerRefused(message)
    if len(draft.note) > _LONGEST_NOTE or "#" in draft.bookmaker:
        message = f"A note has at most {_LONGEST_NOTE} letters, and a bookmaker no #"
        raise WagerRefused(message)


def _judged(wager: Wager, outcome: Ended, closed: Closing, now: datetime) -> Write:
    return wager.judge(
        now,
        "void" if outcome.status == "void" else "settled",
        outcome.verdict,
        payout_cents=outcome.payout,
        profit_cents=outcome.profit,
        closing=maybe_rounded(closed.fair),
        clv=maybe_rounded(closed.clv),
    )
