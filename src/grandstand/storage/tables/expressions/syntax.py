"""Lexer, parser and static checks of expressions: from text to a tree with placeholders."""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass
from typing import Final, Literal, TypeAlias, TypeVar, cast

from grandstand.storage.tables.expressions.nodes import (
    Comparator,
    ExpressionError,
    misused_function,
)

T = TypeVar("T")
Section: TypeAlias = Literal["SET", "REMOVE", "ADD", "DELETE"]


@dataclass(frozen=True, slots=True)
class RawPath:
    """A document path; steps that start with "#", or incorrectly with ":", are placeholders."""

    steps: tuple[str | int, ...]


@dataclass(frozen=True, slots=True)
class RawValue:
    """A value placeholder, including its ":"."""

    key: str


@dataclass(frozen=True, slots=True)
class RawCall:
    """A function call."""

    name: str
    args: tuple[RawOperand, ...]


RawOperand: TypeAlias = RawPath | RawValue | RawCall


@dataclass(frozen=True, slots=True)
class RawCompare:
    """left <op> right."""

    op: Comparator
    left: RawOperand
    right: RawOperand


@dataclass(frozen=True, slots=True)
class RawBetween:
    """operand BETWEEN low AND high."""

    operand: RawOperand
    low: RawOperand
    high: RawOperand


@dataclass(frozen=True, slots=True)
class RawIn:
    """operand IN (options)."""

    operand: RawOperand
    options: tuple[RawOperand, ...]


@dataclass(frozen=True, slots=True)
class RawJunction:
    """left AND right, or left OR right."""

    op: Literal["AND", "OR"]
    left: RawCondition
    right: RawCondition


@dataclass(frozen=True, slots=True)
class RawNot:
    """NOT inner."""

    inner: RawCondition


RawCondition: TypeAlias = RawCompare | RawBetween | RawIn | RawCall | RawJunction | RawNot


@dataclass(frozen=True, slots=True)
class RawSum:
    """left + right, or left - right."""

    op: Literal["+", "-"]
    left: RawOperand
    right: RawOperand


@dataclass(frozen=True, slots=True)
class RawAction:
    """One action of a section; a removal has no value."""

    section: Section
    path: RawPath
    value: RawOperand | RawSum | None = None


@dataclass(frozen=True, slots=True)
class RawUpdate:
    """The sections of an update, in order."""

    sections: tuple[tuple[RawAction, ...], ...]


KEYWORDS: Final = frozenset(("AND", "OR", "NOT", "BETWEEN", "IN", "SET", "REMOVE", "ADD", "DELETE"))
NAME: Final = "name"
NAME_KEY: Final = "#"
VALUE_KEY: Final = ":"
INDEX: Final = "index"
UNKNOWN: Final = "unknown"
END: Final = "<EOF>"

_TOKENS: Final = re.compile(
    r"[ \t\r\n]*(?:"
    r"(?P<name>[A-Za-z][A-Za-z0-9_]*)"
    r"|(?P<placeholder>[#:][A-Za-z0-9_]+)"
    r"|(?P<index>0|[1-9][0-9]*)"
    r"|(?P<mark><=|>=|<>|[<>=(),.+\-\[\]])"
    r"|(?P<unknown>[^ \t\r\n])"
    r")",
    re.DOTALL,
)


@dataclass(frozen=True, slots=True)
class Token:
    """A token; its kind is a keyword, an operator or one of the constants above."""

    kind: str
    text: str
    start: int
    end: int


def tokenize(text: str) -> tuple[Token, ...]:
    """Split a text into tokens; the last one is END."""
    result: list[Token] = []
    for match in _TOKENS.finditer(text):
        group = match.lastgroup or UNKNOWN
        word = match[group]
        kind = group
        if group == "name":
            upper = word.upper()
            kind = upper if upper in KEYWORDS else NAME
        elif group == "placeholder":
            kind = word[0]
        elif group == "mark":
            kind = word
        result.append(Token(kind, word, match.start(group), match.end(group)))
    result.append(Token(END, END, len(text), len(text)))
    return tuple(result)


def syntax_error(text: str, tokens: tuple[Token, ...], at: int) -> ExpressionError:
    """Return the error for an unexpected token."""
    start = tokens[at - 1].start if at else 0
    end = tokens[min(at + 1, len(tokens) - 1)].end
    return ExpressionError(f'Syntax error; token: "{tokens[at].text}", near: "{text[start:end]}"')


