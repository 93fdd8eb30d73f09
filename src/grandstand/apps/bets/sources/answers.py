"""Kept here: what a feed answered, as plain values."""

from __future__ import annotations

from grandstand.wire.answer import Answer
from grandstand.wire.errors import AnswerGarbled


def json_of(answer: Answer) -> object:
    """Answer what a feed said in JSON; raise AnswerGarbled when it is none, or without bottom."""
    try:
        return answer.json(object)
    except RecursionError:
        message = f"{answer.source} answered JSON that goes too deep"
    raise AnswerGarbled(message, source=answer.source)
