"""Kept here: logging in and out, and the page on which people see to their own account."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

from starlette.requests import Request
from starlette.responses import Response

from grandstand.base.errors import GrandstandError, NotAllowed
from grandstand.host.server.cookies import set_cookie
from grandstand.host.server.credentials_api import visitor
from grandstand.kit.pages.forms import lead_to, texts_of
from grandstand.kit.pages.rendering import safe_return
from grandstand.kit.routes import MaybeWho, Who, page
from grandstand.kit.who.caller import Caller
from grandstand.kit.who.gate import no_cookie, session_cookie
from grandstand.kit.who.names import time_zones
from grandstand.kit.who.passwords import SHORTEST
from grandstand.kit.who.sessions import SESSION_COOKIE

if TYPE_CHECKING:
    from grandstand.host.house import House

_LONGEST_NAME: Final = 200
_SAID: Final = {
    "preferences": "Your preferences are kept.",
    "password": "Your password is changed; every other session has ended.",
    "session": "That session has ended.",
    "key": "That key no longer works.",
}


class AccountPages:
    """Logging in and out, one's password, sessions, keys and preferences."""

    def __init__(self, house: House) -> None:
        self._house = house
        self._people = house.people
        self._secure = house.settings.server.https

    @page("/login", access="anyone")
    async def login(self, request: Request, who: MaybeWho) -> Response:
        """The form to log in; whoever is logged in already is led on."""
        wanted = safe_return(request.query_params.get("next"))
        if who is not None:
            return lead_to(wanted)
        return self._house.pages.render(request, "house/login.html", next=wanted, name="", error="")

    @page("/login", access="anyone", method="POST")
    async def log_in(self, request: Request) -> Response:
        """Begin a session and lead on to where somebody wanted to go."""
        given = await texts_of(request)
        name, wanted = given.get("name", "")[:_LONGEST_NAME], safe_return(given.get("next"))
        try:
            session = await self._people.log_in(
                name,
                given.get("password", ""),
                visitor(request),
                replacing=request.cookies.get(SESSION_COOKIE),
            )
        except GrandstandError as refused:
            return self._house.pages.render(
                request,
                "house/login.html",
                status=refused.status,
                next=wanted,
                name=name,
                error=f"{refused}.",
            )
        response = lead_to(wanted)
        set_cookie(response, session_cookie(session, secure=self._secure))
        return response

    @page("/logout", access="anyone", method="POST")
    async def log_out(self, request: Request) -> Response:
        """End the session and lead to the form to log in."""
        token = request.cookies.get(SESSION_COOKIE)
        if token:
            await self._people.log_out(token)
        response = lead_to("/login")
        set_cookie(response, no_cookie(secure=self._secure))
        return response

    @page("/account")
    async def account(self, request: Request, who: Who) -> Response:
        """One's own account."""
        return await self._shown(request, who, said=_SAID.get(request.query_params.get("said", "")))

    @page("/account/preferences", method="POST")
    async def prefer(self, request: Request, who: Who) -> Response:
        """Keep how somebody likes times and odds to be shown."""
        given = await texts_of(request)
        try:
            await self._people.prefer(
                who.user_id,
                time_zone=given.get("time_zone", ""),
                odds_format=given.get("odds_format", ""),
            )
        except GrandstandError as refused:
            return await self._shown(request, who, refused)
        return lead_to("/account?said=preferences")

    @page("/account/password", method="POST")
    async def change_password(self, request: Request, who: Who) -> Response:
        """Set a new password by the old one; other sessions end."""
        _demand_account(who)
        given = await texts_of(request)
        try:
            session = await self._people.change_password(
                who.user_id, given.get("old", ""), given.get("new", ""), visitor(request)
            )
        except GrandstandError as refused:
            return await self._shown(request, who, refused)
        response = lead_to("/account?said=password")
        set_cookie(response, session_cookie(session, secure=self._secure))
        return response

    @page("/account/sessions/{session_id}/end", method="POST")
    async def end_session(self, who: Who, session_id: str) -> Response:
        """End one of one's own sessions; raises NotFound."""
        _demand_account(who)
        await self._people.sessions.revoke(who.user_id, session_id)
        return lead_to("/account?said=session")

    @page("/account/keys", method="POST")
    async def issue_key(self, request: Request, who: Who) -> Response:
        """Issue a key and show it, this once."""
        _demand_account(who)
        given = await texts_of(request)
        try:
            made = await self._people.keys.issue(
                who.user_id, given.get("name", ""), admin=who.admin and given.get("admin") == "yes"
            )
        except GrandstandError as refused:
            return await self._shown(request, who, refused)
        response = await self._shown(request, who, new_key=made.text)
        response.headers["cache-control"] = "no-store"
        return response

    @page("/account/keys/{key_id}/revoke", method="POST")
    async def revoke_key(self, who: Who, key_id: str) -> Response:
        """Revoke one of one's own keys; raises NotFound."""
        _demand_account(who)
        await self._people.keys.revoke(who.user_id, key_id)
        return lead_to("/account?said=key")

    async def _shown(
        self,
        request: Request,
        who: Caller,
        refused: GrandstandError | None = None,
        **more: Any,  # noqa: ANN401 - values of the template
    ) -> Response:
        has_account = who.via == "session"
        token = request.cookies.get(SESSION_COOKIE)
        sessions = await self._people.sessions_of(who.user_id, token) if has_account else ()
        keys = await self._people.keys.list(who.user_id) if has_account else ()
        values = {"new_key": "", "error": "" if refused is None else f"{refused}.", **more}
        return self._house.pages.render(
            request,
            "house/account.html",
            status=200 if refused is None else refused.status,
            has_account=has_account,
            sessions=sessions,
            keys=keys,
            zones=sorted(time_zones()),
            shortest=SHORTEST,
            **values,
        )


def _demand_account(who: Caller) -> None:
    if who.via != "session":
        raise NotAllowed("This belongs to an account: log in with its password first")
