"""Kept here: what a result does: predictions verified, every bet settled, prices archived."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field, replace
from datetime import datetime, timedelta
from decimal import Decimal
from typing import Final

from grandstand.apps.bets.model import slug
from grandstand.apps.bets.model.feeds import FedScore, FedScores
from grandstand.apps.bets.model.money.settlement import Cancelled, Verdict
from grandstand.apps.bets.model.money.settlement import Final as FinalScore
from grandstand.apps.bets.model.selections import parse_code
from grandstand.apps.bets.service.benny.trading import Trading
from grandstand.apps.bets.service.incoming.archiving import Archiving
from grandstand.apps.bets.service.incoming.collecting import awaited_of, note_spent
from grandstand.apps.bets.service.incoming.results import Results, score_fault
from grandstand.apps.bets.service.means import Means
from grandstand.apps.bets.service.money.closing import Ending, names_of
from grandstand.apps.bets.service.money.settled import maybe_rounded, rounded
from grandstand.apps.bets.service.money.wagering import Wagering
from grandstand.apps.bets.service.values import Refusal, Verified
from grandstand.apps.bets.store import (
    Analysis,
    Awaited,
    BookmakerSeen,
    GameNote,
    GameOutcome,
    PlayerStats,
)
from grandstand.base.errors import GrandstandError

_ONE_DAY: Final = timedelta(days=1)


@dataclass(slots=True)
class _Count:
    """What has been done so far."""

    completed: int = 0
    corrected: int = 0
    predictions: int = 0
    bets: int = 0
    wagers: int = 0
    voided: int = 0
    refused: list[Refusal] = field(default_factory=list)


class Verifying:
    """Hears results and lets everything that waits for them end; again does no harm."""

    def __init__(self, means: Means, trading: Trading, wagering: Wagering) -> None:
        self._means = means
        self._trading = trading
        self._wagering = wagering
        self._results = Results(means)
        self._archiving = Archiving(means)

    async def collect(self, sport: str) -> Verified:
        """Hear the scores of a sport and settle; raise SportUnknown.

        A feed that fails is noted, and what waits is asked of the second source all the same.
        """
        count = _Count()
        self._means.sport(sport)
        for score in (await self._scores(sport, count)).scores:
            if score.completed:
                await self._completed(score, count)
        await self._backlog(sport, count)
        return Verified(
            sport,
            count.completed,
            count.corrected,
            count.predictions,
            count.bets,
            count.wagers,
            count.voided,
            tuple(count.refused),
        )

    async def _scores(self, sport: str, count: _Count) -> FedScores:
        feed = self._means.odds
        if feed is None:
            return FedScores(())
        try:
            told = await feed.fetch_scores(sport, self._means.settings.score_days)
        except GrandstandError as fault:
            count.refused.append(Refusal(f"scores of {sport}", str(fault)))
            return FedScores(())
        count.refused += [Refusal(each.what, each.why) for each in told.refused]
        await note_spent(self._means, f"scores/{sport}", told.spent)
        return told

    async def _completed(self, score: FedScore, count: _Count) -> None:
        note = await self._means.store(GameNote.of_game(score.game_id))
        wrong = score_fault(score, note, self._means.now())
        if wrong is not None:
            count.refused.append(Refusal(score.game_id, wrong))
            return
        told = await self._results.hear(score, note)
        count.completed += told.heard == "new"
        count.corrected += told.heard == "corrected"
        waits = note is not None and await self._waits(note)
        if note is not None and (waits or told.heard != "known"):
            await self._end(note, await self._ending(note, told.outcome), count)

    async def _waits(self, note: GameNote) -> bool:
        awaited = Awaited.one(note.sport, note.commence_time, note.game_id)
        return await self._means.store(awaited) is not None

    async def _backlog(self, sport: str, count: _Count) -> None:
        """Look after games that began longer ago than the feed tells scores of."""
        now = self._means.now()
        before = now - timedelta(days=self._means.settings.score_days)
        waiting = [one async for one in self._means.each(Awaited.begun(sport, before))]
        ended = {each.game_id: await self._results.final(sport, each.game_id) for each in waiting}
        unheard = [each for each in waiting if ended[each.game_id] is None]
        others = await self._asked_elsewhere(sport, unheard, count) if unheard else {}
        void_before = now - timedelta(days=self._means.settings.void_days)
        for each in waiting:
            note = await self._means.store(GameNote.of_game(each.game_id)) or _note_of(each, now)
            outcome, overdue = ended[each.game_id], each.commence_time < void_before
            if outcome is not None:
                ending = await self._ending(note, outcome)
                await self._end(note, replace(ending, given_up=overdue), count)
                continue
            found = others.get((slug(each.home_team), slug(each.away_team)), ())
            score = next((one for one in found if _same_day(one, each)), None)
            if score is not None:
                await self._completed(replace(score, game_id=each.game_id), count)
            elif overdue:
                count.voided += 1
                await self._end(note, await self._ending(note, None), count)

    async def _asked_elsewhere(
        self, sport: str, unheard: list[Awaited], count: _Count
    ) -> dict[tuple[str, str], list[FedScore]]:
        first = min(each.commence_time for each in unheard).date() - _ONE_DAY
        last = max(each.commence_time for each in unheard).date() + _ONE_DAY
        found: dict[tuple[str, str], list[FedScore]] = {}
        for feed in self._means.stats:
            try:
                told = await feed.fetch_results(sport, first, last)
            except GrandstandError as fault:
                count.refused.append(Refusal(feed.name, str(fault)))
                continue
            for score in told.scores:
                if score.completed:
                    key = (slug(score.home_team), slug(score.away_team))
                    found.setdefault(key, []).append(score)
        return found

    async def _ending(self, note: GameNote, outcome: GameOutcome | None) -> Ending:
        now = self._means.now()
        closing = await self._archiving.archive(note, now)
        figures: dict[str, dict[str, Decimal]] = {}
        async for row in self._means.each(PlayerStats.of_game(note.game_id)):
            figures[row.player_name] = row.stats
        return Ending(
            note.sport,
            note.game_id,
            note.home_team,
            note.away_team,
            Cancelled()
            if outcome is None
            else FinalScore(int(outcome.home_score), int(outcome.away_score)),
            now,
            names_of(figures),
            closing,
        )

    async def _end(self, note: GameNote, ending: Ending, count: _Count) -> None:
        """Let everything end that waits for a game; it is awaited until nothing does any more."""
        verified, left = await self._verify(ending)
        count.predictions += verified
        bets, bets_left = await self._trading.settle(ending)
        wagers, wagers_left = await self._wagering.settle(ending)
        count.bets, count.wagers = count.bets + bets, count.wagers + wagers
        if not (left or bets_left or wagers_left):
            await self._means.store(awaited_of(note).cease())

    async def _verify(self, ending: Ending) -> tuple[int, int]:
        """Verify every model's predictions of a game; answer how many, and how many wait on."""
        verified, left = 0, 0
        for bookmaker in await self._bookmakers(ending.sport):
            rows = Analysis.of_game(ending.sport, ending.game_id, bookmaker)
            for row in [one async for one in self._means.each(rows)]:
                if row.selection is None:
                    continue
                selection = parse_code(row.selection)
                verdict = ending.verdict(selection)
                if verdict is None or verdict.name == "pending":
                    left += 1
                    continue
                if row.verdict == verdict.name and row.outcome_verified_at is not None:
                    continue
                closed = ending.closed(selection, row.price)
                told = row.judge(
                    ending.known_at,
                    verdict.name,
                    actual_home_won=ending.home_won,
                    analysis_correct=verdict.correct,
                    outcome=share_won(verdict),
                    closing=maybe_rounded(closed.fair),
                    clv=maybe_rounded(closed.clv),
                )
                await self._means.store(told)
                verified += 1
        return verified, left

    async def _bookmakers(self, sport: str) -> Iterable[str]:
        seen = {each.bookmaker async for each in self._means.each(BookmakerSeen.of_sport(sport))}
        return sorted(seen | set(self._means.settings.bookmakers))


def share_won(verdict: Verdict) -> Decimal | None:
    """Answer 1 for a win, 0 for a loss, what is between for halves; None when nothing counts."""
    if not verdict.decided:
        return None
    share = verdict.win + verdict.push / 2
    return rounded(share.numerator / share.denominator)


def _same_day(score: FedScore, awaited: Awaited) -> bool:
    return abs(score.commence_time - awaited.commence_time) <= _ONE_DAY


def _note_of(awaited: Awaited, now: datetime) -> GameNote:
    return GameNote(
        game_id=awaited.game_id,
        sport=awaited.sport,
        home_team=awaited.home_team,
        away_team=awaited.away_team,
        commence_time=awaited.commence_time,
        known_at=min(now, awaited.commence_time),
    )
