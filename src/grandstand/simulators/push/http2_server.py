"""An HTTP/2 server with controllable limits, GOAWAY and silence, and its certificate."""

from __future__ import annotations

import asyncio
import ssl
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from datetime import UTC, datetime
from ipaddress import IPv4Address
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Final, TypeAlias, cast

import msgspec
from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.x509.oid import NameOID
from h2.config import H2Configuration
from h2.connection import H2Connection
from h2.errors import ErrorCodes
from h2.events import (
    ConnectionTerminated,
    DataReceived,
    Event,
    PingAckReceived,
    PingReceived,
    RequestReceived,
    StreamEnded,
    StreamReset,
)
from h2.exceptions import ProtocolError
from h2.settings import SettingCodes, Settings

# Simulated time may be anything, but clients check these dates against the system clock.
_FROM: Final = datetime(2000, 1, 1, tzinfo=UTC)
_UNTIL: Final = datetime(2100, 1, 1, tzinfo=UTC)


@dataclass(frozen=True, slots=True)
class Certificate:
    """A self-signed certificate with its key, as PEM."""

    key: bytes
    certificate: bytes

    @classmethod
    def make(cls) -> Certificate:
        """Return a new certificate for 127.0.0.1 and localhost."""
        key = ec.generate_private_key(ec.SECP256R1())
        name = x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, "simulated push service")])
        names = [x509.IPAddress(IPv4Address("127.0.0.1")), x509.DNSName("localhost")]
        signed = (
            x509.CertificateBuilder()
            .subject_name(name)
            .issuer_name(name)
            .public_key(key.public_key())
            .serial_number(x509.random_serial_number())
            .not_valid_before(_FROM)
            .not_valid_after(_UNTIL)
            .add_extension(x509.SubjectAlternativeName(names), critical=False)
            .sign(key, hashes.SHA256())
        )
        encoded = key.private_bytes(
            serialization.Encoding.PEM,
            serialization.PrivateFormat.PKCS8,
            serialization.NoEncryption(),
        )
        return cls(encoded, signed.public_bytes(serialization.Encoding.PEM))

    def serving(self) -> ssl.SSLContext:
        """Return the TLS context of the server."""
        context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        # OpenSSL reads a chain from files only.
        with TemporaryDirectory() as folder:
            file = Path(folder, "chain.pem")
            file.touch(mode=0o600)
            file.write_bytes(self.key + self.certificate)
            context.load_cert_chain(file)
        context.set_alpn_protocols(["h2"])
        return context

    def trusting(self) -> ssl.SSLContext:
        """Return a TLS context of clients that trusts only this certificate."""
        context = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
        context.load_verify_locations(cadata=self.certificate.decode("ascii"))
        return context


@dataclass(frozen=True, slots=True)
class Http2Request:
    """One request; `repeated` has the names of repeated headers."""

    method: str
    path: str
    headers: dict[str, str]
    body: bytes
    repeated: frozenset[str] = frozenset()


@dataclass(frozen=True, slots=True)
class Http2Response:
    """A response, sent after a delay."""

    status: int
    headers: tuple[tuple[str, str], ...] = ()
    body: bytes = b""
    delay_seconds: float = 0.0


REFUSED_STREAM: Final = Http2Response(0)
"""A stream that is reset as not processed."""


@dataclass(slots=True)
class _Stream:
    headers: list[tuple[str, str]]
    body: bytearray = field(default_factory=bytearray)


