"""Who is calling: from the credential and nothing else."""

from __future__ import annotations

from http.cookies import SimpleCookie
from typing import Any

import pytest
from starlette.responses import Response

from grandstand.core.clock import ManualClock
from grandstand.kit.auth.accounts import AccountService, Authenticator
from grandstand.kit.auth.caller import LOCAL_OWNER, Caller, Preferences, Refusal
from grandstand.kit.auth.credentials import SESSION_COOKIE, Visitor, set_session_cookie
from grandstand.kit.auth.tables import Erasure
from grandstand.kit.auth.tokens import TokenVerifier, TrustedIssuer
from grandstand.storage.tables import AsyncStore
from tests.kit.auth.issuer import CLIENT, Issuer

pytestmark = pytest.mark.anyio

PASSWORD = "four strong words here"
HOME = Visitor("192.0.2.7")


@pytest.fixture
def gate(people: AccountService) -> Authenticator:
    return Authenticator(people)


@pytest.fixture
def token_gate(people: AccountService, issuer: Issuer, clock: ManualClock) -> Authenticator:
    """A gate that trusts an issuer, whose keys it is handed without the network."""
    issuer.reset()
    trust = TrustedIssuer(issuer.name, (CLIENT,), jwks_url=f"{issuer.name}/.well-known/jwks.json")

    async def fetch(_url: str, /) -> object:
        return {"keys": issuer.keys}

    return Authenticator(people, TokenVerifier(trust, fetch, clock))


async def identified(gate: Authenticator, *, here: bool = False, **shown: str) -> object:
    """Who the gate says it is, given a header or a cookie."""
    cookies = {SESSION_COOKIE: shown.pop("cookie")} if "cookie" in shown else {}
    headers = {name.replace("_", "-"): value for name, value in shown.items()}
    return await gate.identify(headers, cookies, client_is_loopback=here)


async def test_without_accounts_whoever_sits_at_the_machine_owns_the_house(
    gate: Authenticator,
) -> None:
    assert await identified(gate, here=True) == LOCAL_OWNER
    assert await identified(gate, here=True, cookie="stale") == LOCAL_OWNER


async def test_the_owner_has_preferences_too(gate: Authenticator, people: AccountService) -> None:
    await people.prefer("owner", time_zone="Asia/Tokyo", odds_format="american")

    caller = await identified(gate, here=True)

    assert isinstance(caller, Caller)
    assert caller.preferences == Preferences("Asia/Tokyo", "american")


async def test_from_elsewhere_nobody_is_the_owner(gate: Authenticator) -> None:
    assert await identified(gate) is None


@pytest.mark.parametrize("name", ["x_forwarded_for", "forwarded", "x_real_ip", "via"])
async def test_what_a_proxy_on_this_machine_passes_on_is_not_the_owner(
    embedded: AccountService, name: str
) -> None:
    gate = Authenticator(embedded)

    assert await identified(gate, here=True, **{name: "127.0.0.1"}) is None


async def test_with_accounts_everybody_logs_in_at_the_machine_too(
    gate: Authenticator, people: AccountService
) -> None:
    await people.add("ada", PASSWORD, admin=True)

    assert await identified(gate, here=True) is None


async def test_where_tokens_are_trusted_nobody_is_the_owner(token_gate: Authenticator) -> None:
    assert await identified(token_gate, here=True) is None


async def test_a_session_cookie_tells_who_it_is(
    gate: Authenticator, people: AccountService
) -> None:
    ada = await people.add("ada", PASSWORD)
    session = await people.log_in("ada", PASSWORD, HOME)

    caller = await identified(gate, cookie=session.token)

    assert isinstance(caller, Caller)
    assert (caller.user_id, caller.via, caller.admin) == (ada.user_id, "session", False)


async def test_a_cookie_that_opens_nothing_is_as_none(
    gate: Authenticator, people: AccountService
) -> None:
    await people.add("ada", PASSWORD)

    assert await identified(gate, cookie="A" * 43) is None
    assert await identified(gate, cookie="") is None


