"""A platform in which something happened in every application, written down rather than played."""

from collections.abc import AsyncIterator, Iterable
from contextlib import asynccontextmanager
from dataclasses import dataclass
from datetime import datetime, timedelta
from decimal import Decimal
from pathlib import Path

from grandstand.apps.bets.store.games import AwaitedGame, GameInfo
from grandstand.apps.bets.store.predictions import Analysis
from grandstand.apps.bets.store.wagers import Wager
from grandstand.apps.cricket.store.fixtures import Fixture, League, Team
from grandstand.apps.gatherer.store import MARKET_EVENTS, MarketEvent
from grandstand.apps.keiba.store import Watch
from grandstand.apps.trainer.services import Trainer
from grandstand.apps.trainer.sources.scenario_files import load_library
from grandstand.host.runtime import Platform
from grandstand.host.server.application import build_application
from grandstand.host.settings import Settings
from grandstand.kit.auth.caller import LOCAL_OWNER
from grandstand.storage.tables import Entity
from tests.apps.bets.records import ANALYSIS, BENNY_BET, CELTICS, LAKERS
from tests.pages.app_server import OpenApp
from tests.pages.platform_server import EXCHANGE, RACING

GAME, MATCH, TICKER, HORSE = "g1", "71344", "KXNBAGAME-26NOV17LALBOS-LAL", "2021105678"
NBA = "basketball_nba"
# Of four bets at even money or better, three are won; Benny wins two of three.
_DECIDED = 16


@dataclass(frozen=True)
class SamplePlatform:
    """How the platform is opened, and where it keeps everything."""

    folder: Path

    @asynccontextmanager
    async def __call__(self) -> AsyncIterator[OpenApp]:
        settings = Settings(home=self.folder, keiba=RACING, gatherer=EXCHANGE)
        async with Platform.open(settings) as platform:
            now = platform.clock.now().replace(microsecond=0)
            for row in (*_bets(now), *_chances(now), *_cricket(now), _watched(now)):
                await platform.store(row.put())
            await _tell(platform, now)
            trainer: Trainer = platform.services["trainer"]
            await trainer.scenarios.load(load_library())
            yield OpenApp(build_application(platform)[0], platform.hub)


def _bets(now: datetime) -> Iterable[Entity]:
    note = GameInfo(
        game_id=GAME,
        sport=NBA,
        home_team=LAKERS,
        away_team=CELTICS,
        commence_time=now + timedelta(hours=5),
        known_at=now,
    )
    yield note
    yield AwaitedGame(
        game_id=GAME,
        sport=NBA,
        home_team=LAKERS,
        away_team=CELTICS,
        commence_time=note.commence_time,
    )


def _chances(now: datetime) -> Iterable[Entity]:
    for at in range(_DECIDED):
        when = now - timedelta(days=1, hours=at)
        won = at % 4 != 0
        yield Wager(
            user_id=LOCAL_OWNER.user_id,
            wager_id=f"w{at:02}",
            game_id=f"past{at}",
            sport=NBA,
            home_team=LAKERS,
            away_team=CELTICS,
            commence_time=when,
            market_key="h2h",
            selection="h2h:home",
            prediction=LAKERS,
            odds=(-150, 110)[at % 2],
            stake_cents=1000,
            placed_at=when,
            status="settled",
            verdict="win" if won else "loss",
            profit_cents=900 if won else -1000,
            settled_at=when,
        )
        yield BENNY_BET.replace(
            bet_id=f"BET#{at}",
            game_id=f"past{at}",
            confidence=Decimal("0.55") + Decimal(at % 3) / 10,
            commence_time=when,
            placed_at=when,
            status="won" if at % 3 else "lost",
        )
        yield _verified(at, when)


def _verified(at: int, when: datetime) -> Analysis:
    return ANALYSIS.replace(
        game_id=f"past{at}",
        confidence=Decimal("0.52") + Decimal(at % 5) / 20,
        commence_time=when,
        created_at=when,
        analysis_correct=at % 2 == 0,
        outcome_verified_at=when,
        latest=False,
    )


def _cricket(now: datetime) -> Iterable[Entity]:
    yield League(league_id="5", name="Big Bash League", code="BBL", active=True)
    yield Team(team_id="1", name="Sydney Sixers", code="SIX")
    yield Team(team_id="2", name="Perth Scorchers", code="SCO")
    yield Fixture(
        match_id=MATCH,
        league_code="BBL",
        league_id="5",
        start_time=now + timedelta(hours=2),
        home_team_id="1",
        away_team_id="2",
        format="T20",
        round="Final",
        status="NS",
    )


def _watched(now: datetime) -> Watch:
    return Watch(
        user_id=LOCAL_OWNER.user_id, horse_id=HORSE, horse_name="スタンドビュー", watched_at=now
    )


async def _tell(platform: Platform, now: datetime) -> None:
    """Record a market, and what happened in the platform."""
    stamp = int(now.timestamp() * 1_000_000)
    title = "Lakers to beat Celtics?"
    platform.series.prepare(MARKET_EVENTS)
    platform.series.append(
        MARKET_EVENTS, [MarketEvent(stamp, TICKER, "listed", "rest", title=title)]
    )
    record, owner = platform.events.record, LOCAL_OWNER.user_id
    settled = f"Your bet on {LAKERS}, {LAKERS} v {CELTICS}: win, +$9.00"
    await record("bets", "settled", settled, f"/bets/games/{GAME}", user_id=owner)
    await record("gatherer", "gaps-closed", "home closed 1 gap, none open", "/gatherer/coverage")
    await record("cricket", "wicket", "Wicket: Sixers 41-2", f"/cricket/matches/{MATCH}")
    await record("keiba", "result", "Tokyo 11R: スタンドビュー", "/keiba/watched")
