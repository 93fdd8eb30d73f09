"""The outcome collector: stores results, verifies predictions and settles bets."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime, timedelta
from decimal import Decimal
from typing import TYPE_CHECKING, Final, Literal, TypeAlias

from grandstand.apps.bets.domain.records import FeedScore, FeedScores, slug
from grandstand.apps.bets.domain.selections import decode_selection
from grandstand.apps.bets.domain.settlement import Cancelled, FinalResult, Verdict
from grandstand.apps.bets.services.benny_trader import BennyTrader
from grandstand.apps.bets.services.database import Database, check_sport, round4, round4_or_none
from grandstand.apps.bets.services.ingest.odds_collector import (
    OddsFeed,
    RejectedItem,
    awaited_game,
    record_quota_use,
)
from grandstand.apps.bets.services.settlement import ClosingLineArchive, GameEnding, figures_by_slug
from grandstand.apps.bets.services.wagers import WagerService
from grandstand.apps.bets.settings import BetsSettings
from grandstand.apps.bets.store.games import (
    AwaitedGame,
    GameInfo,
    GameOutcome,
    PlayerStats,
    ResultRecord,
    SportBookmaker,
    TeamOutcome,
)
from grandstand.apps.bets.store.predictions import Analysis
from grandstand.core.errors import GrandstandError
from grandstand.storage.tables.operations.item_ops import Write

if TYPE_CHECKING:
    from grandstand.apps.bets.services.ingest.stats_collector import StatsFeed

ResultStatus: TypeAlias = Literal["new", "corrected", "known"]

_MIN_DURATION: Final = timedelta(minutes=30)
_MAX_SCORE: Final = 1000


@dataclass(frozen=True, slots=True)
class OutcomeReport:
    sport: str
    completed: int
    corrected: int
    predictions: int
    bets: int
    wagers: int
    voided: int
    refused: tuple[RejectedItem, ...] = ()


@dataclass(frozen=True, slots=True)
class RecordedResult:
    """A result, and whether it was new, a correction or already stored."""

    outcome: GameOutcome
    status: ResultStatus


class ResultStore:
    """Stores results with the rows derived from them in one transaction."""

    def __init__(self, db: Database) -> None:
        self._db = db

    async def final(self, sport: str, game_id: str) -> GameOutcome | None:
        """Return the result of a game with its latest correction; None if there is none."""
        outcomes = await self._db.store(GameOutcome.final(sport, game_id))
        return outcomes[0] if outcomes else None

    async def record(self, score: FeedScore, note: GameInfo | None = None) -> RecordedResult:
        """Store a final score or its correction.

        A correction makes the game awaited again, so that its bets are settled again even after a
        crash.
        """
        stored = await self.final(score.sport, score.game_id)
        now = self._db.now()
        if stored is None:
            outcome = game_outcome(score, now)
            if await self._db.try_transaction(*_writes(outcome, score, now)):
                return RecordedResult(outcome, "new")
            stored = await self.final(score.sport, score.game_id)
            assert stored is not None  # noqa: S101 - whoever was first has written it
        if (stored.home_score, stored.away_score) == (score.home_score, score.away_score):
            return RecordedResult(stored, "known")
        corrected = game_outcome(score, now).replace(
            completed_at=stored.completed_at, corrected_at=max(now, _after(stored))
        )
        await_again = [] if note is None else [awaited_game(note).save()]
        await self._db.try_transaction(*_writes(corrected, score, now), *await_again)
        return RecordedResult(corrected, "corrected")


def score_error(score: FeedScore, note: GameInfo | None, now: datetime) -> str | None:
    """Return why a final score is invalid, or None."""
    home, away = score.home_score, score.away_score
    if home is None or away is None:
        return "The game is completed but has no score."
    if not all(score == int(score) and 0 <= score <= _MAX_SCORE for score in (home, away)):
        return f"Invalid score {home}:{away}."
    if slug(score.home_team) == slug(score.away_team) or not slug(score.home_team):
        return "The teams need two different names."
    if score.commence_time > now:
        return "The game is completed before its start."
    if note is not None and (slug(note.home_team), slug(note.away_team)) != (
        slug(score.home_team),
        slug(score.away_team),
    ):
        return f"The stored game is {note.home_team} v {note.away_team}."
    return None


def game_outcome(score: FeedScore, now: datetime) -> GameOutcome:
    """Return a score as a row; a draw has no winner."""
    home, away = score.home_score or Decimal(0), score.away_score or Decimal(0)
    winner = None if home == away else score.home_team if home > away else score.away_team
    completed_at = max(score.commence_time + _MIN_DURATION, min(score.updated_at or now, now))
    return GameOutcome(
        game_id=score.game_id,
        sport=score.sport,
        home_team=score.home_team,
        away_team=score.away_team,
        home_score=home,
        away_score=away,
        winner=winner,
        completed_at=completed_at.replace(microsecond=0),
    )


def _after(outcome: GameOutcome) -> datetime:
    """Return a time after every correction so far."""
    return (outcome.corrected_at or outcome.completed_at) + timedelta(seconds=1)


def _writes(outcome: GameOutcome, score: FeedScore, now: datetime) -> list[Write]:
    line = ResultRecord(
        sport=outcome.sport,
        game_id=outcome.game_id,
        home_team=outcome.home_team,
        away_team=outcome.away_team,
        commence_time=score.commence_time,
        completed_at=outcome.completed_at,
        home_score=outcome.home_score,
        away_score=outcome.away_score,
        known_at=max(now, outcome.completed_at),
        corrected=outcome.corrected_at is not None,
    )
    return [outcome.record(), line.record(), *team_outcome_writes(outcome)]


def team_outcome_writes(outcome: GameOutcome) -> tuple[Write, Write]:
    """Return the writes of a result for each team."""
    return _side(outcome, is_home=True).record(), _side(outcome, is_home=False).record()


def _side(outcome: GameOutcome, *, is_home: bool) -> TeamOutcome:
    teams = (outcome.home_team, outcome.away_team)
    scores = (outcome.home_score, outcome.away_score)
    team, opponent = (0, 1) if is_home else (1, 0)
    return TeamOutcome(
        completed_at=outcome.completed_at,
        game_id=outcome.game_id,
        sport=outcome.sport,
        team=teams[team],
        opponent=teams[opponent],
        team_score=scores[team],
        opponent_score=scores[opponent],
        winner=outcome.winner,
        is_home=is_home,
        corrected_at=outcome.corrected_at,
    )


_ONE_DAY: Final = timedelta(days=1)


@dataclass(slots=True)
class _Count:
    completed: int = 0
    corrected: int = 0
    predictions: int = 0
    bets: int = 0
    wagers: int = 0
    voided: int = 0
    refused: list[RejectedItem] = field(default_factory=list)


class OutcomeCollector:
    """Collects results and settles everything that depends on them.

    Repeating a run does no harm.
    """

    def __init__(
        self,
        *,
        db: Database,
        settings: BetsSettings,
        odds_feed: OddsFeed | None,
        stats_feeds: Sequence[StatsFeed],
        closing_lines: ClosingLineArchive,
        benny_trader: BennyTrader,
        wagers: WagerService,
    ) -> None:
        self._db = db
        self._settings = settings
        self._odds_feed = odds_feed
        self._stats_feeds = stats_feeds
        self._closing_lines = closing_lines
        self._benny_trader = benny_trader
        self._wagers = wagers
        self._results = ResultStore(db)

    async def collect(self, sport: str) -> OutcomeReport:
        """Collect the scores of a sport and settle.

        If the odds feed fails, awaited games are still looked up in the second source. Raises
        NotFound if
        the sport is not enabled.
        """
        count = _Count()
        check_sport(self._settings, sport)
        for score in (await self._scores(sport, count)).scores:
            if score.completed:
                await self._record(score, count)
        await self._backlog(sport, count)
        return OutcomeReport(
            sport,
            count.completed,
            count.corrected,
            count.predictions,
            count.bets,
            count.wagers,
            count.voided,
            tuple(count.refused),
        )

    async def _scores(self, sport: str, count: _Count) -> FeedScores:
        feed = self._odds_feed
        if feed is None:
            return FeedScores(())
        try:
            scores = await feed.fetch_scores(sport, self._settings.score_days)
        except GrandstandError as fault:
            count.refused.append(RejectedItem(f"scores/{sport}", str(fault)))
            return FeedScores(())
        count.refused += [RejectedItem(item.row, item.reason) for item in scores.rejected]
        await record_quota_use(self._db, f"scores/{sport}", scores.usage)
        return scores

    async def _record(self, score: FeedScore, count: _Count) -> None:
        note = await self._db.store(GameInfo.of_game(score.game_id))
        error = score_error(score, note, self._db.now())
        if error is not None:
            count.refused.append(RejectedItem(score.game_id, error))
            return
        result = await self._results.record(score, note)
        count.completed += result.status == "new"
        count.corrected += result.status == "corrected"
        awaited = note is not None and await self._is_awaited(note)
        if note is not None and (awaited or result.status != "known"):
            await self._settle(note, await self._ending(note, result.outcome), count)

    async def _is_awaited(self, note: GameInfo) -> bool:
        awaited = AwaitedGame.by_key(note.sport, note.commence_time, note.game_id)
        return await self._db.store(awaited) is not None

    async def _backlog(self, sport: str, count: _Count) -> None:
        """Settle games that started longer ago than the feed reports scores for."""
        now = self._db.now()
        before = now - timedelta(days=self._settings.score_days)
        waiting = [game async for game in self._db.each(AwaitedGame.started_before(sport, before))]
        outcomes = {
            game.game_id: await self._results.final(sport, game.game_id) for game in waiting
        }
        missing = [game for game in waiting if outcomes[game.game_id] is None]
        others = await self._second_source(sport, missing, count) if missing else {}
        void_before = now - timedelta(days=self._settings.void_days)
        for awaited in waiting:
            note = await self._db.store(GameInfo.of_game(awaited.game_id)) or _note_of(awaited, now)
            outcome, overdue = outcomes[awaited.game_id], awaited.commence_time < void_before
            if outcome is not None:
                ending = await self._ending(note, outcome)
                await self._settle(note, replace(ending, given_up=overdue), count)
                continue
            scores = others.get((slug(awaited.home_team), slug(awaited.away_team)), ())
            score = next((item for item in scores if _same_day(item, awaited)), None)
            if score is not None:
                await self._record(replace(score, game_id=awaited.game_id), count)
            elif overdue:
                count.voided += 1
                await self._settle(note, await self._ending(note, None), count)

    async def _second_source(
        self, sport: str, missing: list[AwaitedGame], count: _Count
    ) -> dict[tuple[str, str], list[FeedScore]]:
        first = min(game.commence_time for game in missing).date() - _ONE_DAY
        last = max(game.commence_time for game in missing).date() + _ONE_DAY
        by_teams: dict[tuple[str, str], list[FeedScore]] = {}
        for feed in self._stats_feeds:
            try:
                results = await feed.fetch_results(sport, first, last)
            except GrandstandError as fault:
                count.refused.append(RejectedItem(feed.name, str(fault)))
                continue
            for score in results.scores:
                if score.completed:
                    key = (slug(score.home_team), slug(score.away_team))
                    by_teams.setdefault(key, []).append(score)
        return by_teams

    async def _ending(self, note: GameInfo, outcome: GameOutcome | None) -> GameEnding:
        now = self._db.now()
        closing = await self._closing_lines.archive(note, now)
        stats: dict[str, dict[str, Decimal]] = {}
        async for row in self._db.each(PlayerStats.of_game(note.game_id)):
            stats[row.player_name] = row.stats
        return GameEnding(
            note.sport,
            note.game_id,
            note.home_team,
            note.away_team,
            Cancelled()
            if outcome is None
            else FinalResult(int(outcome.home_score), int(outcome.away_score)),
            now,
            figures_by_slug(stats),
            closing,
        )

    async def _settle(self, note: GameInfo, ending: GameEnding, count: _Count) -> None:
        """Settle everything that depends on a game. It stays awaited until nothing is pending."""
        verified, pending = await self._verify(ending)
        count.predictions += verified
        bets, bets_pending = await self._benny_trader.settle(ending)
        wagers, wagers_pending = await self._wagers.settle(ending)
        count.bets, count.wagers = count.bets + bets, count.wagers + wagers
        if not (pending or bets_pending or wagers_pending):
            await self._db.store(awaited_game(note).remove())

    async def _verify(self, ending: GameEnding) -> tuple[int, int]:
        """Verify every model's predictions of a game.

        Returns the number of verified predictions and the number that are still pending.
        """
        verified, pending = 0, 0
        for bookmaker in await self._bookmakers(ending.sport):
            rows = Analysis.of_game(ending.sport, ending.game_id, bookmaker)
            for row in [row async for row in self._db.each(rows)]:
                if row.selection is None:
                    continue
                selection = decode_selection(row.selection)
                verdict = ending.verdict(selection)
                if verdict is None or verdict.name == "pending":
                    pending += 1
                    continue
                if row.verdict == verdict.name and row.outcome_verified_at is not None:
                    continue
                closed = ending.closed(selection, row.price)
                update = row.settle(
                    ending.known_at,
                    verdict.name,
                    actual_home_won=ending.home_won,
                    analysis_correct=verdict.correct,
                    outcome=won_share(verdict),
                    closing=round4_or_none(closed.fair),
                    clv=round4_or_none(closed.clv),
                )
                await self._db.store(update)
                verified += 1
        return verified, pending

    async def _bookmakers(self, sport: str) -> Iterable[str]:
        bookmakers = {row.bookmaker async for row in self._db.each(SportBookmaker.of_sport(sport))}
        return sorted(bookmakers | set(self._settings.bookmakers))


def won_share(verdict: Verdict) -> Decimal | None:
    """Return 1 for a win, 0 for a loss, fractions for half results, None if undecided."""
    if not verdict.decided:
        return None
    share = verdict.win + verdict.push / 2
    return round4(share.numerator / share.denominator)


def _same_day(score: FeedScore, awaited: AwaitedGame) -> bool:
    return abs(score.commence_time - awaited.commence_time) <= _ONE_DAY


def _note_of(awaited: AwaitedGame, now: datetime) -> GameInfo:
    return GameInfo(
        game_id=awaited.game_id,
        sport=awaited.sport,
        home_team=awaited.home_team,
        away_team=awaited.away_team,
        commence_time=awaited.commence_time,
        known_at=min(now, awaited.commence_time),
    )
