"""Cost of profile updates with many attempts, and submissions per second through the API."""

from __future__ import annotations

import asyncio
import os
import re
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import UTC, datetime, timedelta
from pathlib import Path
from random import Random
from tempfile import TemporaryDirectory
from typing import Any

import httpx2

from benchmarks.harness.rows import Limit, Row, Times
from grandstand.apps.trainer.domain.evaluation import (
    DIMENSION_NAMES,
    Answer,
    DimensionScore,
    Evaluation,
    overall_score,
)
from grandstand.apps.trainer.services.profiles import ProfileService
from grandstand.apps.trainer.services.scenarios import ScenarioService
from grandstand.apps.trainer.settings import TrainerSettings
from grandstand.apps.trainer.store import TABLES, Attempt, TrainerStore, UserTotals
from grandstand.core.clock import SystemClock
from grandstand.storage.tables import AsyncStore, Naming, Store
from grandstand.storage.tables.engines.sqlite import SqliteEngine

_FEW, _MANY = 10, 10_000
_UPDATES = 200
_SUBMISSIONS = 1_500
_AT_ONCE = 16
_BEGAN = datetime(2026, 1, 1, tzinfo=UTC)
_ANSWER = (
    "I would first ask which patients each hospital takes in, because a hospital that takes in "
    "the gravest cases loses more of them, however good it is. Suppose that a third of its "
    "patients come by ambulance: then a rate of 4 percent may be better than 3 percent "
    "elsewhere. If the figures were split by how ill people were, I could be more certain; as it "
    "stands I would put it at 60 percent. On the other hand, a large hospital practises more."
)


def rows() -> list[Row]:
    """Run the benchmarks of the service."""
    return [*following(), submitting()]


class _NullPublisher:
    """Publishes nothing."""

    def publish(self, topic: str, news: dict[str, Any]) -> None:
        """Do nothing."""


def following() -> list[Row]:
    """Measure one update of a profile with few and with many attempts."""
    few, many = (_update_milliseconds(count) for count in (_FEW, _MANY))
    return [
        Row(
            measure=f"profile update after {_MANY:,} attempts",
            unit="ms",
            ours=many,
            peers={f"after {_FEW}": few},
            aim=Times(0.5, f"after {_FEW}"),
            higher_is_better=False,
        )
    ]


def _update_milliseconds(count: int) -> float:
    clock, random = SystemClock(), Random(count)
    with (
        TemporaryDirectory() as folder,
        Store(
            SqliteEngine.open(Path(folder) / "tables.db", clock=clock), naming=Naming(), clock=clock
        ) as store,
    ):
        store.create(TABLES)
        kept = [_completed(number, random) for number in range(count)]
        store.write_many(each.put() for each in kept)
        total = sum(each.evaluation.overall_score for each in kept if each.evaluation)
        totals = UserTotals(user_id="ada", attempt_count=count, score_sum=total, revision=count)
        store(totals.recount(0))
        return asyncio.run(_updated(store, clock))


