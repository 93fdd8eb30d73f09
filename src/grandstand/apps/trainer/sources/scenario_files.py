"""Scenarios written in YAML: the built-in library, and people's own files."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from difflib import get_close_matches
from importlib.resources import files
from pathlib import Path
from typing import Any, Final, TypeAlias, TypeVar

import yaml

from grandstand.apps.trainer.domain.evaluation import DIMENSION_NAMES, word_count
from grandstand.apps.trainer.domain.scenarios import (
    DIFFICULTIES,
    AuthorNotes,
    Forecast,
    InvalidScenarioFile,
    Question,
    QuestionType,
    ScenarioDraft,
    ScenarioIssue,
)
from grandstand.core.errors import InvalidInput, NotFound

MAX_FILE_BYTES: Final = 256 * 1024
_MAX_DEPTH: Final = 12
_KINDS: Final = {
    "tag:yaml.org,2002:str": "text",
    "tag:yaml.org,2002:int": "a whole number",
    "tag:yaml.org,2002:float": "a number",
    "tag:yaml.org,2002:bool": "true or false",
    "tag:yaml.org,2002:null": "nothing",
    "tag:yaml.org,2002:timestamp": "a date",
}
# Everything but the characters that YAML 1.1 allows in a stream.
_UNPRINTABLE: Final = re.compile(
    "[^\t\n\r\x20-\x7e\x85\xa0-\ud7ff\ue000-\ufefe\uff00-\ufffd\U00010000-\U0010ffff]"
)


@dataclass(frozen=True, slots=True)
class YamlScalar:
    """A scalar as it was written, and the type YAML gives it."""

    line: int
    kind: str
    text: str


@dataclass(frozen=True, slots=True)
class YamlList:
    line: int
    items: tuple[YamlNode, ...]
    kind: str = "a list"


@dataclass(frozen=True, slots=True)
class YamlEntry:
    """One `field: value` of a mapping; `line` is that of the field."""

    line: int
    name: str
    node: YamlNode


@dataclass(frozen=True, slots=True)
class YamlMapping:
    """A mapping, including repeated fields."""

    line: int
    entries: tuple[YamlEntry, ...]
    kind: str = "a mapping"


YamlNode: TypeAlias = YamlScalar | YamlList | YamlMapping


def parse_yaml(source: bytes, file_name: str) -> YamlNode | None:
    """Return the document in a YAML text as nodes with line numbers; None if it is empty.

    Raises InvalidScenarioFile for invalid YAML, and for aliases, tags, deep nesting, several
    documents and more than 256 KiB.
    """
    text = _decode(source, file_name)
    try:
        unsupported = _find_unsupported(text)
        if unsupported:
            raise _invalid(file_name, *unsupported)
        root = yaml.compose(text, Loader=_loader())
        return None if root is None else _node(root, file_name)
    except yaml.YAMLError as error:
        mark = getattr(error, "problem_mark", None)
        problem = getattr(error, "problem", None) or "the text is unreadable"
        line = mark.line + 1 if mark else 1
        raise _invalid(file_name, line, f"not valid YAML: {problem}") from error


def _invalid(file_name: str, line: int, problem: str) -> InvalidScenarioFile:
    return InvalidScenarioFile(file_name, (ScenarioIssue(line, "file", problem),))


def _loader() -> Any:  # noqa: ANN401 - the library is published without types
    return getattr(yaml, "CSafeLoader", yaml.SafeLoader)


def _decode(source: bytes, file_name: str) -> str:
    if len(source) > MAX_FILE_BYTES:
        problem = f"{len(source):,} bytes are too many; the limit is {MAX_FILE_BYTES:,}"
        raise _invalid(file_name, 1, problem)
    try:
        text = source.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        line = source.count(b"\n", 0, error.start) + 1
        raise _invalid(file_name, line, "the file is not UTF-8 text") from error
    invalid = _UNPRINTABLE.search(text)
    if invalid:
        line = text.count("\n", 0, invalid.start()) + 1
        problem = f"the character U+{ord(invalid.group()):04X} is not allowed in YAML"
        raise _invalid(file_name, line, problem)
    return text


def _find_unsupported(text: str) -> tuple[int, str] | None:
    """Scan the event stream, which needs no recursion, for unsupported features."""
    depth = documents = 0
    for event in yaml.parse(text, Loader=_loader()):
        problem = None
        depth += isinstance(event, yaml.CollectionStartEvent)
        depth -= isinstance(event, yaml.CollectionEndEvent)
        documents += isinstance(event, yaml.DocumentStartEvent)
        if isinstance(event, yaml.AliasEvent):
            problem = f"aliases (*{event.anchor}) are not supported; write the value out"
        elif getattr(event, "anchor", None):
            problem = f"anchors (&{event.anchor}) are not supported; remove the mark"
        elif tag := getattr(event, "tag", None):
            problem = f"tags ({tag}) are not supported; remove the mark"
        elif depth > _MAX_DEPTH:
            problem = f"lists and mappings are nested more than {_MAX_DEPTH} deep"
        elif documents > 1:
            problem = "a second document begins here; put several scenarios into one list"
        if problem:
            return event.start_mark.line + 1, problem
    return None


def _node(node: Any, file_name: str) -> YamlNode:  # noqa: ANN401 - as _loader
    line = node.start_mark.line + 1
    if isinstance(node, yaml.MappingNode):
        return YamlMapping(
            line, tuple(_entry(name, value, file_name) for name, value in node.value)
        )
    if isinstance(node, yaml.SequenceNode):
        return YamlList(line, tuple(_node(item, file_name) for item in node.value))
    return YamlScalar(line, _KINDS.get(node.tag, "another type"), str(node.value))


def _entry(name: Any, value: Any, file_name: str) -> YamlEntry:  # noqa: ANN401 - as _loader
    line = name.start_mark.line + 1
    if not isinstance(name, yaml.ScalarNode):
        raise _invalid(file_name, line, "the name of a field must be a single word")
    return YamlEntry(line, str(name.value), _node(value, file_name))


Choice = TypeVar("Choice", bound=str)

_LIBRARY: Final = "library"
_TYPES: Final[tuple[QuestionType, ...]] = ("short", "long")
_ID: Final = re.compile(r"[a-z0-9](?:[a-z0-9-]{0,62}[a-z0-9])?")
_WHOLE: Final = re.compile(r"[0-9]{1,9}")
_UNSET: Final = YamlScalar(0, "unset", "")

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


def load_library() -> tuple[ScenarioDraft, ...]:
    """Return the built-in scenarios, easiest first, then by id."""
    drafts: dict[str, ScenarioDraft] = {}
    for file_name, source in sorted(library_files()):
        for draft in parse_scenarios(source, file_name=file_name):
            if draft.scenario_id in drafts:
                problem = f"“{draft.scenario_id}” is in another file too"
                raise InvalidScenarioFile(file_name, (ScenarioIssue(1, "scenarioId", problem),))
            drafts[draft.scenario_id] = draft
    order = {difficulty: position for position, difficulty in enumerate(DIFFICULTIES)}
    return tuple(sorted(drafts.values(), key=lambda d: (order[d.difficulty], d.scenario_id)))


def library_files() -> tuple[tuple[str, bytes], ...]:
    """Return the names and contents of the built-in scenario files."""
    folder = files(__package__) / _LIBRARY
    return tuple(
        (entry.name, entry.read_bytes())
        for entry in folder.iterdir()
        if entry.name.endswith(".yaml")
    )


def read_scenario_file(path: Path) -> tuple[ScenarioDraft, ...]:
    """Read a scenario file.

    Raises NotFound, InvalidInput or InvalidScenarioFile.
    """
    try:
        with path.open("rb") as file:
            source = file.read(MAX_FILE_BYTES + 1)
    except FileNotFoundError as error:
        raise NotFound(f"File {path} does not exist.") from error
    except OSError as error:
        raise InvalidInput(f"Cannot read {path}: {error.strerror}.") from error
    return parse_scenarios(source, file_name=path.name)


def parse_scenarios(source: bytes, *, file_name: str) -> tuple[ScenarioDraft, ...]:
    """Parse one scenario or a list of them.

    Raises InvalidScenarioFile with every problem found.
    """
    parser = _ScenarioParser()
    drafts = parser.scenarios(parse_yaml(source, file_name))
    if parser.issues:
        ordered = sorted(parser.issues, key=lambda issue: issue.line)
        raise InvalidScenarioFile(file_name, tuple(ordered))
    return drafts


class _ScenarioParser:
    """Parses one file; after a problem it goes on with a placeholder, so that all are found."""

    def __init__(self) -> None:
        self.issues: list[ScenarioIssue] = []

    def scenarios(self, root: YamlNode | None) -> tuple[ScenarioDraft, ...]:
        if root is None or (isinstance(root, YamlList) and not root.items):
            self._report(1, "file", "there is no scenario in the file")
            return ()
        if isinstance(root, YamlList):
            paths = [(item, f"[{at}].") for at, item in enumerate(root.items, start=1)]
        else:
            paths = [(root, "")]
        drafts = [(item.line, self._scenario(item, path)) for item, path in paths]
        self._unique([(line, draft.scenario_id) for line, draft in drafts], "scenarioId")
        return tuple(draft for _, draft in drafts)

    def _scenario(self, node: YamlNode, path: str) -> ScenarioDraft:
        fields = self._fields(node, path, _SCENARIO)
        return ScenarioDraft(
            scenario_id=self._id(fields["scenarioId"], f"{path}scenarioId"),
            title=self._text(fields["title"], f"{path}title", 5, 200),
            description=self._text(fields["description"], f"{path}description", 50, 20_000),
            difficulty=self._choice(fields["difficulty"], f"{path}difficulty", DIFFICULTIES),
            tags=self._tags(fields["tags"], f"{path}tags"),
            estimated_minutes=self._whole(
                fields["estimatedMinutes"], f"{path}estimatedMinutes", 1, 480
            ),
            questions=self._questions(fields["questions"], f"{path}questions"),
        )

    def _questions(self, node: YamlNode, path: str) -> tuple[Question, ...]:
        items = self._items(node, path, 1, 10)
        numbered = list(enumerate(items, start=1))
        questions = [(item.line, self._question(item, f"{path}[{at}].")) for at, item in numbered]
        self._unique([(line, each.question_id) for line, each in questions], f"{path}.questionId")
        return tuple(each for _, each in questions)

    def _question(self, node: YamlNode, path: str) -> Question:
        fields = self._fields(node, path, _QUESTION)
        return Question(
            question_id=self._id(fields["questionId"], f"{path}questionId"),
            text=self._text(fields["text"], f"{path}text", 10, 2_000),
            type=self._choice(fields["type"], f"{path}type", _TYPES),
            target_word_count=self._whole(
                fields["targetWordCount"], f"{path}targetWordCount", 10, 2_000
            ),
            focus_areas=self._focus_areas(fields["focusAreas"], f"{path}focusAreas"),
            notes=self._notes(fields["notes"], f"{path}notes"),
            forecast=self._forecast(fields["forecast"], f"{path}forecast"),
        )

    def _focus_areas(self, node: YamlNode, path: str) -> tuple[str, ...]:
        issue_count = len(self.issues)
        areas = [
            (item.line, self._choice(item, f"{path}[{at}]", DIMENSION_NAMES))
            for at, item in enumerate(self._items(node, path, 1, 3), start=1)
        ]
        if issue_count == len(self.issues):
            self._unique(areas, path)
        return tuple(area for _, area in areas)

    def _notes(self, node: YamlNode, path: str) -> AuthorNotes | None:
        if node is _UNSET:
            return None
        fields = self._fields(node, f"{path}.", _NOTES)
        answer = fields["modelAnswer"]
        return AuthorNotes(
            assumptions=self._texts(fields["assumptions"], f"{path}.assumptions"),
            traps=self._texts(fields["traps"], f"{path}.traps"),
            key_numbers=self._texts(fields["keyNumbers"], f"{path}.keyNumbers"),
            alternatives=self._texts(fields["alternatives"], f"{path}.alternatives"),
            model_answer=(
                "" if answer is _UNSET else self._text(answer, f"{path}.modelAnswer", 1, 20_000)
            ),
        )

    def _forecast(self, node: YamlNode, path: str) -> Forecast | None:
        if node is _UNSET:
            return None
        fields = self._fields(node, f"{path}.", _FORECAST)
        return Forecast(
            event=self._text(fields["event"], f"{path}.event", 10, 500),
            happened=self._flag(fields["happened"], f"{path}.happened"),
        )

    def _fields(self, node: YamlNode, path: str, known: Mapping[str, bool]) -> dict[str, YamlNode]:
        """Return a node for every known field, `_UNSET` if it is absent."""
        fields: dict[str, YamlNode] = dict.fromkeys(known, _UNSET)
        if not isinstance(node, YamlMapping):
            where = path.rstrip(".") or "file"
            self._report(node.line, where, f"must be a mapping of fields, not {node.kind}")
            return fields
        for entry in node.entries:
            if entry.name not in known:
                hint = _suggestion(entry.name, tuple(known))
                self._report(entry.line, f"{path}{entry.name}", f"unknown field{hint}")
            elif fields[entry.name] is not _UNSET:
                self._report(entry.line, f"{path}{entry.name}", "is set twice")
            else:
                fields[entry.name] = entry.node
        for name, needed in known.items():
            if needed and fields[name] is _UNSET:
                self._report(node.line, f"{path}{name}", "is missing")
        return fields

    def _items(self, node: YamlNode, path: str, minimum: int, maximum: int) -> tuple[YamlNode, ...]:
        if node is _UNSET:
            return ()
        if not isinstance(node, YamlList):
            self._report(node.line, path, f"must be a list, not {node.kind}")
            return ()
        count = len(node.items)
        if not minimum <= count <= maximum:
            allowed = f"{minimum} to {maximum} are allowed"
            self._report(node.line, path, f"has {count} items; {allowed}")
        return node.items[:maximum]

    def _texts(self, node: YamlNode, path: str) -> tuple[str, ...]:
        items = self._items(node, path, 0, 20)
        return tuple(
            self._text(item, f"{path}[{at}]", 1, 1_000) for at, item in enumerate(items, start=1)
        )

    def _tags(self, node: YamlNode, path: str) -> tuple[str, ...]:
        items = self._items(node, path, 0, 10)
        tags = [
            (item.line, self._id(item, f"{path}[{at}]")) for at, item in enumerate(items, start=1)
        ]
        self._unique(tags, path)
        return tuple(tag for _, tag in tags)

    def _text(self, node: YamlNode, path: str, minimum: int, maximum: int) -> str:
        if node is _UNSET:
            return ""
        if not isinstance(node, YamlScalar) or node.kind != "text":
            hint = "; put it in quotes" if isinstance(node, YamlScalar) and node.text else ""
            self._report(node.line, path, f"must be text, not {node.kind}{hint}")
            return ""
        text = node.text.strip()
        if not minimum <= len(text) <= maximum:
            limit = f"at least {minimum}" if len(text) < minimum else f"at most {maximum:,}"
            has = f"has {len(text):,} characters in {word_count(text):,} words"
            self._report(node.line, path, f"{has}; it must have {limit} characters")
        return text

    def _id(self, node: YamlNode, path: str) -> str:
        issue_count = len(self.issues)
        text = self._text(node, path, 1, 64)
        if node is not _UNSET and issue_count == len(self.issues) and not _ID.fullmatch(text):
            self._report(
                node.line, path, f"“{text}” must be lower-case letters, digits and hyphens"
            )
        return text

    def _whole(self, node: YamlNode, path: str, minimum: int, maximum: int) -> int:
        if node is _UNSET:
            return 0
        if not isinstance(node, YamlScalar) or node.kind != "a whole number":
            self._report(node.line, path, f"must be a whole number, not {node.kind}")
            return 0
        number = int(node.text) if _WHOLE.fullmatch(node.text) else -1
        if not minimum <= number <= maximum:
            allowed = f"from {minimum} to {maximum:,}"
            self._report(node.line, path, f"{node.text[:20]} is not {allowed}")
        return number

    def _flag(self, node: YamlNode, path: str) -> bool | None:
        if node is _UNSET or node.kind == "nothing":
            return None
        if not isinstance(node, YamlScalar) or node.kind != "true or false":
            self._report(node.line, path, f"must be true or false, not {node.kind}")
            return None
        return node.text.lower() in {"true", "yes", "on"}

    def _choice(self, node: YamlNode, path: str, choices: Sequence[Choice]) -> Choice:
        issue_count = len(self.issues)
        text = self._text(node, path, 0, 200)
        for choice in choices:
            if choice == text:
                return choice
        if node is not _UNSET and issue_count == len(self.issues):
            hint = _suggestion(text, choices) or f"; choose from {', '.join(choices)}"
            self._report(node.line, path, f"“{text}” is not a known value{hint}")
        return choices[0]

    def _unique(self, names: Sequence[tuple[int, str]], path: str) -> None:
        seen: dict[str, int] = {}
        for line, name in names:
            if name and name in seen:
                self._report(line, path, f"“{name}” is already used in line {seen[name]}")
            seen.setdefault(name, line)

    def _report(self, line: int, path: str, problem: str) -> None:
        self.issues.append(ScenarioIssue(line, path, problem))


def _suggestion(name: str, known: Sequence[str]) -> str:
    lowered = {each.lower(): each for each in known}
    close = get_close_matches(name.lower().replace("_", ""), lowered, n=1)
    return f"; did you mean {lowered[close[0]]}?" if close else ""