MAX_EXPRESSION: Final = 4096
MAX_OPERATORS: Final = 300

# Only nested NOTs in parentheses could be deeper within the limit of operators.
_MAX_DEPTH: Final = 150

_COMPARATORS: Final = frozenset(("=", "<>", "<", "<=", ">", ">="))
_RELATIONS: Final = _COMPARATORS | {"BETWEEN", "IN"}
_SECTIONS: Final = frozenset(("SET", "REMOVE", "ADD", "DELETE"))
_PRECEDENCE: Final = {"OR": 1, "AND": 2}

# Parentheses can contain a condition or an operand.
_Term: TypeAlias = RawCondition | RawPath | RawValue


def parse_condition_tree(text: str) -> RawCondition:
    """Parse a condition, filter or key condition. Raises ExpressionError."""
    return _parse(text, _Parser.whole_condition, f" expression size: {len(text)}")


def parse_update_tree(text: str) -> RawUpdate:
    """Parse an update. Raises ExpressionError."""
    return _parse(text, _Parser.sections)


def parse_projection_tree(text: str) -> tuple[RawPath, ...]:
    """Parse a projection. Raises ExpressionError."""
    return _parse(text, _Parser.paths)


def _parse(text: str, read: Callable[[_Parser], T], size: str = "") -> T:
    if not text:
        raise ExpressionError("The expression can not be empty;")
    if len(text) > MAX_EXPRESSION:
        raise ExpressionError(f"Expression size has exceeded the maximum allowed size;{size}")
    parser = _Parser(text)
    result = read(parser)
    parser.expect(END)
    return result


class _Parser:
    def __init__(self, text: str) -> None:
        self._text = text
        self._tokens = tokenize(text)
        self._position = 0
        self._operators = 0
        self._depth = 0
        self._groups: dict[int, int] = {}

    @property
    def _kind(self) -> str:
        return self._tokens[self._position].kind

    def expect(self, kind: str) -> Token:
        token = self._tokens[self._position]
        if token.kind != kind:
            raise self._unexpected()
        self._position += 1
        return token

    def _unexpected(self) -> ExpressionError:
        return syntax_error(self._text, self._tokens, self._position)

    def _take_operator(self) -> None:
        self._position += 1
        self._count_operator()

    def _count_operator(self) -> None:
        self._operators += 1
        if self._operators > MAX_OPERATORS:
            raise _too_many_operators()

    def _open(self) -> int:
        self.expect("(")
        self._deepen()
        return self._position

    def _deepen(self) -> None:
        self._depth += 1
        if self._depth > _MAX_DEPTH:
            raise _too_many_operators()

    def _close(self, start: int, *, is_operand: bool = False) -> None:
        self.expect(")")
        self._depth -= 1
        if self._groups.get(start) == self._position - 1 and not (
            is_operand and self._kind not in _RELATIONS
        ):
            raise ExpressionError("The expression has redundant parentheses;")
        self._groups[start - 1] = self._position

    def whole_condition(self) -> RawCondition:
        return self._require_condition(self._junction(0))

    def _require_condition(self, term: _Term) -> RawCondition:
        if isinstance(term, RawPath | RawValue):
            raise self._unexpected()
        return term

    def _junction(self, min_precedence: int) -> _Term:
        term = self._negation()
        while _PRECEDENCE.get(self._kind, -1) > min_precedence:
            left = self._require_condition(term)
            op = self._tokens[self._position].kind
            self._take_operator()
            right = self._require_condition(self._junction(_PRECEDENCE[op]))
            term = RawJunction("AND" if op == "AND" else "OR", left, right)
        return term

    def _negation(self) -> _Term:
        count = 0
        while self._kind == "NOT":
            self._take_operator()
            count += 1
        term = self._comparison()
        for _ in range(count):
            term = RawNot(self._require_condition(term))
        return term

    def _comparison(self) -> _Term:
        if self._kind == "(":
            start = self._open()
            term = self._junction(0)
            # For an operand in parentheses the syntax error comes first.
            self._close(start, is_operand=isinstance(term, RawPath | RawValue))
        else:
            term = self._operand()
        if not isinstance(term, RawPath | RawValue | RawCall):
            return term
        kind = self._kind
        if kind in _COMPARATORS:
            self._take_operator()
            return RawCompare(cast("Comparator", kind), term, self._operand())
        if kind == "BETWEEN":
            self._take_operator()
            low = self._operand()
            self.expect("AND")
            return RawBetween(term, low, self._operand())
        if kind == "IN":
            self._take_operator()
            return RawIn(term, self._operands())
        return term

    def _operands(self) -> tuple[RawOperand, ...]:
        self.expect("(")
        result = [self._operand()]
        while self._kind == ",":
            self._position += 1
            result.append(self._operand())
        self.expect(")")
        return tuple(result)

    def _operand(self) -> RawOperand:
        kind = self._kind
        if kind == "(":
            start = self._open()
            inner = self._operand()
            self._close(start)
            return inner
        if kind == VALUE_KEY:
            return RawValue(self.expect(VALUE_KEY).text)
        if kind == NAME and self._tokens[self._position + 1].kind == "(":
            self._count_operator()
            name = self.expect(NAME).text
            self._deepen()
            args = self._operands()
            self._depth -= 1
            return RawCall(name, args)
        return self._path()

    def _path(self) -> RawPath:
        steps: list[str | int] = [self._name()]
        while self._kind in (".", "["):
            if self._kind == ".":
                self._position += 1
                # DynamoDB accepts a value placeholder here and then reports it as undefined.
                steps.append(self._name(VALUE_KEY))
            else:
                self._position += 1
                steps.append(int(self.expect(INDEX).text))
                self.expect("]")
        return RawPath(tuple(steps))

    def _name(self, extra_kind: str = NAME) -> str:
        if self._kind not in (NAME, NAME_KEY, extra_kind):
            raise self._unexpected()
        return self.expect(self._kind).text

    def paths(self) -> tuple[RawPath, ...]:
        result = [self._path()]
        while self._kind == ",":
            self._position += 1
            result.append(self._path())
        return tuple(result)

    def sections(self) -> RawUpdate:
        result: list[tuple[RawAction, ...]] = []
        while self._kind in _SECTIONS or not result:
            if self._kind not in _SECTIONS:
                raise self._unexpected()
            section = cast("Section", self.expect(self._kind).kind)
            actions = [self._action(section)]
            while self._kind == ",":
                self._position += 1
                actions.append(self._action(section))
            result.append(tuple(actions))
        return RawUpdate(tuple(result))

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
        self._count_operator()
        return RawSum("+" if op == "+" else "-", term, self._operand())


