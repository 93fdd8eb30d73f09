"""The next start completes what a killed process left undone."""

import asyncio
import signal
import subprocess
import sys
from decimal import Decimal
from pathlib import Path
from random import Random

import pytest

from grandstand.apps.trainer.services import app_services
from grandstand.apps.trainer.store import Profile
from grandstand.core.clock import SystemClock
from grandstand.core.metrics import Metrics
from grandstand.kit.outbox import Deliverer, DeliveryPolicy
from grandstand.storage.tables import Store
from tests.apps.trainer.services.crashing import PLACES, opened
from tests.apps.trainer.stage import ADA, SCENARIOS, Stage, saying, staged

pytestmark = pytest.mark.anyio

ROOT = Path(__file__).parents[4]


def _killed(path: Path, where: str) -> int:
    command = [sys.executable, "-m", "tests.apps.trainer.services.crashing", str(path), where]
    return subprocess.run(command, cwd=ROOT, timeout=180, check=False).returncode


async def _started_again(store: Store) -> Stage:
    """Run deliveries and profile updates until nothing is left to do."""
    stage = staged(store, SystemClock())
    deliverer = Deliverer(
        stage.store,
        app_services(stage.trainer).outbox_handlers,
        clock=SystemClock(),
        random=Random(1),
        metrics=Metrics(),
        policy=DeliveryPolicy(look_seconds=0.05),
    )
    running = asyncio.create_task(deliverer.run())

    async with asyncio.timeout(30):
        while await stage.outbox.waiting("trainer.evaluate"):  # noqa: ASYNC110 - seen so only
            await asyncio.sleep(0.05)
    await deliverer.stop()
    await running
    await stage.follow()
    return stage


@pytest.mark.parametrize("where", PLACES)
async def test_a_kill_is_made_up_for_by_the_next_start(tmp_path: Path, where: str) -> None:
    path = tmp_path / "tables.db"
    with opened(path) as store:
        await staged(store, SystemClock()).trainer.scenarios.load(SCENARIOS)

    ended = _killed(path, where)
    with opened(path) as store:
        stage = await _started_again(store)
        again = await stage.trainer.attempts.submit_new(ADA.user_id, "a-poll", saying(3), "t1")
        latest = await stage.trainer.profiles.latest(ADA.user_id)
        source = (await stage.store(Profile.latest("ada")))[0].source_attempt_id
        [rebuilt] = await stage.trainer.profiles.rebuild_all()

    assert ended == -signal.SIGKILL
    assert again.status == "completed"
    assert latest is not None
    assert (latest.attempt_count, latest.overall_average) == (1, Decimal(75))
    assert source == again.attempt_id
    assert rebuilt.differences == ()
