"""Scenario files: parsing, and problems by line and field."""

import os
from pathlib import Path

import pytest

from grandstand.apps.trainer.domain.scenarios import (
    AuthorNotes,
    Forecast,
    InvalidScenarioFile,
    Question,
    ScenarioDraft,
)
from grandstand.apps.trainer.sources.scenario_files import (
    MAX_FILE_BYTES,
    parse_scenarios,
    read_scenario_file,
)
from grandstand.core.errors import InvalidInput, NotFound

WHOLE = """\
scenarioId: my-case
title: A case of my own
description: >-
  Sales of the red kettle fell by a third in a week, and nobody knows why.
difficulty: beginner
tags: [business, kettles]
estimatedMinutes: 20
questions:
  - questionId: q1
    text: What could explain the fall?
    type: short
    targetWordCount: 80
    focusAreas: [alternatives, evidence]
    notes:
      assumptions: [That the count is right]
      traps: [Blaming the price]
      keyNumbers: [1 / 3 of sales]
      alternatives: [A strike]
      modelAnswer: It could be a strike.
  - questionId: q2
    text: Will sales recover by June?
    type: long
    targetWordCount: 120
    focusAreas: [humility-uncertainty]
    forecast:
      event: Sales recover by June
      happened: yes
"""


def _faults(text: str) -> list[str]:
    with pytest.raises(InvalidScenarioFile) as raised:
        parse_scenarios(text.encode(), file_name="own.yaml")
    return [str(fault) for fault in raised.value.issues]


def test_a_whole_file_is_read_with_everything_in_it() -> None:
    drafts = parse_scenarios(WHOLE.encode(), file_name="own.yaml")

    assert drafts == (
        ScenarioDraft(
            scenario_id="my-case",
            title="A case of my own",
            description="Sales of the red kettle fell by a third in a week, and nobody knows why.",
            difficulty="beginner",
            tags=("business", "kettles"),
            estimated_minutes=20,
            questions=(
                Question(
                    "q1",
                    "What could explain the fall?",
                    "short",
                    80,
                    ("alternatives", "evidence"),
                    AuthorNotes(
                        ("That the count is right",),
                        ("Blaming the price",),
                        ("1 / 3 of sales",),
                        ("A strike",),
                        "It could be a strike.",
                    ),
                ),
                Question(
                    "q2",
                    "Will sales recover by June?",
                    "long",
                    120,
                    ("humility-uncertainty",),
                    None,
                    Forecast("Sales recover by June", True),
                ),
            ),
        ),
    )


def test_a_list_of_scenarios_is_read_in_its_order() -> None:
    one = "- " + WHOLE.replace("\n", "\n  ").rstrip()
    two = one.replace("my-case", "other-case")

    drafts = parse_scenarios(f"{two}\n{one}\n".encode(), file_name="own.yaml")

    assert [draft.scenario_id for draft in drafts] == ["other-case", "my-case"]


@pytest.mark.parametrize(
    ("written", "happened"), [("true", True), ("no", False), ("null", None), ("~", None)]
)
def test_an_outcome_may_be_known_or_open(written: str, happened: bool | None) -> None:  # noqa: FBT001 - pytest hands it over by name
    text = WHOLE.replace("happened: yes", f"happened: {written}")

    forecast = parse_scenarios(text.encode(), file_name="own.yaml")[0].questions[1].forecast

    assert forecast == Forecast("Sales recover by June", happened)


