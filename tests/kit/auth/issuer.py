"""An issuer of tokens: real keys, and a real server that tells them."""

from __future__ import annotations

import json
import threading
from base64 import urlsafe_b64encode
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

import jwt
from cryptography.hazmat.primitives.asymmetric import ec, rsa
from jwt.algorithms import ECAlgorithm, RSAAlgorithm

POOL = "/eu-west-1_pool"
CLIENT = "the-app"


class Issuer:
    """What an identity provider is to us: a name, keys, and tokens signed with them."""

    def __init__(self, address: str) -> None:
        self.name = f"{address}{POOL}"
        self.claims_to_be = self.name
        self.rsa = rsa.generate_private_key(public_exponent=65537, key_size=2048)
        self.ec = ec.generate_private_key(ec.SECP256R1())
        self.keys = self.first_keys()
        self.asked: list[str] = []
        self.down = False

    def first_keys(self) -> list[dict[str, Any]]:
        """The keys it begins with."""
        return [public(self.rsa, "one", alg="RS256", use="sig"), public(self.ec, "two")]

    def reset(self) -> None:
        """Begin anew."""
        self.keys, self.asked, self.down = self.first_keys(), [], False
        self.claims_to_be = self.name

    def answer(self, path: str) -> object | None:
        """Return a document, None when there is none."""
        self.asked.append(path)
        known: dict[str, object] = {
            f"{POOL}/.well-known/openid-configuration": {
                "issuer": self.claims_to_be,
                "jwks_uri": f"{self.name}/.well-known/jwks.json",
            },
            f"{POOL}/.well-known/jwks.json": {"keys": self.keys},
        }
        return None if self.down else known.get(path)

    def token(
        self,
        claims: dict[str, Any],
        *,
        kid: str | None = "one",
        key: Any = None,
        algorithm: str = "RS256",
        **header: Any,
    ) -> str:
        """Sign claims; the first key is used unless another is given."""
        headers = header if kid is None else {"kid": kid, **header}
        return jwt.encode(claims, key or self.rsa, algorithm=algorithm, headers=headers)

    @classmethod
    @contextmanager
    def serving(cls) -> Iterator[Issuer]:
        """Listen on loopback as long as the block lasts."""
        server = ThreadingHTTPServer(("127.0.0.1", 0), _Answering)
        issuer = cls(f"http://127.0.0.1:{server.server_port}")
        server.issuer = issuer  # type: ignore[attr-defined]
        thread = threading.Thread(target=server.serve_forever, args=(0.02,), daemon=True)
        thread.start()
        try:
            yield issuer
        finally:
            server.shutdown()
            server.server_close()
            thread.join()


class _Answering(BaseHTTPRequestHandler):
    def do_GET(self) -> None:
        told = self.server.issuer.answer(self.path)  # type: ignore[attr-defined]
        body = json.dumps(told).encode()
        self.send_response(404 if told is None else 200)
        self.send_header("content-type", "application/json")
        self.send_header("content-length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, format: str, *args: object) -> None:  # noqa: A002 - the name is Python's
        """Say nothing."""


def public(key: Any, kid: str, **more: str) -> dict[str, Any]:
    """Return the public half of a key, as issuers publish it."""
    algorithm = RSAAlgorithm if isinstance(key, rsa.RSAPrivateKey) else ECAlgorithm
    return {**json.loads(algorithm.to_jwk(key.public_key())), "kid": kid, **more}


def unsigned(claims: dict[str, Any], header: dict[str, Any]) -> str:
    """Write a token with an empty signature."""
    parts = (urlsafe_b64encode(json.dumps(part).encode()).rstrip(b"=") for part in (header, claims))
    return b".".join((*parts, b"")).decode()
