"""Kept here: the Swift file with which an app decodes what is pushed to it."""

from __future__ import annotations

import types
import typing
from dataclasses import fields, is_dataclass
from typing import Any, Final, Literal, get_args, get_origin

from grandstand.apps.cricket.model.display import (
    BatterShown,
    BowlerShown,
    InningsShown,
    KeyEventShown,
    TeamShown,
    UnifiedDisplayState,
)
from grandstand.apps.cricket.model.events.kinds import EVENT_KINDS
from grandstand.base.names import camel

ATTRIBUTES_TYPE: Final = "CricketMatchAttributes"

_PARTS: Final = (InningsShown, TeamShown, BatterShown, BowlerShown, KeyEventShown)
_PLAIN: Final = {str: "String", int: "Int", bool: "Bool"}
_HEAD: Final = """\
// Written by Grandstand from the state it pushes; do not edit.
import ActivityKit
import Foundation

"""


def swift_source() -> str:
    """Answer the file: the attributes of the activity and the content state, field by field."""
    lines = [f"public struct {ATTRIBUTES_TYPE}: ActivityAttributes {{"]
    lines += _struct("ContentState", UnifiedDisplayState, 1)
    for part in _PARTS:
        lines += ["", *_struct(part.__name__, part, 1)]
    lines += ["", *_kinds(), ""]
    lines += ["    public var matchId: String", "    public var homeTeam: String"]
    lines += ["    public var awayTeam: String", "}", ""]
    return _HEAD + "\n".join(lines)


def _struct(name: str, kind: type[Any], depth: int) -> list[str]:
    indent, hints = "    " * depth, typing.get_type_hints(kind)
    body = [
        f"{indent}    public var {camel(each.name)}: {_type(hints[each.name])}"
        for each in fields(kind)
    ]
    return [f"{indent}public struct {name}: Codable, Hashable {{", *body, f"{indent}}}"]


def _kinds() -> list[str]:
    """The kinds of events as an enumeration; the state has a text, so that new ones do no harm."""
    cases = [f'        case {camel(kind)} = "{kind}"' for kind in EVENT_KINDS]
    return ["    public enum EventKind: String, CaseIterable {", *cases, "    }"]


def _type(annotation: object) -> str:
    if annotation in _PLAIN:
        return _PLAIN[typing.cast("type[Any]", annotation)]
    origin, arguments = get_origin(annotation), get_args(annotation)
    if origin is Literal:
        return "String"
    if origin in (typing.Union, types.UnionType):
        return f"{_type(next(each for each in arguments if each is not types.NoneType))}?"
    if origin is tuple:
        return f"[{_type(arguments[0])}]"
    if isinstance(annotation, type) and is_dataclass(annotation):
        return annotation.__name__
    raise AssertionError(annotation)
