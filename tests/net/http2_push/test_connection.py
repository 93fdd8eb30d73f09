"""Connections parse frames split anywhere, and abort on protocol errors."""

import asyncio
from collections import deque
from collections.abc import Iterator, Sequence
from typing import cast

import pytest
from hpack import Encoder
from hypothesis import given, settings
from hypothesis import strategies as st

from grandstand.net.http2_push import frames
from grandstand.net.http2_push.connection import Connection
from grandstand.net.http2_push.frames import (
    ErrorCode,
    Flag,
    FrameType,
    Setting,
    build_frame,
    goaway_frame,
    reset_frame,
)
from grandstand.net.http2_push.requests import (
    Batch,
    NoResponse,
    PendingRequest,
    PushOutcome,
    PushResponse,
)
from tests.net.http2_push.host import requests

_END = Flag.END_STREAM
_LAST = Flag.END_HEADERS


class _Transport(asyncio.Transport):
    """Records what is written."""

    def __init__(self) -> None:
        super().__init__()
        self.written = bytearray()
        self.ended = False

    def write(self, data: bytes | bytearray | memoryview) -> None:
        self.written += data

    def set_write_buffer_limits(self, high: int | None = None, low: int | None = None) -> None:
        pass

    def is_closing(self) -> bool:
        return self.ended

    def close(self) -> None:
        self.ended = True

    def abort(self) -> None:
        self.ended = True


class _Owner:
    """Has a few requests to send, and records the callbacks."""

    def __init__(self, count: int) -> None:
        future = cast("asyncio.Future[None]", _Future())
        self.batch = Batch(requests(count), future)
        self.queue: deque[PendingRequest] = deque((self.batch, at) for at in range(count))
        self.taken_back: list[int] = []

    def has_room(self, connection: Connection) -> None:
        connection.fill(self.queue)

    def refused(self, job: PendingRequest) -> None:
        self.taken_back.append(job[1])

    def ended(self, connection: Connection) -> None:
        pass

    @property
    def outcomes(self) -> Sequence[PushOutcome | None]:
        return self.batch.outcomes


class _Future:
    def done(self) -> bool:
        return True


def _settings(**values: int) -> bytes:
    return frames.settings_frame({Setting[name]: value for name, value in values.items()})


def _headers(status: str, *pairs: tuple[str, str]) -> bytes:
    encoder = Encoder()
    encoder.header_table_size = 0
    return encoder.encode([(":status", status), *pairs])


def _connected(count: int) -> tuple[Connection, _Owner, _Transport]:
    owner, transport = _Owner(count), _Transport()
    connection = Connection(owner, "host", most_streams=100, most_response_bytes=10_000)
    connection.connection_made(transport)
    return connection, owner, transport


def _answers() -> bytes:
    """Four responses: without a body, with one, split with padding, and after a 103."""
    block = _headers("410", ("apns-id", "a-b"), ("x-long", "y" * 300))
    padded = bytes([3]) + b"gone" + bytes(3)
    return b"".join(
        [
            _settings(MAX_CONCURRENT_STREAMS=50),
            build_frame(FrameType.HEADERS, _LAST | _END, 1, b"\x88"),
            build_frame(FrameType.PING, 0, 0, b"12345678"),
            build_frame(FrameType.HEADERS, _LAST, 3, _headers("400")),
            build_frame(FrameType.DATA, _END, 3, b'{"reason":"BadTopic"}'),
            build_frame(FrameType.HEADERS, 0, 5, block[:20]),
            build_frame(FrameType.CONTINUATION, 0, 5, block[20:100]),
            build_frame(FrameType.CONTINUATION, _LAST, 5, block[100:]),
            build_frame(FrameType.DATA, _END | Flag.PADDED, 5, padded),
            build_frame(FrameType.HEADERS, _LAST, 7, _headers("103", ("link", "x"))),
            build_frame(FrameType.HEADERS, _LAST, 7, _headers("200")),
            build_frame(250, 0, 0, b"of a kind nobody knows"),  # type: ignore[arg-type] # on purpose
            build_frame(FrameType.DATA, _END, 7, b"late"),
        ]
    )


def _pieces(data: bytes, cuts: list[int]) -> Iterator[bytes]:
    ends = [*sorted(cut % len(data) for cut in cuts), len(data)]
    start = 0
    for end in ends:
        yield data[start:end]
        start = end


