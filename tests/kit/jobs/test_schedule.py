"""When a job is due follows from its declaration, also where the clocks are changed."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from random import Random

import pytest

from grandstand.core.errors import InvalidInput
from grandstand.kit.jobs.job import (
    Continuous,
    Cron,
    Every,
    Job,
    JobContext,
    Schedule,
    check,
    describe_schedule,
    first_due,
    humanize_schedule,
    latest_due,
    next_due,
    retention_of,
    retry_due,
)


async def nothing(_run: JobContext) -> str | None:
    return None


def job(when: Schedule, **more: object) -> Job:
    return Job("tests.job", "Is due.", when, nothing, **more)  # type: ignore[arg-type]


def at(text: str) -> datetime:
    return datetime.fromisoformat(text).astimezone(UTC)


def moments(line: str, zone: str, after: str, count: int) -> list[str]:
    """The next moments of a cron line, each found from the one before, as local time says them."""
    found, moment = [], at(after)
    for _ in range(count):
        moment = first_due(job(Cron(line, zone)), moment, Random(1))
        found.append(moment)
    return [each.isoformat().replace("+00:00", "Z") for each in found]


def test_a_cron_line_is_read_in_its_time_zone() -> None:
    assert moments("30 9 * * *", "Asia/Tokyo", "2026-07-01T00:00:00Z", 2) == [
        "2026-07-01T00:30:00Z",
        "2026-07-02T00:30:00Z",
    ]


def test_a_moment_that_the_clock_skips_comes_right_after_the_gap() -> None:
    assert moments("30 1 * * *", "Europe/London", "2026-03-28T12:00:00Z", 2) == [
        "2026-03-29T01:00:00Z",
        "2026-03-30T00:30:00Z",
    ]


def test_a_moment_that_the_clock_has_twice_comes_once() -> None:
    assert moments("30 1 * * *", "Europe/London", "2026-10-24T12:00:00Z", 2) == [
        "2026-10-25T00:30:00Z",
        "2026-10-26T01:30:00Z",
    ]


def test_from_within_the_hour_had_twice_the_next_moment_is_not_in_the_past() -> None:
    second_pass = "2026-10-25T01:10:00Z"

    assert moments("30 1 * * *", "Europe/London", second_pass, 1) == ["2026-10-26T01:30:00Z"]


def test_a_line_for_every_half_hour_goes_on_evenly_through_both_changes() -> None:
    spring = moments("*/30 * * * *", "America/New_York", "2026-03-08T06:20:00Z", 4)
    autumn = moments("*/30 * * * *", "America/New_York", "2026-11-01T05:20:00Z", 4)

    assert [text[11:16] for text in spring] == ["06:30", "07:00", "07:30", "08:00"]
    assert [text[11:16] for text in autumn] == ["05:30", "06:00", "06:30", "07:00"]


def test_missed_moments_of_a_cron_line_are_not_made_up_for_one_by_one() -> None:
    due = next_due(
        job(Cron("0 * * * *")),
        started_at=at("2026-01-05T10:20:00Z"),
        ended_at=at("2026-01-05T10:21:00Z"),
        was_due_at=at("2026-01-01T00:00:00Z"),
        random=Random(1),
    )

    assert due == at("2026-01-05T11:00:00Z")


def test_a_run_asked_for_early_leaves_the_moment_of_the_line() -> None:
    due = next_due(
        job(Cron("0 5 * * *")),
        started_at=at("2026-01-01T03:00:00Z"),
        ended_at=at("2026-01-01T03:01:00Z"),
        was_due_at=at("2026-01-01T05:00:00Z"),
        random=Random(1),
    )

    assert due == at("2026-01-01T05:00:00Z")


def test_an_interval_counts_from_the_start_and_is_spread() -> None:
    start = at("2026-01-01T00:00:00Z")
    random = Random(1)

    seconds = [
        (
            next_due(
                job(Every(100, jitter=0.2)),
                started_at=start,
                ended_at=start + timedelta(seconds=5),
                was_due_at=start,
                random=random,
            )
            - start
        ).total_seconds()
        for _ in range(200)
    ]

    assert 90 <= min(seconds) < 92
    assert 108 < max(seconds) <= 110


def test_the_first_run_of_an_interval_comes_soon_however_long_it_is() -> None:
    now = at("2026-01-01T00:00:00Z")

    due = first_due(job(Every(86_400)), now, Random(1))

    assert now < due <= now + timedelta(seconds=5)


def test_an_interval_shorter_than_the_run_begins_again_at_its_end() -> None:
    start = at("2026-01-01T00:00:00Z")
    end = start + timedelta(seconds=30)

    due = next_due(
        job(Every(10)), started_at=start, ended_at=end, was_due_at=start, random=Random(1)
    )

    assert due == end


def test_a_cron_moment_is_spread_only_to_later() -> None:
    spread = Cron("0 5 * * *", jitter_seconds=60)
    now, random = at("2026-01-01T03:00:00Z"), Random(1)

    late = [
        (first_due(job(spread), now, random) - at("2026-01-01T05:00:00Z")).total_seconds()
        for _ in range(100)
    ]

    assert 0 <= min(late) < 5
    assert 55 < max(late) <= 60


def test_retries_wait_twice_as_long_each_time_and_not_for_ever() -> None:
    end = at("2026-01-01T00:00:00Z")
    failing = job(Every(10), backoff_seconds=2.0)

    waits = [
        (retry_due(failing, ended_at=end, failures=n, random=Random(1)) - end).total_seconds()
        for n in (1, 2, 3, 40)
    ]

    assert waits[1] == pytest.approx(2 * waits[0])
    assert waits[2] == pytest.approx(4 * waits[0])
    assert 1.5 <= waits[0] <= 2.5
    assert waits[3] <= 375


@pytest.mark.parametrize("when", [Every(60), Every(86_400, jitter=0.5), Cron("0 4 * * 1")])
def test_no_due_time_of_the_schedule_is_too_late(when: Schedule) -> None:
    now = at("2026-07-01T12:00:00Z")
    random = Random(1)

    due = [
        next_due(job(when), started_at=now, ended_at=now, was_due_at=now, random=random)
        for _ in range(200)
    ]

    assert max(due) <= latest_due(job(when), now)
    # Another instance's clock may be a little behind.
    assert max(due) <= latest_due(job(when), now - timedelta(seconds=59))


def test_a_cron_moment_just_reached_elsewhere_is_not_too_late() -> None:
    nightly = job(Cron("0 4 * * *"))

    assert latest_due(nightly, at("2026-07-01T03:59:30Z")) == at("2026-07-02T04:00:00Z")
    assert latest_due(nightly, at("2026-07-01T03:00:00Z")) == at("2026-07-01T04:00:00Z")


@pytest.mark.parametrize("when", [Continuous(), Every(1)])
def test_no_retry_is_too_late(when: Schedule) -> None:
    now, failing = at("2026-07-01T12:00:00Z"), job(when)

    for failures in (1, 5, 40):
        retried = [
            retry_due(failing, ended_at=now, failures=failures, random=Random(n))
            for n in range(100)
        ]
        assert max(retried) <= latest_due(failing, now, failures=failures)
    assert latest_due(failing, now) < now + timedelta(seconds=90)


def test_about_a_thousand_runs_are_remembered() -> None:
    assert retention_of(Every(300)) == timedelta(seconds=300_000)
    assert retention_of(Every(1)) == timedelta(days=1)
    assert retention_of(Every(86_400)) == timedelta(days=30)
    assert retention_of(Continuous()) == timedelta(days=30)


@pytest.mark.parametrize(
    ("when", "words"),
    [
        (Every(90), "every 90 s"),
        (Every(7200), "every 2 h"),
        (Every(0.5), "every 0.5 s"),
        (Cron("0 5 * * *", "Asia/Tokyo"), "cron 0 5 * * * Asia/Tokyo"),
        (Continuous(), "always"),
    ],
)
def test_describe_schedule(when: Schedule, words: str) -> None:
    assert describe_schedule(when) == words


@pytest.mark.parametrize(
    ("schedule", "words"),
    [
        ("every 1 d", "daily"),
        ("every 1 h", "hourly"),
        ("every 20 min", "every 20 min"),
        ("always", "always"),
        ("cron 5 6 * * * UTC", "daily at 06:05 UTC"),
        ("cron 0 5 * * 1 UTC", "Mondays at 05:00 UTC"),
        ("cron 0 5 * * 7 Asia/Tokyo", "Sundays at 05:00 Asia/Tokyo"),
        ("cron */5 * * * * UTC", "cron */5 * * * * UTC"),
    ],
)
def test_common_schedules_are_described_in_words(schedule: str, words: str) -> None:
    assert humanize_schedule(schedule) == words


@pytest.mark.parametrize(
    ("when", "reason"),
    [
        (Cron("61 * * * *"), "is invalid: Bad minute"),
        (Cron("0 0 30 2 *"), "is invalid: Bad day-of-month"),
        (Cron("* * *"), "is invalid: Wrong number of fields"),
        (Cron("0 5 * * *", "Mars/Olympus"), "unknown time zone"),
        (Cron("0 5 * * *", "../etc/passwd"), "unknown time zone"),
        (Every(0), "more than 0 seconds"),
    ],
)
def test_a_job_that_can_never_be_due_is_refused(when: Schedule, reason: str) -> None:
    with pytest.raises(InvalidInput, match=reason):
        check(job(when))


def test_a_job_that_may_never_be_tried_is_refused() -> None:
    with pytest.raises(InvalidInput, match=r"tries must be at least 1, not 0$"):
        check(job(Every(1), tries=0))
