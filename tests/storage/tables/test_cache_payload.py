"""A payload comes back from its bytes as it was, or it does not come back."""

from __future__ import annotations

import dataclasses
import zlib
from decimal import Decimal
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from grandstand.storage.tables.cache_payload import (
    DEFLATED,
    PLAIN,
    Manifest,
    Packed,
    PayloadDamaged,
    PayloadTooLarge,
    join,
    pack_payload,
    split,
    unpack_payload,
)
from tests.storage.tables.cache.races import incompressible

_LEAVES = (
    st.none()
    | st.booleans()
    | st.integers(-(2**63), 2**63 - 1)
    | st.decimals(-(10**9), 10**9, places=3).map(Decimal.normalize)
    | st.text()
    | st.binary()
)
_VALUES = st.recursive(
    _LEAVES, lambda inner: st.lists(inner) | st.dictionaries(st.text(min_size=1), inner)
)
MANIFEST = Manifest(3, "g", 10, Packed(b"0123456789", PLAIN).sha256, PLAIN)


@given(_VALUES)
def test_whatever_was_packed_is_unpacked(value: Any) -> None:
    packed = pack_payload(value, max_inflated=10_000_000)

    assert unpack_payload(packed, max_inflated=10_000_000) == value


def test_what_can_be_compressed_is() -> None:
    text, noise = "ab" * 50_000, incompressible(50_000)

    shorter = pack_payload(text, max_inflated=1_000_000)
    same = pack_payload(noise, max_inflated=1_000_000)

    assert (shorter.enc, same.enc) == (DEFLATED, PLAIN)
    assert len(shorter.data) < 1_000
    assert len(same.data) < 50_100


def test_a_payload_over_what_is_read_is_not_written() -> None:
    with pytest.raises(PayloadTooLarge, match="the limit is 1,000"):
        pack_payload("a" * 1_001, max_inflated=1_000)


def test_bytes_that_grow_without_end_are_not_read() -> None:
    bomb = Packed(zlib.compress(b"\x00" * 50_000_000), DEFLATED)

    with pytest.raises(PayloadDamaged, match="more than 1,000,000"):
        unpack_payload(bomb, max_inflated=1_000_000)

    assert len(bomb.data) < 100_000


@pytest.mark.parametrize(
    "packed",
    [
        Packed(b"nonsense", DEFLATED),
        Packed(pack_payload("ab" * 1_000, max_inflated=10_000).data[:-9], DEFLATED),
        Packed(pack_payload("ab" * 1_000, max_inflated=10_000).data[:-2], DEFLATED),
        Packed(b"\xc1", PLAIN),
        Packed(b"\x90", PLAIN),
        Packed(b"\x80", PLAIN),
        Packed(b"", "brotli"),
    ],
)
def test_bytes_that_are_no_payload_are_damaged(packed: Packed) -> None:
    with pytest.raises(PayloadDamaged):
        unpack_payload(packed, max_inflated=10_000)


def test_parts_are_put_together_in_order() -> None:
    parts = split(b"0123456789", 4)

    joined = join(MANIFEST, parts)

    assert parts == (b"0123", b"4567", b"89")
    assert joined == Packed(b"0123456789", PLAIN)


@pytest.mark.parametrize(
    "parts",
    [
        (b"0123", None, b"89"),
        (b"0123", b"4567"),
        (b"0123", b"4567", b"89", b""),
        (b"4567", b"0123", b"89"),
        (b"0123", b"4567", b"8"),
        (),
    ],
)
def test_parts_that_are_not_whole_are_refused(parts: tuple[bytes | None, ...]) -> None:
    with pytest.raises(PayloadDamaged):
        join(MANIFEST, parts)


@pytest.mark.parametrize(
    "change", [{"total_bytes": 11}, {"sha256": Packed(b"", PLAIN).sha256}, {"chunks": 4}]
)
def test_parts_of_another_manifest_are_refused(change: dict[str, Any]) -> None:
    with pytest.raises(PayloadDamaged):
        join(dataclasses.replace(MANIFEST, **change), (b"0123", b"4567", b"89"))
