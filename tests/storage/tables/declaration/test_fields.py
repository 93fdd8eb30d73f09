"""Records inside items: how they are written, and what is made of them again."""

from dataclasses import dataclass, field
from decimal import Decimal

import pytest

from grandstand.storage.tables.declaration.fields import Codec, codec_for, keep_name


@dataclass(frozen=True, slots=True)
class Run:
    """A record whose fields come in order."""

    track: str
    metres: int | None = None
    odds: Decimal | None = field(default=None, metadata={"attribute": "win_odds"})
    corners: tuple[int, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class Named:
    """A record whose fields are given by name."""

    track: str
    metres: int = 1600


def codec_of(kind: type) -> Codec:
    return codec_for(kind, "epoch", keep_name)


@pytest.mark.parametrize(
    "record",
    [
        Run("Tokyo", 2400, Decimal("3.4"), (1, 2)),
        Run("Kyoto"),
        Run("Hanshin", odds=Decimal(10)),
        Named(track="Nakayama"),
        Named(track="Chukyo", metres=1200),
    ],
)
def test_a_record_comes_back_as_it_was(record: Run | Named) -> None:
    codec = codec_of(type(record))
    assert codec.encode is not None
    assert codec.decode is not None

    stored = codec.encode(record)

    assert codec.decode(stored) == record


def test_what_a_record_does_not_know_is_not_written() -> None:
    codec = codec_of(Run)
    assert codec.encode is not None

    stored = codec.encode(Run("Tokyo", odds=Decimal("1.5")))

    assert stored == {"track": "Tokyo", "win_odds": Decimal("1.5"), "corners": []}


@pytest.mark.parametrize("kind", [Run, Named])
def test_a_record_without_what_it_must_have_is_refused_by_its_name(kind: type) -> None:
    codec = codec_of(kind)
    assert codec.decode is not None

    with pytest.raises(TypeError, match="track"):
        codec.decode({"metres": 1800})
