"""The trainer's API: responses and access."""

from __future__ import annotations

import csv
import io
import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.apps.trainer.served import Home, Housed, furnished

A = "/api/trainer"
TEXT = "I say score 3 and have my reasons"


@pytest.fixture(scope="module")
def home(tmp_path_factory: pytest.TempPathFactory) -> Home:
    return furnished(tmp_path_factory.mktemp("home"))


@pytest.fixture
def platform(home: Home, tmp_path: Path) -> Iterator[Housed]:
    with home.copied(tmp_path) as running:
        yield running


@pytest.fixture(scope="module")
def untouched(home: Home, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Housed]:
    """A platform without data."""
    with home.copied(tmp_path_factory.mktemp("untouched")) as running:
        yield running


def _work(text: str = TEXT, scenario: str = "a-poll", **more: Any) -> dict[str, Any]:
    return {"scenarioId": scenario, "answers": [{"questionId": "q1", "answer": text}], **more}


def _kept(platform: Housed) -> int:
    clients = (platform.ada, platform.bob, platform.root)
    return sum(len(client.get(f"{A}/attempts").json()["attempts"]) for client in clients)


def test_an_attempt_is_answered_with_its_evaluation(platform: Housed) -> None:
    reply = platform.ada.post(f"{A}/attempts", json=_work(durationSeconds=90))

    told = reply.json()
    seen = platform.ada.get(reply.headers["location"]).json()["attempt"]
    assert reply.status_code == 201
    assert told["evaluation"]["overallScore"] == 75
    assert (told["status"], told["durationSeconds"]) == ("completed", 90)
    assert told["answers"][0]["wordCount"] == 8
    assert seen == told


def test_when_the_judge_is_down_it_is_kept_and_completed_later(platform: Housed) -> None:
    platform.judge.down = True
    reply = platform.ada.post(f"{A}/attempts", json=_work())
    waiting = platform.ada.get(reply.headers["location"]).json()["attempt"]

    platform.judge.down = False
    platform.served.do(platform.trainer.evaluations.evaluate(reply.json()["attemptId"]))
    done = platform.ada.get(reply.headers["location"]).json()["attempt"]

    assert reply.status_code == 202
    assert (waiting["status"], waiting["evaluation"]) == ("in-progress", None)
    assert (waiting["evaluationState"], done["status"]) == ("failed", "completed")


def test_when_the_judge_is_slow_the_answer_does_not_wait_for_it(platform: Housed) -> None:
    platform.judge.seconds = 86_400

    reply = platform.ada.post(f"{A}/attempts", json=_work())

    assert reply.status_code == 202
    assert reply.json()["evaluationState"] == "pending"


def test_the_same_token_makes_one_attempt(platform: Housed) -> None:
    first = platform.ada.post(f"{A}/attempts", json=_work(clientToken="t1"))
    again = platform.ada.post(f"{A}/attempts", json=_work(clientToken="t1"))
    other = platform.ada.post(
        f"{A}/attempts", json=_work("Another text altogether", clientToken="t1")
    )

    assert first.json() == again.json()
    assert other.status_code == 409
    assert _kept(platform) == 1


def test_a_draft_is_begun_saved_submitted_revised_and_compared(platform: Housed) -> None:
    draft = platform.ada.post(f"{A}/attempts", json=_work("First", draft=True)).json()
    place = f"{A}/attempts/{draft['attemptId']}"
    saved = platform.ada.patch(place, json={"answers": [{"questionId": "q1", "answer": TEXT}]})
    done = platform.ada.post(f"{place}/submit")
    revision = platform.ada.post(f"{place}/revise").json()
    after = f"{A}/attempts/{revision['attemptId']}"
    better = {"answers": [{"questionId": "q1", "answer": "I say score 4, much better"}]}
    platform.ada.post(f"{after}/submit", json=better)
    compared = platform.ada.get(f"{after}/comparison").json()

    assert (draft["status"], draft["submittedAt"]) == ("in-progress", None)
    assert saved.json()["answers"][0]["answer"] == TEXT
    assert (done.status_code, done.json()["status"]) == (200, "completed")
    assert revision["revisionOf"] == draft["attemptId"]
    assert compared["overallChange"] == 25


