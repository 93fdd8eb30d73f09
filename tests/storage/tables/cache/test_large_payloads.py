"""A payload larger than an item is kept behind a manifest and never read in part."""

from __future__ import annotations

import dataclasses
from pathlib import Path
from typing import Any, cast

import pytest

from grandstand.core.clock import ManualClock
from grandstand.storage.tables import Naming, Store
from grandstand.storage.tables.attribute_values import Item, item_size
from grandstand.storage.tables.cache import CacheForm, CacheSettings, Limits
from grandstand.storage.tables.maintenance import backfill
from grandstand.storage.tables.platform_tables import PLATFORM_TABLES
from grandstand.storage.tables.requests import DeleteItem, PutItem
from tests.storage.tables.cache.races import (
    DAY,
    HORSES,
    PAGES,
    Events,
    HorseItem,
    Interrupted,
    cache_on,
    incompressible,
    keiba,
    on_engine,
    pages,
    returning,
    run_in_thread,
    stored,
)
from tests.storage.tables.unprocessed import leaving_unprocessed

pytestmark = pytest.mark.anyio

LARGE = {"page": incompressible(1_000_000)}
OTHER = {"page": incompressible(900_000, seed=2)}
KEY = HORSES.key(horse_id="7")
ONE_BY_ONE = CacheSettings(limits=Limits(transaction=0))


def parts_of(items: list[Item]) -> list[Item]:
    return sorted((item for item in items if "part" in item), key=lambda item: str(item["SK"]))


def manifest_of(items: list[Item]) -> Item:
    [manifest] = [item for item in items if "chunks" in item]
    return manifest


@pytest.fixture(params=["at once", "one by one"])
def settings(request: pytest.FixtureRequest) -> CacheSettings:
    return {"at once": CacheSettings(), "one by one": ONE_BY_ONE}[request.param]


async def test_a_large_payload_comes_back_whole(store: Store, settings: CacheSettings) -> None:
    cache = cache_on(store, settings=settings)

    kept = await cache.put(KEY, LARGE)

    assert kept
    assert (await cache.get(KEY)).value == LARGE


async def test_a_manifest_stands_at_the_exact_key_and_tells_its_parts(
    store: Store, settings: CacheSettings
) -> None:
    await cache_on(store, settings=settings).put(KEY, LARGE)

    items = stored(store, keiba)
    manifest, parts = manifest_of(items), parts_of(items)
    generation = str(manifest["generation"])
    assert (manifest["PK"], manifest["SK"]) == ("HORSE#7", "RESULTS#7")
    assert "data" not in manifest
    assert manifest["chunks"] == len(parts) == 3
    assert manifest["enc"] == "msgpack"
    assert [part["SK"] for part in parts] == [
        f"RESULTS#7#CHUNK#{generation}#000{number}" for number in (1, 2, 3)
    ]
    assert {part["PK"] for part in parts} == {"HORSE#7"}
    assert max(item_size(part) for part in parts) == 380_000
    lengths = [len(cast("bytes", part["part"])) for part in parts]
    assert sum(lengths) == manifest["total_bytes"]


async def test_parts_outlive_their_manifest(store: Store) -> None:
    await cache_on(store).put(KEY, LARGE)

    items = stored(store, keiba)
    expiry = int(str(manifest_of(items)["ttl"]))
    assert {int(str(part["ttl"])) - expiry for part in parts_of(items)} == {int(DAY)}


async def test_what_compresses_into_one_item_needs_no_parts(store: Store) -> None:
    cache = cache_on(store)
    payload = {"html": "<td>有馬記念</td>" * 100_000}

    await cache.put(KEY, payload)

    [item] = stored(store, keiba)
    assert item["enc"] == "msgpack+zlib"
    assert "data" not in item
    assert item_size(item) < 20_000
    assert (await cache.get(KEY)).value == payload


async def test_a_payload_just_under_the_limit_stays_native(store: Store) -> None:
    cache = cache_on(store)
    payload = {"page": "x" * 379_000}

    await cache.put(KEY, payload)

    [item] = stored(store, keiba)
    assert item["data"] == payload