def _too_many_operators() -> ExpressionError:
    return ExpressionError(
        f"The expression contains too many operators; operator count: {MAX_OPERATORS + 1}"
    )


_RESERVED_WORDS: Final = """
ABORT ABSOLUTE ACTION ADD AFTER AGENT AGGREGATE ALL ALLOCATE ALTER ANALYZE AND ANY ARCHIVE ARE
ARRAY AS ASC ASCII ASENSITIVE ASSERTION ASYMMETRIC AT ATOMIC ATTACH ATTRIBUTE AUTH AUTHORIZATION
AUTHORIZE AUTO AVG BACK BACKUP BASE BATCH BEFORE BEGIN BETWEEN BIGINT BINARY BIT BLOB BLOCK BOOLEAN
BOTH BREADTH BUCKET BULK BY BYTE CALL CALLED CALLING CAPACITY CASCADE CASCADED CASE CAST CATALOG
CHAR CHARACTER CHECK CLASS CLOB CLOSE CLUSTER CLUSTERED CLUSTERING CLUSTERS COALESCE COLLATE
COLLATION COLLECTION COLUMN COLUMNS COMBINE COMMENT COMMIT COMPACT COMPILE COMPRESS CONDITION
CONFLICT CONNECT CONNECTION CONSISTENCY CONSISTENT CONSTRAINT CONSTRAINTS CONSTRUCTOR CONSUMED
CONTINUE CONVERT COPY CORRESPONDING COUNT COUNTER CREATE CROSS CUBE CURRENT CURSOR CYCLE DATA
DATABASE DATE DATETIME DAY DEALLOCATE DEC DECIMAL DECLARE DEFAULT DEFERRABLE DEFERRED DEFINE
DEFINED DEFINITION DELETE DELIMITED DEPTH DEREF DESC DESCRIBE DESCRIPTOR DETACH DETERMINISTIC
DIAGNOSTICS DIRECTORIES DISABLE DISCONNECT DISTINCT DISTRIBUTE DO DOMAIN DOUBLE DROP DUMP DURATION
DYNAMIC EACH ELEMENT ELSE ELSEIF EMPTY ENABLE END EQUAL EQUALS ERROR ESCAPE ESCAPED EVAL EVALUATE
EXCEEDED EXCEPT EXCEPTION EXCEPTIONS EXCLUSIVE EXEC EXECUTE EXISTS EXIT EXPLAIN EXPLODE EXPORT
EXPRESSION EXTENDED EXTERNAL EXTRACT FAIL FALSE FAMILY FETCH FIELDS FILE FILTER FILTERING FINAL
FINISH FIRST FIXED FLATTERN FLOAT FOR FORCE FOREIGN FORMAT FORWARD FOUND FREE FROM FULL FUNCTION
FUNCTIONS GENERAL GENERATE GET GLOB GLOBAL GO GOTO GRANT GREATER GROUP GROUPING HANDLER HASH HAVE
HAVING HEAP HIDDEN HOLD HOUR IDENTIFIED IDENTITY IF IGNORE IMMEDIATE IMPORT IN INCLUDING INCLUSIVE
INCREMENT INCREMENTAL INDEX INDEXED INDEXES INDICATOR INFINITE INITIALLY INLINE INNER INNTER INOUT
INPUT INSENSITIVE INSERT INSTEAD INT INTEGER INTERSECT INTERVAL INTO INVALIDATE IS ISOLATION ITEM
ITEMS ITERATE JOIN KEY KEYS LAG LANGUAGE LARGE LAST LATERAL LEAD LEADING LEAVE LEFT LENGTH LESS
LEVEL LIKE LIMIT LIMITED LINES LIST LOAD LOCAL LOCALTIME LOCALTIMESTAMP LOCATION LOCATOR LOCK LOCKS
LOG LOGED LONG LOOP LOWER MAP MATCH MATERIALIZED MAX MAXLEN MEMBER MERGE METHOD METRICS MIN MINUS
MINUTE MISSING MOD MODE MODIFIES MODIFY MODULE MONTH MULTI MULTISET NAME NAMES NATIONAL NATURAL
NCHAR NCLOB NEW NEXT NO NONE NOT NULL NULLIF NUMBER NUMERIC OBJECT OF OFFLINE OFFSET OLD ON ONLINE
ONLY OPAQUE OPEN OPERATOR OPTION OR ORDER ORDINALITY OTHER OTHERS OUT OUTER OUTPUT OVER OVERLAPS
OVERRIDE OWNER PAD PARALLEL PARAMETER PARAMETERS PARTIAL PARTITION PARTITIONED PARTITIONS PATH
PERCENT PERCENTILE PERMISSION PERMISSIONS PIPE PIPELINED PLAN POOL POSITION PRECISION PREPARE
PRESERVE PRIMARY PRIOR PRIVATE PRIVILEGES PROCEDURE PROCESSED PROJECT PROJECTION PROPERTY
PROVISIONING PUBLIC PUT QUERY QUIT QUORUM RAISE RANDOM RANGE RANK RAW READ READS REAL REBUILD
RECORD RECURSIVE REDUCE REF REFERENCE REFERENCES REFERENCING REGEXP REGION REINDEX RELATIVE RELEASE
REMAINDER RENAME REPEAT REPLACE REQUEST RESET RESIGNAL RESOURCE RESPONSE RESTORE RESTRICT RESULT
RETURN RETURNING RETURNS REVERSE REVOKE RIGHT ROLE ROLES ROLLBACK ROLLUP ROUTINE ROW ROWS RULE
RULES SAMPLE SATISFIES SAVE SAVEPOINT SCAN SCHEMA SCOPE SCROLL SEARCH SECOND SECTION SEGMENT
SEGMENTS SELECT SELF SEMI SENSITIVE SEPARATE SEQUENCE SERIALIZABLE SESSION SET SETS SHARD SHARE
SHARED SHORT SHOW SIGNAL SIMILAR SIZE SKEWED SMALLINT SNAPSHOT SOME SOURCE SPACE SPACES SPARSE
SPECIFIC SPECIFICTYPE SPLIT SQL SQLCODE SQLERROR SQLEXCEPTION SQLSTATE SQLWARNING START STATE
STATIC STATUS STORAGE STORE STORED STREAM STRING STRUCT STYLE SUB SUBMULTISET SUBPARTITION
SUBSTRING SUBTYPE SUM SUPER SYMMETRIC SYNONYM SYSTEM TABLE TABLESAMPLE TEMP TEMPORARY TERMINATED
TEXT THAN THEN THROUGHPUT TIME TIMESTAMP TIMEZONE TINYINT TO TOKEN TOTAL TOUCH TRAILING TRANSACTION
TRANSFORM TRANSLATE TRANSLATION TREAT TRIGGER TRIM TRUE TRUNCATE TTL TUPLE TYPE UNDER UNDO UNION
UNIQUE UNIT UNKNOWN UNLOGGED UNNEST UNPROCESSED UNSIGNED UNTIL UPDATE UPPER URL USAGE USE USER
USERS USING UUID VACUUM VALUE VALUED VALUES VARCHAR VARIABLE VARIANCE VARINT VARYING VIEW
VIEWS VIRTUAL VOID WAIT WHEN WHENEVER WHERE WHILE WINDOW WITH WITHIN WITHOUT WORK WRAPPED WRITE
YEAR ZONE
"""

