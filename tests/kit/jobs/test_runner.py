"""Runners on one store run each job once, when it is due, and say how it went."""

from __future__ import annotations

import asyncio
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from random import Random

import pytest
from structlog.testing import capture_logs

from grandstand.core.clock import ManualClock, SystemClock
from grandstand.core.errors import InvalidInput, NotAllowed, SourceFailed
from grandstand.kit.jobs.job import Continuous, Cron, Every, Job, JobContext
from grandstand.kit.jobs.runner import JobRunner, RunnerConfig, lease_name
from grandstand.kit.jobs.tables import JOB_TABLES, JobState
from grandstand.storage.tables.platform_tables import PLATFORM_TABLES, LeaseRecord
from tests.kit.jobs.conftest import QUICK, Floor, once, until

pytestmark = pytest.mark.anyio

SOON = Every(3600, jitter=0.0)
PATIENT = RunnerConfig(lease_seconds=90.0, grace_seconds=0.5, look_seconds=0.1, stop_seconds=1.0)
GENTLE = RunnerConfig(look_seconds=0.1, stop_seconds=10.0)


class Counting:
    """Work that counts its runs, and can take time or fail a few times first."""

    def __init__(self, *, seconds: float = 0.0, failing: int = 0) -> None:
        self.runs: list[JobContext] = []
        self.ended = 0
        self._seconds = seconds
        self._failing = failing

    async def work(self, run: JobContext) -> str | None:
        self.runs.append(run)
        await asyncio.sleep(self._seconds)
        if len(self.runs) <= self._failing:
            message = f"no answer from https://example.test/?apiKey=hunter2hunter2 ({run.attempt})"
            raise SourceFailed(message)
        self.ended += 1
        return f"did it {len(self.runs)}"


def job(counting: Counting, when: Every | Cron | Continuous = SOON, **more: object) -> Job:
    return Job("tests.count", "Counts.", when, counting.work, **more)  # type: ignore[arg-type]


def at_hand(floor: Floor) -> ManualClock:
    """Give a floor a clock that stands until it is moved."""
    floor.clock = clock = ManualClock(SystemClock().now())
    return clock


async def is_over(floor: Floor, runs: int) -> None:
    """Wait until so many runs have ended and are written down."""
    await until(lambda: sum(news["state"] == "ended" for _, news in floor.listener.heard) == runs)


async def test_two_runners_on_one_store_run_a_job_once_each_time(floor: Floor) -> None:
    clock, counting = at_hand(floor), Counting()
    counted, begun_at = job(counting), clock.now()

    async with floor.running(counted, instance="one"), floor.running(counted, instance="two"):
        for hour in range(4):
            await is_over(floor, hour + 1)
            clock.advance(3600)
        await is_over(floor, 5)

    tokens = [run.token for run in counting.runs]
    starts = [(run.started_at - begun_at).total_seconds() for run in counting.runs]
    assert starts == [0, 3600, 7200, 10_800, 14_400]
    assert tokens == sorted(set(tokens))


async def test_a_dead_instances_job_is_begun_as_soon_as_its_lease_and_the_grace_have_passed(
    floor: Floor,
) -> None:
    clock, counting, looking = at_hand(floor), Counting(), Counting()
    died_at, store = clock.now(), floor.store()
    enrolled = await store(JobState.enrol("tests.count", "Counts.", "every 1 h", died_at, died_at))
    await store(enrolled.begin(1, "dead", died_at))
    held = LeaseRecord(name=lease_name("tests.count"), epoch=1, owner="dead", nonce="dead")
    await store(held.replace(expires_at=died_at + timedelta(seconds=10)).put())
    # Whoever sees that this one is due has seen how it is with the other.
    seen = Job("tests.looking", "Shows that it was looked.", Every(5.0, jitter=0.0), looking.work)

    async with floor.running(job(counting), seen):
        await until(lambda: looking.ended == 1)
        clock.advance(10.1)
        await until(lambda: looking.ended == 2)
        early = len(counting.runs)
        clock.advance(0.2)
        await until(lambda: counting.ended == 1)

    assert early == 0
    assert counting.runs[0].started_at == died_at + timedelta(seconds=10.3)


