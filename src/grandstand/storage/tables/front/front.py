"""Kept here: the way a request goes: decoded, authenticated, checked, carried out, answered."""

from __future__ import annotations

import logging
import secrets
import zlib
from collections.abc import Callable, Mapping
from contextlib import suppress
from typing import Any, Final

import msgspec

from grandstand.base.clock import Clock
from grandstand.base.errors import Broken, GrandstandError
from grandstand.storage.tables.engines.protocol import Engine
from grandstand.storage.tables.errors import InvalidRequest, TableNotFound
from grandstand.storage.tables.front.faults import (
    BodyTooLarge,
    BodyUndecodable,
    OperationUnknown,
    Unreadable,
)
from grandstand.storage.tables.front.members.kinds import Struct
from grandstand.storage.tables.front.members.scalars import Place
from grandstand.storage.tables.front.operations import OPERATIONS, Operation, unknown
from grandstand.storage.tables.front.reply import Reply, answered, refused
from grandstand.storage.tables.front.service import NOT_FOUND, Service
from grandstand.storage.tables.front.signature import check_present, check_signed

MAX_BODY: Final = 16 * 1024 * 1024
_MOST_FAULTS: Final = 10
_ID_BYTES: Final = 26
_SWEPT_AT_ONCE: Final = 1000
_JSON_TYPES: Final = frozenset(("application/x-amz-json-1.0", "application/json"))
_GZIP: Final = 16 + zlib.MAX_WBITS
# A client sends one; each costs a copy of all that follows it.
_MOST_MEMBERS: Final = 16

_log: Final = logging.getLogger(__name__)
_decode: Final = msgspec.json.Decoder().decode


class Front:
    """DynamoDB's protocol in front of an engine.

    Without access keys any signature is taken for good, as long as there is one.
    """

    def __init__(
        self,
        engine: Engine,
        *,
        clock: Clock,
        region: str = "local",
        access_keys: Mapping[str, str] | None = None,
        chance: Callable[[int], bytes] = secrets.token_bytes,
    ) -> None:
        self._service = Service(engine, clock, region)
        self._access_keys = access_keys
        self._chance = chance

    @property
    def region(self) -> str:
        """The region this front says it is in."""
        return self._service.region

    def answer(self, headers: Mapping[str, str], body: bytes) -> Reply:
        """Carry out one request and make its reply; never raises."""
        request_id = self._chance(_ID_BYTES).hex().upper()
        try:
            return answered(self._carry_out(headers, body), request_id)
        except GrandstandError as error:
            return refused(error, request_id)
        except Exception as fault:  # noqa: BLE001 - the last door before the network
            _log.exception("request %s failed", request_id)
            return refused(Broken(f"{type(fault).__name__}: this is a fault of ours"), request_id)

    def sweep(self) -> int:
        """Delete some of what has expired, in every table with an expiry; answer how many went.

        DynamoDB does this in the background; whoever keeps the front running calls it now and then.
        """
        engine, went = self._service.engine, 0
        for name in engine.list_tables():
            # A table may be deleted while its turn comes.
            with suppress(TableNotFound):
                if engine.schema_of(name).ttl is not None:
                    went += engine.sweep(name, _SWEPT_AT_ONCE)
        return went

    def _carry_out(self, headers: Mapping[str, str], body: bytes) -> object:
        given = {name.lower(): value for name, value in headers.items()}
        if len(body) > MAX_BODY:
            raise BodyTooLarge("Request size exceeds the limit of 16 MB")
        raw = _inflated(given, body)
        data = _parsed(given, raw)
        operation = OPERATIONS.get(given.get("x-amz-target", ""))
        if operation is None:
            raise unknown(given.get("x-amz-target", ""))
        self._authenticate(given, body)
        if data is None:
            raise Unreadable("")
        for name in operation.headers:
            data[name] = given.get(name)
        request = checked(operation, data)
        try:
            return operation.carry_out(self._service, request)
        except TableNotFound as missing:
            if operation.manages:
                raise
            raise TableNotFound(NOT_FOUND) from missing
        except InvalidRequest:
            # A value of the wrong JSON kind anywhere is told before any other fault.
            operation.members.cast(data)
            raise

    def _authenticate(self, headers: Mapping[str, str], body: bytes) -> None:
        check_present(headers)
        if self._access_keys is not None:
            check_signed(
                headers,
                body,
                secrets=self._access_keys,
                region=self._service.region,
                now=self._service.clock.now(),
            )


def _inflated(headers: Mapping[str, str], body: bytes) -> bytes:
    encoding = headers.get("content-encoding", "identity").strip().lower()
    if encoding == "identity":
        return body
    if encoding != "gzip":
        raise BodyUndecodable(f"The content encoding {encoding} is not supported")
    inflated, left = b"", body
    for _ in range(_MOST_MEMBERS):
        member = zlib.decompressobj(_GZIP)
        try:
            inflated += member.decompress(left, MAX_BODY + 1 - len(inflated))
        except zlib.error as fault:
            raise BodyUndecodable("The body is not gzip, as its header says") from fault
        if len(inflated) > MAX_BODY:
            raise BodyTooLarge("Request size exceeds the limit of 16 MB")
        if not member.eof:
            raise BodyUndecodable("The gzip body ends too early")
        left = member.unused_data
        if inflated and not left:
            return inflated
    raise BodyUndecodable("The gzip body has too many members")


def _parsed(headers: Mapping[str, str], body: bytes) -> dict[str, Any] | None:
    kind = headers.get("content-type", "").partition(";")[0].strip()
    if body and kind not in _JSON_TYPES:
        raise OperationUnknown("")
    if not body:
        return None
    try:
        data = _decode(body)
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError) as fault:
        raise Unreadable("") from fault
    if not isinstance(data, dict):
        raise Unreadable("")
    return data


def checked(operation: Operation, data: dict[str, Any]) -> dict[str, Any]:
    """Answer the request, in order; raise Unreadable, or InvalidRequest with all that is wrong."""
    members = operation.members
    if members.admits(data):
        return data
    request: dict[str, Any] = members.cast(data)
    operation.check_first(request)
    faults = _first(members, request)
    if faults:
        number = f"{len(faults)} validation error{'s' if len(faults) > 1 else ''} detected: "
        raise InvalidRequest(number + "; ".join(faults))
    return request


def _first(members: Struct, request: dict[str, Any]) -> list[str]:
    found: list[str] = []
    for fault in members.faults(request, Place()):
        found.append(fault)
        if len(found) == _MOST_FAULTS:
            break
    return found