async def _updated(store: Store, clock: SystemClock) -> float:
    tables, settings = AsyncStore(store), TrainerSettings()
    trainer_store = TrainerStore(tables, clock, Random(1))
    profiles = ProfileService(
        store=trainer_store,
        scenarios=ScenarioService(store=trainer_store, settings=settings),
        publisher=_NullPublisher(),
        window=settings.window,
    )
    took = []
    for _ in range(_UPDATES):
        await tables(UserTotals.rescore("ada", 0))
        before = time.perf_counter()
        await profiles.update("ada")
        took.append(time.perf_counter() - before)
    return sorted(took)[_UPDATES // 2] * 1000


def _completed(number: int, random: Random) -> Attempt:
    moment = _BEGAN + timedelta(minutes=number)
    scores = {name: random.randint(0, 4) for name in DIMENSION_NAMES}
    reasons = ("The position is stated early and its terms are fixed.",) * 3
    dimensions = tuple(DimensionScore(name, score, reasons) for name, score in scores.items())
    return Attempt(
        attempt_id=f"attempt-{number:06}",
        user_id="ada",
        scenario_id=f"scenario-{number % 18}",
        timestamp=moment,
        answers=(Answer("q1", "What would you want to know?", _ANSWER, 85),),
        evaluation=Evaluation(overall_score(scores), dimensions, "Go on.", "offline/1", moment),
        duration_seconds=600,
        status="completed",
        submitted_at=moment,
    )


def submitting() -> Row:
    """Measure submissions per second through the API of a whole server, evaluated offline."""
    with TemporaryDirectory() as folder, _platform(Path(folder)) as address:
        rate, lost = asyncio.run(_submitted(address))
    return Row(
        measure=f"submissions through the API, judged; {lost} of {_SUBMISSIONS:,} lost",
        unit="submissions/s",
        ours=0.0 if lost else rate,
        aim=Limit(100),
    )


@contextmanager
def _platform(folder: Path) -> Iterator[str]:
    """Run a server with jobs in another process, and yield its address."""
    environment = {**os.environ, "GRANDSTAND_HOME": str(folder), "GRANDSTAND_LOG_LEVEL": "warning"}
    command = [sys.executable, "-m", "grandstand", "up", "--port", "0"]
    running = subprocess.Popen(command, env=environment, stderr=subprocess.PIPE, text=True)
    try:
        yield _address(running)
    finally:
        running.terminate()
        running.wait(30)


def _address(running: subprocess.Popen[str]) -> str:
    for line in running.stderr or ():
        found = re.search(r"http://[\d.]+:\d+", line)
        if found:
            return found.group()
    message = "The server did not start"
    raise RuntimeError(message)


async def _submitted(address: str) -> tuple[float, int]:
    async with httpx2.AsyncClient(
        base_url=f"{address}/api/trainer", timeout=30, trust_env=False
    ) as client:
        scenario = await _offered(client)
        numbers = iter(range(_SUBMISSIONS))
        before = time.perf_counter()
        done = await asyncio.gather(*(_submit(client, scenario, numbers) for _ in range(_AT_ONCE)))
        seconds = time.perf_counter() - before
        kept = await _kept(client)
    answered = {attempt_id for part in done for attempt_id in part}
    return len(answered) / seconds, _SUBMISSIONS - len(answered & kept)


async def _offered(client: httpx2.AsyncClient) -> dict[str, Any]:
    """Wait until the scenarios are loaded, and return the first without a forecast."""
    async with asyncio.timeout(60):
        while True:
            listed = (await client.get("/scenarios")).json()["scenarios"]
            plain = [
                each["scenario"]
                for each in listed
                if not any(question["forecast"] for question in each["scenario"]["questions"])
            ]
            if plain:
                return dict(plain[0])
            await asyncio.sleep(0.2)


async def _submit(
    client: httpx2.AsyncClient, scenario: dict[str, Any], numbers: Iterator[int]
) -> list[str]:
    answered = []
    for number in numbers:
        work = {
            "scenarioId": scenario["scenarioId"],
            "clientToken": f"number-{number}",
            "answers": [
                {"questionId": each["questionId"], "answer": f"{_ANSWER} Said {number}."}
                for each in scenario["questions"][:2]
            ],
        }
        reply = await client.post("/attempts", json=work)
        if reply.status_code == httpx2.codes.CREATED:
            answered.append(reply.json()["attemptId"])
    return answered


async def _kept(client: httpx2.AsyncClient) -> set[str]:
    """Return the ids of all evaluated attempts."""
    found: set[str] = set()
    cursor = None
    while True:
        asked = {"limit": 100} if cursor is None else {"limit": 100, "cursor": cursor}
        page = (await client.get("/attempts", params=asked)).json()
        found |= {e["attemptId"] for e in page["attempts"] if e["status"] == "completed"}
        cursor = page["cursor"]
        if cursor is None:
            return found
