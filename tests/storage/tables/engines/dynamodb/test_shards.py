"""That a place in a stream takes in new shards, and knows when some were missed."""

from __future__ import annotations

import pytest

from grandstand.storage.tables.engines.dynamodb.streams import (
    Shard,
    StreamPosition,
    decode_position,
    encode_position,
    oldest_position,
    position_at,
    readable_shards,
    update_shards,
)
from grandstand.storage.tables.errors import ChangesLost

ROOT = Shard("root", "gone", "1", closed=True)
LEFT = Shard("left", "root", "5", closed=True)
RIGHT = Shard("right", "root", "5", closed=False)
LEAF = Shard("leaf", "left", "9", closed=False)
TREE = (ROOT, LEFT, RIGHT, LEAF)


def test_a_place_kept_as_text_is_read_back() -> None:
    place = StreamPosition("arn:x", {"left": ">7", "right": "=5"}, frozenset({"root"}))

    assert decode_position(encode_position(place)) == place


def test_from_the_oldest_only_roots_are_ready() -> None:
    place = oldest_position("arn:x", TREE)

    assert readable_shards(place, TREE) == (ROOT,)


def test_children_are_ready_when_their_parent_is_done() -> None:
    place = oldest_position("arn:x", TREE).finish("root")

    assert readable_shards(place, TREE) == (LEFT, RIGHT)


def test_from_a_moment_only_open_shards_are_read() -> None:
    place = position_at("arn:x", TREE, 17)

    assert place == StreamPosition(
        "arn:x", {"right": "@17", "leaf": "@17"}, frozenset({"root", "left"})
    )


def test_a_new_child_is_read_from_its_first_record() -> None:
    place = StreamPosition("arn:x", {"right": ">6"}, frozenset({"left"}))

    after = update_shards(place, (LEFT, RIGHT, LEAF))

    assert after.marks == {"right": ">6", "leaf": "=9"}


def test_a_new_shard_without_parents_is_read_from_the_oldest() -> None:
    place = StreamPosition("arn:x", {"right": ">6"})

    after = update_shards(place, (RIGHT, Shard("other", None, "7", closed=False)))

    assert after.marks == {"right": ">6", "other": "0"}


def test_what_is_done_and_no_longer_listed_is_forgotten() -> None:
    place = StreamPosition("arn:x", {"leaf": ">9"}, frozenset({"left", "root"}))

    after = update_shards(place, (LEFT, LEAF))

    assert after.done == {"left"}


def test_a_shard_to_be_read_that_is_gone_is_a_loss() -> None:
    place = StreamPosition("arn:x", {"left": ">7", "right": ">6"}, frozenset({"root"}))

    with pytest.raises(ChangesLost):
        update_shards(place, (RIGHT, LEAF))


def test_a_child_of_a_shard_never_seen_is_a_loss() -> None:
    place = StreamPosition("arn:x", {"right": ">6"}, frozenset({"root"}))

    with pytest.raises(ChangesLost):
        update_shards(place, (ROOT, RIGHT, LEAF))


def test_a_stream_that_had_no_shards_yet_begins_with_the_first_it_gets() -> None:
    after = update_shards(StreamPosition("arn:x"), (RIGHT,))

    assert after.marks == {"right": "0"}