async def test_a_job_due_far_off_runs_once_on_many_runners(floor: Floor) -> None:
    counting = Counting()
    counted = job(counting)

    async with (
        floor.running(counted, instance="one"),
        floor.running(counted, instance="two"),
        floor.running(counted, instance="three"),
    ):
        await until(lambda: counting.ended > 0)
        await asyncio.sleep(0.5)

    assert counting.ended == 1
    assert [run.outcome for run in await floor.view().history("tests.count")] == ["done"]


async def test_how_it_went_is_seen_from_outside(floor: Floor) -> None:
    counting = Counting()

    async with floor.running(job(counting)):
        await until(lambda: counting.ended == 1)
        await until(lambda: floor.listener.heard[-1][1]["state"] == "ended")

    [status] = await floor.view().list()
    [run] = await floor.view().history("tests.count")
    assert (status.state, status.last_outcome, status.last_result) == (
        "waiting",
        "done",
        "did it 1",
    )
    assert status.due_at is not None
    assert status.due_at > run.ended_at + timedelta(minutes=50)
    assert (run.instance, run.attempt, run.error) == ("one", 1, None)
    assert 'job_runs_total{job="tests.count",outcome="done"} 1.0' in (
        floor.metrics.exposition().decode()
    )
    assert {topic for topic, _ in floor.listener.heard} == {"platform/jobs"}


async def test_a_failed_run_is_tried_again_and_its_error_hides_secrets(floor: Floor) -> None:
    counting = Counting(failing=2)

    async with floor.running(job(counting, backoff_seconds=0.1)):
        await until(lambda: counting.ended == 1)

    runs = await floor.view().history("tests.count")
    assert [(run.outcome, run.attempt) for run in runs] == [
        ("done", 3),
        ("failed", 2),
        ("failed", 1),
    ]
    assert "SourceFailed: no answer" in (runs[-1].error or "")
    assert "hunter2" not in (runs[-1].error or "")


async def test_a_job_that_keeps_failing_is_given_up_until_it_is_due_again(floor: Floor) -> None:
    counting = Counting(failing=99)

    async with floor.running(job(counting, tries=2, backoff_seconds=0.05)):
        await until(lambda: len(counting.runs) == 2)
        await asyncio.sleep(0.5)

    [status] = await floor.view().list()
    assert len(counting.runs) == 2
    assert (status.state, status.failures, status.attempt) == ("waiting", 2, 0)
    assert status.due_at is not None
    assert status.due_at > SystemClock().now() + timedelta(minutes=50)


async def test_a_run_that_was_refused_is_not_tried_again_before_it_is_due(floor: Floor) -> None:
    async def refused(_: JobContext) -> str | None:
        raise NotAllowed("There is no key: set bets.odds_key")

    async with floor.running(Job("tests.refused", "Asks.", SOON, refused, backoff_seconds=0.0)):
        [status] = await once(floor.view().list, lambda found: any(one.failures for one in found))

    assert (status.state, status.failures, status.attempt) == ("waiting", 1, 0)


async def test_work_that_takes_too_long_is_stopped(floor: Floor) -> None:
    counting = Counting(seconds=86_400)

    async with floor.running(job(counting, tries=1, timeout_seconds=0.2)):
        await is_over(floor, 1)

    [run] = await floor.view().history("tests.count")
    assert (run.outcome, run.error) == ("timed out", "it took longer than 0.2 seconds")
    assert counting.ended == 0


async def test_work_whose_own_waiting_was_cancelled_has_failed(floor: Floor) -> None:
    async def waits_in_vain(_run: JobContext) -> str | None:
        never: asyncio.Future[str] = asyncio.get_running_loop().create_future()
        never.cancel()
        return await never

    async with floor.running(Job("tests.count", "Waits.", SOON, waits_in_vain, tries=1)):
        await until(lambda: any(news["state"] == "ended" for _, news in floor.listener.heard))

    [run] = await floor.view().history("tests.count")
    assert (run.outcome, run.error) == ("failed", "something the work awaited was cancelled")


async def test_missed_moments_are_made_up_for_once(floor: Floor) -> None:
    clock, counting = at_hand(floor), Counting()

    async with floor.running(job(counting, Cron("0 * * * *"))):
        await asyncio.sleep(0.3)
        before = counting.ended
        clock.advance(5 * 86_400)
        await until(lambda: counting.ended > 0)
        await asyncio.sleep(0.3)

    [status] = await floor.view().list()
    assert (before, counting.ended) == (0, 1)
    assert status.due_at is not None
    assert clock.now() < status.due_at <= clock.now() + timedelta(hours=1)


