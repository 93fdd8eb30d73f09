"""Bearer tokens of a trusted OIDC issuer: its keys, and verification."""

from __future__ import annotations

import asyncio
import math
import re
from base64 import urlsafe_b64decode
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass
from typing import Any, Final, TypeAlias
from urllib.parse import urlsplit

import jwt
from jwt import PyJWK
from jwt.exceptions import PyJWTError

from grandstand.core.clock import Clock
from grandstand.core.errors import GrandstandError, InvalidInput, SourceFailed, Unavailable
from grandstand.kit.auth.caller import LOCAL_OWNER, Refusal
from grandstand.kit.auth.host_policy import is_loopback
from grandstand.net.client import Source, SourceRegistry
from grandstand.net.rate_limits import RateLimit
from grandstand.net.retry import RetryPolicy

# Key type, and for elliptic curves the curve, of each algorithm.
# Shared secrets (HS…) and `none` are never accepted.
KEY_TYPES: Final = {
    "RS256": ("RSA", None),
    "RS384": ("RSA", None),
    "RS512": ("RSA", None),
    "PS256": ("RSA", None),
    "PS384": ("RSA", None),
    "PS512": ("RSA", None),
    "ES256": ("EC", "P-256"),
    "ES384": ("EC", "P-384"),
    "ES512": ("EC", "P-521"),
    "EdDSA": ("OKP", "Ed25519"),
}
_CLIENT: Final = re.compile(r"[\x21-\x7e]{1,255}")


@dataclass(frozen=True, slots=True)
class TrustedIssuer:
    """An issuer of OIDC tokens, such as a Cognito user pool, and what is believed of it.

    `client_ids` are those tokens must be issued for: an ID token names one in `aud`, a Cognito
    access token in `client_id`. Raises InvalidInput when it would not be safe.
    """

    issuer: str
    client_ids: tuple[str, ...]
    jwks_url: str | None = None
    algorithms: tuple[str, ...] = ("RS256", "ES256")
    groups_claim: str = "cognito:groups"
    admin_group: str = "admin"
    leeway_seconds: int = 30

    def __post_init__(self) -> None:
        for url in filter(None, (self.issuer, self.jwks_url)):
            check_url(url)
        unsafe = [name for name in self.algorithms if name not in KEY_TYPES]
        if unsafe or not self.algorithms:
            raise InvalidInput(
                f"Unsupported token algorithms: {', '.join(unsafe) or 'no algorithm'}. Use one of "
                f"{', '.join(KEY_TYPES)}"
            )
        if not self.client_ids or not all(map(_CLIENT.fullmatch, self.client_ids)):
            raise InvalidInput(f"Set the client ids that tokens of {self.issuer} are issued for")


def check_url(url: str) -> None:
    """Raise InvalidInput for a URL over which keys could be forged."""
    try:
        parts = urlsplit(url)
        host = parts.hostname or ""
    except ValueError:
        parts, host = urlsplit(""), ""
    safe = parts.scheme == "https" or (parts.scheme == "http" and is_loopback(host))
    if not host or not safe or parts.username is not None or parts.query or parts.fragment:
        raise InvalidInput(f"{url[:200]!r} is not a trusted issuer. Use its https:// URL.")


class JsonFetcher:
    """Fetches JSON documents; each host is a source of its own."""

    def __init__(self, web: SourceRegistry) -> None:
        self._web = web
        self._sources: dict[str, Source] = {}

    async def __call__(self, url: str, /) -> object:
        """Return the document. Raises SourceFailed, Unavailable or LimitReached."""
        parts = urlsplit(url)
        place = f"{parts.scheme}://{parts.netloc}"
        source = self._sources.get(place)
        if source is None:
            source = self._sources[place] = self._web.source(
                f"identity {parts.netloc}",
                base_url=place,
                rate=RateLimit(per_second=1, burst=3),
                timeout_seconds=5.0,
                retries=RetryPolicy(tries=2),
                most_bytes=262_144,
            )
        return (await source.get(url)).json(dict)


_OLD_SECONDS: Final = 3_600.0


FetchJson: TypeAlias = Callable[[str], Awaitable[object]]


