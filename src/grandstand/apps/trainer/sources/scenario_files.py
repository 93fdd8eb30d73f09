"""Scenarios written in YAML: the built-in library, and people's own files."""

from __future__ import annotations

import re
from collections.abc import Sequence
from difflib import get_close_matches
from importlib.resources import files
from pathlib import Path
from typing import Any, Final, NamedTuple, TypeVar

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

Choice = TypeVar("Choice", bound=str)

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
_ID: Final = re.compile(r"[a-z0-9](?:[a-z0-9-]{0,62}[a-z0-9])?")
# Everything but the characters that YAML 1.1 allows in a stream.
_UNPRINTABLE: Final = re.compile(
    "[^\t\n\r\x20-\x7e\x85\xa0-\ud7ff\ue000-\ufefe\uff00-\ufffd\U00010000-\U0010ffff]"
)


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
    folder = files(__package__) / "library"
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

    Raises InvalidScenarioFile with every problem found, or with the first if the file is not valid
    YAML, exceeds 256 KiB, or has aliases, tags, deep nesting or several documents.
    """
    text = _decode(source, file_name)
    try:
        unsupported = _find_unsupported(text)
        if unsupported:
            raise _invalid(file_name, *unsupported)
        root = yaml.compose(text, Loader=_loader())
    except yaml.YAMLError as error:
        mark = getattr(error, "problem_mark", None)
        problem = getattr(error, "problem", None) or "the text is unreadable"
        line = mark.line + 1 if mark else 1
        raise _invalid(file_name, line, f"not valid YAML: {problem}") from error
    parser = _ScenarioParser()
    drafts = parser.scenarios(_Value(root, ""))
    if parser.issues:
        ordered = sorted(parser.issues, key=lambda issue: issue.line)
        raise InvalidScenarioFile(file_name, tuple(ordered))
    return drafts


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


class _Value(NamedTuple):
    """A node of the file, None if it is absent, and the path that problems name."""

    node: yaml.Node | None
    path: str

    @property
    def line(self) -> int:
        return 0 if self.node is None else self.node.start_mark.line + 1

    @property
    def kind(self) -> str:
        if isinstance(self.node, yaml.CollectionNode):
            return "a mapping" if isinstance(self.node, yaml.MappingNode) else "a list"
        return "unset" if self.node is None else _KINDS.get(self.node.tag, "another type")


class _ScenarioParser:
    """Parses one file; after a problem it goes on with a placeholder, so that all are found."""

    def __init__(self) -> None:
        self.issues: list[ScenarioIssue] = []

    def scenarios(self, root: _Value) -> tuple[ScenarioDraft, ...]:
        values = [root]
        if isinstance(root.node, yaml.SequenceNode):
            values = [_Value(node, f"[{at}]") for at, node in enumerate(root.node.value, start=1)]
        if root.node is None or not values:
            self.issues.append(ScenarioIssue(1, "file", "there is no scenario in the file"))
            return ()
        drafts = tuple(map(self._scenario, values))
        self._check_unique(values, [draft.scenario_id for draft in drafts], "scenarioId")
        return drafts

    def _scenario(self, value: _Value) -> ScenarioDraft:
        required = "scenarioId title description difficulty estimatedMinutes questions"
        fields = self._fields(value, required, "tags")
        questions = self._items(fields["questions"], 1, 10)
        draft = ScenarioDraft(
            scenario_id=self._id(fields["scenarioId"]),
            title=self._text(fields["title"], 5, 200),
            description=self._text(fields["description"], 50, 20_000),
            difficulty=self._choice(fields["difficulty"], DIFFICULTIES),
            tags=self._tags(fields["tags"]),
            estimated_minutes=self._whole(fields["estimatedMinutes"], 1, 480),
            questions=tuple(map(self._question, questions)),
        )
        ids = [question.question_id for question in draft.questions]
        self._check_unique(questions, ids, f"{fields['questions'].path}.questionId")
        return draft

    def _question(self, value: _Value) -> Question:
        required = "questionId text type targetWordCount focusAreas"
        fields = self._fields(value, required, "notes forecast")
        types: tuple[QuestionType, ...] = ("short", "long")
        return Question(
            question_id=self._id(fields["questionId"]),
            text=self._text(fields["text"], 10, 2_000),
            type=self._choice(fields["type"], types),
            target_word_count=self._whole(fields["targetWordCount"], 10, 2_000),
            focus_areas=self._focus_areas(fields["focusAreas"]),
            notes=self._notes(fields["notes"]),
            forecast=self._forecast(fields["forecast"]),
        )

    def _focus_areas(self, value: _Value) -> tuple[str, ...]:
        issue_count = len(self.issues)
        items = self._items(value, 1, 3)
        areas = tuple(self._choice(item, DIMENSION_NAMES) for item in items)
        if issue_count == len(self.issues):
            self._check_unique(items, areas, value.path)
        return areas

    def _notes(self, value: _Value) -> AuthorNotes | None:
        if value.node is None:
            return None
        names = "assumptions traps keyNumbers alternatives"
        fields = self._fields(value, "", f"{names} modelAnswer")
        assumptions, traps, key_numbers, alternatives = (
            tuple(self._text(item, 1, 1_000) for item in self._items(fields[name], 0, 20))
            for name in names.split()
        )
        model_answer = self._text(fields["modelAnswer"], 1, 20_000)
        return AuthorNotes(assumptions, traps, key_numbers, alternatives, model_answer)

    def _forecast(self, value: _Value) -> Forecast | None:
        if value.node is None:
            return None
        fields = self._fields(value, "event", "happened")
        return Forecast(self._text(fields["event"], 10, 500), self._flag(fields["happened"]))

    def _fields(self, value: _Value, required: str, optional: str) -> dict[str, _Value]:
        """Return a value for every known field; its node is None if it is absent."""
        names = f"{required} {optional}".split()
        prefix = f"{value.path}." if value.path else ""
        fields = {name: _Value(None, f"{prefix}{name}") for name in names}
        if not isinstance(value.node, yaml.MappingNode):
            self._report(value, f"must be a mapping of fields, not {value.kind}")
            return fields
        for key, node in value.node.value:
            if not isinstance(key, yaml.ScalarNode):
                self._report(_Value(key, "file"), "the name of a field must be a single word")
                continue
            field = _Value(key, f"{prefix}{key.value}")
            if key.value not in fields:
                self._report(field, f"unknown field{_suggestion(key.value, names)}")
            elif fields[key.value].node is not None:
                self._report(field, "is set twice")
            else:
                fields[key.value] = _Value(node, field.path)
        for name in required.split():
            if fields[name].node is None:
                self._report(_Value(value.node, fields[name].path), "is missing")
        return fields

    def _items(self, value: _Value, minimum: int, maximum: int) -> list[_Value]:
        if value.node is None:
            return []
        if not isinstance(value.node, yaml.SequenceNode):
            self._report(value, f"must be a list, not {value.kind}")
            return []
        nodes = value.node.value
        if not minimum <= len(nodes) <= maximum:
            self._report(value, f"has {len(nodes)} items; {minimum} to {maximum} are allowed")
        items = enumerate(nodes[:maximum], start=1)
        return [_Value(node, f"{value.path}[{at}]") for at, node in items]

    def _tags(self, value: _Value) -> tuple[str, ...]:
        items = self._items(value, 0, 10)
        tags = tuple(map(self._id, items))
        self._check_unique(items, tags, value.path)
        return tags

    def _text(self, value: _Value, minimum: int, maximum: int) -> str:
        if value.node is None:
            return ""
        if value.kind != "text":
            is_scalar = isinstance(value.node, yaml.ScalarNode)
            hint = "; put it in quotes" if is_scalar and value.node.value else ""
            self._report(value, f"must be text, not {value.kind}{hint}")
            return ""
        text = str(value.node.value).strip()
        if not minimum <= len(text) <= maximum:
            limit = f"at least {minimum}" if len(text) < minimum else f"at most {maximum:,}"
            has = f"has {len(text):,} characters in {word_count(text):,} words"
            self._report(value, f"{has}; it must have {limit} characters")
        return text

    def _id(self, value: _Value) -> str:
        issue_count = len(self.issues)
        text = self._text(value, 1, 64)
        if value.node and issue_count == len(self.issues) and not _ID.fullmatch(text):
            self._report(value, f"“{text}” must be lower-case letters, digits and hyphens")
        return text

    def _whole(self, value: _Value, minimum: int, maximum: int) -> int:
        if value.node is None:
            return 0
        if value.kind != "a whole number":
            self._report(value, f"must be a whole number, not {value.kind}")
            return 0
        text = value.node.value
        number = int(text) if re.fullmatch(r"[0-9]{1,9}", text) else -1
        if not minimum <= number <= maximum:
            self._report(value, f"{text[:20]} is not from {minimum} to {maximum:,}")
        return number

    def _flag(self, value: _Value) -> bool | None:
        if value.node is None or value.kind == "nothing":
            return None
        if value.kind != "true or false":
            self._report(value, f"must be true or false, not {value.kind}")
            return None
        return value.node.value.lower() in {"true", "yes", "on"}

    def _choice(self, value: _Value, choices: Sequence[Choice]) -> Choice:
        issue_count = len(self.issues)
        text = self._text(value, 0, 200)
        for choice in choices:
            if choice == text:
                return choice
        if value.node and issue_count == len(self.issues):
            hint = _suggestion(text, choices) or f"; choose from {', '.join(choices)}"
            self._report(value, f"“{text}” is not a known value{hint}")
        return choices[0]

    def _check_unique(self, values: Sequence[_Value], names: Sequence[str], path: str) -> None:
        seen: dict[str, int] = {}
        for value, name in zip(values, names, strict=True):
            if name and name in seen:
                problem = f"“{name}” is already used in line {seen[name]}"
                self.issues.append(ScenarioIssue(value.line, path, problem))
            seen.setdefault(name, value.line)

    def _report(self, value: _Value, problem: str) -> None:
        self.issues.append(ScenarioIssue(value.line, value.path or "file", problem))


def _suggestion(name: str, known: Sequence[str]) -> str:
    lowered = {each.lower(): each for each in known}
    close = get_close_matches(name.lower().replace("_", ""), lowered, n=1)
    return f"; did you mean {lowered[close[0]]}?" if close else ""
