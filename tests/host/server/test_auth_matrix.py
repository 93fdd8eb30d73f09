"""Who is let in where: every route of the real route table, and every kind of caller."""

from __future__ import annotations

import socket
import time
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal

import pytest
import websockets.sync.client as sockets_client
from cryptography.hazmat.primitives.asymmetric import rsa
from websockets.exceptions import InvalidStatus

from grandstand.host.settings import AuthSettings
from grandstand.kit.auth.credentials import SESSION_COOKIE, Visitor
from tests.host.server.matrix import Door, calling, doors, expected, sockets
from tests.host.server.serving import Served, serving, settings_in
from tests.kit.auth.issuer import CLIENT, Issuer

Rank = Literal["nobody", "user", "admin", "refused"]
PASSWORD = "a stand with a view"
HTML = {"accept": "text/html,application/problem+json"}
# Proves that whoever asks is not on this machine, where figures are open to all.
AFAR = {"x-forwarded-for": "192.0.2.7"}


@dataclass(frozen=True)
class Peopled:
    """A platform with accounts and an issuer of tokens, and credentials of every kind."""

    served: Served
    bob_id: str
    headers: dict[str, dict[str, str]]
    bob_session: str

    def wrong(self, who: str, rank: Rank, **more: str) -> list[str]:
        """The doors at which a caller was not answered as its rank demands."""
        headers = HTML | AFAR | self.headers[who] | more
        with calling(self.served.port) as caller:
            found = [(d, d.knock(caller, **headers), expected(d, rank)) for d in self.doors]
        return [f"{d.method} {d.path}: {got}, not {want}" for d, got, want in found if got != want]

    @property
    def doors(self) -> list[Door]:
        return list(doors(self.served.app))


def _claims(issuer: Issuer, **more: Any) -> dict[str, Any]:
    end = int(time.time()) + 600
    return {"iss": issuer.name, "sub": "sub-1", "aud": CLIENT, "exp": end, **more}


def _bearer(text: str) -> dict[str, str]:
    return {"authorization": f"Bearer {text}"}


async def _credentials(
    served: Served, issuer: Issuer
) -> tuple[str, dict[str, dict[str, str]], str]:
    people = served.platform.people
    ada = await people.add("ada", PASSWORD, admin=True)
    bob = await people.add("bob", PASSWORD)
    admin_key = await people.keys.issue(ada.user_id, "test", admin=True)
    plain_key = await people.keys.issue(ada.user_id, "test")
    bob_key = await people.keys.issue(bob.user_id, "test")
    revoked = await people.keys.issue(bob.user_id, "test")
    await people.keys.revoke(bob.user_id, revoked.view.key_id)
    session = await people.log_in("bob", PASSWORD, Visitor("127.0.0.1"))
    ended = await people.log_in("bob", PASSWORD, Visitor("127.0.0.1"))
    await people.sessions.end(ended.token)
    stranger = rsa.generate_private_key(public_exponent=65537, key_size=2048)
    group = {"cognito:groups": ["admin"]}
    headers = {
        "nobody": {},
        "ended session": {"cookie": f"{SESSION_COOKIE}={ended.token}"},
        "user by key": _bearer(bob_key.text),
        "user by token": _bearer(issuer.token(_claims(issuer))),
        "admin's key that may not administer": _bearer(plain_key.text),
        "admin by key": _bearer(admin_key.text),
        "admin by token": _bearer(issuer.token(_claims(issuer, **group))),
        "revoked key": _bearer(revoked.text),
        "expired token": _bearer(
            issuer.token(_claims(issuer, exp=int(time.time()) - 600, **group))
        ),
        "forged token": _bearer(issuer.token(_claims(issuer, **group), key=stranger)),
        "token for others": _bearer(issuer.token(_claims(issuer, aud="another", **group))),
        "garbage": {"authorization": "Basic YWRhOnBhc3M="},
    }
    return bob.user_id, headers, session.token


@pytest.fixture(scope="module")
def peopled(tmp_path_factory: pytest.TempPathFactory, quiet_exchange: str) -> Iterator[Peopled]:
    with Issuer.serving() as issuer:
        auth = AuthSettings(issuer=issuer.name, client_ids=(CLIENT,))
        home = tmp_path_factory.mktemp("peopled")
        settings = settings_in(
            home, auth=auth, exchange=quiet_exchange, requests_per_minute=1_000_000
        )
        with serving(settings) as served:
            bob_id, headers, session = served.do(_credentials(served, issuer))
            yield Peopled(served, bob_id, headers, session)


@pytest.mark.parametrize("who", ["nobody", "ended session"])
def test_nobody_gets_in_where_somebody_is_demanded(peopled: Peopled, who: str) -> None:
    assert peopled.wrong(who, "nobody") == []