@settings(max_examples=60, deadline=None)
@given(st.lists(st.integers(0, 10_000), max_size=40))
def test_answers_are_the_same_however_they_are_cut(cuts: list[int]) -> None:
    connection, owner, transport = _connected(4)
    connection.data_received(_settings())
    connection.verified = True
    connection.fill(owner.queue)

    for piece in _pieces(_answers(), cuts):
        connection.data_received(piece)

    told = [(each.status, each.body) for each in owner.outcomes if isinstance(each, PushResponse)]
    assert told == [(200, b""), (400, b'{"reason":"BadTopic"}'), (410, b"gone"), (200, b"late")]
    assert connection.peer_streams == 50
    assert build_frame(FrameType.PING, Flag.ACK, 0, b"12345678") in transport.written


def test_nothing_is_sent_before_the_host_told_its_settings() -> None:
    connection, owner, transport = _connected(2)
    greeting = bytes(transport.written)

    connection.fill(owner.queue)
    before = bytes(transport.written)
    connection.data_received(_settings(MAX_CONCURRENT_STREAMS=1))

    assert before == greeting
    assert len(owner.queue) == 1


def test_a_limit_of_none_stops_everything() -> None:
    connection, owner, _ = _connected(2)

    connection.data_received(_settings(MAX_CONCURRENT_STREAMS=0))

    assert len(owner.queue) == 2


def test_a_farewell_gives_back_what_the_host_did_not_look_at() -> None:
    connection, owner, transport = _connected(3)
    connection.verified = True
    connection.data_received(_settings())

    connection.data_received(
        goaway_frame(3, ErrorCode.NO_ERROR)
        + build_frame(FrameType.HEADERS, _LAST | _END, 1, b"\x88")
    )

    assert owner.taken_back == [2]
    assert isinstance(owner.outcomes[0], PushResponse)
    assert (connection.open, connection.in_flight, transport.ended) == (False, 1, False)


def test_a_reset_that_says_why_is_told() -> None:
    connection, owner, _ = _connected(2)
    connection.verified = True
    connection.data_received(_settings())

    connection.data_received(
        reset_frame(1, ErrorCode.PROTOCOL_ERROR) + reset_frame(3, ErrorCode.REFUSED_STREAM)
    )

    assert owner.outcomes[0] == NoResponse("the stream was reset with code 1", sent=True)
    assert owner.taken_back == [1]


@pytest.mark.parametrize(
    "nonsense",
    [
        b"HTTP/1.1 400 Bad Request\r\n\r\n",
        build_frame(FrameType.SETTINGS, 0, 0, b"12345"),
        build_frame(FrameType.GOAWAY, 0, 0, b"1"),
        build_frame(FrameType.WINDOW_UPDATE, 0, 0, b"1"),
        build_frame(FrameType.WINDOW_UPDATE, 0, 0, b"\x7f\xff\xff\xff") * 2,
        build_frame(FrameType.CONTINUATION, 0, 1, b"x"),
        build_frame(FrameType.HEADERS, 0, 1, b"\x88")
        + build_frame(FrameType.PING, 0, 0, b"12345678"),
        build_frame(FrameType.HEADERS, _LAST | _END, 1, b"\xff\xff\xff\xff\xff"),
        build_frame(FrameType.HEADERS, _LAST | _END, 1, b""),
        build_frame(FrameType.HEADERS, _LAST | Flag.PADDED, 1, b""),
        build_frame(FrameType.PUSH_PROMISE, 0, 1, b"\x00\x00\x00\x02"),
    ],
)
def test_what_is_no_http2_ends_the_connection(nonsense: bytes) -> None:
    connection, owner, transport = _connected(1)
    connection.data_received(_settings())

    connection.data_received(nonsense)
    connection.connection_lost(None)

    assert transport.ended
    assert isinstance(owner.outcomes[0], NoResponse)


@settings(max_examples=150, deadline=None)
@given(st.binary(max_size=200))
def test_no_bytes_of_a_host_can_do_harm(data: bytes) -> None:
    connection, owner, _ = _connected(3)
    connection.verified = True
    connection.data_received(_settings())

    connection.data_received(data)
    connection.connection_lost(None)

    assert connection.in_flight == 0
    assert None not in [
        each for at, each in enumerate(owner.outcomes) if at not in owner.taken_back
    ]
