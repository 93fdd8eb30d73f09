"""What is put is what is got, until its time is over."""

from __future__ import annotations

from datetime import datetime, timedelta
from decimal import Decimal
from typing import Any

import pytest

from grandstand.core.clock import ManualClock
from grandstand.storage.tables import Entity, Store, Table, key, ttl
from grandstand.storage.tables.cache import Cached, CacheForm, Limits, Marks
from grandstand.storage.tables.errors import DeclarationFault
from grandstand.storage.tables.requests import PutItem
from tests.storage.tables.cache.races import (
    DAY,
    DERBY,
    HORSES,
    JOCKEYS,
    PAGES,
    RACES,
    Events,
    HorseItem,
    Jockey,
    RaceItem,
    cache_on,
    keiba,
    pages,
    returning,
    stored,
)

pytestmark = pytest.mark.anyio


async def test_a_typed_payload_comes_back_as_it_was(store: Store) -> None:
    cache = cache_on(store)

    kept = await cache.put(RACES.key(race_id="2026"), DERBY)

    assert kept
    assert (await cache.get(RACES.key(race_id="2026"))).value == DERBY


async def test_what_was_never_put_is_a_miss(store: Store) -> None:
    answer = await cache_on(store).get(RACES.key(race_id="2026"))

    assert answer == Cached(None, "miss")


@pytest.mark.parametrize(
    "payload",
    [
        {},
        {"runs": []},
        {"runs": [{"time": Decimal("93.4"), "place": 1, "margin": None, "won": True}]},
        {"名前": "有馬記念", "raw": b"\x00\xff", "deep": {"a": {"b": [[1], [2]]}}},
    ],
)
async def test_a_free_payload_comes_back_as_it_was(store: Store, payload: dict[str, Any]) -> None:
    cache = cache_on(store)

    await cache.put(HORSES.key(horse_id="7"), payload)

    assert (await cache.get(HORSES.key(horse_id="7"))).value == payload


async def test_a_small_payload_is_stored_in_the_specified_shape(
    store: Store, clock: ManualClock
) -> None:
    await cache_on(store).put(RACES.key(race_id="2026"), DERBY)

    now = int(clock.epoch())
    runners = [{"name": "Arima", "weight": Decimal("57.5")}, {"name": "Tosho", "weight": 55}]
    assert stored(store, keiba) == [
        {
            "PK": "RACE#2026",
            "SK": "METADATA",
            "race_id": "2026",
            "data": {"title": "Derby", "distance": 2400, "runners": runners},
            "fetched_at": now,
            "ttl": int(clock.epoch() + 7 * DAY),
        }
    ]


async def test_a_plain_reader_of_the_entity_understands_a_small_entry(store: Store) -> None:
    await cache_on(store).put(RACES.key(race_id="2026"), DERBY)

    assert store.read(RaceItem.get(race_id="2026")).data == DERBY


async def test_an_entry_written_by_somebody_else_in_that_shape_is_a_hit(
    store: Store, clock: ManualClock
) -> None:
    written = RaceItem(
        race_id="2026",
        data=DERBY,
        fetched_at=clock.now(),
        expires=clock.now() + timedelta(days=1),
    )
    store(written.put())

    answer = await cache_on(store).get(RACES.key(race_id="2026"))

    assert (answer.value, answer.state) == (DERBY, "fresh")


async def test_an_entry_is_fresh_until_its_second_of_expiry(
    store: Store, clock: ManualClock
) -> None:
    cache = cache_on(store)
    key = RACES.key(race_id="2026")
    await cache.put(key, DERBY)
    expiry = int(clock.epoch() + 7 * DAY)

    clock.advance(expiry - clock.epoch() - 0.001)
    before = await cache.get(key)
    clock.advance(0.002)
    after = await cache.get(key)

    assert before.state == "fresh"
    assert before.age_seconds == pytest.approx(7 * DAY, abs=2)
    assert after == Cached(None, "miss")
    assert cache.statistics().total.expired == 1


async def test_an_entry_that_does_not_say_when_it_expires_is_a_miss(
    store: Store, clock: ManualClock
) -> None:
    store(RaceItem(race_id="2026", data=DERBY, fetched_at=clock.now(), expires=None).put())

    assert (await cache_on(store).get(RACES.key(race_id="2026"))).state == "miss"


async def test_many_entries_are_got_in_the_order_of_their_keys(store: Store) -> None:
    cache = cache_on(store)
    for number in range(0, 130, 2):
        await cache.put(HORSES.key(horse_id=str(number)), {"number": number})
    keys = [HORSES.key(horse_id=str(number)) for number in range(130)]

    answers = await cache.get_many([*keys, keys[4]])

    values = [answer.value for answer in answers]
    assert values[:4] == [{"number": 0}, None, {"number": 2}, None]
    assert values[-1] == {"number": 4}
    assert [answer.state for answer in answers].count("fresh") == 66


