"""Requests are signed as the exchange checks them, and the key shows nowhere."""

import base64
from datetime import UTC, datetime
from pathlib import Path

import pytest
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec, ed25519, padding, rsa

from grandstand.apps.gatherer.sources.kalshi.signing import InvalidSigningKey, Signer, read_signer
from grandstand.core.clock import ManualClock
from grandstand.core.logging import redact

CLOCK = ManualClock(datetime(2026, 11, 1, 12, 0, 0, 123_456, tzinfo=UTC))
STAMP = "1793534400123"
RSA = rsa.generate_private_key(public_exponent=65537, key_size=2048)
PKCS1 = serialization.PrivateFormat.TraditionalOpenSSL
PKCS8 = serialization.PrivateFormat.PKCS8


def _pem(
    key: rsa.RSAPrivateKey | ed25519.Ed25519PrivateKey | ec.EllipticCurvePrivateKey,
    form: serialization.PrivateFormat = PKCS8,
) -> str:
    text = key.private_bytes(serialization.Encoding.PEM, form, serialization.NoEncryption())
    return text.decode()


def _check_rsa(headers: dict[str, str], said: str) -> None:
    RSA.public_key().verify(
        base64.b64decode(headers["KALSHI-ACCESS-SIGNATURE"]),
        said.encode(),
        padding.PSS(mgf=padding.MGF1(hashes.SHA256()), salt_length=32),
        hashes.SHA256(),
    )


@pytest.mark.parametrize("form", [PKCS1, PKCS8])
def test_rsa_signs_time_method_and_path_without_the_query(
    form: serialization.PrivateFormat,
) -> None:
    signer = Signer.from_pem("key-1", _pem(RSA, form), CLOCK)

    headers = dict(signer.headers("get", "/trade-api/v2/markets?limit=5"))

    assert headers["KALSHI-ACCESS-KEY"] == "key-1"
    assert headers["KALSHI-ACCESS-TIMESTAMP"] == STAMP
    _check_rsa(headers, f"{STAMP}GET/trade-api/v2/markets")


def test_ed25519_signs_the_same_words() -> None:
    key = ed25519.Ed25519PrivateKey.generate()
    signer = Signer.from_pem("key-1", _pem(key), CLOCK)

    headers = signer.handshake()

    given = base64.b64decode(headers["KALSHI-ACCESS-SIGNATURE"])
    key.public_key().verify(given, f"{STAMP}GET/trade-api/ws/v2".encode())
    assert signer.kind == "Ed25519"


def test_a_key_in_one_line_is_read_as_environments_carry_it() -> None:
    one_line = _pem(RSA).replace("\n", "\\n")
    without_breaks = _pem(RSA).replace("\n", " ")

    kinds = [Signer.from_pem("key-1", text, CLOCK).kind for text in (one_line, without_breaks)]

    assert kinds == ["RSA", "RSA"]


def test_a_key_is_read_from_its_file_and_none_is_no_key(tmp_path: Path) -> None:
    file = tmp_path / "key.pem"
    file.write_text(_pem(RSA))

    found = read_signer("key-1", "", file, CLOCK)
    none = read_signer("", "", None, CLOCK)

    assert found is not None
    assert found.kind == "RSA"
    assert none is None


@pytest.mark.parametrize(
    "text",
    [
        "",
        "no key at all",
        _pem(RSA)[:200],
        _pem(ec.generate_private_key(ec.SECP256R1())),
        RSA.public_key()
        .public_bytes(serialization.Encoding.PEM, serialization.PublicFormat.SubjectPublicKeyInfo)
        .decode(),
    ],
)
def test_what_is_no_private_key_is_refused_without_showing_it(text: str) -> None:
    with pytest.raises(InvalidSigningKey) as refused:
        Signer.from_pem("key-1", text, CLOCK)

    assert "MII" not in str(refused.value)
    assert "BEGIN and END lines" in str(refused.value)


def test_a_key_without_its_id_or_a_file_that_is_missing_says_what_to_set(tmp_path: Path) -> None:
    with pytest.raises(InvalidSigningKey, match="no key ID"):
        Signer.from_pem("", _pem(RSA), CLOCK)
    with pytest.raises(InvalidSigningKey, match="FileNotFoundError"):
        read_signer("key-1", "", tmp_path / "none.pem", CLOCK)


def test_the_key_is_kept_out_of_every_text() -> None:
    pem = _pem(RSA)
    signer = Signer.from_pem("key-1", pem, CLOCK)

    line = pem.splitlines()[3]

    assert line not in redact(f"it said {line}")
    assert repr(signer) == "Signer(RSA, [redacted])"
