"""Kept here: Benny's day: what he could bet on, what he thinks of it, and what he bets."""

from __future__ import annotations

from dataclasses import dataclass, replace
from datetime import timedelta
from decimal import Decimal
from typing import TYPE_CHECKING, Final

from grandstand.apps.bets.model.money.benny import (
    Candidate,
    Choice,
    Lessons,
    Position,
    Rejected,
    Settled,
    Stake,
    Terms,
    choose,
    learn,
)
from grandstand.apps.bets.model.money.ledger import AccountOverdrawn, cents_of, dollars
from grandstand.apps.bets.model.selections import code, parse_code
from grandstand.apps.bets.service.benny.book import BennyBook
from grandstand.apps.bets.service.benny.thinking import Subject, Thinking, Thoughts
from grandstand.apps.bets.service.means import Means
from grandstand.apps.bets.service.money.closing import Ending
from grandstand.apps.bets.service.money.ledgers import Ledgers
from grandstand.apps.bets.service.money.settled import maybe_rounded, rounded, units
from grandstand.apps.bets.service.money_values import Traded
from grandstand.apps.bets.service.predicting.analysing import Analysing
from grandstand.apps.bets.service.predicting.engine import BENNY_MODEL, model_names
from grandstand.apps.bets.service.predicting.loading import Loading
from grandstand.apps.bets.service.predicting.publishing import (
    Offered,
    market_key_of,
    prediction_of,
    said,
)
from grandstand.apps.bets.store import (
    Analysis,
    BennyBet,
    GameNote,
    KeptReason,
    Learning,
    ShadowBet,
)
from grandstand.storage.tables.declaration.times import TIMES
from grandstand.storage.tables.leases import HOUSE_LEASES, Leases
from grandstand.storage.tables.operations.batches import Write

if TYPE_CHECKING:
    from grandstand.apps.bets.model.predicting.calibration import Calibration
    from grandstand.apps.bets.model.predicting.forecasting import Forecast

LEASE: Final = "bets/benny"
_LEASE_SECONDS: Final = 900.0
_LEARNT_DAYS: Final = 30
_CALIBRATED_DAYS: Final = 365
_MODEL: Final = "ensemble"
_MOST_LINES: Final = 12


@dataclass(frozen=True, slots=True)
class Considered:
    """A candidate with its game, its words and what Benny thinks of it."""

    candidate: Candidate
    note: GameNote
    prediction: str
    thinking: Thinking


