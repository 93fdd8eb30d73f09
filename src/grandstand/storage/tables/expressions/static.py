"""Kept here: what is refused in an expression as written, whatever its placeholders stand for."""

from __future__ import annotations

from typing import Final

from grandstand.storage.tables.expressions.checks import misused
from grandstand.storage.tables.expressions.lexer import Refused
from grandstand.storage.tables.expressions.raw import (
    RawBetween,
    RawCall,
    RawCompare,
    RawCondition,
    RawIn,
    RawJunction,
    RawNot,
    RawOperand,
    RawPath,
    RawSum,
    RawUpdate,
)
from grandstand.storage.tables.expressions.reserved import reserved

_MAX_INDEX: Final = 2**31 - 1
_CONDITIONS: Final = frozenset(
    ("attribute_exists", "attribute_not_exists", "attribute_type", "begins_with", "contains")
)
_IN_CONDITIONS: Final = _CONDITIONS | {"size"}
_IN_UPDATES: Final = frozenset(("if_not_exists", "list_append"))


def check_condition(node: RawCondition) -> None:
    """Raise Refused for the first wrong function or name, in the order written."""
    while isinstance(node, RawNot):
        node = node.inner
    match node:
        case RawJunction():
            for part in _chain(node):
                check_condition(part)
        case RawCall(name, args):
            _check_known(name, _IN_CONDITIONS, _IN_UPDATES, "a condition")
            if name == "size":
                raise Refused(misused(name))
            _check_operands(*args)
        case RawCompare(_, left, right):
            _check_operands(left, right)
        case RawBetween(operand, low, high):
            _check_operands(operand, low, high)
        case RawIn(operand, options):
            _check_operands(operand, *options)


def check_update(update: RawUpdate) -> None:
    """Raise Refused for the first wrong section, function or name, in the order written."""
    seen: set[str] = set()
    for actions in update.sections:
        section = actions[0].section
        if section in seen:
            raise Refused(f'The "{section}" section can only be used once in an update expression;')
        seen.add(section)
        for action in actions:
            check_path(action.path)
            if isinstance(action.value, RawSum):
                _check_argument(action.value.left)
                _check_argument(action.value.right)
            elif isinstance(action.value, RawCall):
                _check_assigning(action.value)
            elif isinstance(action.value, RawPath):
                check_path(action.value)


def check_path(path: RawPath) -> None:
    """Raise Refused for the first reserved word or list position out of range."""
    for step in path.steps:
        if isinstance(step, int):
            if step > _MAX_INDEX:
                raise Refused(f"List index is not within the allowable range; index: [{step}]")
        elif reserved(step):
            raise Refused(f"Attribute name is a reserved keyword; reserved keyword: {step}")


def _chain(node: RawJunction) -> list[RawCondition]:
    rights: list[RawCondition] = []
    first: RawCondition = node
    while isinstance(first, RawJunction):
        rights.append(first.right)
        first = first.left
    return [first, *reversed(rights)]


def _check_operands(*operands: RawOperand) -> None:
    for operand in operands:
        if isinstance(operand, RawPath):
            check_path(operand)
        elif isinstance(operand, RawCall):
            _check_known(operand.name, _IN_CONDITIONS, _IN_UPDATES, "a condition")
            if operand.name != "size":
                raise Refused(misused(operand.name))
            _check_operands(*operand.args)


def _check_assigning(call: RawCall) -> None:
    _check_known(call.name, _IN_UPDATES, _IN_CONDITIONS, "an update")
    for operand in call.args:
        _check_argument(operand)


def _check_argument(operand: RawOperand) -> None:
    if isinstance(operand, RawPath):
        check_path(operand)
    elif isinstance(operand, RawCall):
        _check_known(operand.name, _IN_UPDATES, _IN_CONDITIONS, "an update")
        if operand.name == "list_append":
            raise Refused(misused(operand.name))
        for inner in operand.args:
            _check_argument(inner)


def _check_known(name: str, here: frozenset[str], elsewhere: frozenset[str], kind: str) -> None:
    if name in elsewhere:
        raise Refused(f"The function is not allowed in {kind} expression; function: {name}")
    if name not in here:
        raise Refused(f"Invalid function name; function: {name}")
