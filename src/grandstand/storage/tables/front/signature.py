"""Kept here: AWS Signature Version 4, checked the way DynamoDB checks it and in its order."""

from __future__ import annotations

import hmac
import re
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from hashlib import sha256
from typing import Final

from grandstand.storage.tables.errors import AccessRefused
from grandstand.storage.tables.front.faults import SignatureIncomplete, SignatureWrong, Unsigned

ANY_REGION: Final = "local"

_ALGORITHM: Final = "AWS4-HMAC-SHA256"
_PARTS: Final = ("Credential", "Signature", "SignedHeaders")
_STAMP: Final = "%Y%m%dT%H%M%SZ"
_TOLERANCE: Final = timedelta(minutes=15)
_SCOPE_PARTS: Final = 5
_whole: Final = re.compile(
    r"AWS4-[^ ]* (?=.*Credential=[^, ])(?=.*Signature=[^, ])(?=.*SignedHeaders=[^, ])"
).match


@dataclass(frozen=True, slots=True)
class Scope:
    """Whose key signed, on which day, for which region and service."""

    key_id: str
    day: str
    region: str
    service: str
    terminator: str

    def __str__(self) -> str:
        return f"{self.day}/{self.region}/{self.service}/{self.terminator}"


def check_present(headers: Mapping[str, str]) -> None:
    """Demand a signature that looks whole, whoever made it.

    Raises Unsigned or SignatureIncomplete.
    """
    authorization = headers.get("authorization")
    if authorization is not None and _whole(authorization) and "x-amz-date" in headers:
        return
    if authorization is None or not authorization.lstrip().startswith("AWS4-"):
        raise Unsigned("Request is missing Authentication Token")
    parts = _parts(authorization)
    missing = "".join(
        f"Authorization header requires '{name}' parameter. "
        for name in _PARTS
        if not parts.get(name)
    )
    if "x-amz-date" not in headers and "date" not in headers:
        missing += (
            "Authorization header requires existence of either a 'X-Amz-Date' or a 'Date' header. "
        )
    if missing:
        raise SignatureIncomplete(f"{missing}Authorization={authorization}")


def check_signed(
    headers: Mapping[str, str],
    body: bytes,
    *,
    secrets: Mapping[str, str],
    region: str,
    now: datetime,
) -> None:
    """Demand that the request was signed, lately, with one of the secrets.

    Raises SignatureIncomplete, SignatureWrong, or AccessRefused when the key is not known.
    """
    parts = _parts(headers["authorization"])
    stamp = _stamp(headers, now)
    signed = parts["SignedHeaders"].split(";")
    if "host" not in signed:
        raise SignatureWrong("'Host' must be a 'SignedHeader' in the AWS Authorization.")
    algorithm = headers["authorization"].split(maxsplit=1)[0]
    if algorithm != _ALGORITHM:
        raise SignatureIncomplete(
            f"Unsupported AWS 'algorithm': '{algorithm}' (only {_ALGORITHM} for now). "
        )
    scope = _scope(parts["Credential"])
    _check_scope(scope, region, stamp)
    secret = secrets.get(scope.key_id)
    if secret is None:
        raise AccessRefused("The security token included in the request is invalid.")
    expected = _signature(headers, body, signed=signed, scope=scope, stamp=stamp, secret=secret)
    if not hmac.compare_digest(expected.encode(), parts["Signature"].encode()):
        raise SignatureWrong(
            "The request signature we calculated does not match the signature you provided. "
            "Check your AWS Secret Access Key and signing method. Consult the service "
            "documentation for details."
        )


def _parts(authorization: str) -> dict[str, str]:
    _, _, rest = authorization.strip().partition(" ")
    found = (part.strip().partition("=") for part in rest.replace(" ", ",").split(",") if part)
    return {name: value for name, _, value in found}


def _stamp(headers: Mapping[str, str], now: datetime) -> str:
    stamp = headers.get("x-amz-date", headers.get("date", ""))
    try:
        moment = datetime.strptime(stamp, _STAMP).replace(tzinfo=UTC)
    except ValueError as fault:
        raise SignatureIncomplete(
            f"Date must be in ISO-8601 'basic format'. Got '{stamp}'. "
            "See http://en.wikipedia.org/wiki/ISO_8601"
        ) from fault
    current = now.strftime(_STAMP)
    if moment < now - _TOLERANCE:
        limit = (now - _TOLERANCE).strftime(_STAMP)
        raise SignatureWrong(
            f"Signature expired: {stamp} is now earlier than {limit} ({current} - 15 min.)"
        )
    if moment > now + _TOLERANCE:
        limit = (now + _TOLERANCE).strftime(_STAMP)
        raise SignatureWrong(
            f"Signature not yet current: {stamp} is still later than {limit} ({current} + 15 min.)"
        )
    return stamp


def _scope(credential: str) -> Scope:
    elements = credential.rstrip("/").split("/")
    if len(elements) != _SCOPE_PARTS:
        raise SignatureIncomplete(
            "Credential must have exactly 5 slash-delimited elements, e.g. "
            f"keyid/date/region/service/term, got '{credential}'"
        )
    return Scope(*elements)


def _check_scope(scope: Scope, region: str, stamp: str) -> None:
    wrong: list[str] = []
    if region not in (ANY_REGION, scope.region):
        wrong.append(f"Credential should be scoped to a valid region, not '{scope.region}'. ")
    if scope.service != "dynamodb":
        wrong.append("Credential should be scoped to correct service: 'dynamodb'. ")
    if scope.terminator != "aws4_request":
        wrong.append(
            "Credential should be scoped with a valid terminator: 'aws4_request', "
            f"not '{scope.terminator}'. "
        )
    if scope.day != stamp[:8]:
        wrong.append(
            "Date in Credential scope does not match YYYYMMDD from ISO-8601 version of date from "
            f"HTTP: '{scope.day}' != '{stamp[:8]}', from '{stamp}'."
        )
    if wrong:
        raise SignatureWrong("".join(wrong))


def _signature(
    headers: Mapping[str, str],
    body: bytes,
    *,
    signed: list[str],
    scope: Scope,
    stamp: str,
    secret: str,
) -> str:
    canonical = "\n".join(
        (
            "POST",
            "/",
            "",
            *(f"{name}:{' '.join(headers.get(name, '').split())}" for name in signed),
            "",
            ";".join(signed),
            sha256(body).hexdigest(),
        )
    )
    to_sign = "\n".join((_ALGORITHM, stamp, str(scope), sha256(canonical.encode()).hexdigest()))
    key = f"AWS4{secret}".encode()
    for part in (scope.day, scope.region, scope.service, scope.terminator):
        key = _hmac(key, part)
    return _hmac(key, to_sign).hex()


def _hmac(key: bytes, text: str) -> bytes:
    return hmac.new(key, text.encode(), sha256).digest()
