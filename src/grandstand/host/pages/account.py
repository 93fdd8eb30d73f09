"""Login and account pages."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

from starlette.requests import Request
from starlette.responses import Response

from grandstand.core.errors import GrandstandError, NotAllowed
from grandstand.kit.auth.accounts import time_zones
from grandstand.kit.auth.caller import Caller
from grandstand.kit.auth.credentials import SESSION_COOKIE, Visitor, set_session_cookie
from grandstand.kit.auth.passwords import MIN_LENGTH
from grandstand.kit.pages.page import form_fields, redirect_to
from grandstand.kit.pages.rendering import safe_return
from grandstand.kit.routes import CurrentCaller, OptionalCaller, page

if TYPE_CHECKING:
    from grandstand.host.runtime import Platform

_NOTICES: Final = {
    "preferences": "Preferences saved.",
    "password": "Password changed. All other sessions have ended.",
    "session": "Session ended.",
    "key": "Key revoked.",
}


class AccountPages:
    """Login, password, sessions, API keys and preferences."""

    def __init__(self, platform: Platform) -> None:
        self._platform = platform
        self._people = platform.people
        self._secure = platform.settings.server.https

    @page("/login", access="anyone")
    async def login(self, request: Request, who: OptionalCaller) -> Response:
        """The login form; a logged-in user is redirected."""
        wanted = safe_return(request.query_params.get("next"))
        if who is not None:
            return redirect_to(wanted)
        return self._platform.pages.render(
            request, "platform/login.html", next=wanted, name="", error=""
        )

    @page("/login", access="anyone", method="POST")
    async def log_in(self, request: Request) -> Response:
        """Start a session and redirect to the page the user wanted."""
        given = await form_fields(request)
        name, wanted = given.get("name", "")[:200], safe_return(given.get("next"))
        try:
            session = await self._people.log_in(
                name,
                given.get("password", ""),
                Visitor.of_request(request),
                replacing=request.cookies.get(SESSION_COOKIE),
            )
        except GrandstandError as refused:
            return self._platform.pages.render(
                request,
                "platform/login.html",
                status=refused.status,
                next=wanted,
                name=name,
                error=f"{refused}.",
            )
        response = redirect_to(wanted)
        set_session_cookie(response, session, secure=self._secure)
        return response

    @page("/logout", access="anyone", method="POST")
    async def log_out(self, request: Request) -> Response:
        """End the session and redirect to the login form."""
        token = request.cookies.get(SESSION_COOKIE)
        if token:
            await self._people.sessions.end(token)
        response = redirect_to("/login")
        set_session_cookie(response, None, secure=self._secure)
        return response

    @page("/account")
    async def account(self, request: Request, who: CurrentCaller) -> Response:
        """The account page."""
        return await self._render(
            request, who, notice=_NOTICES.get(request.query_params.get("notice", ""))
        )

    @page("/account/preferences", method="POST")
    async def prefer(self, request: Request, who: CurrentCaller) -> Response:
        """Store time zone and odds format."""
        given = await form_fields(request)
        try:
            await self._people.prefer(
                who.user_id,
                time_zone=given.get("time_zone", ""),
                odds_format=given.get("odds_format", ""),
            )
        except GrandstandError as refused:
            return await self._render(request, who, refused)
        return redirect_to("/account?notice=preferences")

    @page("/account/password", method="POST")
    async def change_password(self, request: Request, who: CurrentCaller) -> Response:
        """Change the password and end other sessions."""
        _require_account(who)
        given = await form_fields(request)
        try:
            session = await self._people.change_password(
                who.user_id, given.get("old", ""), given.get("new", ""), Visitor.of_request(request)
            )
        except GrandstandError as refused:
            return await self._render(request, who, refused)
        response = redirect_to("/account?notice=password")
        set_session_cookie(response, session, secure=self._secure)
        return response

    @page("/account/sessions/{session_id}/end", method="POST")
    async def end_session(self, who: CurrentCaller, session_id: str) -> Response:
        """End one of the user's own sessions. Raises NotFound."""
        _require_account(who)
        await self._people.sessions.revoke(who.user_id, session_id)
        return redirect_to("/account?notice=session")

    @page("/account/keys", method="POST")
    async def issue_key(self, request: Request, who: CurrentCaller) -> Response:
        """Issue an API key and show it once."""
        _require_account(who)
        given = await form_fields(request)
        try:
            key = await self._people.keys.issue(
                who.user_id, given.get("name", ""), admin=who.admin and given.get("admin") == "yes"
            )
        except GrandstandError as refused:
            return await self._render(request, who, refused)
        response = await self._render(request, who, new_key=key.text)
        response.headers["cache-control"] = "no-store"
        return response

    @page("/account/keys/{key_id}/revoke", method="POST")
    async def revoke_key(self, who: CurrentCaller, key_id: str) -> Response:
        """Revoke one of the user's own keys. Raises NotFound."""
        _require_account(who)
        await self._people.keys.revoke(who.user_id, key_id)
        return redirect_to("/account?notice=key")

    async def _render(
        self,
        request: Request,
        who: Caller,
        refused: GrandstandError | None = None,
        **more: Any,  # noqa: ANN401 - values of the template
    ) -> Response:
        has_account = who.via == "session"
        token = request.cookies.get(SESSION_COOKIE)
        sessions = await self._people.sessions.list(who.user_id, token) if has_account else ()
        keys = await self._people.keys.list(who.user_id) if has_account else ()
        values = {"new_key": "", "error": "" if refused is None else f"{refused}.", **more}
        return self._platform.pages.render(
            request,
            "platform/account.html",
            status=200 if refused is None else refused.status,
            has_account=has_account,
            sessions=sessions,
            keys=keys,
            zones=sorted(time_zones()),
            shortest=MIN_LENGTH,
            **values,
        )


def _require_account(who: Caller) -> None:
    if who.via != "session":
        raise NotAllowed("This needs an account. Log in first.")
