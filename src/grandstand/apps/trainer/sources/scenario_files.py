"""Kept here: scenarios written in YAML, our own library and other people's files."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from difflib import get_close_matches
from importlib.resources import files
from pathlib import Path
from typing import Final, TypeVar

from grandstand.apps.trainer.model.rubric import NAMES
from grandstand.apps.trainer.model.scenarios import Fault, MalformedScenarios, ScenarioDraft
from grandstand.apps.trainer.model.texts import word_count
from grandstand.apps.trainer.model.values import (
    DIFFICULTIES,
    AuthorNotes,
    Forecast,
    Question,
    QuestionType,
)
from grandstand.apps.trainer.sources.yaml_nodes import (
    LARGEST_BYTES,
    Fields,
    Items,
    Node,
    Scalar,
    parse,
)
from grandstand.base.errors import InvalidInput, NotFound

Choice = TypeVar("Choice", bound=str)

_LIBRARY: Final = "library"
_TYPES: Final[tuple[QuestionType, ...]] = ("short", "long")
_ID: Final = re.compile(r"[a-z0-9](?:[a-z0-9-]{0,62}[a-z0-9])?")
_WHOLE: Final = re.compile(r"[0-9]{1,9}")
_UNSET: Final = Scalar(0, "unset", "")

_SCENARIO: Final = {
    "scenarioId": True,
    "title": True,
    "description": True,
    "difficulty": True,
    "tags": False,
    "estimatedMinutes": True,
    "questions": True,
}
_QUESTION: Final = {
    "questionId": True,
    "text": True,
    "type": True,
    "targetWordCount": True,
    "focusAreas": True,
    "notes": False,
    "forecast": False,
}
_NOTES: Final = {
    "assumptions": False,
    "traps": False,
    "keyNumbers": False,
    "alternatives": False,
    "modelAnswer": False,
}
_FORECAST: Final = {"event": True, "happened": False}


def library() -> tuple[ScenarioDraft, ...]:
    """Answer our own scenarios, easiest first, then by id; raises MalformedScenarios."""
    drafts: dict[str, ScenarioDraft] = {}
    for file in sorted(library_files(), key=lambda each: each[0]):
        for draft in read_scenarios(file[1], named=file[0]):
            if draft.scenario_id in drafts:
                fault = Fault(1, "scenarioId", f"“{draft.scenario_id}” is in another file too")
                raise MalformedScenarios(file[0], (fault,))
            drafts[draft.scenario_id] = draft
    order = {difficulty: place for place, difficulty in enumerate(DIFFICULTIES)}
    return tuple(sorted(drafts.values(), key=lambda d: (order[d.difficulty], d.scenario_id)))


def library_files() -> tuple[tuple[str, bytes], ...]:
    """Answer the names and contents of the files our own scenarios are written in."""
    folder = files(__package__) / _LIBRARY
    return tuple(
        (entry.name, entry.read_bytes())
        for entry in folder.iterdir()
        if entry.name.endswith(".yaml")
    )


def read_scenario_file(path: Path) -> tuple[ScenarioDraft, ...]:
    """Read a person's own file; raises NotFound, InvalidInput and MalformedScenarios."""
    try:
        with path.open("rb") as file:
            source = file.read(LARGEST_BYTES + 1)
    except FileNotFoundError as error:
        raise NotFound(f"There is no file {path}") from error
    except OSError as error:
        raise InvalidInput(f"The file {path} cannot be read: {error.strerror}") from error
    return read_scenarios(source, named=path.name)


def read_scenarios(source: bytes, *, named: str) -> tuple[ScenarioDraft, ...]:
    """Read one scenario, or a list of them; raises MalformedScenarios with every fault found."""
    reading = _Reading()
    drafts = reading.scenarios(parse(source, named))
    if reading.faults:
        ordered = sorted(reading.faults, key=lambda fault: fault.line)
        raise MalformedScenarios(named, tuple(ordered))
    return drafts


