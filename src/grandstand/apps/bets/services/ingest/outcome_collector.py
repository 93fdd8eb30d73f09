"""The outcome collector: stores results, verifies predictions and settles bets."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime, timedelta
from decimal import Decimal
from typing import TYPE_CHECKING, Final, Literal, TypeAlias

from grandstand.apps.bets.domain.records import FeedScore, FeedScores, RejectedRow, slug
from grandstand.apps.bets.domain.selections import decode_selection
from grandstand.apps.bets.domain.settlement import Cancelled, FinalResult, Verdict
from grandstand.apps.bets.services.benny_trader import BennyTrader
from grandstand.apps.bets.services.database import (
    Database,
    check_sport,
    copy_as,
    round4,
)
from grandstand.apps.bets.services.ingest.odds_collector import (
    OddsFeed,
    awaited_game,
    game_info,
    record_quota_use,
)
from grandstand.apps.bets.services.settlement import GameEnding, archive_closing_lines
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

ResultStatus: TypeAlias = Literal["new", "corrected", "unchanged"]

_MIN_DURATION: Final = timedelta(minutes=30)
_MAX_SCORE: Final = 1000


@dataclass(slots=True)
class OutcomeReport:
    sport: str
    completed: int = 0
    corrected: int = 0
    predictions: int = 0
    bets: int = 0
    wagers: int = 0
    voided: int = 0
    rejected: list[RejectedRow] = field(default_factory=list)


async def load_result(db: Database, sport: str, game_id: str) -> GameOutcome | None:
    """Return the result of a game with its latest correction; None if there is none."""
    outcomes = await db.store(GameOutcome.final(sport, game_id))
    return outcomes[0] if outcomes else None


async def record_result(
    db: Database, score: FeedScore, info: GameInfo | None = None
) -> tuple[GameOutcome, ResultStatus]:
    """Store a final score or its correction with the rows derived from it in one transaction.

    A correction makes the game awaited again, so that its bets are settled again even after a
    crash.
    """
    stored = await load_result(db, score.sport, score.game_id)
    now = db.now()
    if stored is None:
        outcome = game_outcome(score, now)
        if await db.try_transaction(*_writes(outcome, score, now)):
            return outcome, "new"
        stored = await load_result(db, score.sport, score.game_id)
        assert stored is not None  # noqa: S101 - whoever was first has written it
    if (stored.home_score, stored.away_score) == (score.home_score, score.away_score):
        return stored, "unchanged"
    # Later than every correction so far
    earliest = (stored.corrected_at or stored.completed_at) + timedelta(seconds=1)
    corrected = game_outcome(score, now).replace(
        completed_at=stored.completed_at, corrected_at=max(now, earliest)
    )
    await_again = [] if info is None else [awaited_game(info).save()]
    await db.try_transaction(*_writes(corrected, score, now), *await_again)
    return corrected, "corrected"


def score_error(score: FeedScore, info: GameInfo | None, now: datetime) -> str | None:
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
    if info is not None and (slug(info.home_team), slug(info.away_team)) != (
        slug(score.home_team),
        slug(score.away_team),
    ):
        return f"The stored game is {info.home_team} v {info.away_team}."
    return None


def game_outcome(score: FeedScore, now: datetime) -> GameOutcome:
    """Return a score as a row; a draw has no winner."""
    home, away = score.home_score or Decimal(0), score.away_score or Decimal(0)
    winner = None if home == away else score.home_team if home > away else score.away_team
    completed_at = max(score.commence_time + _MIN_DURATION, min(score.updated_at or now, now))
    return copy_as(
        GameOutcome,
        score,
        home_score=home,
        away_score=away,
        winner=winner,
        completed_at=completed_at.replace(microsecond=0),
    )


def _writes(outcome: GameOutcome, score: FeedScore, now: datetime) -> list[Write]:
    line = copy_as(
        ResultRecord,
        outcome,
        commence_time=score.commence_time,
        known_at=max(now, outcome.completed_at),
        corrected=outcome.corrected_at is not None,
    )
    return [outcome.record(), line.record(), *team_outcome_writes(outcome)]


def team_outcome_writes(outcome: GameOutcome) -> tuple[Write, Write]:
    """Return the writes of a result for each team."""
    home = copy_as(
        TeamOutcome,
        outcome,
        team=outcome.home_team,
        opponent=outcome.away_team,
        team_score=outcome.home_score,
        opponent_score=outcome.away_score,
        is_home=True,
    )
    away = home.replace(
        team=home.opponent,
        opponent=home.team,
        team_score=home.opponent_score,
        opponent_score=home.team_score,
        is_home=False,
    )
    return home.record(), away.record()


_ONE_DAY: Final = timedelta(days=1)


@dataclass(frozen=True, slots=True, kw_only=True)
class OutcomeCollector:
    """Collects results and settles everything that depends on them.

    Repeating a run does no harm.
    """

    db: Database
    settings: BetsSettings
    odds_feed: OddsFeed | None
    stats_feeds: Sequence[StatsFeed]
    benny_trader: BennyTrader
    wagers: WagerService

    async def collect(self, sport: str) -> OutcomeReport:
        """Collect the scores of a sport and settle.

        If the odds feed fails, awaited games are still looked up in the second source. Raises
        NotFound if the sport is not enabled.
        """
        report = OutcomeReport(sport)
        check_sport(self.settings, sport)
        for score in (await self._scores(sport, report)).scores:
            if score.completed:
                await self._record(score, report)
        await self._backlog(sport, report)
        return report

    async def _scores(self, sport: str, report: OutcomeReport) -> FeedScores:
        feed = self.odds_feed
        if feed is None:
            return FeedScores(())
        try:
            scores = await feed.fetch_scores(sport, self.settings.score_days)
        except GrandstandError as fault:
            report.rejected.append(RejectedRow(f"scores/{sport}", str(fault)))
            return FeedScores(())
        report.rejected += scores.rejected
        await record_quota_use(self.db, f"scores/{sport}", scores.usage)
        return scores

    async def _record(self, score: FeedScore, report: OutcomeReport) -> None:
        info = await self.db.store(GameInfo.of_game(score.game_id))
        error = score_error(score, info, self.db.now())
        if error is not None:
            report.rejected.append(RejectedRow(score.game_id, error))
            return
        outcome, status = await record_result(self.db, score, info)
        report.completed += status == "new"
        report.corrected += status == "corrected"
        if info is None:
            return
        awaited = AwaitedGame.by_key(info.sport, info.commence_time, info.game_id)
        if status != "unchanged" or await self.db.store(awaited) is not None:
            await self._settle(info, await self._ending(info, outcome), report)

    async def _backlog(self, sport: str, report: OutcomeReport) -> None:
        """Settle games that started longer ago than the feed reports scores for."""
        now = self.db.now()
        before = now - timedelta(days=self.settings.score_days)
        waiting = [game async for game in self.db.each(AwaitedGame.started_before(sport, before))]
        outcomes = {
            game.game_id: await load_result(self.db, sport, game.game_id) for game in waiting
        }
        missing = [game for game in waiting if outcomes[game.game_id] is None]
        others = await self._second_source(sport, missing, report) if missing else {}
        void_before = now - timedelta(days=self.settings.void_days)
        for awaited in waiting:
            info = await self.db.store(GameInfo.of_game(awaited.game_id)) or game_info(
                awaited, min(now, awaited.commence_time)
            )
            outcome, overdue = outcomes[awaited.game_id], awaited.commence_time < void_before
            if outcome is not None:
                ending = await self._ending(info, outcome)
                await self._settle(info, replace(ending, given_up=overdue), report)
                continue
            scores = others.get((slug(awaited.home_team), slug(awaited.away_team)), ())
            score = next(
                (
                    item
                    for item in scores
                    if abs(item.commence_time - awaited.commence_time) <= _ONE_DAY
                ),
                None,
            )
            if score is not None:
                await self._record(replace(score, game_id=awaited.game_id), report)
            elif overdue:
                report.voided += 1
                await self._settle(info, await self._ending(info, None), report)

    async def _second_source(
        self, sport: str, missing: list[AwaitedGame], report: OutcomeReport
    ) -> dict[tuple[str, str], list[FeedScore]]:
        first = min(game.commence_time for game in missing).date() - _ONE_DAY
        last = max(game.commence_time for game in missing).date() + _ONE_DAY
        by_teams: dict[tuple[str, str], list[FeedScore]] = {}
        for feed in self.stats_feeds:
            try:
                results = await feed.fetch_results(sport, first, last)
            except GrandstandError as fault:
                report.rejected.append(RejectedRow(feed.name, str(fault)))
                continue
            for score in results.scores:
                if score.completed:
                    key = (slug(score.home_team), slug(score.away_team))
                    by_teams.setdefault(key, []).append(score)
        return by_teams

    async def _ending(self, info: GameInfo, outcome: GameOutcome | None) -> GameEnding:
        now = self.db.now()
        closing = await archive_closing_lines(self.db, info, now)
        players = self.db.each(PlayerStats.of_game(info.game_id))
        return GameEnding(
            info.sport,
            info.game_id,
            info.home_team,
            info.away_team,
            Cancelled()
            if outcome is None
            else FinalResult(int(outcome.home_score), int(outcome.away_score)),
            now,
            {slug(row.player_name): row.stats async for row in players},
            closing,
        )

    async def _settle(self, info: GameInfo, ending: GameEnding, report: OutcomeReport) -> None:
        """Settle everything that depends on a game. It stays awaited until nothing is pending."""
        verified, pending = await self._verify(ending)
        report.predictions += verified
        bets, bets_pending = await self.benny_trader.settle(ending)
        wagers, wagers_pending = await self.wagers.settle(ending)
        report.bets, report.wagers = report.bets + bets, report.wagers + wagers
        if not (pending or bets_pending or wagers_pending):
            await self.db.store(awaited_game(info).remove())

    async def _verify(self, ending: GameEnding) -> tuple[int, int]:
        """Verify every model's predictions of a game.

        Returns the number of verified predictions and the number that are still pending.
        """
        verified, pending = 0, 0
        for bookmaker in await self._bookmakers(ending.sport):
            rows = Analysis.of_game(ending.sport, ending.game_id, bookmaker)
            for row in [row async for row in self.db.each(rows)]:
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
                    closing=closed.fair,
                    clv=closed.clv,
                )
                await self.db.store(update)
                verified += 1
        return verified, pending

    async def _bookmakers(self, sport: str) -> Iterable[str]:
        bookmakers = {row.bookmaker async for row in self.db.each(SportBookmaker.of_sport(sport))}
        return sorted(bookmakers | set(self.settings.bookmakers))


def won_share(verdict: Verdict) -> Decimal | None:
    """Return 1 for a win, 0 for a loss, fractions for half results, None if undecided."""
    if not verdict.decided:
        return None
    share = verdict.win + verdict.push / 2
    return round4(share.numerator / share.denominator)
