"""Verification of AWS Signature Version 4, with the order of checks of DynamoDB."""

from __future__ import annotations

import hmac
import re
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from hashlib import sha256
from typing import Final

from grandstand.storage.tables.dynamodb_server.service import RequestRefused
from grandstand.storage.tables.errors import AccessRefused

ANY_REGION: Final = "local"

_ALGORITHM: Final = "AWS4-HMAC-SHA256"
_TIME_FORMAT: Final = "%Y%m%dT%H%M%SZ"
_TOLERANCE: Final = timedelta(minutes=15)
_is_complete: Final = re.compile(
    r"AWS4-[^ ]* (?=.*Credential=[^, ])(?=.*Signature=[^, ])(?=.*SignedHeaders=[^, ])"
).match


_INCOMPLETE: Final = "IncompleteSignatureException"
_INVALID: Final = "InvalidSignatureException"


@dataclass(frozen=True, slots=True)
class Scope:
    """Credential scope: access key, day, region and service."""

    key_id: str
    day: str
    region: str
    service: str
    terminator: str

    def __str__(self) -> str:
        return f"{self.day}/{self.region}/{self.service}/{self.terminator}"


def check_signature_present(headers: Mapping[str, str]) -> None:
    """Check that the request has a complete signature, without verifying it.

    Raises RequestRefused.
    """
    authorization = headers.get("authorization")
    if authorization is not None and _is_complete(authorization) and "x-amz-date" in headers:
        return
    if authorization is None or not authorization.lstrip().startswith("AWS4-"):
        raise RequestRefused(
            "MissingAuthenticationTokenException", "Request is missing Authentication Token"
        )
    parts = _parse_authorization(authorization)
    missing = "".join(
        f"Authorization header requires '{name}' parameter. "
        for name in ("Credential", "Signature", "SignedHeaders")
        if not parts.get(name)
    )
    if "x-amz-date" not in headers and "date" not in headers:
        missing += (
            "Authorization header requires existence of either a 'X-Amz-Date' or a 'Date' header. "
        )
    if missing:
        raise RequestRefused(_INCOMPLETE, f"{missing}Authorization={authorization}")


def verify_signature(
    headers: Mapping[str, str],
    body: bytes,
    *,
    secrets: Mapping[str, str],
    region: str,
    now: datetime,
) -> None:
    """Verify that the request was signed within 15 minutes with one of the secrets.

    Raises RequestRefused, or AccessRefused if the access key is unknown.
    """
    parts = _parse_authorization(headers["authorization"])
    stamp = _check_time(headers, now)
    signed = parts["SignedHeaders"].split(";")
    if "host" not in signed:
        raise RequestRefused(_INVALID, "'Host' must be a 'SignedHeader' in the AWS Authorization.")
    algorithm = headers["authorization"].split(maxsplit=1)[0]
    if algorithm != _ALGORITHM:
        raise RequestRefused(
            _INCOMPLETE, f"Unsupported AWS 'algorithm': '{algorithm}' (only {_ALGORITHM} for now). "
        )
    scope = _parse_scope(parts["Credential"])
    _check_scope(scope, region, stamp)
    secret = secrets.get(scope.key_id)
    if secret is None:
        raise AccessRefused("The security token included in the request is invalid.")
    expected = _compute_signature(
        headers, body, signed=signed, scope=scope, stamp=stamp, secret=secret
    )
    if not hmac.compare_digest(expected.encode(), parts["Signature"].encode()):
        raise RequestRefused(
            _INVALID,
            "The request signature we calculated does not match the signature you provided. "
            "Check your AWS Secret Access Key and signing method. Consult the service "
            "documentation for details.",
        )


def _parse_authorization(authorization: str) -> dict[str, str]:
    _, _, rest = authorization.strip().partition(" ")
    pairs = (part.strip().partition("=") for part in rest.replace(" ", ",").split(",") if part)
    return {name: value for name, _, value in pairs}


def _check_time(headers: Mapping[str, str], now: datetime) -> str:
    stamp = headers.get("x-amz-date", headers.get("date", ""))
    try:
        signed_at = datetime.strptime(stamp, _TIME_FORMAT).replace(tzinfo=UTC)
    except ValueError as error:
        raise RequestRefused(
            _INCOMPLETE,
            f"Date must be in ISO-8601 'basic format'. Got '{stamp}'. "
            "See http://en.wikipedia.org/wiki/ISO_8601",
        ) from error
    current = now.strftime(_TIME_FORMAT)
    if signed_at < now - _TOLERANCE:
        limit = (now - _TOLERANCE).strftime(_TIME_FORMAT)
        raise RequestRefused(
            _INVALID,
            f"Signature expired: {stamp} is now earlier than {limit} ({current} - 15 min.)",
        )
    if signed_at > now + _TOLERANCE:
        limit = (now + _TOLERANCE).strftime(_TIME_FORMAT)
        raise RequestRefused(
            _INVALID,
            f"Signature not yet current: {stamp} is still later than {limit} ({current} + 15 min.)",
        )
    return stamp


def _parse_scope(credential: str) -> Scope:
    elements = credential.rstrip("/").split("/")
    if len(elements) != 5:
        raise RequestRefused(
            _INCOMPLETE,
            "Credential must have exactly 5 slash-delimited elements, e.g. "
            f"keyid/date/region/service/term, got '{credential}'",
        )
    return Scope(*elements)


def _check_scope(scope: Scope, region: str, stamp: str) -> None:
    problems: list[str] = []
    if region not in (ANY_REGION, scope.region):
        problems.append(f"Credential should be scoped to a valid region, not '{scope.region}'. ")
    if scope.service != "dynamodb":
        problems.append("Credential should be scoped to correct service: 'dynamodb'. ")
    if scope.terminator != "aws4_request":
        problems.append(
            "Credential should be scoped with a valid terminator: 'aws4_request', "
            f"not '{scope.terminator}'. "
        )
    if scope.day != stamp[:8]:
        problems.append(
            "Date in Credential scope does not match YYYYMMDD from ISO-8601 version of date from "
            f"HTTP: '{scope.day}' != '{stamp[:8]}', from '{stamp}'."
        )
    if problems:
        raise RequestRefused(_INVALID, "".join(problems))


def _compute_signature(
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
