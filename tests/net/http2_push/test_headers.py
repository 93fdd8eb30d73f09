"""Encoded headers can be decoded by any HPACK decoder."""

import string

import pytest
from hpack import Decoder, Encoder
from hypothesis import given, settings
from hypothesis import strategies as st

from grandstand.net.errors import InvalidResponse
from grandstand.net.http2_push.requests import (
    decode_headers,
    decode_status,
    encode_headers,
    encode_method_and_authority,
    encode_path,
)

_NAMES = st.text(string.ascii_lowercase + "-", min_size=1, max_size=40)
_VALUES = st.text(string.ascii_letters + string.digits + " .-/", max_size=1_500)
_PAIRS = st.lists(st.tuples(_NAMES, _VALUES), max_size=6)


@settings(max_examples=60, deadline=None)
@given(_PAIRS, _VALUES)
def test_whatever_is_packed_is_read_back(pairs: list[tuple[str, str]], path: str) -> None:
    decoder = Decoder()
    block = (
        encode_method_and_authority("POST", "host:443")
        + encode_path("/" + path)
        + encode_headers(pairs)
    )

    read = [(str(name), str(value)) for name, value in decoder.decode(block)]

    start = [(":method", "POST"), (":scheme", "https"), (":authority", "host:443")]
    assert read == [*start, (":path", "/" + path), *pairs]
    assert len(decoder.header_table.dynamic_entries) == 0


@pytest.mark.parametrize("status", ["200", "204", "400", "403", "404", "410", "429", "500", "503"])
def test_a_status_is_found_with_and_without_a_change_of_the_table(status: str) -> None:
    encoder = Encoder()
    plain = encoder.encode([(":status", status)])
    encoder.header_table_size = 0
    changed = encoder.encode([(":status", status), ("apns-id", "x")])

    found = (decode_status(plain), decode_status(changed), decode_headers(changed)["apns-id"])

    assert found == (int(status), int(status), "x")


@pytest.mark.parametrize("block", [b"", b"\xff\xff", b"\x40\x01a\x01b", b"\xbe"])
def test_headers_without_a_status_are_garbled(block: bytes) -> None:
    with pytest.raises(InvalidResponse):
        decode_status(block)
