"""Kept here: the expressions of a request, read together with the names and values they share."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from grandstand.storage.tables.encoding.attributes import from_wire
from grandstand.storage.tables.errors import InvalidRequest
from grandstand.storage.tables.expressions.parse import Placeholders
from grandstand.storage.tables.front.service import Request
from grandstand.storage.tables.values import Value

_NAMES: Final = "ExpressionAttributeNames"
_VALUES: Final = "ExpressionAttributeValues"


def check_mixed(request: Request, expressions: Sequence[str], legacy: Sequence[str]) -> None:
    """Raise InvalidRequest when old and new parameters are mixed, or placeholders stand alone."""
    given = [name for name in expressions if request.get(name) is not None]
    old = [name for name in legacy if request.get(name) is not None]
    if given and old:
        raise InvalidRequest(
            "Can not use both expression and non-expression parameters in the same request: "
            f"Non-expression parameters: {{{', '.join(old)}}} "
            f"Expression parameters: {{{', '.join(given)}}}"
        )
    if request.get(_NAMES) is not None and not given:
        raise InvalidRequest(f"{_NAMES} can only be specified when using expressions")
    valued = [name for name in expressions if name != "ProjectionExpression"]
    if request.get(_VALUES) is not None and not any(name in given for name in valued):
        are = "are" if len(valued) > 1 else "is"
        raise InvalidRequest(
            f"{_VALUES} can only be specified when using expressions: "
            f"{' and '.join(valued)} {are} null"
        )


def placeholders(request: Request) -> Placeholders:
    """Read a request's names and values; raise InvalidRequest naming the key that is wrong."""
    names, values = request.get(_NAMES), request.get(_VALUES)
    if names is None and values is None:
        return Placeholders()
    read = None if values is None else _values(values)
    return Placeholders(names, read)


def _values(wire: Request) -> dict[str, Value]:
    read: dict[str, Value] = {}
    for key, attribute in wire.items():
        try:
            read[key] = from_wire(attribute, text_binary=True)
        except InvalidRequest as fault:
            raise InvalidRequest(
                f"{_VALUES} contains invalid value: {fault} for key {key}"
            ) from fault
    return read
