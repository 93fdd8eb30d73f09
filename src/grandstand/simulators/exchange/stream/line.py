"""Kept here: the WebSocket under a connection, with a way to write many frames at once."""

from __future__ import annotations

from typing import Any, Final

from uvicorn.protocols.websockets.websockets_sansio_impl import WebSocketsSansIOProtocol

LINE: Final = "grandstand.line"
_HEARTBEAT: Final = b"heartbeat"


class StreamProtocol(WebSocketsSansIOProtocol):
    """Hands the application its own line, and pings as the exchange does."""

    def handle_connect(self, event: Any) -> None:  # noqa: ANN401 - a type of another library
        """Begin, with the line among what the application is told."""
        super().handle_connect(event)
        if self.response.status_code == 101:  # noqa: PLR2004 - switching protocols
            self.scope["extensions"][LINE] = {"line": _TransportLine(self)}

    def send_keepalive_ping(self) -> None:
        """Ping with the exchange's word in place of a random one."""
        self.ping_timer = None
        if self.close_sent or self.transport.is_closing():
            return
        self.pending_ping_payload = _HEARTBEAT
        self.ping_sent_at = self.loop.time()
        self.conn.send_ping(_HEARTBEAT)
        self.transport.write(b"".join(self.conn.data_to_send()))
        if self.ping_timeout is not None:
            self.pong_timer = self.loop.call_later(self.ping_timeout, self.keepalive_timeout)


class _TransportLine:
    """Writes frames that are made already; there is no compression they would have to go by."""

    def __init__(self, protocol: StreamProtocol) -> None:
        self._protocol = protocol

    def write(self, data: bytes) -> None:
        transport = self._protocol.transport
        if not self._protocol.close_sent and not transport.is_closing():
            transport.write(data)

    def waiting_bytes(self) -> int:
        return self._protocol.transport.get_write_buffer_size()

    def close(self, code: int) -> None:
        protocol = self._protocol
        if not code:
            protocol.transport.abort()
        elif not protocol.close_sent and not protocol.transport.is_closing():
            protocol.conn.send_close(code)
            protocol.transport.write(b"".join(protocol.conn.data_to_send()))
            protocol.close_sent = True
            protocol.transport.close()
