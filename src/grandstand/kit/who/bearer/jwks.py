"""Kept here: an issuer's public keys, fetched when needed and never too often."""

from __future__ import annotations

import asyncio
from base64 import urlsafe_b64decode
from typing import Any, Final, Protocol

from jwt import PyJWK
from jwt.exceptions import PyJWTError

from grandstand.base.clock import Clock
from grandstand.base.errors import GrandstandError, SourceFailed, Unavailable
from grandstand.kit.who.bearer.trust import KINDS, Trust, check_url

_OLD_SECONDS: Final = 3_600.0
_TOO_OLD_SECONDS: Final = 86_400.0
_BETWEEN_SECONDS: Final = 30.0
_MOST_KEYS: Final = 100
_FEWEST_RSA_BYTES: Final = 256


class FetchJson(Protocol):
    """Fetches a document and reads it as JSON; raises errors of ours."""

    async def __call__(self, url: str, /) -> object:
        """Answer what the document holds."""
        ...


class KeySet:
    """The keys an issuer signs with, by their ids.

    Keys older than an hour, and unknown ids, lead to a fetch, but at most every 30 seconds: made-up
    ids cannot make this house burden the issuer. While it does not answer, keys stay good a day.
    """

    def __init__(self, trust: Trust, fetch: FetchJson, clock: Clock) -> None:
        self._trust = trust
        self._fetch = fetch
        self._clock = clock
        self._keys: dict[tuple[str, str], dict[str, Any]] = {}
        self._read: dict[tuple[str, str], PyJWK] = {}
        self._fetched_at: float | None = None
        self._tried_at: float | None = None
        self._fetching = asyncio.Lock()

    async def find(self, kid: str, algorithm: str) -> PyJWK | None:
        """Answer the key of an id for an algorithm, None when there is none.

        Raises Unavailable when no keys could be fetched for a day, or ever.
        """
        place = (kid, KINDS[algorithm][0])
        if place not in self._keys or self._age() > _OLD_SECONDS:
            await self._refresh(place)
        if self._age() > _TOO_OLD_SECONDS:
            message = f"The keys of {self._trust.issuer} cannot be fetched; try again later"
            raise Unavailable(message)
        found = self._keys.get(place)
        return None if found is None else self._usable(found, kid, algorithm)

    def _age(self) -> float:
        if self._fetched_at is None:
            return float("inf")
        return self._clock.monotonic() - self._fetched_at

    def _may_try(self) -> bool:
        if self._tried_at is None:
            return True
        return self._clock.monotonic() - self._tried_at >= _BETWEEN_SECONDS

    async def _refresh(self, place: tuple[str, str]) -> None:
        if not self._may_try() and not self._fetching.locked():
            return
        async with self._fetching:
            if not self._may_try() or (place in self._keys and self._age() <= _OLD_SECONDS):
                return
            self._tried_at = self._clock.monotonic()
            try:
                self._keys = _keys_in(await self._fetch(await self._address()))
            except GrandstandError:
                return
            self._read.clear()
            self._fetched_at = self._clock.monotonic()

    async def _address(self) -> str:
        if self._trust.jwks_url is not None:
            return self._trust.jwks_url
        issuer = self._trust.issuer
        told = await self._fetch(f"{issuer.rstrip('/')}/.well-known/openid-configuration")
        described = told if isinstance(told, dict) else {}
        address = described.get("jwks_uri")
        if not isinstance(address, str) or described.get("issuer") != issuer:
            message = f"{issuer} does not describe itself as that issuer"
            raise SourceFailed(message)
        check_url(address)
        return address

    def _usable(self, found: dict[str, Any], kid: str, algorithm: str) -> PyJWK | None:
        kept = self._read.get((kid, algorithm))
        if kept is not None:
            return kept
        if not _fits(found, algorithm):
            return None
        try:
            key = PyJWK(found, algorithm)
        except PyJWTError:
            return None
        self._read[kid, algorithm] = key
        return key


def _keys_in(document: object) -> dict[tuple[str, str], dict[str, Any]]:
    listed = document.get("keys") if isinstance(document, dict) else None
    if not isinstance(listed, list) or len(listed) > _MOST_KEYS:
        message = "The issuer's key document does not hold a list of keys"
        raise SourceFailed(message)
    return {
        (key["kid"], key["kty"]): key
        for key in listed
        if isinstance(key, dict)
        and isinstance(key.get("kid"), str)
        and isinstance(key.get("kty"), str)
        and key.get("use", "sig") == "sig"
    }


def _fits(found: dict[str, Any], algorithm: str) -> bool:
    """A key says what it is for; it is used for nothing else, and not when it is weak."""
    kind, curve = KINDS[algorithm]
    if found["kty"] != kind or found.get("alg", algorithm) != algorithm:
        return False
    if kind != "RSA":
        return bool(found.get("crv") == curve)
    try:
        modulus = urlsafe_b64decode(f"{found['n']}==")
    except (KeyError, ValueError):
        return False
    return len(modulus.lstrip(b"\0")) >= _FEWEST_RSA_BYTES
