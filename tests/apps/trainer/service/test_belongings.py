"""A person's history: forecasts, exports, and everything kept of them, taken along or erased."""

import csv
import io
import json
from fractions import Fraction

import pytest

from grandstand.apps.trainer.store import Attempt, UserTotals
from tests.apps.trainer.stage import ADA, BOB, Stage, given, on_sqlite, saying

pytestmark = pytest.mark.anyio


@on_sqlite
async def test_the_first_answer_to_a_question_is_the_forecast(stage: Stage) -> None:
    for percent in (30, 0):
        stage.means.clock.sleep(60)
        work = given("It will be late, as before", percent=percent)
        await stage.trainer.post(ADA, "battery-plant", work)
    await stage.trainer.begin(ADA, "battery-plant", given("It will", percent=99))

    record = await stage.trainer.forecasts(ADA)
    nobodys = await stage.trainer.forecasts(BOB)

    [point] = record.points
    assert (point.probability_percent, point.happened) == (30, False)
    assert (record.brier, record.resolved) == (Fraction(9, 100), 1)
    assert [(each.low_percent, each.count) for each in record.calibration] == [(30, 1)]
    assert (nobodys.points, nobodys.brier) == ((), None)


@on_sqlite
async def test_the_history_can_be_taken_along_as_json(stage: Stage) -> None:
    done = await stage.trainer.post(ADA, "a-poll", saying(3))
    await stage.trainer.post(BOB, "a-poll", saying(3))
    await stage.follow()

    text = b"".join([piece async for piece in stage.trainer.export_json(ADA)])

    read = json.loads(text)
    [attempt], [profile] = read["attempts"], read["profiles"]
    assert attempt["attemptId"] == done.attempt_id
    assert attempt["evaluation"]["overallScore"] == 75
    assert profile["dimensions"][0]["movingAverage"] == 3.0
    assert "secret" not in text.decode()


@on_sqlite
async def test_the_history_can_be_taken_along_as_csv(stage: Stage) -> None:
    await stage.trainer.post(ADA, "a-poll", saying(3))
    await stage.trainer.begin(ADA, "two-hospitals")

    text = b"".join([line async for line in stage.trainer.export_csv(ADA)]).decode()

    rows = {row["scenario"]: row for row in csv.DictReader(io.StringIO(text))}
    assert (rows["A poll"]["overallScore"], rows["A poll"]["logic"]) == ("75", "3")
    assert (rows["Two hospitals"]["status"], rows["Two hospitals"]["logic"]) == ("in-progress", "")


@on_sqlite
async def test_a_report_has_the_profile_the_attempts_and_their_titles(stage: Stage) -> None:
    done = await stage.trainer.post(ADA, "a-poll", saying(3))
    await stage.follow()

    report = await stage.trainer.report(ADA)

    assert (report.name, report.attempts, report.titles) == ("Ada", (done,), {"a-poll": "A poll"})
    assert report.profile == await stage.trainer.profile(ADA)


async def test_everything_kept_of_a_person_is_exported_and_erased(stage: Stage) -> None:
    await stage.trainer.post(ADA, "a-poll", saying(3))
    await stage.trainer.begin(ADA, "a-poll")
    kept = await stage.trainer.post(BOB, "a-poll", saying(3))
    await stage.follow()
    exported = [kind async for kind, _ in stage.trainer.belongings.export("ada")]

    erased = await stage.trainer.belongings.erase("ada")
    again = await stage.trainer.belongings.erase("ada")
    await stage.follow()

    left = [each async for each in stage.store.each(Attempt.all_there_are())]
    assert exported == ["attempt", "attempt", "profile", "totals"]
    assert (erased, again) == (4, 0)
    assert left == [kept]
    assert await stage.trainer.profile(ADA) is None
    assert await stage.store(UserTotals.of_user("ada")) is None
    assert await stage.trainer.profile(BOB) is not None