async def test_a_lost_lease_stops_the_work_and_the_next_run_has_a_greater_token(
    floor: Floor,
) -> None:
    first, second = Counting(seconds=60), Counting()

    async with floor.running(job(first), instance="one", config=replace(QUICK, lease_seconds=3.0)):
        await until(lambda: len(first.runs) == 1)
        await steal(floor)
        async with floor.running(job(second), instance="two"):
            await until(lambda: second.ended == 1)

    runs = await floor.view().history("tests.count")
    assert first.ended == 0
    assert [(run.instance, run.outcome) for run in runs] == [("two", "done"), ("one", "lost")]
    assert second.runs[0].token > first.runs[0].token


async def steal(floor: Floor) -> None:
    """Let a lease look as if another had held it, and had died a while ago."""
    past = datetime(2026, 1, 1, tzinfo=UTC)
    taken = LeaseRecord.update(name=lease_name("tests.count"))
    await floor.store()(taken.set(owner="thief", nonce="other", expires_at=past))


async def test_a_result_that_comes_too_late_is_fenced_off(floor: Floor) -> None:
    begun, may_end, done = asyncio.Event(), asyncio.Event(), Counting()

    async def stubborn(_run: JobContext) -> str | None:
        begun.set()
        try:
            await may_end.wait()
        except asyncio.CancelledError:
            await may_end.wait()
        return "too late"

    late = Job("tests.count", "Counts.", SOON, stubborn)
    # It renews its lease so late that it does not hear of the loss before its work ends.
    async with floor.running(late, instance="one", config=PATIENT):
        await begun.wait()
        await steal(floor)
        async with floor.running(job(done), instance="two"):
            await until(lambda: done.ended == 1)
            await asyncio.sleep(1.0)
            may_end.set()
            await until(lambda: 'outcome="fenced"' in floor.metrics.exposition().decode())

    [status] = await floor.view().list()
    runs = await floor.view().history("tests.count")
    assert status.last_result == "did it 1"
    assert [run.result for run in runs] == ["did it 1", None]


async def test_a_job_without_end_runs_on_one_instance_and_moves_when_that_stops(
    floor: Floor,
) -> None:
    on: list[str] = []

    def forever(instance: str) -> Job:
        async def work(_run: JobContext) -> str | None:
            on.append(instance)
            await asyncio.Event().wait()
            return None

        return Job("tests.always", "Never ends.", Continuous(), work, timeout_seconds=0.1)

    async with floor.running(forever("two"), instance="two", config=PATIENT):
        await until(lambda: on == ["two"])
        async with floor.running(forever("one"), instance="one", config=PATIENT) as one:
            await asyncio.sleep(0.5)
            alone = list(on)
            assert one.health.running == ()
    async with floor.running(forever("one"), instance="one", config=PATIENT):
        await until(lambda: on == ["two", "one"])

    runs = await floor.view().history("tests.always")
    assert alone == ["two"]
    assert [run.outcome for run in runs] == ["stopped", "stopped"]


async def test_a_job_without_end_that_ends_is_begun_again_after_its_pause(floor: Floor) -> None:
    clock, counting = at_hand(floor), Counting()
    begun_at = clock.now()

    async with floor.running(job(counting, Continuous(pause_seconds=20))):
        await is_over(floor, 1)
        clock.advance(20)
        await is_over(floor, 2)

    starts = [(run.started_at - begun_at).total_seconds() for run in counting.runs]
    assert starts == [0, 20]


async def test_stopping_lets_short_work_end(floor: Floor) -> None:
    counting = Counting(seconds=0.3)

    async with floor.running(job(counting), config=GENTLE):
        await until(lambda: len(counting.runs) == 1)

    [run] = await floor.view().history("tests.count")
    assert (counting.ended, run.outcome) == (1, "done")