class Trading:
    """Lets Benny bet once a day, in one instance at a time, and settles what he bet."""

    def __init__(self, means: Means, ledgers: Ledgers) -> None:
        self._means = means
        self._book = BennyBook(means, ledgers)
        self._loading = Loading(means)
        self._analysing = Analysing(means)
        self._thoughts = Thoughts(means)

    @property
    def book(self) -> BennyBook:
        """Benny's money."""
        return self._book

    async def trade(self) -> Traded:
        """Let Benny bet for today; nothing is done while another instance does."""
        leases = Leases(HOUSE_LEASES, self._means.owner, seconds=_LEASE_SECONDS)
        lease = await self._means.store(leases.acquire(LEASE))
        if lease is None:
            return Traded(0, 0, 0, 0, elsewhere=True)
        try:
            return await self._trade()
        finally:
            await self._means.store(leases.release(lease))

    async def _trade(self) -> Traded:
        await self._book.begin_week()
        lessons = await self._learn()
        considered: list[Considered] = []
        for sport in self._means.settings.sports:
            considered += await self._candidates(sport)
        known = {(one.candidate.game_id, one.candidate.market): one for one in considered}
        choice = choose(
            [one.candidate for one in considered],
            terms_of(self._means),
            lessons,
            await self._position(),
        )
        placed, refused, staked = await self._place(choice, known)
        for each in (*choice.rejected, *refused):
            await self._shadow(each, known[each.candidate.game_id, each.candidate.market])
        if placed:
            self._means.teller.tell("bets/benny", {"placed": placed})
        rejected = len(choice.rejected) + len(refused)
        return Traded(len(considered), placed, rejected, staked)

    async def _place(
        self, choice: Choice, known: dict[tuple[str, str], Considered]
    ) -> tuple[int, list[Rejected], int]:
        placed, staked = 0, 0
        refused: list[Rejected] = []
        for stake in choice.stakes:
            one = known[stake.candidate.game_id, stake.candidate.market]
            bet = self._bet(stake, one)
            beside = self._scored(one, bet)
            try:
                posted = await self._book.place(bet, stake.cents, beside)
            except AccountOverdrawn as fault:
                refused.append(Rejected(stake.candidate, "bankroll", str(fault)))
                continue
            if posted == "entered":
                placed, staked = placed + 1, staked + stake.cents
        return placed, refused, staked

    async def _candidates(self, sport: str) -> list[Considered]:
        """Answer what can be bet on in the next hours, with what Benny thinks of each."""
        now = self._means.now()
        end = now + timedelta(hours=self._means.settings.benny_hours)
        notes = await self._loading.games_to_come(sport, now, end)
        notes = [note for note in notes if note.commence_time > now]
        if not notes:
            return []
        history = await self._loading.season(sport, now, model_names())
        calibration = await self._calibration(sport)
        found: list[Considered] = []
        for note in notes:
            made = await self._analysing.forecasts(history, note)
            offered = await self._analysing.offered(note.game_id)
            for forecast in made:
                if forecast.model != _MODEL or forecast.inverse_of is not None:
                    continue
                one = await self._consider(note, forecast, made, offered, calibration)
                if one is not None:
                    found.append(one)
        return found

    async def _consider(
        self,
        note: GameNote,
        forecast: Forecast,
        made: list[Forecast],
        offered: Offered,
        calibration: Calibration,
    ) -> Considered | None:
        if forecast.price is None or forecast.book is None or forecast.book == "several":
            return None
        market = market_key_of(forecast.selection) or "h2h"
        same = [each for each in made if each.market == forecast.market and not each.inverse_of]
        books = sum(offered.quotes(book, forecast.selection) for book in offered.prices)
        candidate = Candidate(
            note.game_id,
            note.sport,
            f"{note.commence_time:%Y-%m-%d}",
            market,
            forecast.selection,
            forecast.price,
            forecast.book,
            forecast.probability,
            forecast.fair,
            books,
        )
        prediction = said(forecast.selection, note)
        reasons = tuple(each.text for each in forecast.reasons if each.text)
        lines = tuple(
            f"{each.model}: {said(each.selection, note)} {each.probability:.3f}"
            for each in same[:_MOST_LINES]
        )
        subject = Subject(candidate, prediction, note, (*lines, *reasons[:_MOST_LINES]), reasons)
        thinking = await self._thoughts.think(subject)
        chance = forecast.probability
        if not self._means.llm.offline:
            chance = calibration.probability(thinking.probability, forecast.probability)
        return Considered(replace(candidate, probability=chance), note, prediction, thinking)

    async def _calibration(self, sport: str) -> Calibration:
        """Answer what Benny's stated chances came to: his own bets in a sport, oldest first."""
        from grandstand.apps.bets.model.predicting.calibration import calibrate

        since = self._means.now() - timedelta(days=_CALIBRATED_DAYS)
        told = [
            (float(bet.raw), bet.status == "won")
            async for bet in self._means.each(BennyBet.since(since))
            if bet.sport == sport and bet.raw is not None and bet.status in {"won", "lost"}
        ]
        return calibrate([each[0] for each in told], [each[1] for each in told])

    async def _learn(self) -> Lessons:
        """Learn from the bets settled within a month, and keep what was learnt."""
        now = self._means.now()
        kept = await self._means.store(Learning.current())
        since = now - timedelta(days=_LEARNT_DAYS)
        settled = [
            Settled(bet.sport, bet.market_key, bet.status == "won")
            async for bet in self._means.each(BennyBet.since(since))
            if bet.status in {"won", "lost"}
        ]
        lessons = learn(settled, lessons_of(kept))
        await self._means.store(
            Learning(
                min_confidence_adjustment=rounded(lessons.adjustment),
                kelly_fraction=rounded(self._means.settings.benny_kelly),
                performance_by_sport=lessons.by_sport,
                performance_by_bet_type=lessons.by_bet_type,
                overall_win_rate=rounded(lessons.win_rate),
                total_bets_analyzed=lessons.bets,
                last_updated=now,
            ).keep()
        )
        return lessons

    async def _position(self) -> Position:
        """Answer what Benny has, what is open, and what he staked today."""
        now = self._means.now()
        midnight = now.replace(hour=0, minute=0, second=0)
        by_game: dict[str, int] = {}
        by_sport: dict[str, int] = {}
        today = 0
        since = now - timedelta(days=self._means.settings.void_days)
        async for bet in self._means.each(BennyBet.since(since)):
            stake = cents_of(bet.bet_amount)
            if bet.placed_at >= midnight:
                today += stake
            if bet.status == "pending":
                by_game[bet.game_id] = by_game.get(bet.game_id, 0) + stake
                by_sport[bet.sport] = by_sport.get(bet.sport, 0) + stake
        return Position(await self._book.bankroll(), by_game, by_sport, today)

    def _bet(self, stake: Stake, one: Considered) -> BennyBet:
        note, candidate, now = one.note, stake.candidate, self._means.now()
        return BennyBet(
            bet_id=f"BET#{TIMES['seconds'].write(now)}#{note.game_id}",
            game_id=note.game_id,
            sport=note.sport,
            home_team=note.home_team,
            away_team=note.away_team,
            prediction=one.prediction,
            confidence=rounded(candidate.probability),
            ai_reasoning=one.thinking.reasoning,
            ai_key_factors=one.thinking.key_factors,
            bet_amount=dollars(stake.cents),
            odds=candidate.price,
            market_key=candidate.market,
            commence_time=note.commence_time,
            placed_at=now,
            bankroll_before=Decimal(0),
            selection=code(candidate.selection),
            raw=rounded(one.thinking.probability),
            fair=maybe_rounded(candidate.fair),
            bookmaker=candidate.book,
            model_id=one.thinking.model_id,
            thought=one.thinking.digest,
        )

    def _scored(self, one: Considered, bet: BennyBet) -> list[Write]:
        """Answer the writes that let Benny be scored beside the models."""
        note, now = one.note, bet.placed_at
        row = Analysis(
            model=BENNY_MODEL,
            analysis_type="game",
            sport=note.sport,
            bookmaker=bet.bookmaker or "",
            game_id=note.game_id,
            home_team=note.home_team,
            away_team=note.away_team,
            market_key=market_key_of(one.candidate.selection),
            prediction=bet.prediction,
            confidence=bet.confidence,
            reasoning=bet.ai_reasoning,
            commence_time=note.commence_time,
            created_at=now,
            selection=bet.selection,
            raw=bet.raw,
            fair=bet.fair,
            price=bet.odds,
            as_of=now,
            reasons=tuple(KeptReason(each, Decimal(0)) for each in bet.ai_key_factors),
        )
        return [prediction_of(row).record(), row.publish(now)]

    async def _shadow(self, rejected: Rejected, one: Considered) -> None:
        note, candidate = one.note, rejected.candidate
        await self._means.store(
            ShadowBet(
                game_id=note.game_id,
                sport=note.sport,
                home_team=note.home_team,
                away_team=note.away_team,
                market_key=candidate.market,
                selection=code(candidate.selection),
                prediction=one.prediction,
                confidence=rounded(candidate.probability),
                fair=maybe_rounded(candidate.fair),
                odds=candidate.price,
                bookmaker=candidate.book,
                rule=rejected.rule,
                why=rejected.why,
                reasoning=one.thinking.reasoning,
                commence_time=note.commence_time,
                placed_at=self._means.now(),
            ).record()
        )

    async def settle(self, ending: Ending) -> tuple[int, int]:
        """Settle Benny's bets on a game and what he rejected; answer how many, how many wait."""
        settled, left = 0, 0
        for bet in await self._bets_on(ending):
            selection = parse_code(bet.selection or "")
            verdict = ending.verdict(selection)
            if verdict is None or verdict.name == "pending":
                left += 1
                continue
            settled += await self._book.settle(bet, verdict, ending.closed(selection, bet.odds))
        for shadow in [one async for one in self._means.each(ShadowBet.of_game(ending.game_id))]:
            verdict = ending.verdict(parse_code(shadow.selection))
            if verdict is None or verdict.name == "pending":
                left += 1
            elif shadow.verdict != verdict.name:
                won = units(verdict, shadow.odds) if verdict.decided else None
                await self._means.store(shadow.judge(ending.known_at, verdict.name, won))
        if settled:
            self._means.teller.tell("bets/benny", {"settled": settled})
        return settled, left

    async def _bets_on(self, ending: Ending) -> list[BennyBet]:
        """Answer Benny's bets on a game, every write counted."""
        found: list[BennyBet] = []
        async for bet in self._means.each(BennyBet.of_game(ending.game_id)):
            fresh = await self._means.store(BennyBet.one(bet.placed_at, bet.game_id).consistent())
            if fresh is not None and fresh.selection is not None:
                found.append(fresh)
        return found


def terms_of(means: Means) -> Terms:
    """Answer Benny's rules as they are set."""
    chosen = means.settings
    return Terms(
        chosen.benny_threshold,
        chosen.benny_edge,
        chosen.benny_kelly,
        chosen.benny_budget_cents,
        chosen.benny_bet_share,
        chosen.benny_game_share,
        chosen.benny_day_share,
        chosen.benny_sport_share,
        chosen.benny_least_cents,
    )


def lessons_of(kept: Learning | None) -> Lessons:
    """Answer what is kept of what Benny learnt."""
    if kept is None:
        return Lessons()
    return Lessons(
        float(kept.min_confidence_adjustment),
        dict(kept.performance_by_sport),
        dict(kept.performance_by_bet_type),
        float(kept.overall_win_rate),
        kept.total_bets_analyzed,
    )