@pytest.mark.parametrize(
    "who", ["user by key", "user by token", "admin's key that may not administer"]
)
def test_a_user_gets_in_everywhere_but_where_administrators_do(peopled: Peopled, who: str) -> None:
    assert peopled.wrong(who, "user") == []


@pytest.mark.parametrize("who", ["admin by key", "admin by token"])
def test_an_administrator_gets_in_everywhere(peopled: Peopled, who: str) -> None:
    assert peopled.wrong(who, "admin") == []


@pytest.mark.parametrize(
    "who", ["revoked key", "expired token", "forged token", "token for others", "garbage"]
)
def test_a_credential_that_is_not_good_is_worth_nothing(peopled: Peopled, who: str) -> None:
    assert peopled.wrong(who, "refused") == []


@pytest.mark.parametrize("who", ["nobody", "admin by key"])
def test_a_foreign_host_is_refused_at_every_door(peopled: Peopled, who: str) -> None:
    headers = AFAR | peopled.headers[who] | {"host": "evil.example"}

    with calling(peopled.served.port) as caller:
        said = {door: door.knock(caller, **headers) for door in peopled.doors}

    assert {door: got for door, got in said.items() if got != "wrong host"} == {}


@pytest.mark.parametrize("origin", ["http://evil.example", "null", "http://127.0.0.1:1"])
def test_a_foreign_origin_may_change_nothing(peopled: Peopled, origin: str) -> None:
    headers = AFAR | peopled.headers["admin by key"] | {"origin": origin}
    unsafe = [door for door in peopled.doors if door.unsafe]

    with calling(peopled.served.port) as caller:
        said = {door: door.knock(caller, **headers) for door in unsafe}

    assert len(unsafe) > 10
    assert {door: got for door, got in said.items() if got != "not allowed"} == {}


def test_a_session_may_change_nothing_without_the_proof_of_a_page(peopled: Peopled) -> None:
    headers = AFAR | {"cookie": f"{SESSION_COOKIE}={peopled.bob_session}"}
    unsafe = [door for door in peopled.doors if door.unsafe]

    with calling(peopled.served.port) as caller:
        said = {door: door.knock(caller, **headers) for door in unsafe}

    assert {door: got for door, got in said.items() if got != "not allowed"} == {}


def test_the_local_owner_gets_in_everywhere(tmp_path: Path, quiet_exchange: str) -> None:
    settings = settings_in(tmp_path, exchange=quiet_exchange)

    with serving(settings) as served, calling(served.port) as caller:
        said = {door: door.knock(caller, **HTML) for door in doors(served.app)}

    assert {door: got for door, got in said.items() if got != expected(door, "admin")} == {}


def test_whoever_comes_through_a_proxy_is_not_the_local_owner(tmp_path: Path) -> None:
    with serving(settings_in(tmp_path)) as served, served.client(**AFAR) as client:
        reply = client.get("/api/platform/me")

    assert reply.status_code == 401


def test_nobody_can_end_somebody_elses_session(peopled: Peopled) -> None:
    people = peopled.served.platform.people
    mine = peopled.served.do(people.sessions.list(peopled.bob_id))[0].session_id
    path = f"/api/platform/sessions/{mine}"

    with peopled.served.client() as client:
        other = client.delete(path, headers=peopled.headers["admin by key"]).status_code
        owner = client.delete(path, headers=peopled.headers["user by key"]).status_code

    assert (other, owner) == (404, 204)


@pytest.mark.parametrize(
    ("who", "more", "opened"),
    [
        ("nobody", {}, False),
        ("user by key", {}, True),
        ("forged token", {}, False),
        ("user by key", {"origin": "http://evil.example"}, False),
        ("user by key", {"host": "evil.example"}, False),
    ],
)
def test_a_socket_is_opened_only_for_who_is_known_and_from_here(
    peopled: Peopled, who: str, more: dict[str, str], *, opened: bool
) -> None:
    headers = AFAR | peopled.headers[who] | more

    said = [_opens(peopled.served.port, path, headers) for path in sockets(peopled.served.app)]

    assert said == [opened]


def _opens(port: int, path: str, headers: dict[str, str]) -> bool:
    more = {name: value for name, value in headers.items() if name != "host"}
    name = headers.get("host", "127.0.0.1")
    try:
        with sockets_client.connect(
            f"ws://{name}:{port}{path}",
            sock=socket.create_connection(("127.0.0.1", port)),
            additional_headers=more,
            proxy=None,
            open_timeout=60,
        ):
            return True
    except InvalidStatus:
        return False


def test_a_proxy_does_not_inherit_that_the_owner_asked_a_moment_ago(tmp_path: Path) -> None:
    with serving(settings_in(tmp_path)) as served, served.client() as client:
        owner = client.get("/api/platform/me")
        others = [client.get("/api/platform/me", headers=AFAR) for _ in range(2)]
        again = client.get("/api/platform/me")

    assert [owner.status_code, again.status_code] == [200, 200]
    assert [other.status_code for other in others] == [401, 401]
