"""While the demo plays, a phone follows the match, cards fill, and the days before were played."""

import asyncio
from collections.abc import Awaitable, Callable
from datetime import UTC, datetime
from pathlib import Path
from random import Random

import pytest

from grandstand.apps.bets.app import APP as BETS
from grandstand.apps.cricket.app import APP as CRICKET
from grandstand.apps.keiba.app import APP as KEIBA
from grandstand.core.clock import SystemClock
from grandstand.host.demo.cricket import DemoPhone
from grandstand.host.demo.history import simulate_days
from grandstand.host.demo.jobs import HistoryRequest, has_history, with_demo_schedule
from grandstand.host.demo.world import Demo, open_demo
from grandstand.host.demo.world_state import WorldState
from grandstand.host.runtime import Platform
from grandstand.host.settings import DemoSettings, Settings
from grandstand.kit.auth.caller import LOCAL_OWNER
from grandstand.kit.jobs.job import Every, Job, JobContext
from grandstand.simulators.push.phones import PhoneWall

pytestmark = pytest.mark.anyio
_PATIENCE_SECONDS = 120.0


def _settings(home: Path) -> Settings:
    return Settings(home=home, demo=DemoSettings(play="on"))


async def _until(true: Callable[[], Awaitable[bool]]) -> None:
    async with asyncio.timeout(_PATIENCE_SECONDS):
        while not await true():  # noqa: ASYNC110 - told by nothing else
            await asyncio.sleep(0.05)


class MatchClock(SystemClock):
    """The machine's clock, moved so that it begins a quarter of an hour into a match."""

    def __init__(self) -> None:
        self._ahead = datetime(2026, 11, 16, 0, 16, tzinfo=UTC) - super().now()

    def now(self) -> datetime:
        return super().now() + self._ahead

    def epoch(self) -> float:
        return self.now().timestamp()


async def test_a_push_reaches_the_lock_screen_of_the_simulated_phone(tmp_path: Path) -> None:
    settings, clock = _settings(tmp_path), MatchClock()
    async with (
        open_demo(settings, clock=clock, apps=["cricket"]) as demo,
        Platform.open(settings, clock=clock, apps=(CRICKET,), demo=demo) as platform,
        platform.background.running(),
    ):
        assert demo is not None
        assert demo.phones is not None
        cricket, phones = platform.services["cricket"], demo.phones

        async def shows_the_score() -> bool:
            return any(lock.state.get("teams") for lock in phones.locks())

        await _until(shows_the_score)
        elsewhere = DemoPhone(PhoneWall(clock, Random(1)), phones.fixtures, demo.folder)
        await _until(lambda: asyncio.to_thread(lambda: bool(elsewhere.locks())))

        followed = await cricket.follows.of_user(LOCAL_OWNER.user_id)

    assert str(demo.fixtures.live_id if demo.fixtures else 0) in {one.match_id for one in followed}
    assert phones.changes() > 0


async def test_the_next_card_fills_by_itself(tmp_path: Path) -> None:
    settings = _settings(tmp_path)
    async with (
        open_demo(settings, apps=["keiba"]) as demo,
        Platform.open(settings, apps=(KEIBA,), demo=demo) as platform,
    ):
        job = next(one for one in platform.background.runner.jobs if one.name == "demo.races")

        said = await job.work(_run(job.name))

        race = await platform.services["keiba"].days.next_race()
        card = await platform.services["keiba"].cards.cached(race.entry.race_id)
    assert card is not None
    assert said == f"{race.entry.race_id}: {len(card.runners)} runners"


async def test_jobs_of_bets_are_done_often_but_not_before_there_is_a_past(tmp_path: Path) -> None:
    demo = await _demo(tmp_path)
    job = Job("bets.odds_collector", "Collect odds.", Every(14_400), _done)

    quick = with_demo_schedule(job, demo)
    early = await quick.work(_run(job.name))
    (demo.folder / "past.done").touch()

    assert isinstance(quick.when, Every)
    assert quick.when.seconds < 600
    assert early == "waiting for the demo history"
    assert (has_history(demo), await quick.work(_run(job.name))) == (True, "done")


async def test_a_day_that_was_lived_through_left_what_benny_made_of_it(tmp_path: Path) -> None:
    now = SystemClock().now().replace(minute=0, second=0, microsecond=0)
    past = HistoryRequest(str(tmp_path), WorldState(now.replace(hour=0)), now, days=1)
    said: list[str] = []

    await simulate_days(past, said.append)

    async with Platform.open(Settings(home=tmp_path), apps=(BETS,)) as platform:
        bets = platform.services["bets"]
        considered = await bets.benny.shadow_bets(limit=5)
        (first, *_) = (await bets.games.upcoming(bets.settings.sports[0], limit=1)).items
        moved = (await bets.games.get(first.game_id)).lines
    assert len(said) == 7
    assert considered.items
    assert max(len(line.points) for line in moved) > 1


async def _done(_run: JobContext) -> str:
    return "done"


def _run(name: str) -> JobContext:
    return JobContext(name, 1, 1, SystemClock().now(), lambda _line: None)


async def _demo(home: Path) -> Demo:
    async with open_demo(_settings(home), apps=["bets"]) as demo:
        assert demo is not None
        return demo
