"""Reading the changes of a table from DynamoDB Streams."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from contextlib import suppress
from dataclasses import dataclass, field
from datetime import UTC, datetime
from threading import Lock
from typing import Any, Final, TypeAlias

import msgspec

from grandstand.core.clock import Clock
from grandstand.storage.tables.encoding import item_from_wire
from grandstand.storage.tables.engines.dynamodb.client import DynamoClient
from grandstand.storage.tables.errors import ChangesLost, IteratorExpired, TableNotFound
from grandstand.storage.tables.requests import Change, ChangeBatch

Shape: TypeAlias = dict[str, Any]
# Stream, shard and mark.
IteratorKey: TypeAlias = tuple[str, str, str]

OLDEST: Final = "0"

_PAGE_SIZE: Final = 1000
_SHARD_CACHE_SECONDS: Final = 30.0
# Iterators of the service expire after 15 minutes.
_ITERATOR_CACHE_SECONDS: Final = 600.0
_MAX_ITERATORS: Final = 1000
# A page may be empty although records follow; after this many in a row none are expected.
_MAX_EMPTY_PAGES_OPEN: Final = 3
_MAX_EMPTY_PAGES_CLOSED: Final = 20
# Some services truncate creation times to the minute, and clocks may differ by five minutes.
_TIME_SLACK_SECONDS: Final = 360.0
_TTL_PRINCIPAL: Final = "dynamodb.amazonaws.com"


@dataclass(frozen=True, slots=True)
class Shard:
    """A shard as listed by the service; a closed shard receives no more records."""

    id: str
    parent: str | None
    first: str
    closed: bool


@dataclass(frozen=True, slots=True)
class StreamPosition:
    """Position of a consumer: a mark for every shard to be read, and the finished shards.

    A mark is "0" (oldest), "=N" (at sequence number N), ">N" (after N) or "@T" (at time T). A
    finished shard is remembered as long as the service lists it.
    """

    stream: str
    marks: Mapping[str, str] = field(default_factory=dict)
    done: frozenset[str] = frozenset()

    def advance(self, shard: str, mark: str) -> StreamPosition:
        """Return the position after reading up to a mark."""
        return StreamPosition(self.stream, {**self.marks, shard: mark}, self.done)

    def finish(self, shard: str) -> StreamPosition:
        """Return the position after the end of a shard."""
        marks = {name: mark for name, mark in self.marks.items() if name != shard}
        return StreamPosition(self.stream, marks, self.done | {shard})


class _StoredPosition(msgspec.Struct):
    s: str
    m: dict[str, str]
    d: list[str]


def encode_position(position: StreamPosition) -> str:
    """Return a position as text, for a consumer to store."""
    stored = {"s": position.stream, "m": dict(position.marks), "d": sorted(position.done)}
    return msgspec.json.encode(stored).decode()


def decode_position(text: str) -> StreamPosition:
    """Parse the text of a position.

    Raises ChangesLost if this engine did not write it.
    """
    try:
        stored = msgspec.json.decode(text, type=_StoredPosition)
    except msgspec.DecodeError as error:
        message = "The stream position belongs to another engine. Rebuild from the table."
        raise ChangesLost(message) from error
    return StreamPosition(stored.s, stored.m, frozenset(stored.d))


def parse_shards(shapes: Iterable[Mapping[str, Any]]) -> tuple[Shard, ...]:
    """Parse the shards of a DescribeStream response."""
    return tuple(
        Shard(
            id=shape["ShardId"],
            parent=shape.get("ParentShardId"),
            first=(shape.get("SequenceNumberRange") or {}).get("StartingSequenceNumber") or "",
            closed="EndingSequenceNumber" in (shape.get("SequenceNumberRange") or {}),
        )
        for shape in shapes
    )


def oldest_position(stream: str, shards: Iterable[Shard]) -> StreamPosition:
    """Return the position before all records of the stream."""
    return StreamPosition(stream, {shard.id: OLDEST for shard in shards})


def position_at(stream: str, shards: Iterable[Shard], epoch: int) -> StreamPosition:
    """Return the position at a time after all current records; only open shards matter."""
    known = tuple(shards)
    return StreamPosition(
        stream,
        {shard.id: f"@{epoch}" for shard in known if not shard.closed},
        frozenset(shard.id for shard in known if shard.closed),
    )


def update_shards(position: StreamPosition, shards: Iterable[Shard]) -> StreamPosition:
    """Return the position with the shards listed now.

    Raises ChangesLost if a shard to be read is gone, or if a new one descends from an unknown one.
    """
    listed = {shard.id: shard for shard in shards}
    if not position.marks.keys() <= listed.keys():
        raise changes_lost()
    known = position.marks.keys() | position.done
    marks = dict(position.marks)
    for shard in listed.values():
        if shard.id in known:
            continue
        if shard.parent is None:
            marks[shard.id] = OLDEST
        elif shard.parent in known or shard.parent in listed:
            marks[shard.id] = f"={shard.first}" if shard.first else OLDEST
        elif known:
            raise changes_lost()
        else:
            marks[shard.id] = OLDEST
    return StreamPosition(position.stream, marks, position.done & listed.keys())


def readable_shards(position: StreamPosition, shards: Iterable[Shard]) -> tuple[Shard, ...]:
    """Return the shards that can be read now: those whose parent has been read."""
    return tuple(
        shard
        for shard in shards
        if shard.id in position.marks and shard.parent not in position.marks
    )


def changes_lost() -> ChangesLost:
    """Return the error for changes that have been trimmed."""
    return ChangesLost(
        "Changes after this position are no longer available. Rebuild from the table."
    )


@dataclass(frozen=True, slots=True)
class _Page:
    records: tuple[Shape, ...]
    ended: bool


@dataclass(slots=True)
class StreamReader:
    """Reads streams by their ARN, and caches shard lists and iterators."""

    client: DynamoClient
    clock: Clock
    _shard_lists: dict[str, tuple[float, tuple[Shard, ...]]] = field(default_factory=dict)
    _iterators: dict[IteratorKey, tuple[float, str]] = field(default_factory=dict)
    _lock: Lock = field(default_factory=Lock)

    def changes(self, stream: str, position: str | None, limit: int) -> ChangeBatch:
        """Return changes after a position, or from the oldest if it is None.

        Changes of one item are in order.

        Raises ChangesLost if the position has been trimmed or the stream replaced.
        """
        current, shards = self._resume(stream, position)
        changes: list[Change] = []
        while True:
            before = current, len(changes)
            for shard in readable_shards(current, shards):
                if len(changes) >= limit:
                    return ChangeBatch(tuple(changes), encode_position(current), caught_up=False)
                page = self._read_page(current, shard, min(_PAGE_SIZE, limit - len(changes)))
                changes += (_parse_change(record) for record in page.records)
                if page.records:
                    last = page.records[-1]["dynamodb"]["SequenceNumber"]
                    current = current.advance(shard.id, f">{last}")
                if page.ended:
                    current = current.finish(shard.id)
            if current.done != before[0].done:
                shards = self._list_shards(stream, fresh=True)
                current = update_shards(current, shards)
            if (current, len(changes)) == before:
                return ChangeBatch(tuple(changes), encode_position(current), caught_up=True)

    def latest_position(self, stream: str) -> str:
        """Return the position after which only future changes are read.

        The service has no sequence number for "now", so until this engine has read the first
        change, the position is a time. Another process, or this one after 15 idle minutes, may
        see changes of the last six minutes before it.
        """
        shards = self._list_shards(stream, fresh=True)
        position = position_at(stream, shards, int(self.clock.epoch()))
        for shard, mark in position.marks.items():
            iterator = self._new_iterator(stream, shard, {"ShardIteratorType": "LATEST"})
            self._cache_iterator((stream, shard, mark), iterator)
        return encode_position(position)

    def _resume(self, stream: str, text: str | None) -> tuple[StreamPosition, tuple[Shard, ...]]:
        shards = self._list_shards(stream)
        if text is None:
            return oldest_position(stream, shards), shards
        position = decode_position(text)
        if position.stream != stream:
            raise ChangesLost("The stream has been replaced. Rebuild from the table.")
        try:
            position = update_shards(position, shards)
        except ChangesLost:
            shards = self._list_shards(stream, fresh=True)
            return update_shards(position, shards), shards
        if not position.marks:
            shards = self._list_shards(stream, fresh=True)
            position = update_shards(position, shards)
        return position, shards

    def _list_shards(self, stream: str, *, fresh: bool = False) -> tuple[Shard, ...]:
        now = self.clock.monotonic()
        with self._lock:
            cached_at, shards = self._shard_lists.get(stream, (0.0, ()))
        if shards and not fresh and now - cached_at < _SHARD_CACHE_SECONDS:
            return shards
        shapes: list[Shape] = []
        parameters: Shape = {"StreamArn": stream}
        while True:
            response = self.client.send("describe_stream", parameters)["StreamDescription"]
            shapes += response.get("Shards") or ()
            last = response.get("LastEvaluatedShardId")
            if not last:
                break
            parameters = {"StreamArn": stream, "ExclusiveStartShardId": last}
        shards = parse_shards(shapes)
        with self._lock:
            self._shard_lists[stream] = (now, shards)
        return shards

    def _read_page(self, position: StreamPosition, shard: Shard, limit: int) -> _Page:
        """Return the next records of a shard; skips empty pages and records that are too old."""
        key = (position.stream, shard.id, position.marks[shard.id])
        oldest = float(key[2][1:]) - _TIME_SLACK_SECONDS if key[2].startswith("@") else None
        open_limit = 1 if self._cached_iterator(key) else _MAX_EMPTY_PAGES_OPEN
        empty, max_empty = 0, _MAX_EMPTY_PAGES_CLOSED if shard.closed else open_limit
        while empty < max_empty:
            response = self._read_records(key, limit)
            all_records = response.get("Records") or ()
            records = tuple(
                record
                for record in all_records
                if oldest is None or _created_at(record).timestamp() >= oldest
            )
            next_iterator = response.get("NextShardIterator")
            if records:
                key = (*key[:2], f">{records[-1]['dynamodb']['SequenceNumber']}")
            if next_iterator:
                self._cache_iterator(key, next_iterator)
            if records or not next_iterator:
                return _Page(records, ended=not next_iterator)
            empty += not all_records
        return _Page((), ended=False)

    def _read_records(self, key: IteratorKey, limit: int) -> Shape:
        iterator, send = self._cached_iterator(key), self.client.send
        try:
            if iterator is not None:
                # DynamoDB Local reports an iterator from before the first record as trimmed. If
                # the position itself was trimmed, a new iterator fails in the same way.
                with suppress(IteratorExpired, ChangesLost):
                    return send("get_records", {"ShardIterator": iterator, "Limit": limit})
            iterator = self._new_iterator(*key[:2], _iterator_start(key[2]))
            return send("get_records", {"ShardIterator": iterator, "Limit": limit})
        except TableNotFound as error:
            raise changes_lost() from error

    def _new_iterator(self, stream: str, shard: str, start: Shape) -> str:
        response = self.client.send(
            "get_shard_iterator", {"StreamArn": stream, "ShardId": shard, **start}
        )
        return str(response["ShardIterator"])

    def _cached_iterator(self, key: IteratorKey) -> str | None:
        with self._lock:
            cached_at, iterator = self._iterators.get(key, (0.0, ""))
        fresh = iterator and self.clock.monotonic() - cached_at < _ITERATOR_CACHE_SECONDS
        return iterator if fresh else None

    def _cache_iterator(self, key: IteratorKey, iterator: str) -> None:
        with self._lock:
            self._iterators.pop(key, None)
            if len(self._iterators) >= _MAX_ITERATORS:
                del self._iterators[next(iter(self._iterators))]
            self._iterators[key] = (self.clock.monotonic(), iterator)


def _iterator_start(mark: str) -> Shape:
    if mark.startswith("="):
        return {"ShardIteratorType": "AT_SEQUENCE_NUMBER", "SequenceNumber": mark[1:]}
    if mark.startswith(">"):
        return {"ShardIteratorType": "AFTER_SEQUENCE_NUMBER", "SequenceNumber": mark[1:]}
    assert mark == OLDEST or mark.startswith("@")  # noqa: S101 - there are no other marks
    return {"ShardIteratorType": "TRIM_HORIZON"}


def _created_at(record: Shape) -> datetime:
    created: datetime = record["dynamodb"]["ApproximateCreationDateTime"]
    return created.astimezone(UTC)


def _parse_change(record: Shape) -> Change:
    body = record["dynamodb"]
    old, new = body.get("OldImage"), body.get("NewImage")
    identity = record.get("userIdentity") or {}
    return Change(
        sequence=body["SequenceNumber"],
        kind=record["eventName"],
        keys=item_from_wire(body["Keys"]),
        old=None if old is None else item_from_wire(old),
        new=None if new is None else item_from_wire(new),
        at=_created_at(record),
        expired=identity.get("Type") == "Service" and identity.get("PrincipalId") == _TTL_PRINCIPAL,
        size_bytes=body.get("SizeBytes", 0),
    )