async def test_entries_of_several_forms_and_tables_are_got_together(store: Store) -> None:
    store.create((pages,))
    cache = cache_on(store)
    await cache.put(RACES.key(race_id="1"), DERBY)
    await cache.put(PAGES.key(url="http://a"), b"<html>")
    wanted: list[Any] = [
        PAGES.key(url="http://a"),
        HORSES.key(horse_id="1"),
        RACES.key(race_id="1"),
    ]

    answers = await cache.get_many(wanted)

    assert [answer.value for answer in answers] == [b"<html>", None, DERBY]


async def test_getting_nothing_asks_for_nothing(store: Store) -> None:
    assert await cache_on(store).get_many([]) == []


async def test_a_negative_entry_says_that_there_is_nothing_for_its_own_time(
    store: Store, clock: ManualClock
) -> None:
    cache = cache_on(store)
    key = RACES.key(race_id="none")
    await cache.put(key, None)

    clock.advance(590)
    before = await cache.get(key)
    clock.advance(20)
    after = await cache.get(key)

    assert (before.value, before.state) == (None, "negative")
    assert after.state == "miss"


async def test_a_form_without_negative_entries_keeps_none(store: Store) -> None:
    cache = cache_on(store)

    kept = await cache.put(HORSES.key(horse_id="7"), None)

    assert not kept
    assert stored(store, keiba) == []


async def test_an_entry_fetched_earlier_does_not_replace_a_later_one(
    store: Store, clock: ManualClock
) -> None:
    cache = cache_on(store)
    key = HORSES.key(horse_id="7")

    async def slow() -> dict[str, Any]:
        clock.advance(40)
        await cache_on(store, "bob").put(key, {"from": "bob"})
        return {"from": "ada"}

    answer = await cache.get_or_fetch(key, slow)

    assert answer.value == {"from": "ada"}
    assert (await cache.get(key)).value == {"from": "bob"}
    assert cache.statistics().total.superseded == 1


async def test_putting_again_replaces(store: Store, clock: ManualClock) -> None:
    cache = cache_on(store)
    key = HORSES.key(horse_id="7")
    await cache.put(key, {"n": 1})
    clock.advance(1)

    await cache.put(key, {"n": 2})

    assert (await cache.get(key)).value == {"n": 2}


async def test_a_forgotten_entry_is_gone(store: Store) -> None:
    cache = cache_on(store)
    key = HORSES.key(horse_id="7")
    await cache.put(key, {"n": 1})

    first, second = await cache.forget(key), await cache.forget(key)

    assert (first, second) == (True, False)
    assert (await cache.get(key)).state == "miss"


async def test_an_entry_of_an_older_schema_is_upgraded_when_it_is_read(
    store: Store, clock: ManualClock
) -> None:
    old = HorseItem(
        horse_id="7",
        data={"old_runs": [1, 2]},
        fetched_at=clock.now(),
        expires=clock.now() + timedelta(days=1),
    )
    item = {**HorseItem.__plan__.encode(old), "schemaVersion": "1"}
    store.session.engine.put(PutItem(store.session.name(keiba), item))

    answer = await cache_on(store).get(HORSES.key(horse_id="7"))

    assert answer.value == {"runs": [1, 2]}


async def test_an_item_that_is_no_entry_is_a_miss_and_told(
    store: Store, clock: ManualClock
) -> None:
    events = Events()
    expiry = int(clock.epoch() + 100)
    item: dict[str, Any] = {
        "PK": "RACE#1",
        "SK": "METADATA",
        "race_id": "1",
        "fetched_at": 1,
        "ttl": expiry,
        "data": {"title": 7},
    }
    store.session.engine.put(PutItem(store.session.name(keiba), item))

    answer = await cache_on(store, on_event=events).get(RACES.key(race_id="1"))

    assert answer.state == "miss"
    assert events.kinds() == ["damaged", "miss"]


async def test_a_payload_no_item_can_hold_is_told_and_not_kept(store: Store) -> None:
    events = Events()
    cache = cache_on(store, on_event=events)

    kept = await cache.put(HORSES.key(horse_id="7"), {"time": 93.4})

    assert not kept
    assert [(one.kind, one.detail) for one in events.events] == [
        ("rejected", "A float cannot be stored; use Decimal")
    ]
    assert cache.statistics().by_kind["HorseItem"].refused == 1


async def test_a_payload_of_another_type_is_told_and_not_kept(store: Store) -> None:
    events = Events()
    wrong: Any = {"title": "Derby"}

    answer = await cache_on(store, on_event=events).get_or_fetch(
        RACES.key(race_id="1"), returning(wrong)
    )

    assert answer.value is wrong
    assert events.kinds() == ["miss", "rejected"]
    assert stored(store, keiba) == []


async def test_other_fields_and_the_life_may_be_worked_out_from_the_payload(
    store: Store, clock: ManualClock
) -> None:
    store.create((BARE,))
    form: CacheForm[str] = CacheForm(
        NeedsMore, len, also=lambda text: {"source_url": f"http://{text}"}
    )
    cache = cache_on(store)
    await cache.put(form.key(id="a"), "ten letters"[:10])

    kept = store.read(NeedsMore.get(id="a"))
    clock.advance(8)
    before = await cache.get(form.key(id="a"))
    clock.advance(3)
    after = await cache.get(form.key(id="a"))

    assert (kept.data, kept.source_url) == ("ten letter", "http://ten letter")
    assert (before.state, after.state) == ("fresh", "miss")


