"""Kept here: the part of the API in which people log in and out and see to their credentials."""

from __future__ import annotations

from datetime import datetime
from typing import TYPE_CHECKING, Annotated

from fastapi import Path
from pydantic import Field
from starlette.requests import Request
from starlette.responses import Response

from grandstand.base.errors import Conflict, NotFound
from grandstand.host.server.cookies import set_cookie
from grandstand.kit.routes import Strict, Who, delete, get, post
from grandstand.kit.who.errors import LoginFailed, LoginThrottled
from grandstand.kit.who.gate import no_cookie, session_cookie
from grandstand.kit.who.sessions import SESSION_COOKIE, Visitor

if TYPE_CHECKING:
    from grandstand.host.house import House

SessionId = Annotated[str, Path(min_length=1, max_length=64)]


class Login(Strict):
    """A name and a password."""

    name: str = Field(min_length=1, max_length=200)
    password: str = Field(min_length=1, max_length=1000)


class SessionModel(Strict):
    """A login of one's own."""

    session_id: str
    address: str
    agent: str
    created_at: datetime
    seen_at: datetime
    ends_at: datetime
    current: bool


class SessionList(Strict):
    """One's own logins, newest first."""

    sessions: tuple[SessionModel, ...]


class CredentialsApi:
    """Logging in and out, and seeing to one's own sessions."""

    def __init__(self, house: House) -> None:
        self._people = house.people
        self._secure = house.settings.server.https

    @post(
        "/login",
        summary="Log in",
        access="anyone",
        problems=(LoginFailed, LoginThrottled),
        status=204,
    )
    async def log_in(self, request: Request, given: Login) -> Response:
        """A session cookie; scripts had better use an API key."""
        session = await self._people.log_in(
            given.name,
            given.password,
            visitor(request),
            replacing=request.cookies.get(SESSION_COOKIE),
        )
        response = Response(status_code=204)
        set_cookie(response, session_cookie(session, secure=self._secure))
        return response

    @post("/logout", summary="Log out", access="anyone", status=204)
    async def log_out(self, request: Request) -> Response:
        """Nothing, and the session has ended."""
        token = request.cookies.get(SESSION_COOKIE)
        if token:
            await self._people.log_out(token)
        response = Response(status_code=204)
        set_cookie(response, no_cookie(secure=self._secure))
        return response

    @get("/sessions", summary="One's own logins", problems=(NotFound,))
    async def sessions(self, request: Request, who: Who) -> SessionList:
        """One's own logins, newest first; none for who has no account here."""
        if who.via not in ("session", "key"):
            return SessionList(sessions=())
        token = request.cookies.get(SESSION_COOKIE)
        known = SessionModel.model_fields
        return SessionList(
            sessions=tuple(
                SessionModel(**{name: getattr(view, name) for name in known})
                for view in await self._people.sessions_of(who.user_id, token)
            )
        )

    @delete("/sessions/{session_id}", summary="End a login", problems=(NotFound, Conflict))
    async def revoke(self, who: Who, session_id: SessionId) -> None:
        """Nothing, and that login has ended."""
        await self._people.sessions.revoke(who.user_id, session_id)


def visitor(request: Request) -> Visitor:
    """Answer from where somebody asks."""
    address = request.client.host if request.client else ""
    return Visitor(address, request.headers.get("user-agent", ""))
