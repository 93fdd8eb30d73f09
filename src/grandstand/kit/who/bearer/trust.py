"""Kept here: whose bearer tokens are believed, and for whom they must have been issued."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Final
from urllib.parse import urlsplit

from grandstand.base.errors import InvalidInput
from grandstand.kit.who.policy import is_loopback

# Which kind of key, and for curves which curve, a signature of each algorithm is checked with.
# Those of one shared secret (HS…) and of none are not here, so they can never be asked for.
KINDS: Final = {
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
class Trust:
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
        unsafe = [name for name in self.algorithms if name not in KINDS]
        if unsafe or not self.algorithms:
            message = (
                f"Tokens cannot be trusted by {', '.join(unsafe) or 'no algorithm'}: choose from "
                f"{', '.join(KINDS)}"
            )
            raise InvalidInput(message)
        if not self.client_ids or not all(map(_CLIENT.fullmatch, self.client_ids)):
            message = f"Name the client ids that tokens of {self.issuer} are issued for"
            raise InvalidInput(message)


def check_url(url: str) -> None:
    """Raise InvalidInput for a URL from which keys could be slipped in on the way."""
    try:
        parts = urlsplit(url)
        host = parts.hostname or ""
    except ValueError:
        parts, host = urlsplit(""), ""
    safe = parts.scheme == "https" or (parts.scheme == "http" and is_loopback(host))
    if not host or not safe or parts.username is not None or parts.query or parts.fragment:
        message = f"{url[:200]!r} is no issuer to trust: give its https:// address"
        raise InvalidInput(message)
