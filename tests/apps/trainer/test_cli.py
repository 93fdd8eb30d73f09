"""Commands of the trainer."""

from __future__ import annotations

import json
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from pathlib import Path

import pytest
from typer.testing import CliRunner, Result

from grandstand.apps.trainer.cli import commands
from grandstand.apps.trainer.domain.scenarios import InvalidScenarioFile
from grandstand.apps.trainer.services import Trainer
from grandstand.apps.trainer.sources.scenario_files import load_library
from grandstand.core.clock import SystemClock
from grandstand.core.errors import InvalidInput
from tests.apps.trainer.services.crashing import opened
from tests.apps.trainer.stage import ScriptedJudge, staged

Say = Callable[..., Result]


@pytest.fixture
def judge() -> ScriptedJudge:
    return ScriptedJudge()


@pytest.fixture
def say(tmp_path: Path, judge: ScriptedJudge) -> Say:
    """Run a command; each opens the store, updates the profiles and closes it."""

    @asynccontextmanager
    async def opening() -> AsyncIterator[Trainer]:
        with opened(tmp_path / "tables.db") as store:
            stage = staged(store, SystemClock(), judge=judge)
            yield stage.trainer
            await stage.follow()

    group = commands(opening)

    def said(*words: str, typed: str = "") -> Result:
        return CliRunner().invoke(group, [*words], input=typed)

    return said


def test_scenarios_are_loaded_once_and_listed(say: Say) -> None:
    first, again = say("scenarios", "load"), say("scenarios", "load", "--json")
    shown, listed = say("scenarios", "list"), say("scenarios", "list", "--json")

    assert first.stdout == "3 scenarios written, 0 unchanged\n"
    assert json.loads(again.stdout)["written"] == []
    assert "two-hospitals" in shown.stdout
    assert [each["scenario"]["scenarioId"] for each in json.loads(listed.stdout)] == [
        "two-hospitals",
        "a-poll",
        "battery-plant",
    ]
    assert "secret" not in listed.stdout


def test_a_file_of_ones_own_is_checked_with_line_and_field(say: Say, tmp_path: Path) -> None:
    file = tmp_path / "mine.yaml"
    file.write_text("scenarioId: mine\ntitle: Hm\n", encoding="utf-8")

    refused = say("scenarios", "validate", str(file))

    assert isinstance(refused.exception, InvalidScenarioFile)
    assert "line 2: title" in str(refused.exception)


def test_our_own_files_are_good(say: Say, tmp_path: Path) -> None:
    from grandstand.apps.trainer.sources.scenario_files import library_files

    name, source = library_files()[0]
    (tmp_path / name).write_bytes(source)

    told = say("scenarios", "validate", str(tmp_path / name), "--json")

    assert set(json.loads(told.stdout)) <= {each.scenario_id for each in load_library()}


def test_practising_asks_every_question_and_shows_the_scores(say: Say) -> None:
    say("scenarios", "load")
    typed = "I say score 3\nfor several reasons\n.\nNeither of the two\n.\n"

    told = say("practice", "two-hospitals", typed=typed)
    profile = json.loads(say("profile", "show", "--json").stdout)

    assert told.exit_code == 0
    assert "2. Which would you choose?" in told.stdout
    assert "75 of 100, by scripted/1" in told.stdout
    assert (profile["attemptCount"], profile["overallAverage"]) == (1, 75.0)
    assert "75 of 100 over 1 attempt" in say("profile", "show").stdout


def test_practising_asks_for_a_probability_where_one_is_asked_for(say: Say) -> None:
    say("scenarios", "load")

    told = say("practice", "battery-plant", typed="It will be late again\n.\n20\n")
    kept = json.loads(say("export").stdout)

    assert told.exit_code == 0
    assert kept["attempts"][0]["answers"][0]["probabilityPercent"] == 20


def test_a_file_of_answers_is_judged_and_not_kept(say: Say, tmp_path: Path) -> None:
    say("scenarios", "load")
    work = {"scenarioId": "a-poll", "answers": [{"questionId": "q1", "answer": "I say score 4!"}]}
    file = tmp_path / "answers.json"
    file.write_text(json.dumps(work), encoding="utf-8")

    told = say("evaluate", str(file), "--json")

    assert json.loads(told.stdout)["evaluation"]["overallScore"] == 100
    assert "100 of 100" in say("evaluate", str(file)).stdout
    assert json.loads(say("export").stdout)["attempts"] == []


@pytest.mark.parametrize(
    "text",
    [
        "",
        "[]",
        '{"scenarioId": "a-poll"}',
        '{"answers": [1]}',
        '{"scenarioId": "x", "answers": [{"questionId": "q", "probabilityPercent": "2"}]}',
    ],
)
def test_a_file_that_is_no_file_of_answers_is_refused(say: Say, tmp_path: Path, text: str) -> None:
    file = tmp_path / "answers.json"
    file.write_text(text, encoding="utf-8")

    assert isinstance(say("evaluate", str(file)).exception, InvalidInput)
    assert isinstance(say("evaluate", str(tmp_path / "none")).exception, InvalidInput)
    assert isinstance(say("evaluate").exception, InvalidInput)


def test_what_waits_is_judged_by_hand(say: Say, judge: ScriptedJudge) -> None:
    say("scenarios", "load")
    judge.down = True
    kept = say("practice", "a-poll", typed="I say score 3 again\n.\n")
    down = say("evaluate", "--pending")

    judge.down = False
    done = say("evaluate", "--pending")

    assert "Scores will follow" in kept.stdout
    assert "The judge is at lunch" in down.stdout
    assert "75 of 100" in done.stdout
    assert say("evaluate", "--pending").stdout == "Nothing is pending.\n"


def test_rebuilding_says_what_differed(say: Say) -> None:
    say("scenarios", "load")
    say("practice", "a-poll", typed="I say score 3 again\n.\n")

    told = say("profile", "rebuild", "owner")

    assert told.stdout == "owner: 1 attempt, no differences\n"
    assert json.loads(say("profile", "rebuild", "--all", "--json").stdout) == [
        {"userId": "owner", "attemptCount": 1, "differences": []}
    ]
    assert isinstance(say("profile", "rebuild").exception, InvalidInput)


def test_the_history_is_written_to_a_file(say: Say, tmp_path: Path) -> None:
    say("scenarios", "load")
    say("practice", "a-poll", typed="I say score 3 again\n.\n")
    file = tmp_path / "history.csv"

    say("export", "--format", "csv", "--to", str(file))

    assert file.read_text(encoding="utf-8").splitlines()[1].split(",")[1] == "a-poll"
