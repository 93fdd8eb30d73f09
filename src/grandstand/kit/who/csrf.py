"""Kept here: the proof that a form was sent from a page of ours, bound to the session."""

from __future__ import annotations

import hashlib
import hmac
from collections.abc import Mapping
from typing import Final

from grandstand.kit.who.caller import Caller
from grandstand.kit.who.policy import SAFE_METHODS
from grandstand.kit.who.refused import Refused
from grandstand.kit.who.secrets import Chance
from grandstand.kit.who.sessions import SESSION_COOKIE

CSRF_FIELD: Final = "csrf"
CSRF_HEADER: Final = "x-csrf-token"
_BYTES: Final = 32
_LETTERS: Final = 4 * _BYTES


def csrf_token(session_token: str, chance: Chance) -> str:
    """Answer a proof for one page.

    It is different on every page, because text that repeats on compressed pages can be guessed
    from their lengths.
    """
    mask = chance(_BYTES)
    return mask.hex() + _mixed(mask, _proof(session_token)).hex()


def csrf_matches(session_token: str, given: str) -> bool:
    """Tell whether a proof was made for this session."""
    try:
        raw = bytes.fromhex(given) if len(given) == _LETTERS else b""
    except ValueError:
        raw = b""
    told = _mixed(raw[:_BYTES], raw[_BYTES:])
    return hmac.compare_digest(told, _proof(session_token))


def refuses_form(
    method: str, caller: Caller | None, cookies: Mapping[str, str], given: str | None
) -> Refused | None:
    """Answer why a request that a cookie speaks for is refused; None when it is not.

    Keys and tokens are never sent by a browser on its own, so they need no proof.
    """
    if method.upper() in SAFE_METHODS or caller is None or caller.via != "session":
        return None
    if csrf_matches(cookies.get(SESSION_COOKIE, ""), given or ""):
        return None
    return Refused("The form is out of date: load the page again and send it once more")


def _proof(session_token: str) -> bytes:
    key = session_token.encode("utf-8", "surrogatepass")
    return hmac.new(key, b"grandstand csrf", hashlib.sha256).digest()


def _mixed(one: bytes, other: bytes) -> bytes:
    return bytes(a ^ b for a, b in zip(one, other, strict=False))
