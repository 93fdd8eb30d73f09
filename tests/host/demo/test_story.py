"""While the demo plays, a phone follows the match, cards fill, and the days before were played."""

import asyncio
from collections.abc import Awaitable, Callable
from datetime import UTC, datetime
from pathlib import Path
from random import Random

import pytest

from grandstand.apps.bets.app import CARD as BETS
from grandstand.apps.cricket.app import CARD as CRICKET
from grandstand.apps.keiba.app import CARD as KEIBA
from grandstand.base.clock import SystemClock
from grandstand.host.demo.birth import Birth
from grandstand.host.demo.past import Past, live_through
from grandstand.host.demo.phones import PhoneStory
from grandstand.host.demo.story import has_past, paced
from grandstand.host.demo.world import Demo, playing
from grandstand.host.house import House
from grandstand.host.settings import DemoSettings, Settings
from grandstand.kit.jobs.job import Every, Job, Run
from grandstand.kit.who.caller import LOCAL_OWNER
from grandstand.simulators.push import Wall

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
        playing(settings, clock=clock, apps=["cricket"]) as demo,
        House.open(settings, clock=clock, apps=(CRICKET,), demo=demo) as house,
        house.background.running(),
    ):
        assert demo is not None
        assert demo.phones is not None
        cricket, phones = house.services["cricket"], demo.phones

        async def shows_the_score() -> bool:
            return any(lock.state.get("teams") for lock in phones.locks())

        await _until(shows_the_score)
        elsewhere = PhoneStory(Wall(clock, Random(1)), phones.fixtures, demo.folder)
        await _until(lambda: asyncio.to_thread(lambda: bool(elsewhere.locks())))

        followed = await cricket.follows(LOCAL_OWNER)

    assert str(demo.fixtures.live_id if demo.fixtures else 0) in {one.match_id for one in followed}
    assert phones.changes() > 0


async def test_the_next_card_fills_by_itself(tmp_path: Path) -> None:
    settings = _settings(tmp_path)
    async with (
        playing(settings, apps=["keiba"]) as demo,
        House.open(settings, apps=(KEIBA,), demo=demo) as house,
    ):
        job = next(one for one in house.background.runner.jobs if one.name == "demo.races")

        said = await job.work(_run(job.name))

        race = await house.services["keiba"].next_off()
        card = await house.services["keiba"].kept_card(race.entry.race_id)
    assert card is not None
    assert said == f"{race.entry.race_id}: {len(card.runners)} runners"


async def test_jobs_of_bets_are_done_often_but_not_before_there_is_a_past(tmp_path: Path) -> None:
    demo = await _demo(tmp_path)
    job = Job("bets.odds_collector", "Collect odds.", Every(14_400), _done)

    quick = paced(job, demo)
    early = await quick.work(_run(job.name))
    (demo.folder / "past.done").touch()

    assert isinstance(quick.when, Every)
    assert quick.when.seconds < 600
    assert early == "waits until the simulated past is played"
    assert (has_past(demo), await quick.work(_run(job.name))) == (True, "done")


async def test_a_day_that_was_lived_through_left_what_benny_made_of_it(tmp_path: Path) -> None:
    now = SystemClock().now().replace(minute=0, second=0, microsecond=0)
    past = Past(str(tmp_path), Birth(now.replace(hour=0)), now, days=1)
    said: list[str] = []

    await live_through(past, said.append)

    async with House.open(Settings(home=tmp_path), apps=(BETS,)) as house:
        bets = house.services["bets"]
        considered = await bets.shadow_bets(limit=5)
        (first, *_) = (await bets.games(bets.sports()[0], limit=1)).items
        moved = (await bets.game(first.game_id)).lines
    assert len(said) == 7
    assert considered.items
    assert max(len(line.points) for line in moved) > 1


async def _done(_run: Run) -> str:
    return "done"


def _run(name: str) -> Run:
    return Run(name, 1, 1, SystemClock().now(), lambda _line: None)


async def _demo(home: Path) -> Demo:
    async with playing(_settings(home), apps=["bets"]) as demo:
        assert demo is not None
        return demo
