"""From a request's credentials to its caller."""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

from grandstand.kit.auth.accounts import AccountService, roles_of
from grandstand.kit.auth.api_keys import KEY_PREFIX
from grandstand.kit.auth.caller import LOCAL_OWNER, Caller, Refusal
from grandstand.kit.auth.host_policy import FORWARDED_HEADERS
from grandstand.kit.auth.sessions import SESSION_COOKIE, NewSession

if TYPE_CHECKING:
    from grandstand.kit.auth.tokens import TokenVerifier

__all__ = ["Authenticator", "Refusal", "SessionCookie", "expired_cookie", "session_cookie"]

_REFUSED: Final = Refusal("The credential is unknown, revoked or expired")


@dataclass(frozen=True, slots=True)
class SessionCookie:
    """The session cookie for the browser."""

    value: str
    max_age_seconds: int
    secure: bool
    name: str = SESSION_COOKIE
    path: str = "/"
    http_only: bool = True
    same_site: str = "lax"


class Authenticator:
    """Identifies the caller by the credentials of a request alone."""

    def __init__(self, people: AccountService, tokens: TokenVerifier | None = None) -> None:
        self._people = people
        self._tokens = tokens

    async def identify(
        self, headers: Mapping[str, str], cookies: Mapping[str, str], *, client_is_loopback: bool
    ) -> Caller | Refusal | None:
        """Return the caller, a Refusal if the credential is invalid, or None without one.

        Header names are in lower case. An expired session counts as none, so that the browser can
        log in again; an invalid key or token is always refused. Raises Unavailable.
        """
        shown = headers.get("authorization")
        if shown is not None:
            return await self._bearer(shown)
        cookie = cookies.get(SESSION_COOKIE)
        caller = await self._people.by_session(cookie) if cookie else None
        if caller is not None:
            return caller
        if client_is_loopback and not any(name in headers for name in FORWARDED_HEADERS):
            return await self._owner()
        return None

    async def _bearer(self, shown: str) -> Caller | Refusal:
        scheme, _, credential = shown.strip().partition(" ")
        credential = credential.strip()
        if scheme.casefold() != "bearer" or not credential or not credential.isascii():
            return Refusal("Send a key or token as: Authorization: Bearer …")
        if credential.startswith(KEY_PREFIX):
            return await self._people.by_key(credential) or _REFUSED
        if self._tokens is None:
            return _REFUSED
        subject = await self._tokens.check(credential)
        if isinstance(subject, Refusal):
            return subject
        preferences = await self._people.by_subject(subject.user_id)
        if preferences is None:
            return Refusal("This user's data is being erased. Try again later.")
        roles = roles_of(admin=subject.admin)
        return Caller(subject.user_id, subject.name, roles, "token", preferences)

    async def _owner(self) -> Caller | None:
        """Return the local owner, while there are no accounts."""
        if self._tokens is not None or await self._people.any():
            return None
        preferences = await self._people.preferences(LOCAL_OWNER.user_id)
        return dataclasses.replace(LOCAL_OWNER, preferences=preferences)


def session_cookie(session: NewSession, *, secure: bool) -> SessionCookie:
    """Return the cookie of a new session."""
    return SessionCookie(session.token, session.max_age_seconds, secure)


def expired_cookie(*, secure: bool) -> SessionCookie:
    """Return the cookie that deletes a session in the browser."""
    return SessionCookie("", 0, secure)
