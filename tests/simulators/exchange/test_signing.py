"""Who may come in: signatures as the exchange checks them."""

from collections.abc import Callable
from functools import cache

import pytest
from cryptography.hazmat.primitives.serialization import PrivateFormat

from grandstand.core.errors import InvalidInput
from grandstand.simulators.exchange.signing import Keyring, Refusal
from tests.simulators.exchange.stream_reader import KeyPair, ed25519_key, rsa_key, signed

NOW_MS = 1_793_534_400_123
PATH = "/trade-api/v2/markets"
FORMS = {"rsa": PrivateFormat.PKCS8, "rsa-pkcs1": PrivateFormat.TraditionalOpenSSL}
KINDS = ("ed25519", *FORMS)

Spoil = Callable[[dict[str, str]], dict[str, str]]


@cache
def key_of(kind: str) -> KeyPair:
    if kind == "ed25519":
        return ed25519_key(kind)
    return rsa_key(kind, FORMS[kind])


def checked(headers: dict[str, str], method: str = "GET", path: str = PATH) -> Refusal | None:
    lower = {name.lower(): value for name, value in headers.items()}
    known = [key_of(kind) for kind in KINDS]
    ring = Keyring({key.key_id: key.public for key in known}, allowed_ms=5000)
    return ring.refusal(lower, method, path, NOW_MS * 1000)


@pytest.mark.parametrize("kind", KINDS)
def test_a_request_signed_with_a_known_key_is_let_in(kind: str) -> None:
    headers = signed(key_of(kind), "GET", PATH, NOW_MS)

    assert checked(headers) is None


@pytest.mark.parametrize("kind", ["rsa", "ed25519"])
def test_a_signature_is_good_for_one_method_and_one_path(kind: str) -> None:
    headers = signed(key_of(kind), "GET", PATH, NOW_MS)

    assert checked(headers, method="POST") == "bad signature"
    assert checked(headers, path=f"{PATH}?limit=5") == "bad signature"


@pytest.mark.parametrize(
    ("spoil", "refusal"),
    [
        (lambda it: {**it, "KALSHI-ACCESS-SIGNATURE": "not base64!"}, "bad signature"),
        (lambda it: {**it, "KALSHI-ACCESS-KEY": "someone else"}, "unknown key"),
        (lambda it: {**it, "KALSHI-ACCESS-TIMESTAMP": "yesterday"}, "bad timestamp"),
        (lambda it: {**it, "KALSHI-ACCESS-TIMESTAMP": str(NOW_MS + 1)}, "bad signature"),
        (lambda it: {"KALSHI-ACCESS-KEY": it["KALSHI-ACCESS-KEY"]}, "missing"),
    ],
)
def test_headers_that_do_not_hold_together_are_refused(spoil: Spoil, refusal: Refusal) -> None:
    headers = spoil(signed(key_of("ed25519"), "GET", PATH, NOW_MS))

    assert checked(headers) == refusal


@pytest.mark.parametrize(
    ("off_ms", "refusal"),
    [(5000, None), (-5000, None), (5001, "bad timestamp"), (-5001, "bad timestamp")],
)
def test_a_stamp_may_be_off_by_so_much_and_no_more(off_ms: int, refusal: Refusal | None) -> None:
    headers = signed(key_of("ed25519"), "GET", PATH, NOW_MS + off_ms)

    assert checked(headers) == refusal


def test_a_keyring_takes_no_key_it_cannot_check() -> None:
    with pytest.raises(InvalidInput, match="Use an Ed25519 or RSA public key"):
        Keyring({"a key": "not a key at all"})