@pytest.mark.parametrize("notes", ["short", "long " * 200_000], ids=["native", "compressed"])
async def test_a_key_may_be_made_from_the_payload_itself(store: Store, notes: str) -> None:
    cache = cache_on(store)
    jockey = Jockey("05386", notes)

    await cache.put(JOCKEYS.key(jockey_id="05386"), jockey)

    assert (await cache.get(JOCKEYS.key(jockey_id="05386"))).value == jockey
    [item] = stored(store, keiba)
    assert (item["PK"], item["SK"]) == ("JOCKEY#05386", "STATS")


async def test_nothing_is_known_of_a_payload_that_would_make_the_key(
    store: Store, clock: ManualClock
) -> None:
    cache = cache_on(store)

    await cache.put(JOCKEYS.key(jockey_id="none"), None)

    assert (await cache.get(JOCKEYS.key(jockey_id="none"))).state == "negative"
    assert stored(store, keiba) == [
        {
            "PK": "JOCKEY#none",
            "SK": "STATS",
            "fetched_at": int(clock.epoch()),
            "ttl": int(clock.epoch() + 600),
            "neg": True,
        }
    ]


async def test_a_payload_of_another_key_is_told_and_not_kept(store: Store) -> None:
    events = Events()
    cache = cache_on(store, on_event=events)

    kept = await cache.put(JOCKEYS.key(jockey_id="1"), Jockey("2", ""))

    assert not kept
    assert [one.detail for one in events.events] == [
        "The payload of JOCKEY#1/STATS belongs to another key"
    ]
    assert stored(store, keiba) == []


async def test_jitter_only_ever_shortens_a_life(store: Store, clock: ManualClock) -> None:
    form: CacheForm[dict[str, Any]] = CacheForm(HorseItem, 1000, jitter=0.5)
    cache = cache_on(store)
    for number in range(20):
        await cache.put(form.key(horse_id=str(number)), {"n": number})

    lives = [int(str(item["ttl"])) - clock.epoch() for item in stored(store, keiba)]

    assert max(lives) <= 1000
    assert min(lives) >= 499
    assert len({int(life) for life in lives}) > 10


BARE = Table("bare-cache", partition="id", ttl="ttl")


class NoExpiry(Entity, table=Table("no-expiry", partition="id")):
    id: str
    data: str | None = None
    fetched_at: datetime

    row = key("{id}")


class NeedsMore(Entity, table=BARE):
    id: str
    data: str | None = None
    fetched_at: datetime
    source_url: str
    expires: datetime | None = ttl()

    row = key("{id}")


class OwnMarks(Entity, table=BARE):
    id: str
    data: str | None = None
    chunks: int = 0
    fetched_at: datetime
    expires: datetime | None = ttl()

    row = key("{id}")


class NotAMoment(Entity, table=BARE):
    id: str
    data: str | None = None
    fetched_at: int
    expires: datetime | None = ttl()

    row = key("{id}")


@pytest.mark.parametrize(
    ("entity", "others", "sentence"),
    [
        (NoExpiry, {}, "needs a field with ttl"),
        (NeedsMore, {}, "cannot fill source_url"),
        (OwnMarks, {}, "already has chunks"),
        (NotAMoment, {}, "as datetime"),
        (RaceItem, {"data": "payload"}, "has no field payload"),
        (RaceItem, {"revalidates": True}, "stale_seconds"),
        (RaceItem, {"outlives_errors": True}, "stale_seconds"),
    ],
)
def test_an_entity_that_cannot_be_cached_in_is_refused(
    entity: type[Entity], others: dict[str, Any], sentence: str
) -> None:
    with pytest.raises(DeclarationFault, match=sentence):
        CacheForm(entity, 60, **others)


def test_marks_may_have_other_names() -> None:
    form: CacheForm[str] = CacheForm(OwnMarks, 60, marks=Marks(chunks="partCount"))

    assert form.key(id="a").text == "a"


def test_the_limits_leave_room_under_those_of_dynamodb() -> None:
    limits = Limits()

    assert limits.item == 380_000
    assert limits.transaction <= 4 * 1024 * 1024


noted = Table("noted-races", partition="PK", ttl="gone")


class NotedItem(Entity, table=noted):
    race_id: str
    data: str
    note: str | None = None
    fetched_at: datetime
    expires: datetime | None = ttl()

    row = key("{race_id}")


async def test_a_payload_may_be_more_than_one_field(store: Store) -> None:
    form: CacheForm[tuple[str, str]] = CacheForm(
        NotedItem,
        DAY,
        also=lambda pair: {"data": pair[0], "note": pair[1]},
        whole=lambda record: (record.data, record.note),
    )
    store.create((noted,))
    cache = cache_on(store)

    await cache.put(form.key(race_id="2026"), ("Derby", "wet"))

    record = store(NotedItem.get(race_id="2026"))
    assert (await cache.get(form.key(race_id="2026"))).value == ("Derby", "wet")
    assert record is not None
    assert (record.data, record.note) == ("Derby", "wet")
