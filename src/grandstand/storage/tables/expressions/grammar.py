"""Kept here: the grammar of expressions, from text to the tree as written."""

from __future__ import annotations

from typing import Final, TypeAlias, cast

from grandstand.storage.tables.expressions.lexer import (
    END,
    INDEX,
    NAME,
    NAME_KEY,
    VALUE_KEY,
    Refused,
    Token,
    syntax_error,
    tokens,
)
from grandstand.storage.tables.expressions.nodes import Comparator
from grandstand.storage.tables.expressions.raw import (
    RawAction,
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
    RawValue,
    Section,
)

MAX_EXPRESSION: Final = 4096
MAX_OPERATORS: Final = 300

# Only NOT after NOT, each in parentheses, could go deeper and keep to the number of operators.
_MAX_DEPTH: Final = 150

_COMPARATORS: Final = frozenset(("=", "<>", "<", "<=", ">", ">="))
_RELATIONS: Final = _COMPARATORS | {"BETWEEN", "IN"}
_SECTIONS: Final = frozenset(("SET", "REMOVE", "ADD", "DELETE"))
_RANK: Final = {"OR": 1, "AND": 2}

# What a pair of parentheses holds is only known once it is read: a condition or an operand.
_Term: TypeAlias = RawCondition | RawPath | RawValue


def condition(text: str) -> RawCondition:
    """Read a condition, filter or key condition; raise Refused."""
    _check_length(text, f" expression size: {len(text)}")
    parser = _Parser(text)
    found = parser.whole_condition()
    parser.expect(END)
    return found


def update(text: str) -> RawUpdate:
    """Read an update; raise Refused."""
    _check_length(text, "")
    parser = _Parser(text)
    found = parser.sections()
    parser.expect(END)
    return found


def projection(text: str) -> tuple[RawPath, ...]:
    """Read a projection; raise Refused."""
    _check_length(text, "")
    parser = _Parser(text)
    found = parser.paths()
    parser.expect(END)
    return found


def _check_length(text: str, size: str) -> None:
    if not text:
        raise Refused("The expression can not be empty;")
    if len(text) > MAX_EXPRESSION:
        raise Refused(f"Expression size has exceeded the maximum allowed size;{size}")


