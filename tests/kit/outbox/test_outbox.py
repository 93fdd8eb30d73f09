"""A consequence is written with its cause and delivered, whoever dies in between."""

from __future__ import annotations

import asyncio
import os
import signal
import subprocess
import sys
from dataclasses import replace
from datetime import timedelta
from pathlib import Path

import msgspec
import pytest

from grandstand.core.clock import SystemClock
from grandstand.core.errors import InvalidInput, NotFound, SourceFailed, Unavailable
from grandstand.kit.outbox import OutboxMessage
from grandstand.storage.tables.errors import TransactionCancelled
from tests.kit.jobs.conftest import once, until
from tests.kit.outbox import causing
from tests.kit.outbox.causing import Cause
from tests.kit.outbox.conftest import QUICK, Desk

pytestmark = pytest.mark.anyio

ROOT = Path(__file__).parents[3]


class Refused(SourceFailed):
    """The receiver will never take it."""

    retry = False


class Receiver:
    """Whoever gets what is delivered, and may fail a few times first."""

    def __init__(self, *faults: Exception, seconds: float = 0.0) -> None:
        self.got: list[str] = []
        self.tries = 0
        self._faults = list(faults)
        self._seconds = seconds

    async def take(self, consequence: OutboxMessage) -> None:
        self.tries += 1
        await asyncio.sleep(self._seconds)
        if self._faults:
            raise self._faults.pop(0)
        self.got.append(consequence.idempotency_key)


async def test_what_a_killed_process_wrote_is_delivered_once_a_key(desk: Desk) -> None:
    command = [sys.executable, "-m", causing.__name__, desk.place, desk.prefix]
    environment = {**os.environ, "PYTHONPATH": f"{ROOT}{os.pathsep}{ROOT / 'src'}"}
    killed = await asyncio.to_thread(
        subprocess.run, command, cwd=ROOT, env=environment, check=False
    )
    receiver = Receiver()

    async with (
        desk.delivering({"told": receiver.take}),
        desk.delivering({"told": receiver.take}),
    ):
        await until(lambda: len(receiver.got) >= 3)
        await asyncio.sleep(0.5)

    assert killed.returncode == -signal.SIGKILL
    assert sorted(receiver.got) == ["cause 0", "cause 1", "cause 2"]


async def test_a_cause_that_fails_has_no_consequence(desk: Desk) -> None:
    store, outbox = desk.store(), desk.outbox()
    await store(Cause(name="wicket").put())

    with pytest.raises(TransactionCancelled):
        await store.all(
            Cause(name="wicket").put().if_absent(), outbox.write("told", "wicket", {"n": 1})
        )

    assert await outbox.waiting("told") == ()


async def test_the_same_key_is_the_same_consequence(desk: Desk) -> None:
    outbox, receiver = desk.outbox(), Receiver()
    first = await outbox.put("told", "ball 17", {"n": 1})

    async with desk.delivering({"told": receiver.take}):
        await until(lambda: receiver.got == ["ball 17"])
        await asyncio.sleep(0.2)
        second = await outbox.put("told", "ball 17", {"n": 2})
        await asyncio.sleep(0.3)

    kept = await outbox.find("told", "ball 17")
    assert (first, second, receiver.got) == (True, False, ["ball 17"])
    assert kept is not None
    assert (kept.stage, msgspec.json.decode(kept.body)) == ("delivered", {"n": 1})


async def test_what_fails_is_tried_again_later(desk: Desk) -> None:
    outbox = desk.outbox()
    receiver = Receiver(Unavailable("not now"), RuntimeError("odd"))
    await outbox.put("told", "goal", None)

    async with desk.delivering({"told": receiver.take}):
        await until(lambda: receiver.got == ["goal"])
        await asyncio.sleep(0.2)

    kept = await outbox.find("told", "goal")
    assert kept is not None
    assert (receiver.tries, kept.tries, kept.stage) == (3, 3, "delivered")


