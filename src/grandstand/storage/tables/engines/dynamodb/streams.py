"""Kept here: a table's changes, read from DynamoDB Streams."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass, field
from datetime import UTC, datetime
from threading import Lock
from typing import Any, Final, TypeAlias

from grandstand.base.clock import Clock
from grandstand.storage.tables.encoding.attributes import item_from_wire
from grandstand.storage.tables.engines.dynamodb.calls import Calls
from grandstand.storage.tables.engines.dynamodb.shards import (
    OLDEST,
    Place,
    Shard,
    decode,
    encode,
    from_moment,
    from_oldest,
    merged,
    ready,
    shards_of,
    trimmed,
)
from grandstand.storage.tables.errors import ChangesLost, IteratorExpired, TableNotFound
from grandstand.storage.tables.requests import Change, ChangeBatch

Shape: TypeAlias = dict[str, Any]

_PAGE: Final = 1000
_LISTING_SECONDS: Final = 30.0
# The service's iterators live for 15 minutes.
_ITERATOR_SECONDS: Final = 600.0
_ITERATORS: Final = 1000
# A page may be empty although records follow; after so many in a row none are taken to follow.
_EMPTY_OPEN: Final = 3
_EMPTY_CLOSED: Final = 20
# Creation times are cut to the minute by some services, and clocks may differ by five minutes.
_MOMENT_SLACK: Final = 360.0
_SERVICE: Final = "dynamodb.amazonaws.com"


@dataclass(frozen=True, slots=True)
class _Page:
    records: tuple[Shape, ...]
    ended: bool


@dataclass(slots=True)
class Streams:
    """Reads streams, and remembers shard lists and iterators between calls.

    `stream_of` names the stream a table has now, and raises when it has none.
    """

    calls: Calls
    clock: Clock
    stream_of: Callable[[str], str]
    _listings: dict[str, tuple[float, tuple[Shard, ...]]] = field(default_factory=dict)
    _iterators: dict[tuple[str, str, str], tuple[float, str]] = field(default_factory=dict)
    _lock: Lock = field(default_factory=Lock)

    def changes(self, table: str, position: str | None, limit: int) -> ChangeBatch:
        """Read changes after a position, None meaning the oldest kept.

        Order holds within an item. Raises ChangesLost when the position was trimmed, or the
        stream was replaced by another since.
        """
        stream = self.stream_of(table)
        place, shards = self._arrive(stream, position)
        changes: list[Change] = []
        while True:
            before = place, len(changes)
            for shard in ready(place, shards):
                if len(changes) >= limit:
                    return ChangeBatch(tuple(changes), encode(place), caught_up=False)
                page = self._page(place, shard, min(_PAGE, limit - len(changes)))
                changes += (_change(record) for record in page.records)
                if page.records:
                    last = page.records[-1]["dynamodb"]["SequenceNumber"]
                    place = place.read(shard.id, f">{last}")
                if page.ended:
                    place = place.finished(shard.id)
            if place.done != before[0].done:
                shards = self._listing(stream, fresh=True)
                place = merged(place, shards)
            if (place, len(changes)) == before:
                return ChangeBatch(tuple(changes), encode(place), caught_up=True)

    def latest_position(self, table: str) -> str:
        """Answer the position after which only changes still to come are read.

        The service tells no sequence number for "now", so until the first change is read through
        this engine the position is a moment: another process, or this one after 15 idle minutes,
        may see changes of the last six minutes before it.
        """
        stream = self.stream_of(table)
        shards = self._listing(stream, fresh=True)
        place = from_moment(stream, shards, int(self.clock.epoch()))
        for shard, mark in place.marks.items():
            iterator = self._new_iterator(stream, shard, {"ShardIteratorType": "LATEST"})
            self._remember((stream, shard, mark), iterator)
        return encode(place)

    def _arrive(self, stream: str, position: str | None) -> tuple[Place, tuple[Shard, ...]]:
        shards = self._listing(stream)
        if position is None:
            return from_oldest(stream, shards), shards
        place = decode(position)
        if place.stream != stream:
            message = "The stream was replaced by another: rebuild from the table, then go on"
            raise ChangesLost(message)
        try:
            place = merged(place, shards)
        except ChangesLost:
            shards = self._listing(stream, fresh=True)
            return merged(place, shards), shards
        if not place.marks:
            shards = self._listing(stream, fresh=True)
            place = merged(place, shards)
        return place, shards

    def _listing(self, stream: str, *, fresh: bool = False) -> tuple[Shard, ...]:
        now = self.clock.monotonic()
        with self._lock:
            at, shards = self._listings.get(stream, (0.0, ()))
        if shards and not fresh and now - at < _LISTING_SECONDS:
            return shards
        listed: list[Shape] = []
        parameters: Shape = {"StreamArn": stream}
        while True:
            answer = self.calls.send("describe_stream", parameters)["StreamDescription"]
            listed += answer.get("Shards") or ()
            last = answer.get("LastEvaluatedShardId")
            if not last:
                break
            parameters = {"StreamArn": stream, "ExclusiveStartShardId": last}
        shards = shards_of(listed)
        with self._lock:
            self._listings[stream] = (now, shards)
        return shards

    def _page(self, place: Place, shard: Shard, limit: int) -> _Page:
        """Read the next records of a shard, passing over empty pages; drop those too old."""
        where = (place.stream, shard.id, place.marks[shard.id])
        oldest = float(where[2][1:]) - _MOMENT_SLACK if where[2].startswith("@") else None
        tailing = 1 if self._kept(where) else _EMPTY_OPEN
        empty, most = 0, _EMPTY_CLOSED if shard.closed else tailing
        while empty < most:
            answer = self._records(where, limit)
            every = answer.get("Records") or ()
            records = tuple(
                record
                for record in every
                if oldest is None or _created(record).timestamp() >= oldest
            )
            onward = answer.get("NextShardIterator")
            if records:
                where = (*where[:2], f">{records[-1]['dynamodb']['SequenceNumber']}")
            if onward:
                self._remember(where, onward)
            if records or not onward:
                return _Page(records, ended=not onward)
            empty += not every
        return _Page((), ended=False)

    def _records(self, where: tuple[str, str, str], limit: int) -> Shape:
        iterator = self._kept(where)
        try:
            if iterator is not None:
                # DynamoDB Local calls an iterator from before the first record trimmed; where the
                # place itself was trimmed, asking for a new iterator says so again.
                with suppress(IteratorExpired, ChangesLost):
                    return self._get(iterator, limit)
            iterator = self._new_iterator(*where[:2], _start(where[2]))
            return self._get(iterator, limit)
        except TableNotFound as gone:
            raise trimmed() from gone

    def _get(self, iterator: str, limit: int) -> Shape:
        return self.calls.send("get_records", {"ShardIterator": iterator, "Limit": limit})

    def _new_iterator(self, stream: str, shard: str, start: Shape) -> str:
        answer = self.calls.send(
            "get_shard_iterator", {"StreamArn": stream, "ShardId": shard, **start}
        )
        return str(answer["ShardIterator"])

    def _kept(self, where: tuple[str, str, str]) -> str | None:
        with self._lock:
            at, iterator = self._iterators.get(where, (0.0, ""))
        fresh = iterator and self.clock.monotonic() - at < _ITERATOR_SECONDS
        return iterator if fresh else None

    def _remember(self, where: tuple[str, str, str], iterator: str) -> None:
        with self._lock:
            self._iterators.pop(where, None)
            if len(self._iterators) >= _ITERATORS:
                del self._iterators[next(iter(self._iterators))]
            self._iterators[where] = (self.clock.monotonic(), iterator)


def _start(mark: str) -> Shape:
    if mark.startswith("="):
        return {"ShardIteratorType": "AT_SEQUENCE_NUMBER", "SequenceNumber": mark[1:]}
    if mark.startswith(">"):
        return {"ShardIteratorType": "AFTER_SEQUENCE_NUMBER", "SequenceNumber": mark[1:]}
    assert mark == OLDEST or mark.startswith("@")  # noqa: S101 - shards.py makes no other marks
    return {"ShardIteratorType": "TRIM_HORIZON"}


def _created(record: Shape) -> datetime:
    created: datetime = record["dynamodb"]["ApproximateCreationDateTime"]
    return created.astimezone(UTC)


def _change(record: Shape) -> Change:
    body = record["dynamodb"]
    old, new = body.get("OldImage"), body.get("NewImage")
    identity = record.get("userIdentity") or {}
    return Change(
        sequence=body["SequenceNumber"],
        kind=record["eventName"],
        keys=item_from_wire(body["Keys"]),
        old=None if old is None else item_from_wire(old),
        new=None if new is None else item_from_wire(new),
        at=_created(record),
        expired=identity.get("Type") == "Service" and identity.get("PrincipalId") == _SERVICE,
        size_bytes=body.get("SizeBytes", 0),
    )
