"""Forecasts, exports, and personal data exported or erased."""

import csv
import io
import json

import pytest

from grandstand.apps.trainer.services.evaluation import AttemptRecord
from grandstand.apps.trainer.store import Attempt, UserTotals, to_record
from tests.apps.trainer.stage import ADA, BOB, Stage, given, on_sqlite, saying

pytestmark = pytest.mark.anyio


@on_sqlite
async def test_the_first_answer_to_a_question_is_the_forecast(stage: Stage) -> None:
    for percent in (30, 0):
        stage.clock.sleep(60)
        work = given("It will be late, as before", percent=percent)
        await stage.trainer.attempts.submit_new(ADA.user_id, "battery-plant", work)
    await stage.trainer.attempts.start(ADA.user_id, "battery-plant", given("It will", percent=99))

    record = await stage.trainer.profiles.forecasts(ADA.user_id)
    nobodys = await stage.trainer.profiles.forecasts(BOB.user_id)

    [point] = record.points
    assert (point.probability_percent, point.happened) == (30, False)
    assert (record.brier, record.resolved) == (0.09, 1)
    assert [(each.low_percent, each.count) for each in record.calibration] == [(30, 1)]
    assert (nobodys.points, nobodys.brier) == ((), None)


@on_sqlite
async def test_the_history_can_be_taken_along_as_json(stage: Stage) -> None:
    done = await stage.trainer.attempts.submit_new(ADA.user_id, "a-poll", saying(3))
    await stage.trainer.attempts.submit_new(BOB.user_id, "a-poll", saying(3))
    await stage.follow()

    text = b"".join([piece async for piece in stage.trainer.exports.export_json(ADA.user_id)])

    read = json.loads(text)
    [attempt], [profile] = read["attempts"], read["profiles"]
    assert attempt["attemptId"] == done.attempt_id
    assert attempt["evaluation"]["overallScore"] == 75
    assert profile["dimensions"][0]["movingAverage"] == 3.0
    assert "secret" not in text.decode()


@on_sqlite
async def test_the_history_can_be_taken_along_as_csv(stage: Stage) -> None:
    await stage.trainer.attempts.submit_new(ADA.user_id, "a-poll", saying(3))
    await stage.trainer.attempts.start(ADA.user_id, "two-hospitals")

    text = b"".join([line async for line in stage.trainer.exports.export_csv(ADA.user_id)]).decode()

    rows = {row["scenario"]: row for row in csv.DictReader(io.StringIO(text))}
    assert (rows["A poll"]["overallScore"], rows["A poll"]["logic"]) == ("75", "3")
    assert (rows["Two hospitals"]["status"], rows["Two hospitals"]["logic"]) == ("in-progress", "")


@on_sqlite
async def test_a_report_has_the_profile_the_attempts_and_their_titles(stage: Stage) -> None:
    done = await stage.trainer.attempts.submit_new(ADA.user_id, "a-poll", saying(3))
    await stage.follow()

    report = await stage.trainer.exports.report(ADA)

    assert (report.name, report.attempts, report.titles) == ("Ada", (done,), {"a-poll": "A poll"})
    assert report.profile == await stage.trainer.profiles.latest(ADA.user_id)


async def test_everything_kept_of_a_person_is_exported_and_erased(stage: Stage) -> None:
    await stage.trainer.attempts.submit_new(ADA.user_id, "a-poll", saying(3))
    await stage.trainer.attempts.start(ADA.user_id, "a-poll")
    kept = await stage.trainer.attempts.submit_new(BOB.user_id, "a-poll", saying(3))
    await stage.follow()
    exported = [kind async for kind, _ in stage.trainer.personal_data.export("ada")]

    erased = await stage.trainer.personal_data.erase("ada")
    again = await stage.trainer.personal_data.erase("ada")
    await stage.follow()

    left = [
        to_record(AttemptRecord, each) async for each in stage.store.each(Attempt.all_attempts())
    ]
    assert exported == ["attempt", "attempt", "profile", "totals"]
    assert (erased, again) == (4, 0)
    assert left == [kept]
    assert await stage.trainer.profiles.latest(ADA.user_id) is None
    assert await stage.store(UserTotals.of_user("ada")) is None
    assert await stage.trainer.profiles.latest(BOB.user_id) is not None