class KeySet:
    """The signing keys of an issuer by id.

    Keys older than an hour and unknown ids cause a fetch, at most every 30 seconds, so that made-up
    ids cannot load the issuer. While the issuer does not respond, keys stay valid for a day.
    """

    def __init__(self, trust: TrustedIssuer, fetch: FetchJson, clock: Clock) -> None:
        self._trust = trust
        self._fetch = fetch
        self._clock = clock
        self._keys: dict[tuple[str, str], dict[str, Any]] = {}
        self._read: dict[tuple[str, str], PyJWK] = {}
        self._fetched_at: float | None = None
        self._tried_at: float | None = None
        self._fetching = asyncio.Lock()

    async def find(self, kid: str, algorithm: str) -> PyJWK | None:
        """Return the key of an id for an algorithm; None if there is none.

        Raises Unavailable if no keys could be fetched for a day, or ever.
        """
        place = (kid, KEY_TYPES[algorithm][0])
        if place not in self._keys or self._age() > _OLD_SECONDS:
            await self._refresh(place)
        if self._age() > 86_400.0:
            raise Unavailable(
                f"The keys of {self._trust.issuer} cannot be fetched; try again later"
            )
        found = self._keys.get(place)
        return None if found is None else self._load_key(found, kid, algorithm)

    def _age(self) -> float:
        if self._fetched_at is None:
            return float("inf")
        return self._clock.monotonic() - self._fetched_at

    def _may_try(self) -> bool:
        if self._tried_at is None:
            return True
        return self._clock.monotonic() - self._tried_at >= 30.0

    async def _refresh(self, place: tuple[str, str]) -> None:
        if not self._may_try() and not self._fetching.locked():
            return
        async with self._fetching:
            if not self._may_try() or (place in self._keys and self._age() <= _OLD_SECONDS):
                return
            self._tried_at = self._clock.monotonic()
            try:
                self._keys = _parse_keys(await self._fetch(await self._address()))
            except GrandstandError:
                return
            self._read.clear()
            self._fetched_at = self._clock.monotonic()

    async def _address(self) -> str:
        if self._trust.jwks_url is not None:
            return self._trust.jwks_url
        issuer = self._trust.issuer
        document = await self._fetch(f"{issuer.rstrip('/')}/.well-known/openid-configuration")
        described = document if isinstance(document, dict) else {}
        address = described.get("jwks_uri")
        if not isinstance(address, str) or described.get("issuer") != issuer:
            raise SourceFailed(f"{issuer} does not describe itself as that issuer")
        check_url(address)
        return address

    def _load_key(self, found: dict[str, Any], kid: str, algorithm: str) -> PyJWK | None:
        kept = self._read.get((kid, algorithm))
        if kept is not None:
            return kept
        if not _is_usable(found, algorithm):
            return None
        try:
            key = PyJWK(found, algorithm)
        except PyJWTError:
            return None
        self._read[kid, algorithm] = key
        return key


def _parse_keys(document: object) -> dict[tuple[str, str], dict[str, Any]]:
    listed = document.get("keys") if isinstance(document, dict) else None
    if not isinstance(listed, list) or len(listed) > 100:
        raise SourceFailed("The issuer's key document has no list of keys")
    return {
        (key["kid"], key["kty"]): key
        for key in listed
        if isinstance(key, dict)
        and isinstance(key.get("kid"), str)
        and isinstance(key.get("kty"), str)
        and key.get("use", "sig") == "sig"
    }


def _is_usable(found: dict[str, Any], algorithm: str) -> bool:
    """Return whether a key may be used for the algorithm and is strong enough."""
    kind, curve = KEY_TYPES[algorithm]
    if found["kty"] != kind or found.get("alg", algorithm) != algorithm:
        return False
    if kind != "RSA":
        return bool(found.get("crv") == curve)
    try:
        modulus = urlsafe_b64decode(f"{found['n']}==")
    except (KeyError, ValueError):
        return False
    return len(modulus.lstrip(b"\0")) >= 256


_KID: Final = re.compile(r"[\x21-\x7e]{1,256}")
# A subject becomes part of keys and must not contain their separators.
_SUBJECT: Final = re.compile(r"[A-Za-z0-9._:@|~+=-]{1,128}", re.ASCII)
_NAMES: Final = ("cognito:username", "username", "preferred_username", "name", "email")

_FORGED = Refusal("The token is not signed by a trusted issuer")
_MALFORMED = Refusal("The token is malformed")


@dataclass(frozen=True, slots=True)
class TokenSubject:
    """The subject of an accepted token."""

    user_id: str
    name: str
    admin: bool