@pytest.mark.parametrize(
    ("faults", "tries"),
    [([Refused("never")], 1), ([Unavailable("not now")] * 9, 3)],
    ids=["final", "too often"],
)
async def test_what_cannot_be_delivered_is_given_up_and_can_be_tried_anew(
    desk: Desk, faults: list[Exception], tries: int
) -> None:
    outbox, receiver = desk.outbox(), Receiver(*faults)
    await outbox.put("told", "goal", None)

    async with desk.delivering({"told": receiver.take}):
        dead = await once(outbox.dead)
        healed = Receiver()
    await outbox.again("told", "goal")
    async with desk.delivering({"told": healed.take}):
        await until(lambda: healed.got == ["goal"])

    assert [(each.idempotency_key, each.tries) for each in dead] == [("goal", tries)]
    assert str(faults[0]) in (dead[0].last_error or "")
    assert await outbox.dead() == ()


async def test_a_receiver_that_hangs_is_left_and_holds_nobody_up(desk: Desk) -> None:
    outbox, hanging, quick = desk.outbox(), Receiver(seconds=30), Receiver()
    await outbox.put("slow", "one", None)
    await outbox.put("told", "two", None)

    impatient = replace(QUICK, try_seconds=0.5)
    async with desk.delivering({"slow": hanging.take, "told": quick.take}, impatient):
        await until(lambda: quick.got == ["two"])
        await until(lambda: hanging.tries == 2)

    kept = await outbox.find("slow", "one")
    assert kept is not None
    assert kept.stage == "waiting"


async def test_a_stopped_deliverer_gives_back_what_it_had_not_finished(desk: Desk) -> None:
    outbox, slow, quick = desk.outbox(), Receiver(seconds=30), Receiver()
    await outbox.put("told", "goal", None)

    async with desk.delivering(
        {"told": slow.take}, replace(QUICK, try_seconds=60, stop_seconds=0.6)
    ):
        await until(lambda: slow.tries == 1)
    async with desk.delivering({"told": quick.take}):
        await until(lambda: quick.got == ["goal"])

    kept = await outbox.find("told", "goal")
    assert slow.got == []
    assert kept is not None
    assert kept.last_error is None


async def test_a_deliverer_leaves_alone_what_others_deliver(desk: Desk) -> None:
    outbox, receiver, other = desk.outbox(), Receiver(), Receiver()
    await outbox.put("other", "wicket", None)
    await outbox.put("told", "goal", None)

    async with desk.delivering({"told": receiver.take}):
        await until(lambda: receiver.got == ["goal"])
        await asyncio.sleep(0.3)
        [waiting] = await outbox.waiting("other")
        async with desk.delivering({"other": other.take}):
            await until(lambda: other.got == ["wicket"])

    assert (waiting.tries, waiting.last_error) == (0, None)
    assert 'outbox_waiting{topic="told"} 0.0' in desk.metrics.exposition().decode()


async def test_many_wait_their_turn_and_each_comes_once(desk: Desk) -> None:
    outbox, receiver = desk.outbox(), Receiver()
    keys = [f"ball {number:03d}" for number in range(5 * QUICK.at_once)]
    await asyncio.gather(*(outbox.put("told", key, None) for key in keys))

    async with (
        desk.delivering({"told": receiver.take}),
        desk.delivering({"told": receiver.take}),
    ):
        await until(lambda: len(receiver.got) >= len(keys))
        await asyncio.sleep(0.3)

    assert sorted(receiver.got) == keys


async def test_a_consequence_can_be_due_later(desk: Desk) -> None:
    outbox, receiver = desk.outbox(), Receiver()
    due_at = SystemClock().now() + timedelta(seconds=1)
    await outbox.put("told", "later", None, due_at=due_at)

    async with desk.delivering({"told": receiver.take}):
        await until(lambda: receiver.got == ["later"])
        heard_at = SystemClock().now()

    assert receiver.tries == 1
    assert heard_at >= due_at - timedelta(milliseconds=1)


async def test_what_cannot_be_kept_is_refused(desk: Desk) -> None:
    outbox = desk.outbox()

    with pytest.raises(InvalidInput, match="cannot be encoded"):
        outbox.write("told", "odd", object())
    with pytest.raises(InvalidInput, match="Refer to larger data by key"):
        outbox.write("told", "large", "x" * 300_000)
    with pytest.raises(NotFound, match="No dead message"):
        await outbox.again("told", "unknown")