class Http2Connection(asyncio.Protocol):
    """One connection of a client.

    `facts` is for the request handler. A client is sent GOAWAY after `away_after` requests; a
    `silent` connection neither reads nor responds.
    """

    def __init__(
        self,
        handler: RequestHandler,
        links: list[Http2Connection],
        first_streams: int,
        window: int = 65_535,
    ) -> None:
        self._handler = handler
        self._links = links
        self._settings = {
            SettingCodes.MAX_CONCURRENT_STREAMS: first_streams,
            SettingCodes.INITIAL_WINDOW_SIZE: window,
        }
        self._h2 = H2Connection(H2Configuration(client_side=False, header_encoding="utf-8"))
        self._transport: asyncio.Transport | None = None
        self._streams: dict[int, _Stream] = {}
        self._pending: set[int] = set()
        self.facts: dict[str, object] = {}
        self.count: Counter[str] = Counter()
        self._last_seen: int | None = None
        self.most_open = 0
        self.silent = False
        self.away_after: int | None = None

    @property
    def streams(self) -> int:
        """The stream limit of the client."""
        return self._h2.local_settings.max_concurrent_streams

    @property
    def connected(self) -> bool:
        return self._transport is not None

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        """Send the settings with the first stream limit."""
        self._transport = cast("asyncio.Transport", transport)
        self._links.append(self)
        self._h2.local_settings = Settings(client=False, initial_values=self._settings)
        self._h2.initiate_connection()
        self._flush()

    def connection_lost(self, exc: Exception | None) -> None:  # noqa: ARG002 - as asyncio calls it
        self._transport = None
        self._pending.clear()

    def data_received(self, data: bytes) -> None:
        """Handle complete requests; a protocol error closes the connection."""
        if self.silent:
            return
        try:
            events = self._h2.receive_data(data)
        except ProtocolError as fault:
            self.count[type(fault).__name__] += 1
            self._flush()
            if self._transport is not None:
                self._transport.close()
            return
        for event in events:
            self._take(event)
        self._flush()

    def limit(self, streams: int) -> None:
        """Change the stream limit."""
        if self.connected:
            self._h2.update_settings({SettingCodes.MAX_CONCURRENT_STREAMS: streams})
            self._flush()

    def send_away(self, reason: str, *, last_stream: int | None = None) -> None:
        """Send GOAWAY; streams after `last_stream` are ignored.

        The connection ends when the client closes it, or at once if no response is
        pending.
        """
        if not self.connected:
            return
        body = msgspec.json.encode({"reason": reason})
        seen = self._h2.highest_inbound_stream_id if last_stream is None else last_stream
        self._last_seen = seen
        self._pending = {stream for stream in self._pending if stream <= seen}
        frame = b"".join(part.to_bytes(4, "big") for part in (seen, int(ErrorCodes.NO_ERROR)))
        head = (len(frame) + len(body)).to_bytes(3, "big") + b"\x07\x00" + bytes(4)
        # Written by hand: h2 sends no responses after its own GOAWAY.
        self._flush()
        if self._transport is not None:
            self._transport.write(head + frame + body)
        self.count["goaways"] += 1

    def drop(self) -> None:
        """Abort the connection."""
        if self._transport is not None:
            self._transport.abort()

    def _take(self, event: Event) -> None:
        if isinstance(event, RequestReceived):
            pairs = [(str(name), str(value)) for name, value in event.headers]
            self._streams[event.stream_id] = _Stream(pairs)
            self.most_open = max(self.most_open, self._h2.open_inbound_streams)
        elif isinstance(event, DataReceived):
            self._h2.acknowledge_received_data(event.flow_controlled_length, event.stream_id)
            stream = self._streams[event.stream_id]
            if len(stream.body) <= 1_048_576:
                stream.body += event.data
        elif isinstance(event, StreamEnded):
            self._ended(event.stream_id)
        elif isinstance(event, StreamReset):
            self._streams.pop(event.stream_id, None)
            self._pending.discard(event.stream_id)
        elif isinstance(event, PingReceived | PingAckReceived | ConnectionTerminated):
            self.count[type(event).__name__] += 1

    def _ended(self, stream_id: int) -> None:
        stream = self._streams.pop(stream_id)
        if self._last_seen is not None and stream_id > self._last_seen:
            return
        self.count["requests"] += 1
        self._pending.add(stream_id)
        reply = self._handler(self, _build_request(stream))
        if reply is REFUSED_STREAM:
            self._pending.discard(stream_id)
            with self._ignore_resets():
                self._h2.reset_stream(stream_id, ErrorCodes.REFUSED_STREAM)
        elif reply is None:
            self._pending.discard(stream_id)
        elif reply.delay_seconds > 0:
            loop = asyncio.get_running_loop()
            loop.call_later(reply.delay_seconds, self._reply_late, stream_id, reply)
        else:
            self._reply(stream_id, reply)
        if self.count["requests"] == self.away_after:
            self.send_away("Shutdown", last_stream=stream_id)

    def _reply_late(self, stream_id: int, reply: Http2Response) -> None:
        self._reply(stream_id, reply)
        self._flush()

    def _reply(self, stream_id: int, reply: Http2Response) -> None:
        if stream_id not in self._pending:
            return
        self._pending.discard(stream_id)
        headers = [(":status", str(reply.status)), *reply.headers]
        with self._ignore_resets():
            self._h2.send_headers(stream_id, headers, end_stream=not reply.body)
            if reply.body:
                self._send_body(stream_id, reply.body)

    @contextmanager
    def _ignore_resets(self) -> Iterator[None]:
        """Ignore errors of streams that the client has reset meanwhile."""
        try:
            yield
        except ProtocolError:
            self.count["resets"] += 1

    def _send_body(self, stream_id: int, body: bytes) -> None:
        size = self._h2.max_outbound_frame_size
        while len(body) > size:
            self._h2.send_data(stream_id, body[:size])
            body = body[size:]
        self._h2.send_data(stream_id, body, end_stream=True)

    def _flush(self) -> None:
        data = self._h2.data_to_send()
        if data and self._transport is not None:
            self._transport.write(data)


def _build_request(stream: _Stream) -> Http2Request:
    names = [name for name, _ in stream.headers]
    headers = dict(stream.headers)
    return Http2Request(
        headers.get(":method", ""),
        headers.get(":path", ""),
        headers,
        bytes(stream.body),
        frozenset(name for name in names if names.count(name) > 1),
    )


RequestHandler: TypeAlias = Callable[[Http2Connection, Http2Request], Http2Response | None]
"""Handles a request; None leaves it without a response."""