@pytest.mark.parametrize(
    ("old", "new", "fault"),
    [
        ("title: A case", "titel: A case", "line 1: title: is missing"),
        (
            "    focusAreas: [alternatives",
            "    focus_areas: [alternatives",
            "line 13: questions[1].focus_areas: unknown field; did you mean focusAreas?",
        ),
        (
            "estimatedMinutes: 20",
            "colour: red\nestimatedMinutes: 20",
            "line 7: colour: unknown field",
        ),
        ("title: A case of my own", "title: 2024", "line 2: title: must be text, not a whole "),
        ("title: A case of my own", "title: yes", "not true or false; put it in quotes"),
        ("title: A case of my own", "title: Tea", "line 2: title: has 3 characters in 1 words"),
        (
            "in a week, and nobody knows why",
            "",
            "line 3: description: has 41 characters in 9 words",
        ),
        ("text: What could explain the fall?", "text: Why?", "line 10: questions[1].text: has 4"),
        ("difficulty: beginner", "difficulty: begginer", "did you mean beginner?"),
        ("difficulty: beginner", "difficulty: xyz", "choose from beginner, intermediate, advanced"),
        ("type: long", "type: essay", "line 22: questions[2].type: “essay” is not a known value"),
        (
            "[humility-uncertainty]",
            "[humility]",
            "line 24: questions[2].focusAreas[1]: “humility” is not a known value",
        ),
        ("[humility-uncertainty]", "[]", "line 24: questions[2].focusAreas: has 0 items; 1 to 3"),
        (
            "[humility-uncertainty]",
            "[clarity, logic, evidence, relevance]",
            "line 24: questions[2].focusAreas: has 4 items; 1 to 3",
        ),
        (
            "[humility-uncertainty]",
            "[logic, logic]",
            "line 24: questions[2].focusAreas: “logic” is already used in line 24",
        ),
        ("[humility-uncertainty]", "logic", "line 24: questions[2].focusAreas: must be a list"),
        (
            "questionId: q2",
            "questionId: q1",
            "line 20: questions.questionId: “q1” is already used in line 9",
        ),
        (
            "questionId: q2",
            "questionId: Q 2",
            "“Q 2” must be lower-case letters, digits and hyphens",
        ),
        ("targetWordCount: 120", "targetWordCount: many", "must be a whole number, not text"),
        ("targetWordCount: 120", "targetWordCount: 12.5", "must be a whole number, not a number"),
        (
            "targetWordCount: 120",
            "targetWordCount: 9",
            "line 23: questions[2].targetWordCount: 9 is",
        ),
        ("targetWordCount: 120", f"targetWordCount: {'9' * 6000}", "is not from 10 to 2,000"),
        ("targetWordCount: 120", "targetWordCount: 0x10", "0x10 is not from 10 to 2,000"),
        (
            "happened: yes",
            "happened: maybe",
            "line 27: questions[2].forecast.happened: must be true",
        ),
        (
            "event: Sales recover by June",
            "happened: no",
            "line 27: questions[2].forecast.happened: is",
        ),
        (
            "traps: [Blaming the price]",
            "traps: [{a: b}]",
            "line 16: questions[1].notes.traps[1]: must",
        ),
        ("    notes:\n", "    notes: none\n", "line 15: file: not valid YAML"),
        ("title: A case of my own", "title: !!python/name:os.system x", "line 2: file: tags ("),
        ("title: A case of my own", "title: &again A case", "line 2: file: anchors (&again)"),
        (
            "type: long",
            "? [a]\n    : b",
            "line 22: file: the name of a field must be a single word",
        ),
        ("difficulty: beginner", "---\ndifficulty: beginner", "line 5: file: a second document"),
        (
            "title: A case of my own",
            "title: \x07 bell and more",
            "line 2: file: the character U+0007",
        ),
        ("title: A case of my own", 'title: "open', "not valid YAML"),
        (
            "tags: [business, kettles]",
            "tags: [" * 40 + "]" * 40,
            "line 6: file: lists and mappings",
        ),
    ],
)
def test_a_fault_is_told_by_line_and_field(old: str, new: str, fault: str) -> None:
    text = WHOLE.replace(old, new, 1)

    faults = _faults(text)

    assert text != WHOLE
    assert [each for each in faults if fault in each] != []


def test_all_faults_of_a_file_are_told_at_once_in_line_order() -> None:
    text = WHOLE.replace("A case of my own", "Tea").replace("beginner", "simple")
    text = text.replace("type: short", "type: tiny").replace("    event: Sales", "    even: Sales")

    faults = _faults(text)

    assert [fault.split(": ")[:2] for fault in faults] == [
        ["line 2", "title"],
        ["line 5", "difficulty"],
        ["line 11", "questions[1].type"],
        ["line 26", "questions[2].forecast.even"],
        ["line 26", "questions[2].forecast.event"],
    ]


