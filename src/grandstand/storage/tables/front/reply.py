"""Kept here: answers as HTTP carries them: status, headers and JSON, with their checksum."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final
from zlib import crc32

import msgspec

from grandstand.base.errors import Broken, GrandstandError, Unavailable
from grandstand.storage.tables.encoding.attributes import item_to_wire
from grandstand.storage.tables.errors import (
    CancellationReason,
    ConditionFailed,
    TransactionCancelled,
)
from grandstand.storage.tables.values import Item

JSON_TYPE: Final = "application/x-amz-json-1.0"
_OK: Final = 200
_BAD_REQUEST: Final = 400
_TOO_LARGE: Final = 413
_FAILED: Final = 500

_VALIDATE: Final = "com.amazon.coral.validate"
_SERVICE: Final = "com.amazon.coral.service"
_DYNAMODB: Final = "com.amazonaws.dynamodb.v20120810"
_NAMESPACES: Final = {
    "ValidationException": _VALIDATE,
    "SerializationException": _SERVICE,
    "UnknownOperationException": _SERVICE,
    "RequestEntityTooLargeException": _SERVICE,
    "MissingAuthenticationTokenException": _SERVICE,
    "IncompleteSignatureException": _SERVICE,
    "InvalidSignatureException": _SERVICE,
    "UnrecognizedClientException": _SERVICE,
    "AccessDeniedException": _SERVICE,
}
# These two are told with a capital letter.
_CAPITAL: Final = frozenset(("SerializationException", "AccessDeniedException"))

_encode: Final = msgspec.json.Encoder().encode


@dataclass(frozen=True, slots=True)
class Reply:
    """What goes back to the client."""

    status: int
    headers: tuple[tuple[str, str], ...]
    body: bytes


def answered(content: object, request_id: str) -> Reply:
    """Make the reply to an operation that was carried out; None has an empty body."""
    return _reply(_OK, b"" if content is None else _encode(content), request_id)


def refused(error: GrandstandError, request_id: str) -> Reply:
    """Make the reply that tells an error by the name and in the shape DynamoDB gives it."""
    name = str(getattr(error, "aws_name", "InternalServerError"))
    told: dict[str, object] = {"__type": f"{_NAMESPACES.get(name, _DYNAMODB)}#{name}"}
    if str(error):
        told["Message" if name in _CAPITAL else "message"] = str(error)
    if isinstance(error, ConditionFailed) and error.item is not None:
        told["Item"] = _shown(error.item)
    if isinstance(error, TransactionCancelled):
        told["CancellationReasons"] = [_reason(reason) for reason in error.reasons]
    return _reply(_status(error, name), _encode(told), request_id)


def _reason(reason: CancellationReason) -> dict[str, object]:
    told: dict[str, object] = {"Code": reason.code}
    if reason.message is not None:
        told["Message"] = reason.message
    if reason.item is not None:
        told["Item"] = _shown(reason.item)
    return told


def _shown(item: Item) -> object:
    return item_to_wire(item, text_binary=True)


def _status(error: GrandstandError, name: str) -> int:
    if name == "RequestEntityTooLargeException":
        return _TOO_LARGE
    ours = name == "InternalServerError" or isinstance(error, Unavailable | Broken)
    return _FAILED if ours else _BAD_REQUEST


def _reply(status: int, body: bytes, request_id: str) -> Reply:
    headers = (
        ("content-type", JSON_TYPE),
        ("content-length", str(len(body))),
        ("x-amzn-requestid", request_id),
        ("x-amz-crc32", str(crc32(body))),
    )
    return Reply(status, headers, body)