RESERVED: Final = frozenset(_RESERVED_WORDS.split())


def is_reserved(name: str) -> bool:
    """Return whether a name can only be used through a placeholder."""
    return name.upper() in RESERVED


_MAX_INDEX: Final = 2**31 - 1
_PREDICATES: Final = frozenset(
    ("attribute_exists", "attribute_not_exists", "attribute_type", "begins_with", "contains")
)
_CONDITION_FUNCTIONS: Final = _PREDICATES | {"size"}
_UPDATE_FUNCTIONS: Final = frozenset(("if_not_exists", "list_append"))


def check_condition_syntax(node: RawCondition) -> None:
    """Raise ExpressionError for the first invalid function or name."""
    while isinstance(node, RawNot):
        node = node.inner
    match node:
        case RawJunction():
            for part in _chain(node):
                check_condition_syntax(part)
        case RawCall(name, args):
            _check_function(name, _CONDITION_FUNCTIONS, _UPDATE_FUNCTIONS, "a condition")
            if name == "size":
                raise ExpressionError(misused_function(name))
            _check_operands(*args)
        case RawCompare(_, left, right):
            _check_operands(left, right)
        case RawBetween(operand, low, high):
            _check_operands(operand, low, high)
        case RawIn(operand, options):
            _check_operands(operand, *options)


