"""Bearer tokens of an issuer on loopback: what is believed, and every way to lie we know."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from datetime import UTC, datetime
from random import Random
from typing import Any

import jwt
import pytest
from cryptography.hazmat.primitives.asymmetric import ec, rsa
from cryptography.hazmat.primitives.serialization import Encoding, PublicFormat

from grandstand.core.clock import ManualClock, SystemClock
from grandstand.core.errors import InvalidInput, Unavailable
from grandstand.core.metrics import Metrics
from grandstand.kit.auth.caller import Refusal
from grandstand.kit.auth.tokens import JsonFetcher, TokenSubject, TokenVerifier, TrustedIssuer
from grandstand.net.client import SourceRegistry
from tests.kit.auth.issuer import CLIENT, Issuer, public, unsigned

pytestmark = pytest.mark.anyio

NOW = datetime(2026, 11, 1, 12, tzinfo=UTC)
JWKS = "/eu-west-1_pool/.well-known/jwks.json"


@pytest.fixture
def clock() -> ManualClock:
    return ManualClock(NOW)


@pytest.fixture(autouse=True)
def _anew(issuer: Issuer) -> None:
    issuer.reset()


@pytest.fixture
async def web() -> AsyncIterator[SourceRegistry]:
    async with SourceRegistry(clock=SystemClock(), random=Random(1), metrics=Metrics()) as opened:
        yield opened


@pytest.fixture
def trust(issuer: Issuer) -> TrustedIssuer:
    return TrustedIssuer(issuer.name, (CLIENT,))


@pytest.fixture
def tokens(trust: TrustedIssuer, web: SourceRegistry, clock: ManualClock) -> TokenVerifier:
    return TokenVerifier(trust, JsonFetcher(web), clock)


def id_claims(issuer: Issuer, **changes: Any) -> dict[str, Any]:
    """The claims of an ID token; those given as None are left out."""
    now = int(NOW.timestamp())
    claims = {
        "iss": issuer.name,
        "sub": "7d3f-ada",
        "aud": CLIENT,
        "token_use": "id",
        "cognito:username": "ada",
        "exp": now + 600,
        "iat": now - 5,
        **changes,
    }
    return {name: value for name, value in claims.items() if value is not None}


def access_claims(issuer: Issuer, **changes: Any) -> dict[str, Any]:
    """The claims of an access token, which has no audience."""
    own = {"token_use": "access", "client_id": CLIENT, "username": "ada", "aud": None}
    return id_claims(issuer, **{"cognito:username": None, **own, **changes})


async def test_an_id_token_stands_for_its_subject(tokens: TokenVerifier, issuer: Issuer) -> None:
    subject = await tokens.check(issuer.token(id_claims(issuer)))

    assert subject == TokenSubject("7d3f-ada", "ada", admin=False)


async def test_an_access_token_stands_for_its_subject(
    tokens: TokenVerifier, issuer: Issuer
) -> None:
    subject = await tokens.check(issuer.token(access_claims(issuer)))

    assert subject == TokenSubject("7d3f-ada", "ada", admin=False)


async def test_a_token_of_a_plain_oidc_issuer_needs_no_word_on_its_use(
    tokens: TokenVerifier, issuer: Issuer
) -> None:
    claims = id_claims(issuer, token_use=None, aud=["api", CLIENT], azp=CLIENT)

    assert isinstance(await tokens.check(issuer.token(claims)), TokenSubject)


async def test_a_token_may_be_signed_on_a_curve(tokens: TokenVerifier, issuer: Issuer) -> None:
    token = issuer.token(id_claims(issuer), kid="two", key=issuer.ec, algorithm="ES256")

    assert isinstance(await tokens.check(token), TokenSubject)


@pytest.mark.parametrize(
    ("claims", "admin"),
    [
        ({"cognito:groups": ["admin"]}, True),
        ({"cognito:groups": ["users", "admin"]}, True),
        ({"cognito:groups": "admin"}, True),
        ({"cognito:groups": ["administrators"]}, False),
        ({"cognito:groups": {"admin": True}}, False),
        ({"cognito:groups": [["admin"]]}, False),
        ({"groups": ["admin"], "admin": True, "role": "admin"}, False),
    ],
)
async def test_membership_of_the_group_makes_an_administrator(
    tokens: TokenVerifier, issuer: Issuer, claims: dict[str, Any], *, admin: bool
) -> None:
    subject = await tokens.check(issuer.token(id_claims(issuer, **claims)))

    assert isinstance(subject, TokenSubject)
    assert subject.admin == admin


async def test_the_claim_and_the_group_can_be_chosen(
    issuer: Issuer, web: SourceRegistry, clock: ManualClock
) -> None:
    trust = TrustedIssuer(issuer.name, (CLIENT,), groups_claim="realm.roles", admin_group="boss")
    claims = id_claims(issuer, realm={"roles": ["boss"]})

    subject = await TokenVerifier(trust, JsonFetcher(web), clock).check(issuer.token(claims))

    assert isinstance(subject, TokenSubject)
    assert subject.admin


@pytest.mark.parametrize(
    "changes",
    [
        {"iss": "https://evil.example/pool"},
        {"iss": None},
        {"aud": "another-app"},
        {"aud": None},
        {"aud": []},
        {"aud": [CLIENT, "another-app"]},
        {"aud": [CLIENT, "another-app"], "azp": "another-app"},
        {"aud": None, "client_id": CLIENT},
        {"token_use": "refresh"},
        {"token_use": ["id"]},
        {"sub": None},
        {"sub": ""},
        {"sub": "a#b"},
        {"sub": "owner"},
        {"sub": "x" * 129},
        {"exp": None},
        {"exp": "never"},
        {"exp": True},
        {"exp": 1e400},
        {"nbf": int(NOW.timestamp()) + 3_600},
        {"nbf": "soon"},
        {"iat": int(NOW.timestamp()) + 3_600},
    ],
    ids=str,
)
async def test_a_well_signed_token_that_is_not_for_us_is_refused(
    tokens: TokenVerifier, issuer: Issuer, changes: dict[str, Any]
) -> None:
    claims = id_claims(issuer, **changes)

    assert isinstance(await tokens.check(issuer.token(claims)), Refusal)


@pytest.mark.parametrize(
    "changes",
    [
        {"client_id": "another-app"},
        {"client_id": None},
        {"client_id": None, "aud": CLIENT},
        {"client_id": "another-app", "aud": CLIENT},
    ],
    ids=str,
)
async def test_an_access_token_of_another_client_is_refused(
    tokens: TokenVerifier, issuer: Issuer, changes: dict[str, Any]
) -> None:
    claims = access_claims(issuer, **changes)

    assert isinstance(await tokens.check(issuer.token(claims)), Refusal)


async def test_a_token_ends_by_our_clock_with_a_little_leeway(
    tokens: TokenVerifier, issuer: Issuer, clock: ManualClock
) -> None:
    token = issuer.token(id_claims(issuer))

    clock.advance(629)
    in_time = await tokens.check(token)
    clock.advance(1)
    too_late = await tokens.check(token)

    assert isinstance(in_time, TokenSubject)
    assert too_late == Refusal("The token has expired. Request a new one.")


@pytest.mark.parametrize("alg", ["none", "None", "NONE", "", "HS256"])
async def test_a_token_without_a_signature_is_refused(
    tokens: TokenVerifier, issuer: Issuer, alg: str
) -> None:
    token = unsigned(id_claims(issuer), {"alg": alg, "kid": "one", "typ": "JWT"})

    assert isinstance(await tokens.check(token), Refusal)


async def test_the_public_key_is_no_shared_secret(tokens: TokenVerifier, issuer: Issuer) -> None:
    import hashlib
    import hmac
    from base64 import urlsafe_b64encode

    text = issuer.rsa.public_key().public_bytes(Encoding.PEM, PublicFormat.SubjectPublicKeyInfo)
    body = unsigned(id_claims(issuer), {"alg": "HS256", "kid": "one"})
    signature = hmac.new(text, body.rstrip(".").encode(), hashlib.sha256).digest()

    forged = body + urlsafe_b64encode(signature).rstrip(b"=").decode()

    assert isinstance(await tokens.check(forged), Refusal)


async def test_a_shared_secret_among_the_keys_is_never_used(
    tokens: TokenVerifier, issuer: Issuer
) -> None:
    issuer.keys = [{"kty": "oct", "kid": "one", "k": "c2VjcmV0", "alg": "HS256"}]
    token = jwt.encode(id_claims(issuer), "x" * 64, algorithm="HS256", headers={"kid": "one"})

    assert isinstance(await tokens.check(token), Refusal)


async def test_another_key_under_a_known_id_is_refused(
    tokens: TokenVerifier, issuer: Issuer
) -> None:
    stranger = rsa.generate_private_key(public_exponent=65537, key_size=2048)

    forged = issuer.token(id_claims(issuer), key=stranger)

    assert isinstance(await tokens.check(forged), Refusal)


async def test_a_key_sent_with_the_token_is_not_believed(
    tokens: TokenVerifier, issuer: Issuer
) -> None:
    stranger = rsa.generate_private_key(public_exponent=65537, key_size=2048)
    own = public(stranger, "mine")

    forged = [
        issuer.token(id_claims(issuer), key=stranger, kid="mine", jwk=own),
        issuer.token(id_claims(issuer), key=stranger, kid="mine", jku="https://evil.example/k"),
        issuer.token(id_claims(issuer), key=stranger, kid="mine", x5u="https://evil.example/k"),
    ]

    assert [type(await tokens.check(token)) for token in forged] == [Refusal] * 3
    assert all(path.startswith("/eu-west-1_pool/.well-known/") for path in issuer.asked)


async def test_changed_claims_break_the_signature(tokens: TokenVerifier, issuer: Issuer) -> None:
    mine = issuer.token(id_claims(issuer)).split(".")
    better = issuer.token(id_claims(issuer, **{"cognito:groups": ["admin"]})).split(".")

    forged = ".".join((mine[0], better[1], mine[2]))

    assert isinstance(await tokens.check(forged), Refusal)


@pytest.mark.parametrize(
    "changes",
    [
        {"use": "enc"},
        {"alg": "RS512"},
        {"kty": "EC"},
        {"n": "AQAB"},
        {"n": "%%%"},
        {"kid": 1},
        {"kty": None},
    ],
    ids=str,
)
async def test_a_key_that_is_not_for_this_is_not_used(
    tokens: TokenVerifier, issuer: Issuer, changes: dict[str, Any]
) -> None:
    issuer.keys = [{**issuer.keys[0], **changes}, "garbage"]  # type: ignore[list-item]

    assert isinstance(await tokens.check(issuer.token(id_claims(issuer))), Refusal)


async def test_a_weak_key_is_not_used(tokens: TokenVerifier, issuer: Issuer) -> None:
    weak = rsa.generate_private_key(public_exponent=65537, key_size=1024)  # noqa: S505 - on purpose
    issuer.keys = [public(weak, "weak")]
    body = unsigned(id_claims(issuer), {"alg": "RS256", "kid": "weak"})

    assert isinstance(await tokens.check(body), Refusal)


async def test_a_curve_other_than_the_algorithms_is_not_used(
    tokens: TokenVerifier, issuer: Issuer
) -> None:
    other = ec.generate_private_key(ec.SECP384R1())
    issuer.keys = [public(other, "two")]
    token = issuer.token(id_claims(issuer), kid="two", key=issuer.ec, algorithm="ES256")

    assert isinstance(await tokens.check(token), Refusal)


@pytest.mark.parametrize(
    "token",
    [
        "",
        ".",
        "..",
        "a.b.c",
        "a.b.c.d",
        "eyJ.eyJ.eyJ",
        "e30.e30.",
        "\x00",
        "x" * 20_000,
        "W10.e30.AA",
    ],
    ids=lambda text: text[:12],
)
async def test_garbage_is_refused_without_asking_anybody(
    tokens: TokenVerifier, issuer: Issuer, token: str
) -> None:
    assert isinstance(await tokens.check(token), Refusal)
    assert issuer.asked == []


@pytest.mark.parametrize("header", [{"kid": None}, {"kid": "one", "crit": ["exp"], "exp": 1}])
async def test_a_header_that_asks_for_more_than_we_know_is_refused(
    tokens: TokenVerifier, issuer: Issuer, header: dict[str, Any]
) -> None:
    token = issuer.token(id_claims(issuer), **header)

    assert isinstance(await tokens.check(token), Refusal)


async def test_keys_are_fetched_once_for_many_tokens(tokens: TokenVerifier, issuer: Issuer) -> None:
    token = issuer.token(id_claims(issuer))

    subjects = await asyncio.gather(*(tokens.check(token) for _ in range(20)))

    assert all(isinstance(subject, TokenSubject) for subject in subjects)
    assert issuer.asked.count(JWKS) == 1


async def test_a_new_key_is_found_when_the_issuer_changes_keys(
    tokens: TokenVerifier, issuer: Issuer, clock: ManualClock
) -> None:
    await tokens.check(issuer.token(id_claims(issuer)))
    fresh = rsa.generate_private_key(public_exponent=65537, key_size=2048)
    issuer.keys = [public(fresh, "fresh")]
    clock.advance(31)

    new = await tokens.check(issuer.token(id_claims(issuer), kid="fresh", key=fresh))
    old = await tokens.check(issuer.token(id_claims(issuer)))

    assert isinstance(new, TokenSubject)
    assert isinstance(old, Refusal)


async def test_made_up_key_ids_do_not_burden_the_issuer(
    tokens: TokenVerifier, issuer: Issuer, clock: ManualClock
) -> None:
    claims = id_claims(issuer)
    await tokens.check(issuer.token(claims))

    for number in range(50):
        await tokens.check(issuer.token(claims, kid=f"made-up-{number}"))
    soon = issuer.asked.count(JWKS)
    clock.advance(30)
    for number in range(50):
        await tokens.check(issuer.token(claims, kid=f"made-up-{number}"))

    assert soon == 1
    assert issuer.asked.count(JWKS) == 2
    assert isinstance(await tokens.check(issuer.token(claims)), TokenSubject)


async def test_made_up_key_ids_that_come_at_once_cost_one_fetch(
    tokens: TokenVerifier, issuer: Issuer, clock: ManualClock
) -> None:
    await tokens.check(issuer.token(id_claims(issuer)))
    made_up = [issuer.token(id_claims(issuer), kid=f"made-up-{number}") for number in range(20)]
    clock.advance(31)

    told = await asyncio.gather(*(tokens.check(token) for token in made_up))

    assert all(isinstance(each, Refusal) for each in told)
    assert issuer.asked.count(JWKS) == 2


async def test_keys_stay_good_for_a_day_while_the_issuer_is_down(
    tokens: TokenVerifier, issuer: Issuer, clock: ManualClock
) -> None:
    def token() -> str:
        return issuer.token(id_claims(issuer, exp=int(clock.epoch()) + 600))

    await tokens.check(token())
    issuer.down = True
    clock.advance(20 * 3_600)
    old = await tokens.check(token())
    clock.advance(5 * 3_600)

    assert isinstance(old, TokenSubject)
    with pytest.raises(Unavailable):
        await tokens.check(token())


async def test_without_keys_nobody_is_refused_for_the_issuers_fault(
    tokens: TokenVerifier, issuer: Issuer, clock: ManualClock
) -> None:
    issuer.down = True
    with pytest.raises(Unavailable, match="cannot be fetched"):
        await tokens.check(issuer.token(id_claims(issuer)))

    issuer.down = False
    clock.advance(31)

    assert isinstance(await tokens.check(issuer.token(id_claims(issuer))), TokenSubject)


async def test_an_issuer_that_calls_itself_otherwise_is_not_believed(
    tokens: TokenVerifier, issuer: Issuer
) -> None:
    issuer.claims_to_be = "https://evil.example"

    with pytest.raises(Unavailable):
        await tokens.check(issuer.token(id_claims(issuer)))


async def test_keys_can_be_named_by_their_address(
    issuer: Issuer, web: SourceRegistry, clock: ManualClock
) -> None:
    trust = TrustedIssuer(issuer.name, (CLIENT,), jwks_url=f"{issuer.name}/.well-known/jwks.json")

    subject = await TokenVerifier(trust, JsonFetcher(web), clock).check(
        issuer.token(id_claims(issuer))
    )

    assert isinstance(subject, TokenSubject)
    assert issuer.asked == [JWKS]


@pytest.mark.parametrize(
    "wrong",
    [
        {"algorithms": ("HS256",)},
        {"algorithms": ("RS256", "none")},
        {"algorithms": ()},
        {"client_ids": ()},
        {"client_ids": ("",)},
        {"issuer": "http://issuer.example"},
        {"issuer": "issuer.example"},
        {"issuer": "https://user@issuer.example"},
        {"jwks_url": "http://issuer.example/keys"},
        {"jwks_url": "file:///etc/passwd"},
    ],
    ids=str,
)
async def test_trust_that_would_not_be_safe_cannot_be_set_up(wrong: dict[str, Any]) -> None:
    safe = {"issuer": "https://issuer.example", "client_ids": (CLIENT,)}

    with pytest.raises(InvalidInput):
        TrustedIssuer(**{**safe, **wrong})