async def test_work_stopped_with_its_instance_is_due_at_once_elsewhere(floor: Floor) -> None:
    clock, long, short = at_hand(floor), Counting(seconds=60), Counting()

    async with floor.running(job(long, tries=1), instance="one", config=PATIENT):
        await until(lambda: len(long.runs) == 1)
    async with floor.running(job(short, tries=1), instance="two", config=PATIENT):
        await until(lambda: short.ended == 1)

    runs = await floor.view().history("tests.count")
    assert [(run.instance, run.outcome, run.attempt) for run in runs] == [
        ("two", "done", 1),
        ("one", "stopped", 1),
    ]
    assert short.runs[0].started_at == clock.now()


async def test_a_run_lost_too_often_is_given_up(floor: Floor) -> None:
    counting = Counting()
    now = SystemClock().now()
    store = floor.store()
    enrolled = await store(JobState.enrol("tests.count", "Counts.", "every 1 h", now, now))
    await store(enrolled.replace(attempt=2).begin(1, "dead", now))
    await store(LeaseRecord(name=lease_name("tests.count"), epoch=1).put())

    async with floor.running(job(counting, tries=3)):
        await until(lambda: any(news["state"] == "ended" for _, news in floor.listener.heard))

    runs = await floor.view().history("tests.count")
    assert counting.runs == []
    assert [(run.instance, run.outcome) for run in runs] == [("one", "failed"), ("dead", "lost")]
    assert "given up" in (runs[0].error or "")


async def test_what_work_tells_is_passed_on_while_it_runs(floor: Floor) -> None:
    async def telling(run: JobContext) -> str | None:
        run.tell("half way")
        return None

    async with floor.running(Job("tests.tell", "Tells.", SOON, telling)):
        await until(lambda: any(news["state"] == "ended" for _, news in floor.listener.heard))

    [status] = await floor.view().list()
    news = [news for _, news in floor.listener.heard if "progress" in news]
    assert [(told["job"], told["progress"]) for told in news] == [("tests.tell", "half way")]
    assert status.last_result == "half way"


async def test_a_changed_schedule_is_stored_at_the_next_start(floor: Floor) -> None:
    counting = Counting()

    async with floor.running(job(counting, Every(86_400, jitter=0.0))):
        await until(lambda: counting.ended == 1)
    async with floor.running(job(counting, Every(0.2, jitter=0.0))):
        await until(lambda: counting.ended >= 3)

    [status] = await floor.view().list()
    assert status.schedule == "every 0.2 s"


async def test_a_runner_that_cannot_see_its_jobs_says_so_and_goes_on(floor: Floor) -> None:
    counting = Counting()
    floor.prefix += "late-"

    async with floor.running(job(counting)) as runner:
        await until(lambda: runner.health.fault is not None)
        blind = runner.health
        floor.store().store.create((*PLATFORM_TABLES, *JOB_TABLES))
        await until(lambda: counting.ended == 1)
        seeing = runner.health

    assert (blind.looked_at, seeing.fault) == (None, None)
    assert seeing.looked_at is not None


@pytest.mark.parametrize(
    "when",
    [SOON, Cron("0 4 * * *"), Continuous(pause_seconds=5.0)],
    ids=["every", "cron", "always"],
)
async def test_a_clock_that_was_ahead_delays_no_job(
    floor: Floor, when: Every | Cron | Continuous
) -> None:
    clock, counting = at_hand(floor), Counting()
    clock.moment = right = clock.now().replace(microsecond=0)
    clock.advance(60 * 86_400)

    async with floor.running(job(counting, when)):
        if isinstance(when, Cron):
            await once(floor.view().list)
            clock.advance(86_400)
        await is_over(floor, 1)
    ahead = await floor.view().one("tests.count")
    clock.moment = right
    with capture_logs() as lines:
        async with floor.running(job(counting, when)):
            await is_over(floor, 2)

    status = await floor.view().one("tests.count")
    resets = [line for line in lines if line["event"] == "job_due_time_reset"]
    assert ahead.due_at is not None
    assert [(line["job"], line["due_at"]) for line in resets] == [
        ("tests.count", ahead.due_at.isoformat())
    ]
    assert counting.runs[1].started_at == right
    assert status.last_ended_at == clock.now()
    assert status.due_at is not None
    assert status.due_at <= right + timedelta(days=1, seconds=1)
    assert status.failures == 0