async def test_a_key_tells_who_it_is(gate: Authenticator, people: AccountService) -> None:
    ada = await people.add("ada", PASSWORD)
    key = await people.keys.issue(ada.user_id, "script")

    caller = await identified(gate, authorization=f"bearer {key.text}")

    assert isinstance(caller, Caller)
    assert (caller.user_id, caller.via) == (ada.user_id, "key")


async def test_the_key_of_somebody_removed_is_refused(
    gate: Authenticator, people: AccountService
) -> None:
    await people.add("ada", PASSWORD, admin=True)
    bob = await people.add("bob", PASSWORD)
    key = await people.keys.issue(bob.user_id, "script")
    await people.remove(bob.user_id)

    assert isinstance(await identified(gate, authorization=f"Bearer {key.text}"), Refusal)


@pytest.mark.parametrize(
    "shown",
    [
        "",
        "Bearer",
        "Bearer ",
        "Basic YWRhOnB3",
        "gs_x_y",
        "Bearer gs_",
        f"Bearer gs_{'0' * 26}_{'0' * 64}",
        "Bearer é",
        "Bearer a.b.c",
    ],
)
async def test_a_wrong_credential_is_never_passed_over(
    embedded: AccountService, shown: str
) -> None:
    gate = Authenticator(embedded)
    await embedded.add("ada", PASSWORD, admin=True)
    session = await embedded.log_in("ada", PASSWORD, HOME)

    told = await identified(gate, here=True, cookie=session.token, authorization=shown)

    assert isinstance(told, Refusal)


async def test_a_wrong_credential_is_refused_to_the_owner_as_well(gate: Authenticator) -> None:
    assert isinstance(await identified(gate, here=True, authorization="Bearer x"), Refusal)


def _claims(issuer: Issuer, clock: ManualClock, **more: Any) -> dict[str, Any]:
    end = int(clock.epoch()) + 600
    return {"iss": issuer.name, "sub": "sub-1", "aud": CLIENT, "exp": end, **more}


async def test_a_token_tells_who_it_is(
    token_gate: Authenticator, people: AccountService, issuer: Issuer, clock: ManualClock
) -> None:
    await people.prefer("sub-1", time_zone="Europe/Rome", odds_format="decimal")
    token = issuer.token(_claims(issuer, clock, name="Ada", **{"cognito:groups": ["admin"]}))

    caller = await identified(token_gate, authorization=f"Bearer {token}")

    assert isinstance(caller, Caller)
    assert (caller.user_id, caller.name, caller.via) == ("sub-1", "Ada", "token")
    assert caller.admin
    assert caller.preferences.time_zone == "Europe/Rome"


async def test_an_expired_token_is_refused(
    token_gate: Authenticator, issuer: Issuer, clock: ManualClock
) -> None:
    token = issuer.token(_claims(issuer, clock))
    clock.advance(700)

    assert isinstance(await identified(token_gate, authorization=f"Bearer {token}"), Refusal)


async def test_nobody_comes_in_while_what_is_theirs_is_being_erased(
    token_gate: Authenticator, store: AsyncStore, issuer: Issuer, clock: ManualClock
) -> None:
    token = issuer.token(_claims(issuer, clock))
    await store(Erasure(user_id="sub-1", name="sub-1", begun_at=clock.now()).put().if_absent())

    told = await identified(token_gate, authorization=f"Bearer {token}")

    assert isinstance(told, Refusal)
    assert "erased" in told.reason


async def test_the_cookie_is_out_of_reach_of_scripts_and_other_sites(
    people: AccountService,
) -> None:
    await people.add("ada", PASSWORD)
    session = await people.log_in("ada", PASSWORD, HOME)

    response, expired = Response(), Response()
    set_session_cookie(response, session, secure=True)
    set_session_cookie(expired, None, secure=True)

    cookie = SimpleCookie(response.headers["set-cookie"])["grandstand_session"]
    assert cookie.value == session.token
    assert (cookie["httponly"], cookie["samesite"], cookie["secure"]) == (True, "lax", True)
    assert (cookie["max-age"], cookie["path"]) == (str(30 * 86_400), "/")
    deleted = SimpleCookie(expired.headers["set-cookie"])["grandstand_session"]
    assert (deleted.value, deleted["max-age"]) == ("", "0")
