"""Kept here: the one place where a request's credential becomes a caller."""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

from grandstand.kit.who.caller import LOCAL_OWNER, Caller
from grandstand.kit.who.keys import KEY_PREFIX
from grandstand.kit.who.people import People, roles_of
from grandstand.kit.who.policy import FORWARDED
from grandstand.kit.who.refused import Refused
from grandstand.kit.who.sessions import SESSION_COOKIE, NewSession

if TYPE_CHECKING:
    from grandstand.kit.who.bearer.tokens import Tokens

__all__ = ["Cookie", "Gate", "Refused", "no_cookie", "session_cookie"]

_REFUSED: Final = Refused("The credential is unknown, was revoked, or has expired")


@dataclass(frozen=True, slots=True)
class Cookie:
    """The session cookie as the browser is to keep it."""

    value: str
    max_age_seconds: int
    secure: bool
    name: str = SESSION_COOKIE
    path: str = "/"
    http_only: bool = True
    same_site: str = "lax"


class Gate:
    """Tells who is calling from what the request carries, and from nothing else."""

    def __init__(self, people: People, tokens: Tokens | None = None) -> None:
        self._people = people
        self._tokens = tokens

    async def identify(
        self, headers: Mapping[str, str], cookies: Mapping[str, str], *, client_is_loopback: bool
    ) -> Caller | Refused | None:
        """Answer the caller, why the credential shown is refused, or None when none is shown.

        Names of headers are in lower case. A session that has ended is as none at all, so that
        its browser can log in again; a wrong key or token is never passed over. Raises Unavailable.
        """
        shown = headers.get("authorization")
        if shown is not None:
            return await self._bearer(shown)
        cookie = cookies.get(SESSION_COOKIE)
        caller = await self._people.by_session(cookie) if cookie else None
        if caller is not None:
            return caller
        if client_is_loopback and not any(name in headers for name in FORWARDED):
            return await self._owner()
        return None

    async def _bearer(self, shown: str) -> Caller | Refused:
        scheme, _, credential = shown.strip().partition(" ")
        credential = credential.strip()
        if scheme.casefold() != "bearer" or not credential or not credential.isascii():
            return Refused("Send a key or token as: Authorization: Bearer …")
        if credential.startswith(KEY_PREFIX):
            return await self._people.by_key(credential) or _REFUSED
        if self._tokens is None:
            return _REFUSED
        subject = await self._tokens.check(credential)
        if isinstance(subject, Refused):
            return subject
        preferences = await self._people.by_subject(subject.user_id)
        if preferences is None:
            return Refused("What was kept of this person is being erased; try again later")
        roles = roles_of(admin=subject.admin)
        return Caller(subject.user_id, subject.name, roles, "token", preferences)

    async def _owner(self) -> Caller | None:
        """Whoever sits at this machine, as long as nobody needs to log in."""
        if self._tokens is not None or await self._people.any():
            return None
        preferences = await self._people.preferences(LOCAL_OWNER.user_id)
        return dataclasses.replace(LOCAL_OWNER, preferences=preferences)


def session_cookie(session: NewSession, *, secure: bool) -> Cookie:
    """Answer the cookie of a session just begun."""
    return Cookie(session.token, session.max_age_seconds, secure)


def no_cookie(*, secure: bool) -> Cookie:
    """Answer the cookie that makes a browser forget its session."""
    return Cookie("", 0, secure)
