"""Kept here: how the text of an expression falls into tokens, and how a syntax error names one."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Final

from grandstand.storage.tables.errors import InvalidRequest

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


class Refused(InvalidRequest):
    """A rule of expressions is broken; whoever knows which expression it is puts its name first."""


@dataclass(frozen=True, slots=True)
class Token:
    """One token: its kind is a keyword, a mark, or one of the kinds named above."""

    kind: str
    text: str
    start: int
    end: int


def tokens(text: str) -> tuple[Token, ...]:
    """Split a text; the last token is always the end."""
    found: list[Token] = []
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
        found.append(Token(kind, word, match.start(group), match.end(group)))
    found.append(Token(END, END, len(text), len(text)))
    return tuple(found)


def syntax_error(text: str, stream: tuple[Token, ...], at: int) -> Refused:
    """Say which token was not expected, between the one before it and the one after it."""
    start = stream[at - 1].start if at else 0
    end = stream[min(at + 1, len(stream) - 1)].end
    return Refused(f'Syntax error; token: "{stream[at].text}", near: "{text[start:end]}"')