def test_the_message_names_the_file_on_every_line() -> None:
    with pytest.raises(InvalidScenarioFile, match=r"own\.yaml, line 2: title: has 3 characters"):
        parse_scenarios(WHOLE.replace("A case of my own", "Tea").encode(), file_name="own.yaml")


@pytest.mark.parametrize(
    ("text", "fault"),
    [
        ("", "line 1: file: there is no scenario in the file"),
        ("# only a remark\n", "line 1: file: there is no scenario in the file"),
        ("[]", "line 1: file: there is no scenario in the file"),
        ("just words", "line 1: file: must be a mapping of fields, not text"),
        ("- 5", "line 1: [1]: must be a mapping of fields, not a whole number"),
    ],
)
def test_a_file_without_a_scenario_is_refused(text: str, fault: str) -> None:
    assert _faults(text)[0] == fault


def test_a_scenario_with_no_question_or_more_than_ten_is_refused() -> None:
    head, _, question = WHOLE.partition("questions:\n")
    second = "  - questionId: q2" + question.split("  - questionId: q2")[1]
    eleven = "".join(second.replace("q2", f"q{n}") for n in range(11))

    none = _faults(head + "questions: []\n")
    many = _faults(f"{head}questions:\n{eleven}")

    assert none == ["line 8: questions: has 0 items; 1 to 10 are allowed"]
    assert many == ["line 9: questions: has 11 items; 1 to 10 are allowed"]


def test_two_scenarios_of_one_id_are_refused() -> None:
    one = "- " + WHOLE.replace("\n", "\n  ").rstrip() + "\n"

    assert _faults(one + one) == ["line 28: scenarioId: “my-case” is already used in line 1"]


def test_a_bomb_of_aliases_is_refused_before_it_is_unfolded() -> None:
    levels = [f"a{n}: &a{n} [{', '.join([f'*a{n - 1}'] * 9)}]" for n in range(1, 30)]
    text = "\n".join(["a0: &a0 [lol]", *levels])

    assert _faults(text) == ["line 1: file: anchors (&a0) are not supported; remove the mark"]


def test_nesting_deeper_than_the_stack_is_refused() -> None:
    assert "more than 12 deep" in _faults("[" * 100_000)[0]


def test_a_file_that_is_too_large_is_refused_unread(tmp_path: Path) -> None:
    large = tmp_path / "large.yaml"
    large.write_bytes(b"#" * (MAX_FILE_BYTES + 1))

    with pytest.raises(InvalidScenarioFile, match="bytes are too many; the limit is 262,144"):
        read_scenario_file(large)


def test_text_that_is_not_utf_8_is_told_by_its_line() -> None:
    with pytest.raises(InvalidScenarioFile, match="line 2: file: the file is not UTF-8 text"):
        parse_scenarios(b"title: x\ndescription: caf\xe9\n", file_name="own.yaml")


def test_a_byte_order_mark_at_the_start_is_no_fault() -> None:
    drafts = parse_scenarios(b"\xef\xbb\xbf" + WHOLE.encode(), file_name="own.yaml")

    assert [draft.scenario_id for draft in drafts] == ["my-case"]


def test_a_file_is_read_from_its_path(tmp_path: Path) -> None:
    path = tmp_path / "own.yaml"
    path.write_text(WHOLE, encoding="utf-8")

    assert [draft.scenario_id for draft in read_scenario_file(path)] == ["my-case"]


def test_a_path_that_holds_no_file_is_refused(tmp_path: Path) -> None:
    with pytest.raises(NotFound, match=r"File .*missing\.yaml does not exist"):
        read_scenario_file(tmp_path / "missing.yaml")
    with pytest.raises(InvalidInput, match=os.strerror(21)):
        read_scenario_file(tmp_path)
