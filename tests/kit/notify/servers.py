"""Real servers on loopback that alerts are sent to: one for webhooks, one for mail."""

from __future__ import annotations

import base64
import socketserver
import ssl
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from email import message_from_bytes, policy
from email.message import EmailMessage
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from ipaddress import ip_address
from pathlib import Path
from typing import Any, ClassVar

import msgspec
from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.x509.oid import NameOID


@dataclass
class Posted:
    """What was posted to a webhook: where, with which headers, and what it says."""

    path: str
    headers: dict[str, str]
    body: dict[str, Any]


@dataclass
class Hook:
    """A webhook: what it got, and the statuses it answers first."""

    port: int = 0
    got: list[Posted] = field(default_factory=list)
    statuses: list[int] = field(default_factory=list)

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.port}/hooks/T0123SECRET?room=ops-5678"


@contextmanager
def hook_serving() -> Iterator[Hook]:
    """Serve a webhook."""
    hook = Hook()

    class Answering(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            body = msgspec.json.decode(self.rfile.read(int(self.headers["content-length"])))
            headers = {name.lower(): value for name, value in self.headers.items()}
            hook.got.append(Posted(self.path, headers, body))
            self.send_response(hook.statuses.pop(0) if hook.statuses else 204)
            self.send_header("content-length", "0")
            self.end_headers()

        def log_message(self, *_: object) -> None:
            """Say nothing."""

    with _serving(ThreadingHTTPServer(("127.0.0.1", 0), Answering)) as port:
        hook.port = port
        yield hook


@dataclass
class PostOffice:
    """A mail server: what it got, who logged in, and what it answers to a letter first."""

    port: int = 0
    got: list[EmailMessage] = field(default_factory=list)
    receivers: list[str] = field(default_factory=list)
    logins: list[str] = field(default_factory=list)
    answers: list[str] = field(default_factory=list)
    tls: ssl.SSLContext | None = None
    implicit: bool = False


class _Talking(socketserver.StreamRequestHandler):
    office: ClassVar[PostOffice]

    def handle(self) -> None:
        if self.office.implicit:
            self._hide()
        self._say("220 ready")
        while line := self.rfile.readline():
            command, _, rest = line.decode().strip().partition(" ")
            self._answer(command.upper(), rest)

    def _answer(self, command: str, rest: str) -> None:
        if command == "EHLO":
            offers = ["STARTTLS"] if self.office.tls and not self.office.implicit else []
            for offer in ["127.0.0.1", *offers, "AUTH PLAIN"]:
                self._say(f"250-{offer}")
        if command == "AUTH":
            self.office.logins.append(base64.b64decode(rest.split()[1]).decode())
            self._say("235 welcome")
        elif command == "RCPT":
            self.office.receivers.append(rest)
            self._say("250 fine")
        elif command == "DATA":
            self._take()
        else:
            self._say({"STARTTLS": "220 go on", "QUIT": "221 bye"}.get(command, "250 fine"))
        if command == "STARTTLS":
            self._hide()

    def _take(self) -> None:
        self._say("354 go on")
        lines = []
        while (line := self.rfile.readline()) not in (b".\r\n", b""):
            lines.append(line)
        answer = self.office.answers.pop(0) if self.office.answers else "250 taken"
        if answer.startswith("250"):
            self.office.got.append(message_from_bytes(b"".join(lines), policy=policy.default))
        self._say(answer)

    def _say(self, text: str) -> None:
        self.wfile.write(f"{text}\r\n".encode())

    def _hide(self) -> None:
        assert self.office.tls is not None
        self.connection = self.office.tls.wrap_socket(self.request, server_side=True)
        self.rfile = self.connection.makefile("rb", -1)
        self.wfile = self.connection.makefile("wb", 0)

    def finish(self) -> None:
        super().finish()
        self.connection.close()


@contextmanager
def mail_serving(office: PostOffice) -> Iterator[PostOffice]:
    """Serve mail: as much of SMTP as a client that behaves needs."""
    speaking = type("Talking", (_Talking,), {"office": office})
    with _serving(socketserver.ThreadingTCPServer(("127.0.0.1", 0), speaking)) as port:
        office.port = port
        yield office


@contextmanager
def _serving(server: socketserver.ThreadingTCPServer | ThreadingHTTPServer) -> Iterator[int]:
    thread = threading.Thread(target=server.serve_forever, args=(0.05,))
    thread.start()
    try:
        yield int(server.server_address[1])
    finally:
        server.shutdown()
        thread.join()
        server.server_close()


def certified(folder: Path) -> tuple[ssl.SSLContext, ssl.SSLContext]:
    """Return the contexts of a server with a certificate for loopback, and of who trusts it."""
    key = ec.generate_private_key(ec.SECP256R1())
    name = x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, "127.0.0.1")])
    now = datetime.now(UTC)
    certificate = (
        x509.CertificateBuilder(name, name, key.public_key(), x509.random_serial_number())
        .not_valid_before(now - timedelta(days=1))
        .not_valid_after(now + timedelta(days=1))
        .add_extension(
            x509.SubjectAlternativeName([x509.IPAddress(ip_address("127.0.0.1"))]), critical=False
        )
        .add_extension(x509.BasicConstraints(ca=True, path_length=None), critical=True)
        .sign(key, hashes.SHA256())
    )
    written = certificate.public_bytes(serialization.Encoding.PEM)
    private = key.private_bytes(
        serialization.Encoding.PEM,
        serialization.PrivateFormat.PKCS8,
        serialization.NoEncryption(),
    )
    file = folder / "server.pem"
    file.write_bytes(private + written)
    serving = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    serving.load_cert_chain(file)
    return serving, ssl.create_default_context(cadata=written.decode())