def check_update_syntax(update: RawUpdate) -> None:
    """Raise ExpressionError for the first invalid section, function or name."""
    sections: set[str] = set()
    for actions in update.sections:
        section = actions[0].section
        if section in sections:
            raise ExpressionError(
                f'The "{section}" section can only be used once in an update expression;'
            )
        sections.add(section)
        for action in actions:
            check_path_syntax(action.path)
            if isinstance(action.value, RawSum):
                _check_argument(action.value.left)
                _check_argument(action.value.right)
            elif isinstance(action.value, RawCall):
                _check_function(
                    action.value.name, _UPDATE_FUNCTIONS, _CONDITION_FUNCTIONS, "an update"
                )
                for operand in action.value.args:
                    _check_argument(operand)
            elif isinstance(action.value, RawPath):
                check_path_syntax(action.value)


def check_path_syntax(path: RawPath) -> None:
    """Raise ExpressionError for a reserved word or an index out of range."""
    for step in path.steps:
        if isinstance(step, int):
            if step > _MAX_INDEX:
                raise ExpressionError(
                    f"List index is not within the allowable range; index: [{step}]"
                )
        elif is_reserved(step):
            raise ExpressionError(f"Attribute name is a reserved keyword; reserved keyword: {step}")


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
            check_path_syntax(operand)
        elif isinstance(operand, RawCall):
            _check_function(operand.name, _CONDITION_FUNCTIONS, _UPDATE_FUNCTIONS, "a condition")
            if operand.name != "size":
                raise ExpressionError(misused_function(operand.name))
            _check_operands(*operand.args)


def _check_argument(operand: RawOperand) -> None:
    if isinstance(operand, RawPath):
        check_path_syntax(operand)
    elif isinstance(operand, RawCall):
        _check_function(operand.name, _UPDATE_FUNCTIONS, _CONDITION_FUNCTIONS, "an update")
        if operand.name == "list_append":
            raise ExpressionError(misused_function(operand.name))
        for inner in operand.args:
            _check_argument(inner)


def _check_function(
    name: str, allowed: frozenset[str], disallowed: frozenset[str], kind: str
) -> None:
    if name in disallowed:
        raise ExpressionError(f"The function is not allowed in {kind} expression; function: {name}")
    if name not in allowed:
        raise ExpressionError(f"Invalid function name; function: {name}")
