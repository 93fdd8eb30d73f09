"""Kept here: YAML text as nodes that know their lines; nothing it names is ever constructed."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Any, Final, TypeAlias

import yaml

from grandstand.apps.trainer.model.scenarios import Fault, MalformedScenarios

LARGEST_BYTES: Final = 256 * 1024
_DEEPEST: Final = 12
_KINDS: Final = {
    "tag:yaml.org,2002:str": "text",
    "tag:yaml.org,2002:int": "a whole number",
    "tag:yaml.org,2002:float": "a number",
    "tag:yaml.org,2002:bool": "true or false",
    "tag:yaml.org,2002:null": "nothing",
    "tag:yaml.org,2002:timestamp": "a date",
}
# The characters YAML 1.1 lets a stream hold, turned round.
_UNPRINTABLE: Final = re.compile(
    "[^\t\n\r\x20-\x7e\x85\xa0-\ud7ff\ue000-\ufefe\uff00-\ufffd\U00010000-\U0010ffff]"
)


@dataclass(frozen=True, slots=True)
class Scalar:
    """One value, as it was written, and what YAML takes it for."""

    line: int
    kind: str
    text: str


@dataclass(frozen=True, slots=True)
class Items:
    """A list."""

    line: int
    items: tuple[Node, ...]
    kind: str = "a list"


@dataclass(frozen=True, slots=True)
class Entry:
    """One `field: value` of a mapping, at the line of the field."""

    line: int
    name: str
    node: Node


@dataclass(frozen=True, slots=True)
class Fields:
    """A mapping, with repeated fields still in it."""

    line: int
    entries: tuple[Entry, ...]
    kind: str = "a mapping"


Node: TypeAlias = Scalar | Items | Fields


def parse(source: bytes, named: str) -> Node | None:
    """Answer the one document of a YAML text, None when it is empty.

    Aliases, tags, deep nesting, several documents and texts above a quarter of a mebibyte are
    refused before anything is built. Raises MalformedScenarios with the fault that stopped it.
    """
    text = _decoded(source, named)
    try:
        surprise = _surprise(text)
        if surprise:
            raise _stopped(named, *surprise)
        return _converted(yaml.compose(text, Loader=_loader()), named)
    except yaml.YAMLError as error:
        mark = getattr(error, "problem_mark", None)
        problem = getattr(error, "problem", None) or "the text cannot be read"
        line = mark.line + 1 if mark else 1
        raise _stopped(named, line, f"not valid YAML: {problem}") from error


def _stopped(named: str, line: int, problem: str) -> MalformedScenarios:
    return MalformedScenarios(named, (Fault(line, "file", problem),))


def _loader() -> Any:  # noqa: ANN401 - the library is published without types
    return getattr(yaml, "CSafeLoader", yaml.SafeLoader)


def _decoded(source: bytes, named: str) -> str:
    if len(source) > LARGEST_BYTES:
        problem = f"{len(source):,} bytes are too many; {LARGEST_BYTES:,} are the most"
        raise _stopped(named, 1, problem)
    try:
        text = source.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        line = source.count(b"\n", 0, error.start) + 1
        raise _stopped(named, line, "this is not UTF-8 text") from error
    strange = _UNPRINTABLE.search(text)
    if strange:
        line = text.count("\n", 0, strange.start()) + 1
        problem = f"the character U+{ord(strange.group()):04X} may not stand in YAML"
        raise _stopped(named, line, problem)
    return text


def _surprise(text: str) -> tuple[int, str] | None:
    """Look through the flat stream of events, which costs no depth, for what we do not read."""
    depth = documents = 0
    for event in yaml.parse(text, Loader=_loader()):
        problem = None
        depth += isinstance(event, yaml.CollectionStartEvent)
        depth -= isinstance(event, yaml.CollectionEndEvent)
        documents += isinstance(event, yaml.DocumentStartEvent)
        if isinstance(event, yaml.AliasEvent):
            problem = f"aliases (*{event.anchor}) are not read; write the value out"
        elif getattr(event, "anchor", None):
            problem = f"anchors (&{event.anchor}) are not read; take the mark away"
        elif tag := getattr(event, "tag", None):
            problem = f"tags ({tag}) are not read; take the mark away"
        elif depth > _DEEPEST:
            problem = f"lists and mappings stand more than {_DEEPEST} deep in each other"
        elif documents > 1:
            problem = "a second document begins here; put several scenarios into one list"
        if problem:
            return event.start_mark.line + 1, problem
    return None


def _converted(node: Any, named: str) -> Node | None:  # noqa: ANN401 - as _loader
    return None if node is None else _node(node, named)


def _node(node: Any, named: str) -> Node:  # noqa: ANN401 - as _loader
    line = node.start_mark.line + 1
    if isinstance(node, yaml.MappingNode):
        return Fields(line, tuple(_entry(name, value, named) for name, value in node.value))
    if isinstance(node, yaml.SequenceNode):
        return Items(line, tuple(_node(item, named) for item in node.value))
    return Scalar(line, _KINDS.get(node.tag, "something else"), str(node.value))


def _entry(name: Any, value: Any, named: str) -> Entry:  # noqa: ANN401 - as _loader
    line = name.start_mark.line + 1
    if not isinstance(name, yaml.ScalarNode):
        raise _stopped(named, line, "the name of a field must be one word")
    return Entry(line, str(name.value), _node(value, named))
