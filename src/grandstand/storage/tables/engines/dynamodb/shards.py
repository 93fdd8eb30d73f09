"""Kept here: how far a consumer has read a stream, shard by shard, parents before their children.

A mark says where to go on in a shard: "0" from the oldest kept, "=n" at a sequence number, ">n"
after one, "@t" from a moment in seconds since 1970.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any, Final

import msgspec

from grandstand.storage.tables.errors import ChangesLost

OLDEST: Final = "0"


@dataclass(frozen=True, slots=True)
class Shard:
    """One shard as the service lists it; a closed one gets no more records."""

    id: str
    parent: str | None
    first: str
    closed: bool


@dataclass(frozen=True, slots=True)
class Place:
    """Where a consumer is: a mark for every shard still to be read, and the shards read to the end.

    A finished shard is remembered while the service lists it.
    """

    stream: str
    marks: Mapping[str, str] = field(default_factory=dict)
    done: frozenset[str] = frozenset()

    def read(self, shard: str, mark: str) -> Place:
        """Move on within a shard."""
        return Place(self.stream, {**self.marks, shard: mark}, self.done)

    def finished(self, shard: str) -> Place:
        """Leave a shard that was read to its end."""
        marks = {name: mark for name, mark in self.marks.items() if name != shard}
        return Place(self.stream, marks, self.done | {shard})


def encode(place: Place) -> str:
    """Write a place as the text a consumer keeps."""
    kept = {"s": place.stream, "m": dict(place.marks), "d": sorted(place.done)}
    return msgspec.json.encode(kept).decode()


def decode(text: str) -> Place:
    """Read a place back; raise ChangesLost when the text is none of ours."""
    try:
        kept = msgspec.json.decode(text, type=_Kept)
    except msgspec.DecodeError as fault:
        message = "The position was not kept by this engine: rebuild from the table, then go on"
        raise ChangesLost(message) from fault
    return Place(kept.s, kept.m, frozenset(kept.d))


class _Kept(msgspec.Struct):
    s: str
    m: dict[str, str]
    d: list[str]


def shards_of(listed: Iterable[Mapping[str, Any]]) -> tuple[Shard, ...]:
    """Read shards from DescribeStream's list."""
    return tuple(
        Shard(
            id=shard["ShardId"],
            parent=shard.get("ParentShardId"),
            first=(shard.get("SequenceNumberRange") or {}).get("StartingSequenceNumber") or "",
            closed="EndingSequenceNumber" in (shard.get("SequenceNumberRange") or {}),
        )
        for shard in listed
    )


def from_oldest(stream: str, shards: Iterable[Shard]) -> Place:
    """Start before everything the stream still has."""
    return Place(stream, {shard.id: OLDEST for shard in shards})


def from_moment(stream: str, shards: Iterable[Shard], moment: int) -> Place:
    """Start after everything the stream has: only open shards matter, from this moment on."""
    known = tuple(shards)
    return Place(
        stream,
        {shard.id: f"@{moment}" for shard in known if not shard.closed},
        frozenset(shard.id for shard in known if shard.closed),
    )


def merged(place: Place, shards: Iterable[Shard]) -> Place:
    """Take in the shards listed now.

    Raises ChangesLost when a shard still to be read is gone, or a new one descends from a shard
    that came and went unseen.
    """
    listed = {shard.id: shard for shard in shards}
    if not place.marks.keys() <= listed.keys():
        raise trimmed()
    known = place.marks.keys() | place.done
    marks = dict(place.marks)
    for shard in listed.values():
        if shard.id in known:
            continue
        if shard.parent is None:
            marks[shard.id] = OLDEST
        elif shard.parent in known or shard.parent in listed:
            marks[shard.id] = f"={shard.first}" if shard.first else OLDEST
        elif known:
            raise trimmed()
        else:
            marks[shard.id] = OLDEST
    return Place(place.stream, marks, place.done & listed.keys())


def ready(place: Place, shards: Iterable[Shard]) -> tuple[Shard, ...]:
    """Name the shards that can be read now: those whose parent is not still to be read."""
    return tuple(
        shard for shard in shards if shard.id in place.marks and shard.parent not in place.marks
    )


def trimmed() -> ChangesLost:
    """Say that changes after the consumer's position are gone."""
    return ChangesLost(
        "Changes after this position are no longer kept: rebuild from the table, then go on"
    )