def test_notes_and_model_answers_never_leave_before_submission(platform: Housed) -> None:
    answer = {"questionId": "q1", "answer": TEXT, "probabilityPercent": 10}
    begun = {"scenarioId": "battery-plant", "answers": [answer], "draft": True}
    draft = platform.ada.post(f"{A}/attempts", json=begun)
    place = draft.headers["location"]

    before = [
        platform.ada.get(f"{A}/scenarios"),
        platform.ada.get(f"{A}/scenarios/battery-plant"),
        platform.ada.get(f"{A}/suggestion"),
        draft,
        platform.ada.get(place),
        platform.ada.patch(place, json={"answers": [answer]}),
        platform.ada.get(f"{A}/attempts"),
        platform.ada.get(f"{A}/export"),
        platform.ada.get(f"{A}/export.csv"),
        platform.ada.get(f"{A}/forecasts"),
    ]
    platform.ada.post(f"{place}/submit")
    after = platform.ada.get(place)
    others = platform.bob.get(f"{A}/scenarios/battery-plant")

    assert [reply.status_code // 100 for reply in before] == [2] * 10
    assert all("secret" not in reply.text for reply in before)
    assert all('"happened":false' not in reply.text.replace(" ", "") for reply in before)
    question = after.json()["scenario"]["questions"][0]
    assert question["notes"]["modelAnswer"] == "the secret model answer"
    assert question["forecast"]["happened"] is False
    assert "secret" not in others.text


@pytest.mark.parametrize(
    ("work", "field"),
    [
        (_work(""), "body.answers"),
        ({"scenarioId": "a-poll"}, "body.answers"),
        (_work("x" * 200_000), "body.answers.0.answer"),
        (_work("Too short"), "body.answers.0.answer"),
        (_work(TEXT + "\ud800"), "body.answers"),
        (
            {"scenarioId": "a-poll", "answers": [{"questionId": "q9", "answer": TEXT}]},
            "body.answers.0.questionId",
        ),
        (_work(durationSeconds=-1), "body.durationSeconds"),
        (_work(durationSeconds="90"), "body.durationSeconds"),
        (_work(clientToken=""), "body.clientToken"),
        (_work(mood="good"), "body.mood"),
        ({"answers": []}, "body.scenarioId"),
    ],
)
def test_bad_input_is_a_problem_that_names_the_field_and_nothing_is_stored(
    untouched: Housed, work: dict[str, Any], field: str
) -> None:
    body, form = json.dumps(work), {"content-type": "application/json"}

    reply = untouched.ada.post(f"{A}/attempts", content=body, headers=form)

    told = reply.json()
    assert reply.status_code == 422
    assert reply.headers["content-type"] == "application/problem+json"
    assert [each["field"] for each in told["errors"]] == [field]
    assert _kept(untouched) == 0


def test_a_scenario_that_is_not_there_is_not_found(platform: Housed) -> None:
    replies = [
        platform.ada.get(f"{A}/scenarios/nowhere"),
        platform.ada.post(f"{A}/attempts", json=_work(scenario="nowhere")),
    ]

    assert [reply.status_code for reply in replies] == [404, 404]
    assert _kept(platform) == 0


def test_another_persons_attempt_is_not_found_and_not_touched(platform: Housed) -> None:
    draft = platform.ada.post(f"{A}/attempts", json=_work(draft=True)).headers["location"]
    done = platform.ada.post(f"{A}/attempts", json=_work()).headers["location"]
    before = [platform.ada.get(place).json() for place in (draft, done)]

    replies = [
        reply
        for place in (draft, done)
        for client in (platform.bob, platform.root)
        for reply in (
            client.get(place),
            client.patch(place, json={"answers": []}),
            client.post(f"{place}/submit"),
            client.post(f"{place}/abandon"),
            client.post(f"{place}/opinion"),
            client.post(f"{place}/revise"),
            client.get(f"{place}/comparison"),
            client.delete(place),
        )
    ]

    assert {reply.status_code for reply in replies} == {404}
    assert [platform.ada.get(place).json() for place in (draft, done)] == before


def test_what_the_state_does_not_allow_is_a_conflict(platform: Housed) -> None:
    draft = platform.ada.post(f"{A}/attempts", json=_work(draft=True)).headers["location"]
    done = platform.ada.post(f"{A}/attempts", json=_work()).headers["location"]
    before = platform.ada.get(done).json()

    replies = [
        platform.ada.patch(done, json={"answers": []}),
        platform.ada.post(f"{done}/abandon"),
        platform.ada.get(f"{done}/comparison"),
        platform.ada.post(f"{draft}/opinion"),
        platform.ada.post(f"{draft}/revise"),
    ]

    assert {reply.status_code for reply in replies} == {409}
    assert platform.ada.get(done).json() == before


def test_history_goes_on_with_a_cursor_that_is_good_for_its_owner_alone(platform: Housed) -> None:
    made = [platform.ada.post(f"{A}/attempts", json=_work()).json()["attemptId"] for _ in range(3)]

    first = platform.ada.get(f"{A}/attempts", params={"limit": 2}).json()
    second = platform.ada.get(
        f"{A}/attempts", params={"limit": 2, "cursor": first["cursor"]}
    ).json()
    stolen = platform.bob.get(f"{A}/attempts", params={"cursor": first["cursor"]})
    forged = platform.ada.get(f"{A}/attempts", params={"cursor": "e30"})

    seen = [each["attemptId"] for each in first["attempts"] + second["attempts"]]
    assert seen == made[::-1]
    assert second["cursor"] is None
    assert (stolen.status_code, forged.status_code) == (400, 400)


def test_a_profile_is_the_callers_own_and_an_administrators_to_read(platform: Housed) -> None:
    platform.ada.post(f"{A}/attempts", json=_work())
    platform.follow()

    mine = platform.ada.get(f"{A}/users/me/profile").json()
    user_id = mine["latest"]["userId"]
    by_id = platform.ada.get(f"{A}/users/{user_id}/profile").json()
    instructors = platform.root.get(f"{A}/users/{user_id}/profile").json()
    others = platform.bob.get(f"{A}/users/{user_id}/profile")
    nothing = platform.bob.get(f"{A}/users/me/profile").json()

    assert mine == by_id == instructors
    assert (mine["latest"]["attemptCount"], mine["latest"]["overallAverage"]) == (1, 75.0)
    assert mine["history"] == [mine["latest"]]
    assert others.status_code == 404
    assert nothing == {"latest": None, "history": [], "cursor": None}


def test_deleting_takes_an_attempt_away_and_the_profile_follows(platform: Housed) -> None:
    place = platform.ada.post(f"{A}/attempts", json=_work()).headers["location"]
    platform.follow()

    gone = platform.ada.delete(place)
    platform.follow()

    assert gone.status_code == 204
    assert platform.ada.get(place).status_code == 404
    assert platform.ada.get(f"{A}/users/me/profile").json()["latest"] is None


def test_a_second_opinion_stands_beside_the_first(platform: Housed) -> None:
    place = platform.ada.post(f"{A}/attempts", json=_work()).headers["location"]

    told = platform.ada.post(f"{place}/opinion").json()

    assert told["evaluation"]["modelId"] == "scripted/1"
    assert told["secondOpinion"]["evaluation"]["modelId"] == "other/1"


def test_instructors_see_everybody_and_nobody_else_does(platform: Housed) -> None:
    platform.judge.flags = ("addresses the judge",)
    made = platform.ada.post(f"{A}/attempts", json=_work()).json()
    place = f"{A}/group/attempts/{made['attemptId']}"
    change = {"scores": {"logic": 4}, "reason": "A good proof"}

    refused = [
        platform.ada.get(f"{A}/group/dimensions"),
        platform.ada.get(f"{A}/group/questions"),
        platform.ada.get(f"{A}/group/flagged"),
        platform.ada.get(place),
        platform.ada.post(f"{place}/override", json=change),
    ]
    dimensions = platform.root.get(f"{A}/group/dimensions").json()
    questions = platform.root.get(f"{A}/group/questions").json()
    flagged = platform.root.get(f"{A}/group/flagged").json()
    seen = platform.root.get(place).json()
    changed = platform.root.post(f"{place}/override", json=change).json()
    wrong = platform.root.post(f"{place}/override", json={**change, "scores": {"charm": 1}})

    assert {reply.status_code for reply in refused} == {403}
    assert dimensions["distributions"][0]["counts"] == [0, 0, 0, 1, 0]
    assert questions["hardest"][0]["mean"] == 3.0
    assert flagged["flagged"][0]["reasons"] == ["addresses the judge"]
    assert seen["attempt"] == made
    assert changed["overrides"][0]["reason"] == "A good proof"
    assert wrong.json()["errors"][0]["field"] == "body.scores.charm"


def test_the_history_can_be_taken_along(platform: Housed) -> None:
    made = platform.ada.post(f"{A}/attempts", json=_work()).json()

    whole = platform.ada.get(f"{A}/export").json()
    rows = [*csv.DictReader(io.StringIO(platform.ada.get(f"{A}/export.csv").text))]

    assert [each["attemptId"] for each in whole["attempts"]] == [made["attemptId"]]
    assert [each["overallScore"] for each in rows] == ["75"]