class _Parser:
    def __init__(self, text: str) -> None:
        self._text = text
        self._tokens = tokens(text)
        self._at = 0
        self._operators = 0
        self._depth = 0
        self._groups: dict[int, int] = {}

    @property
    def _kind(self) -> str:
        return self._tokens[self._at].kind

    def expect(self, kind: str) -> Token:
        token = self._tokens[self._at]
        if token.kind != kind:
            raise self._unexpected()
        self._at += 1
        return token

    def _unexpected(self) -> Refused:
        return syntax_error(self._text, self._tokens, self._at)

    def _count(self) -> None:
        self._operators += 1
        if self._operators > MAX_OPERATORS:
            raise _too_many_operators()

    def _open(self) -> int:
        self.expect("(")
        self._depth += 1
        if self._depth > _MAX_DEPTH:
            raise _too_many_operators()
        return self._at

    def _close(self, start: int, *, undecided: bool = False) -> None:
        self.expect(")")
        self._depth -= 1
        if self._groups.get(start) == self._at - 1 and not (
            undecided and self._kind not in _RELATIONS
        ):
            raise Refused("The expression has redundant parentheses;")
        self._groups[start - 1] = self._at

    def whole_condition(self) -> RawCondition:
        return self._demand(self._junction(0))

    def _demand(self, term: _Term) -> RawCondition:
        if isinstance(term, RawPath | RawValue):
            raise self._unexpected()
        return term

    def _junction(self, floor: int) -> _Term:
        term = self._negation()
        while _RANK.get(self._kind, -1) > floor:
            left = self._demand(term)
            op = self._tokens[self._at].kind
            self._at += 1
            self._count()
            right = self._demand(self._junction(_RANK[op]))
            term = RawJunction("AND" if op == "AND" else "OR", left, right)
        return term

    def _negation(self) -> _Term:
        times = 0
        while self._kind == "NOT":
            self._at += 1
            self._count()
            times += 1
        term = self._comparison()
        for _ in range(times):
            term = RawNot(self._demand(term))
        return term

    def _comparison(self) -> _Term:
        if self._kind == "(":
            start = self._open()
            term = self._junction(0)
            # An operand in parentheses is a syntax error before it is redundant.
            self._close(start, undecided=isinstance(term, RawPath | RawValue))
        else:
            term = self._operand()
        if not isinstance(term, RawPath | RawValue | RawCall):
            return term
        kind = self._kind
        if kind in _COMPARATORS:
            self._at += 1
            self._count()
            return RawCompare(cast("Comparator", kind), term, self._operand())
        if kind == "BETWEEN":
            self._at += 1
            self._count()
            low = self._operand()
            self.expect("AND")
            return RawBetween(term, low, self._operand())
        if kind == "IN":
            self._at += 1
            self._count()
            return RawIn(term, self._operands())
        return term

    def _operands(self) -> tuple[RawOperand, ...]:
        self.expect("(")
        found = [self._operand()]
        while self._kind == ",":
            self._at += 1
            found.append(self._operand())
        self.expect(")")
        return tuple(found)

    def _operand(self) -> RawOperand:
        kind = self._kind
        if kind == "(":
            start = self._open()
            inner = self._operand()
            self._close(start)
            return inner
        if kind == VALUE_KEY:
            return RawValue(self.expect(VALUE_KEY).text)
        if kind == NAME and self._tokens[self._at + 1].kind == "(":
            self._count()
            name = self.expect(NAME).text
            self._depth += 1
            if self._depth > _MAX_DEPTH:
                raise _too_many_operators()
            args = self._operands()
            self._depth -= 1
            return RawCall(name, args)
        return self._path()

    def _path(self) -> RawPath:
        steps: list[str | int] = [self._name()]
        while self._kind in (".", "["):
            if self._kind == ".":
                self._at += 1
                # DynamoDB reads a value's placeholder here, and then finds no name for it.
                steps.append(self._name(VALUE_KEY))
            else:
                self._at += 1
                steps.append(int(self.expect(INDEX).text))
                self.expect("]")
        return RawPath(tuple(steps))

    def _name(self, other: str = NAME) -> str:
        if self._kind not in (NAME, NAME_KEY, other):
            raise self._unexpected()
        return self.expect(self._kind).text

    def paths(self) -> tuple[RawPath, ...]:
        found = [self._path()]
        while self._kind == ",":
            self._at += 1
            found.append(self._path())
        return tuple(found)

    def sections(self) -> RawUpdate:
        found: list[tuple[RawAction, ...]] = []
        while self._kind in _SECTIONS or not found:
            if self._kind not in _SECTIONS:
                raise self._unexpected()
            section = cast("Section", self.expect(self._kind).kind)
            actions = [self._action(section)]
            while self._kind == ",":
                self._at += 1
                actions.append(self._action(section))
            found.append(tuple(actions))
        return RawUpdate(tuple(found))

    def _action(self, section: Section) -> RawAction:
        path = self._path()
        if section == "REMOVE":
            return RawAction(section, path)
        if section == "SET":
            self.expect("=")
            return RawAction(section, path, self._assigned())
        return RawAction(section, path, RawValue(self.expect(VALUE_KEY).text))

    def _assigned(self) -> RawOperand | RawSum:
        if self._kind == "(":
            start = self._open()
            term = self._assigned()
            self._close(start)
            if isinstance(term, RawSum):
                return term
        else:
            term = self._operand()
        if self._kind not in ("+", "-"):
            return term
        op = self.expect(self._kind).kind
        self._count()
        return RawSum("+" if op == "+" else "-", term, self._operand())


def _too_many_operators() -> Refused:
    return Refused(
        f"The expression contains too many operators; operator count: {MAX_OPERATORS + 1}"
    )
