"""Kept here: bearer tokens of an issuer we trust: checked, and who they stand for."""

from __future__ import annotations

import math
import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Final

import jwt
from jwt.exceptions import PyJWTError

from grandstand.base.clock import Clock
from grandstand.kit.who.bearer.jwks import FetchJson, KeySet
from grandstand.kit.who.bearer.trust import Trust
from grandstand.kit.who.caller import LOCAL_OWNER
from grandstand.kit.who.refused import Refused

_LONGEST: Final = 16_384
_KID: Final = re.compile(r"[\x21-\x7e]{1,256}")
# A subject becomes part of keys: it must not hold what separates their parts.
_SUBJECT: Final = re.compile(r"[A-Za-z0-9._:@|~+=-]{1,128}", re.ASCII)
_NAMES: Final = ("cognito:username", "username", "preferred_username", "name", "email")
_NAME_LENGTH: Final = 128
_UNCHECKED: Final = ("verify_exp", "verify_nbf", "verify_iat", "verify_aud", "verify_iss")

_FORGED = Refused("The token is not signed by an issuer that is trusted here")
_MALFORMED = Refused("The token is not well formed")


@dataclass(frozen=True, slots=True)
class Subject:
    """Whom a token that was accepted stands for."""

    user_id: str
    name: str
    admin: bool


class Tokens:
    """Checks bearer tokens against what is trusted, by our own clock."""

    def __init__(self, trust: Trust, fetch: FetchJson, clock: Clock) -> None:
        self._trust = trust
        self._keys = KeySet(trust, fetch, clock)
        self._clock = clock

    async def check(self, token: str) -> Subject | Refused:
        """Answer whom a token stands for, or why it is refused.

        Raises Unavailable when the issuer's keys cannot be had.
        """
        claims = await self._signed(token)
        if isinstance(claims, Refused):
            return claims
        return (
            self._issued_elsewhere(claims)
            or self._out_of_time(claims)
            or self._for_others(claims)
            or self._subject(claims)
        )

    async def _signed(self, token: str) -> dict[str, Any] | Refused:
        """Answer the claims whose signature is right; nothing in them is believed before."""
        if len(token) > _LONGEST:
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
        options: Any = {"verify_signature": True} | dict.fromkeys(_UNCHECKED, False)
        try:
            return jwt.decode(token, key, algorithms=[algorithm], options=options)
        except (PyJWTError, ValueError):
            return _FORGED

    def _issued_elsewhere(self, claims: Mapping[str, Any]) -> Refused | None:
        return None if claims.get("iss") == self._trust.issuer else _FORGED

    def _out_of_time(self, claims: Mapping[str, Any]) -> Refused | None:
        now, leeway = self._clock.epoch(), self._trust.leeway_seconds
        ends = _moment(claims.get("exp"))
        if ends is None or now >= ends + leeway:
            return Refused("The token has expired: ask its issuer for a new one")
        for name in ("nbf", "iat"):
            starts = _moment(claims.get(name, 0))
            if starts is None or now < starts - leeway:
                return Refused("The token is not valid yet: compare the clocks")
        return None

    def _for_others(self, claims: Mapping[str, Any]) -> Refused | None:
        """Cognito's access tokens name their client in `client_id`; every other kind in `aud`."""
        ours, use = set(self._trust.client_ids), claims.get("token_use", "id")
        others = Refused("The token was issued for another application")
        if use == "access":
            return None if _texts(claims.get("client_id")) & ours else others
        audience = _texts(claims.get("aud"))
        if use != "id" or not audience & ours:
            return others
        # OpenID Connect Core 3.1.3.7: with several audiences the authorized party must be ours.
        several = len(audience) > 1 or "azp" in claims
        return others if several and not _texts(claims.get("azp")) & ours else None

    def _subject(self, claims: Mapping[str, Any]) -> Subject | Refused:
        user_id = claims.get("sub")
        if not isinstance(user_id, str) or not _SUBJECT.fullmatch(user_id):
            return Refused("The token does not say who it stands for in a way we can keep")
        if user_id == LOCAL_OWNER.user_id:
            return Refused("The token stands for somebody it cannot stand for")
        named = (claims.get(name) for name in _NAMES)
        name = next((text for text in named if _shown(text)), user_id)
        groups = _texts(_inside(claims, self._trust.groups_claim))
        return Subject(user_id, str(name), self._trust.admin_group in groups)


def _moment(value: object) -> float | None:
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


def _shown(text: object) -> bool:
    return isinstance(text, str) and 0 < len(text) <= _NAME_LENGTH and text.isprintable()


def _inside(claims: Mapping[str, Any], name: str) -> object:
    """Answer a claim by its name, or by the path to it: `realm_access.roles`."""
    if name in claims:
        return claims[name]
    found: object = claims
    for step in name.split("."):
        found = found.get(step) if isinstance(found, Mapping) else None
    return found