async def test_a_reset_due_time_leaves_no_end_in_the_future(floor: Floor) -> None:
    clock, counting = at_hand(floor), Counting()
    clock.moment = now = clock.now().replace(microsecond=0)
    store, later = floor.store(), now + timedelta(days=60)
    enrolled = await store(JobState.enrol("tests.count", "Counts.", "every 1 h", later, later))
    await store(enrolled.replace(last_started_at=later, last_ended_at=later, paused_at=now).put())

    async with floor.running(job(counting)):
        status = await once(
            lambda: floor.view().one("tests.count"), lambda found: found.due_at == now
        )
        stored = await once(
            lambda: store.read(JobState.one("tests.count")), lambda found: found.seen_at == now
        )

    assert (status.last_started_at, status.last_ended_at) == (None, None)
    assert (status.paused, counting.runs) == (True, [])
    assert stored.gone_at == now + timedelta(days=30)


async def test_a_due_time_within_a_period_stays(floor: Floor) -> None:
    clock, counting = at_hand(floor), Counting()
    clock.moment = now = clock.now().replace(microsecond=0)
    store, due_at = floor.store(), now + timedelta(minutes=59)
    await store(JobState.enrol("tests.count", "Counts.", "every 1 h", due_at, now))

    async with floor.running(job(counting)) as runner:
        await until(lambda: runner.health.looked_at is not None)
        await asyncio.sleep(0.3)

    stored = await store.read(JobState.one("tests.count"))
    assert counting.runs == []
    assert stored.due_at == due_at


async def test_a_lease_of_a_clock_that_was_ahead_ends_unless_it_is_renewed(floor: Floor) -> None:
    clock, counting = at_hand(floor), Counting()
    clock.moment = now = clock.now().replace(microsecond=0)
    store, later = floor.store(), now + timedelta(days=60)
    enrolled = await store(JobState.enrol("tests.count", "Counts.", "every 1 h", now, now))
    await store(enrolled.begin(1, "dead", later))
    held = LeaseRecord(name=lease_name("tests.count"), epoch=1, owner="dead", nonce="dead")
    await store(held.replace(expires_at=later).put())

    with capture_logs() as lines:
        async with floor.running(job(counting)):
            await asyncio.sleep(0.5)
            clock.advance(9.0)
            await store(held.replace(expires_at=later + timedelta(seconds=5)).put())
            await asyncio.sleep(0.5)
            clock.advance(9.0)
            await asyncio.sleep(0.5)
            early = len(counting.runs)
            clock.advance(2.0)
            await is_over(floor, 1)

    runs = await floor.view().history("tests.count")
    assert early == 0
    assert [(run.instance, run.outcome) for run in runs] == [("one", "done"), ("dead", "lost")]
    assert all(run.started_at <= run.ended_at for run in runs)
    assert [line["owner"] for line in lines if line["event"] == "job_lease_reset"] == ["dead"]


def test_two_jobs_of_one_name_are_refused(floor: Floor) -> None:
    counted = job(Counting())

    with pytest.raises(InvalidInput, match=r"Two jobs are named tests\.count"):
        floor.runner(counted, counted)


async def test_an_idle_runner_asks_the_store_only_so_often(floor: Floor) -> None:
    counting, store = Counting(), floor.store()
    asked: list[str] = []
    engine = store.store.session.engine
    query = engine.query

    def counted_query(request: object) -> object:
        asked.append("query")
        return query(request)  # type: ignore[arg-type]

    engine.query = counted_query  # type: ignore[method-assign,assignment]
    runner = JobRunner(
        store,
        [job(counting)],
        clock=floor.clock,
        random=Random(1),
        metrics=floor.metrics,
        publisher=floor.listener,
        instance="idle",
        config=RunnerConfig(look_seconds=0.5),
    )
    task = asyncio.create_task(runner.run())
    await until(lambda: counting.ended == 1)
    await asyncio.sleep(0.3)
    asked.clear()
    ticking = asyncio.create_task(ticks(0.4, asked))
    await until(lambda: asked.count("query") >= 7)
    ticking.cancel()
    await runner.stop()
    await task

    assert asked.count("tick") >= 6


async def ticks(seconds: float, heard: list[str]) -> None:
    """Tick into a list; of two timers of one loop, the earlier is heard first however late."""
    while True:
        await asyncio.sleep(seconds)
        heard.append("tick")