async def test_compression_may_start_earlier(store: Store) -> None:
    cache = cache_on(store, settings=CacheSettings(limits=Limits(plain=1_000)))
    payload = {"html": "<td>" * 1_000}

    await cache.put(KEY, payload)

    [item] = stored(store, keiba)
    assert item["enc"] == "msgpack+zlib"
    assert (await cache.get(KEY)).value == payload


async def test_a_missing_part_makes_a_miss_and_never_a_part(
    store: Store, settings: CacheSettings
) -> None:
    events = Events()
    cache = cache_on(store, on_event=events, settings=settings)
    await cache.put(KEY, LARGE)
    part = parts_of(stored(store, keiba))[1]
    key = {name: part[name] for name in ("PK", "SK")}
    store.session.engine.delete(DeleteItem(store.session.name(keiba), key))

    answer = await cache.get(KEY)

    assert (answer.value, answer.state) == (None, "miss")
    assert [one.detail for one in events.events if one.kind == "damaged"] == [
        "2 of 3 chunks are present."
    ]


async def test_a_changed_part_makes_a_miss(store: Store) -> None:
    cache = cache_on(store)
    await cache.put(KEY, LARGE)
    part = parts_of(stored(store, keiba))[1]
    noise = incompressible(len(cast("bytes", part["part"])), seed=9)
    spoilt: Item = {**part, "part": noise}
    store.session.engine.put(PutItem(store.session.name(keiba), spoilt))

    answer = await cache.get(KEY)

    assert answer.state == "miss"
    assert cache.statistics().total.damaged == 1


async def test_a_damaged_entry_is_fetched_anew_and_whole_again(
    store: Store, clock: ManualClock
) -> None:
    cache = cache_on(store)
    await cache.put(KEY, LARGE)
    part = parts_of(stored(store, keiba))[0]
    key = {name: part[name] for name in ("PK", "SK")}
    store.session.engine.delete(DeleteItem(store.session.name(keiba), key))
    clock.advance(1)

    await cache.get_or_fetch(KEY, returning(OTHER))

    assert (await cache.get(KEY)).value == OTHER


@pytest.mark.parametrize("following", [OTHER, {"small": 1}], ids=["large", "small"])
async def test_the_parts_of_what_is_replaced_are_cleared_away(
    store: Store, clock: ManualClock, settings: CacheSettings, following: dict[str, Any]
) -> None:
    cache = cache_on(store, settings=settings)
    await cache.put(KEY, LARGE)
    before = {str(part["SK"]) for part in parts_of(stored(store, keiba))}
    clock.advance(1)

    await cache.put(KEY, following)

    after = {str(part["SK"]) for part in parts_of(stored(store, keiba))}
    assert len(before) == 3
    assert before & after == set()
    assert (await cache.get(KEY)).value == following


async def test_forgetting_clears_the_parts_away(store: Store) -> None:
    cache = cache_on(store)
    await cache.put(KEY, LARGE)

    await cache.forget(KEY)

    assert stored(store, keiba) == []


async def test_a_payload_that_came_too_late_leaves_no_parts(
    store: Store, clock: ManualClock, settings: CacheSettings
) -> None:
    cache = cache_on(store, settings=settings)

    async def slow() -> dict[str, Any]:
        clock.advance(40)
        await cache_on(store, "bob").put(KEY, {"from": "bob"})
        return LARGE

    await cache.get_or_fetch(KEY, slow)

    [item] = stored(store, keiba)
    assert item["data"] == {"from": "bob"}


async def test_a_reader_overtaken_by_a_writer_reads_the_new_payload(
    store: Store, clock: ManualClock
) -> None:
    writer = cache_on(store)
    await writer.put(KEY, LARGE)

    def overtake() -> None:
        clock.advance(1)
        run_in_thread(writer.put(KEY, OTHER))

    interrupted = Interrupted(store.session.engine, "batch_get", overtake)
    reader = cache_on(on_engine(store, interrupted), "bob")

    answer = await reader.get(KEY)

    assert interrupted.happened
    assert answer.value == OTHER
    assert reader.statistics().total.damaged == 0


async def test_a_payload_over_the_cap_is_told_and_not_kept(store: Store) -> None:
    events = Events()
    limits = Limits(payload=900_000)
    cache = cache_on(store, on_event=events, settings=CacheSettings(limits=limits))

    kept = await cache.put(KEY, LARGE)

    assert not kept
    assert stored(store, keiba) == []
    [notice] = events.events
    assert notice.kind == "rejected"
    assert "the limit is 900,000" in notice.detail