class TokenVerifier:
    """Verifies bearer tokens by our own clock."""

    def __init__(self, trust: TrustedIssuer, fetch: FetchJson, clock: Clock) -> None:
        self._trust = trust
        self._keys = KeySet(trust, fetch, clock)
        self._clock = clock

    async def check(self, token: str) -> TokenSubject | Refusal:
        """Return the subject of a token, or why it is refused.

        Raises Unavailable if the issuer's keys are not available.
        """
        claims = await self._verify_signature(token)
        if isinstance(claims, Refusal):
            return claims
        if claims.get("iss") != self._trust.issuer:
            return _FORGED
        return self._check_times(claims) or self._check_client(claims) or self._subject(claims)

    async def _verify_signature(self, token: str) -> dict[str, Any] | Refusal:
        """Return the claims after verifying the signature."""
        if len(token) > 16_384:
            return _MALFORMED
        try:
            header = jwt.get_unverified_header(token)
        except (PyJWTError, ValueError):
            return _MALFORMED
        algorithm, kid = header.get("alg"), header.get("kid")
        if algorithm not in self._trust.algorithms or "crit" in header:
            return _FORGED
        if not isinstance(kid, str) or not _KID.fullmatch(kid):
            return _FORGED
        key = await self._keys.find(kid, algorithm)
        if key is None:
            return _FORGED
        options: Any = {"verify_signature": True} | dict.fromkeys(
            ("verify_exp", "verify_nbf", "verify_iat", "verify_aud", "verify_iss"), False
        )
        try:
            return jwt.decode(token, key, algorithms=[algorithm], options=options)
        except (PyJWTError, ValueError):
            return _FORGED

    def _check_times(self, claims: Mapping[str, Any]) -> Refusal | None:
        now, leeway = self._clock.epoch(), self._trust.leeway_seconds
        ends = _parse_time(claims.get("exp"))
        if ends is None or now >= ends + leeway:
            return Refusal("The token has expired. Request a new one.")
        for name in ("nbf", "iat"):
            starts = _parse_time(claims.get(name, 0))
            if starts is None or now < starts - leeway:
                return Refusal("The token is not valid yet. Check the clocks.")
        return None

    def _check_client(self, claims: Mapping[str, Any]) -> Refusal | None:
        """Return whether the token is for another client.

        Cognito access tokens name it in `client_id`.
        """
        ours, use = set(self._trust.client_ids), claims.get("token_use", "id")
        others = Refusal("The token was issued for another application")
        if use == "access":
            return None if _texts(claims.get("client_id")) & ours else others
        audience = _texts(claims.get("aud"))
        if use != "id" or not audience & ours:
            return others
        # OpenID Connect Core 3.1.3.7: with several audiences the authorized party must be ours.
        several = len(audience) > 1 or "azp" in claims
        return others if several and not _texts(claims.get("azp")) & ours else None

    def _subject(self, claims: Mapping[str, Any]) -> TokenSubject | Refusal:
        user_id = claims.get("sub")
        if not isinstance(user_id, str) or not _SUBJECT.fullmatch(user_id):
            return Refusal("The token has no usable subject")
        if user_id == LOCAL_OWNER.user_id:
            return Refusal("The token's subject is not allowed")
        names = (claims.get(name) for name in _NAMES)
        name = next((text for text in names if _is_display_name(text)), user_id)
        groups = _texts(_find_claim(claims, self._trust.groups_claim))
        return TokenSubject(user_id, str(name), self._trust.admin_group in groups)


def _parse_time(value: object) -> float | None:
    if isinstance(value, bool) or not isinstance(value, int | float):
        return None
    try:
        return float(value) if math.isfinite(value) else None
    except OverflowError:
        return None


def _texts(value: object) -> set[str]:
    if isinstance(value, str):
        return {value}
    if isinstance(value, list):
        return {text for text in value if isinstance(text, str)}
    return set()


def _is_display_name(text: object) -> bool:
    return isinstance(text, str) and 0 < len(text) <= 128 and text.isprintable()


def _find_claim(claims: Mapping[str, Any], name: str) -> object:
    """Return a claim by name, or by a path such as `realm_access.roles`."""
    if name in claims:
        return claims[name]
    found: object = claims
    for step in name.split("."):
        found = found.get(step) if isinstance(found, Mapping) else None
    return found