class _Reading:
    """One pass over a file; a fault is noted, and a harmless value stands in, so all are found."""

    def __init__(self) -> None:
        self.faults: list[Fault] = []

    def scenarios(self, root: Node | None) -> tuple[ScenarioDraft, ...]:
        if root is None or (isinstance(root, Items) and not root.items):
            self._note(1, "file", "there is no scenario in it")
            return ()
        if isinstance(root, Items):
            places = [(item, f"[{at}].") for at, item in enumerate(root.items, start=1)]
        else:
            places = [(root, "")]
        drafts = [(item.line, self._scenario(item, place)) for item, place in places]
        self._unique([(line, draft.scenario_id) for line, draft in drafts], "scenarioId")
        return tuple(draft for _, draft in drafts)

    def _scenario(self, node: Node, place: str) -> ScenarioDraft:
        given = self._fields(node, place, _SCENARIO)
        return ScenarioDraft(
            scenario_id=self._id(given["scenarioId"], f"{place}scenarioId"),
            title=self._text(given["title"], f"{place}title", 5, 200),
            description=self._text(given["description"], f"{place}description", 50, 20_000),
            difficulty=self._choice(given["difficulty"], f"{place}difficulty", DIFFICULTIES),
            tags=self._tags(given["tags"], f"{place}tags"),
            estimated_minutes=self._whole(
                given["estimatedMinutes"], f"{place}estimatedMinutes", 1, 480
            ),
            questions=self._questions(given["questions"], f"{place}questions"),
        )

    def _questions(self, node: Node, place: str) -> tuple[Question, ...]:
        items = self._items(node, place, 1, 10)
        numbered = list(enumerate(items, start=1))
        questions = [(item.line, self._question(item, f"{place}[{at}].")) for at, item in numbered]
        self._unique([(line, each.question_id) for line, each in questions], f"{place}.questionId")
        return tuple(each for _, each in questions)

    def _question(self, node: Node, place: str) -> Question:
        given = self._fields(node, place, _QUESTION)
        return Question(
            question_id=self._id(given["questionId"], f"{place}questionId"),
            text=self._text(given["text"], f"{place}text", 10, 2_000),
            type=self._choice(given["type"], f"{place}type", _TYPES),
            target_word_count=self._whole(
                given["targetWordCount"], f"{place}targetWordCount", 10, 2_000
            ),
            focus_areas=self._focus_areas(given["focusAreas"], f"{place}focusAreas"),
            notes=self._notes(given["notes"], f"{place}notes"),
            forecast=self._forecast(given["forecast"], f"{place}forecast"),
        )

    def _focus_areas(self, node: Node, place: str) -> tuple[str, ...]:
        faults = len(self.faults)
        areas = [
            (item.line, self._choice(item, f"{place}[{at}]", NAMES))
            for at, item in enumerate(self._items(node, place, 1, 3), start=1)
        ]
        if faults == len(self.faults):
            self._unique(areas, place)
        return tuple(area for _, area in areas)

    def _notes(self, node: Node, place: str) -> AuthorNotes | None:
        if node is _UNSET:
            return None
        given = self._fields(node, f"{place}.", _NOTES)
        answer = given["modelAnswer"]
        return AuthorNotes(
            assumptions=self._texts(given["assumptions"], f"{place}.assumptions"),
            traps=self._texts(given["traps"], f"{place}.traps"),
            key_numbers=self._texts(given["keyNumbers"], f"{place}.keyNumbers"),
            alternatives=self._texts(given["alternatives"], f"{place}.alternatives"),
            model_answer=(
                "" if answer is _UNSET else self._text(answer, f"{place}.modelAnswer", 1, 20_000)
            ),
        )

    def _forecast(self, node: Node, place: str) -> Forecast | None:
        if node is _UNSET:
            return None
        given = self._fields(node, f"{place}.", _FORECAST)
        return Forecast(
            event=self._text(given["event"], f"{place}.event", 10, 500),
            happened=self._flag(given["happened"], f"{place}.happened"),
        )

    def _fields(self, node: Node, place: str, known: Mapping[str, bool]) -> dict[str, Node]:
        """Answer a node for every known field, `_UNSET` where there is none."""
        given: dict[str, Node] = dict.fromkeys(known, _UNSET)
        if not isinstance(node, Fields):
            where = place.rstrip(".") or "file"
            self._note(node.line, where, f"must be a mapping of fields, not {node.kind}")
            return given
        for entry in node.entries:
            if entry.name not in known:
                hint = _suggestion(entry.name, tuple(known))
                self._note(entry.line, f"{place}{entry.name}", f"there is no such field{hint}")
            elif given[entry.name] is not _UNSET:
                self._note(entry.line, f"{place}{entry.name}", "is there twice")
            else:
                given[entry.name] = entry.node
        for name, needed in known.items():
            if needed and given[name] is _UNSET:
                self._note(node.line, f"{place}{name}", "is missing")
        return given

    def _items(self, node: Node, place: str, least: int, most: int) -> tuple[Node, ...]:
        if node is _UNSET:
            return ()
        if not isinstance(node, Items):
            self._note(node.line, place, f"must be a list, not {node.kind}")
            return ()
        count = len(node.items)
        if not least <= count <= most:
            self._note(node.line, place, f"has {count} items; {least} to {most} are allowed")
        return node.items[:most]

    def _texts(self, node: Node, place: str) -> tuple[str, ...]:
        items = self._items(node, place, 0, 20)
        return tuple(
            self._text(item, f"{place}[{at}]", 1, 1_000) for at, item in enumerate(items, start=1)
        )

    def _tags(self, node: Node, place: str) -> tuple[str, ...]:
        items = self._items(node, place, 0, 10)
        tags = [
            (item.line, self._id(item, f"{place}[{at}]")) for at, item in enumerate(items, start=1)
        ]
        self._unique(tags, place)
        return tuple(tag for _, tag in tags)

    def _text(self, node: Node, place: str, least: int, most: int) -> str:
        if node is _UNSET:
            return ""
        if not isinstance(node, Scalar) or node.kind != "text":
            hint = "; put it in quotes" if isinstance(node, Scalar) and node.text else ""
            self._note(node.line, place, f"must be text, not {node.kind}{hint}")
            return ""
        text = node.text.strip()
        if not least <= len(text) <= most:
            limit = f"at least {least}" if len(text) < least else f"at most {most:,}"
            has = f"has {len(text):,} characters in {word_count(text):,} words"
            self._note(node.line, place, f"{has}; it must have {limit} characters")
        return text

    def _id(self, node: Node, place: str) -> str:
        faults = len(self.faults)
        text = self._text(node, place, 1, 64)
        if node is not _UNSET and faults == len(self.faults) and not _ID.fullmatch(text):
            self._note(node.line, place, f"“{text}” must be small letters, digits and hyphens")
        return text

    def _whole(self, node: Node, place: str, least: int, most: int) -> int:
        if node is _UNSET:
            return 0
        if not isinstance(node, Scalar) or node.kind != "a whole number":
            self._note(node.line, place, f"must be a whole number, not {node.kind}")
            return 0
        number = int(node.text) if _WHOLE.fullmatch(node.text) else -1
        if not least <= number <= most:
            self._note(node.line, place, f"{node.text[:20]} is not from {least} to {most:,}")
        return number

    def _flag(self, node: Node, place: str) -> bool | None:
        if node is _UNSET or node.kind == "nothing":
            return None
        if not isinstance(node, Scalar) or node.kind != "true or false":
            self._note(node.line, place, f"must be true or false, not {node.kind}")
            return None
        return node.text.lower() in {"true", "yes", "on"}

    def _choice(self, node: Node, place: str, choices: Sequence[Choice]) -> Choice:
        faults = len(self.faults)
        text = self._text(node, place, 0, 200)
        for choice in choices:
            if choice == text:
                return choice
        if node is not _UNSET and faults == len(self.faults):
            hint = _suggestion(text, choices) or f"; choose from {', '.join(choices)}"
            self._note(node.line, place, f"“{text}” is not known here{hint}")
        return choices[0]

    def _unique(self, named: Sequence[tuple[int, str]], place: str) -> None:
        seen: dict[str, int] = {}
        for line, name in named:
            if name and name in seen:
                self._note(line, place, f"“{name}” is in line {seen[name]} already")
            seen.setdefault(name, line)

    def _note(self, line: int, place: str, problem: str) -> None:
        self.faults.append(Fault(line, place, problem))


def _suggestion(given: str, known: Sequence[str]) -> str:
    small = {name.lower(): name for name in known}
    close = get_close_matches(given.lower().replace("_", ""), small, n=1)
    return f"; did you mean {small[close[0]]}?" if close else ""