async def test_a_payload_that_is_not_kept_still_reaches_its_caller(store: Store) -> None:
    cache = cache_on(store, settings=CacheSettings(limits=Limits(payload=900_000)))

    answer = await cache.get_or_fetch(KEY, returning(LARGE))

    assert (answer.value, answer.state) == (LARGE, "miss")


async def test_a_compressed_payload_that_grows_too_far_is_a_miss(store: Store) -> None:
    await cache_on(store).put(KEY, {"html": "a" * 2_000_000})
    narrow = CacheSettings(limits=Limits(inflated=1_000_000))
    events = Events()

    answer = await cache_on(store, "bob", settings=narrow, on_event=events).get(KEY)

    assert answer.state == "miss"
    assert "inflates to more than 1,000,000 bytes" in events.events[0].detail


async def test_a_table_without_a_sort_key_has_its_parts_beside_the_partition(
    store: Store, settings: CacheSettings
) -> None:
    store.create((pages,))
    cache = cache_on(store, settings=settings)
    key = PAGES.key(url="http://a/b")
    body = incompressible(800_000)

    await cache.put(key, body)

    assert (await cache.get(key)).value == body
    urls = sorted(str(item["url"]) for item in stored(store, pages))
    assert urls[0] == "http://a/b"
    assert [url.split("#")[1] for url in urls[1:]] == ["CHUNK"] * 3


async def test_large_and_small_entries_are_got_together(store: Store) -> None:
    cache = cache_on(store)
    keys = [HORSES.key(horse_id=str(number)) for number in range(4)]
    await cache.put(keys[0], LARGE)
    await cache.put(keys[1], {"small": 1})
    await cache.put(keys[3], OTHER)

    answers = await cache.get_many(keys)

    assert [answer.value for answer in answers] == [LARGE, {"small": 1}, None, OTHER]


async def test_parts_left_over_by_a_batch_are_written_and_read_all_the_same(tmp_path: Path) -> None:
    clock = ManualClock()
    engine = leaving_unprocessed(2, clock, tmp_path / "faulty.db")
    store = Store(engine, naming=Naming(), clock=clock)
    store.create((*PLATFORM_TABLES, keiba))
    cache = cache_on(store, settings=ONE_BY_ONE)

    await cache.put(KEY, LARGE)

    assert (await cache.get(KEY)).value == LARGE
    engine.close()


@dataclasses.dataclass
class NoTransactions:
    """An engine that says it has no transactions, and would fail if one were asked of it."""

    engine: Any

    @property
    def capabilities(self) -> Any:
        return dataclasses.replace(self.engine.capabilities, transactions=False)

    def transact_write(self, request: object) -> None:
        pytest.fail(f"{request} was asked for")

    def __getattr__(self, name: str) -> Any:
        return getattr(self.engine, name)


async def test_without_transactions_parts_go_first(store: Store) -> None:
    cache = cache_on(on_engine(store, NoTransactions(store.session.engine)))

    await cache.put(KEY, LARGE)

    assert (await cache.get(KEY)).value == LARGE


async def test_the_schema_version_stands_on_parts_too(store: Store) -> None:
    await cache_on(store).put(KEY, LARGE)

    assert {item["schemaVersion"] for item in stored(store, keiba)} == {"2"}


async def test_a_backfill_leaves_parts_alone(store: Store) -> None:
    cache = cache_on(store)
    await cache.put(KEY, LARGE)

    report = backfill(store, HorseItem, progress=lambda _: None)

    assert (report.progress.upgraded, report.progress.failed) == (0, 0)
    assert (await cache.get(KEY)).value == LARGE


async def test_stale_use_lengthens_the_life_of_parts(store: Store) -> None:
    form: CacheForm[dict[str, Any]] = CacheForm(
        HorseItem, DAY, stale_seconds=3 * DAY, outlives_errors=True
    )

    await cache_on(store).put(form.key(horse_id="7"), LARGE)

    items = stored(store, keiba)
    expiry = int(str(manifest_of(items)["ttl"]))
    assert {int(str(part["ttl"])) - expiry for part in parts_of(items)} == {int(4 * DAY)}
