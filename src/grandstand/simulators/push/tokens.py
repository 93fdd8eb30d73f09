"""Kept here: the keys a push service knows, and whether a request's token proves one of them."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any, Final, Literal, TypeAlias

import jwt
from cryptography.hazmat.primitives import serialization
from cryptography.hazmat.primitives.asymmetric import ec

from grandstand.base.clock import Clock
from grandstand.simulators.push.http2 import Link

Environment: TypeAlias = Literal["production", "sandbox"]

_OLDEST_SECONDS: Final = 3_600
_LEAST_BETWEEN_SECONDS: Final = 1_200
_AHEAD_SECONDS: Final = 300
_KEY_ID_LETTERS: Final = 10


@dataclass(frozen=True, slots=True)
class SigningKey:
    """A team's key, as Apple hands it out: the private half is a PEM (.p8)."""

    team_id: str
    key_id: str
    pem: str = field(repr=False)
    environment: Environment | None = None

    @classmethod
    def make(
        cls, team_id: str = "TEAM123456", key_id: str = "KEY1234567", **more: Environment
    ) -> SigningKey:
        """Answer a new key."""
        made = ec.generate_private_key(ec.SECP256R1()).private_bytes(
            serialization.Encoding.PEM,
            serialization.PrivateFormat.PKCS8,
            serialization.NoEncryption(),
        )
        return cls(team_id, key_id, made.decode("ascii"), more.get("environment"))

    @property
    def public(self) -> ec.EllipticCurvePublicKey:
        """The half that checks."""
        private = serialization.load_pem_private_key(self.pem.encode(), password=None)
        if not isinstance(private, ec.EllipticCurvePrivateKey):
            message = "a push key is of the curve P-256"
            raise TypeError(message)
        return private.public_key()


@dataclass
class KeyRing:
    """Checks tokens: signed by a known key, at most an hour old, not renewed all the time.

    A connection belongs to one team and one key, and may change its token every 20 minutes.
    """

    clock: Clock
    environment: Environment = "production"
    keys: dict[str, SigningKey] = field(default_factory=dict)
    _checked: dict[str, tuple[SigningKey, int] | None] = field(default_factory=dict)

    def add(self, *keys: SigningKey) -> None:
        """Know these keys."""
        self.keys |= {key.key_id: key for key in keys}

    def fault(self, link: Link, authorization: str | None) -> str | None:
        """Answer the reason a token is refused for, None when it is good."""
        scheme, _, token = (authorization or "").partition(" ")
        if not authorization or scheme.lower() != "bearer" or not token:
            return "MissingProviderToken"
        if token not in self._checked:
            self._checked[token] = self._proven(token)
        proven = self._checked[token]
        if proven is None:
            return "InvalidProviderToken"
        key, issued_at = proven
        now = self.clock.epoch()
        if issued_at > now + _AHEAD_SECONDS:
            return "InvalidProviderToken"
        if now - issued_at > _OLDEST_SECONDS:
            return "ExpiredProviderToken"
        if key.environment not in {None, self.environment}:
            return "BadEnvironmentKeyIdInToken"
        return self._bound(link, key, token, now)

    def _bound(self, link: Link, key: SigningKey, token: str, now: float) -> str | None:
        bound = link.facts.setdefault("key", key)
        if isinstance(bound, SigningKey) and bound != key:
            same_team = bound.team_id == key.team_id
            return "UnrelatedKeyIdInToken" if same_team else "InvalidProviderToken"
        before = link.facts.get("token")
        if before == token:
            return None
        changed_at = link.facts.get("token changed at")
        if isinstance(changed_at, float) and now - changed_at < _LEAST_BETWEEN_SECONDS:
            return "TooManyProviderTokenUpdates"
        link.facts |= {"token": token, "token changed at": now}
        return None

    def _proven(self, token: str) -> tuple[SigningKey, int] | None:
        try:
            head = jwt.get_unverified_header(token)
            key = self.keys.get(str(head.get("kid", "")))
            if key is None or len(key.key_id) != _KEY_ID_LETTERS:
                return None
            claims: dict[str, Any] = jwt.decode(
                token, key.public, algorithms=["ES256"], options={"verify_iat": False}
            )
        except jwt.PyJWTError:
            return None
        issued_at = claims.get("iat")
        if claims.get("iss") != key.team_id or not isinstance(issued_at, int):
            return None
        return key, issued_at
