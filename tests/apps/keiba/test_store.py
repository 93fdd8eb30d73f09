"""What keiba's table promises: each kind under its key, for its time."""

from datetime import date, timedelta
from typing import Any

import pytest

from grandstand.apps.keiba.domain.races import RaceEntry
from grandstand.apps.keiba.store import (
    TABLES,
    DayRaces,
    HorseParents,
    HorseResults,
    HorseWatcher,
    JockeyStats,
    Race,
    ReadItem,
    ScanEntries,
    Watch,
)
from grandstand.core.clock import ManualClock
from grandstand.storage.tables import Get, Naming, Store
from grandstand.storage.tables.attribute_values import Item
from grandstand.storage.tables.requests import GetItem, PutItem
from tests.apps.keiba.records import (
    DAY,
    JOCKEY,
    LOCAL_DAY,
    MEETINGS,
    ODDS,
    PARENTS,
    PEDIGREE,
    PREVIEW,
    PROFILE,
    RACE,
    RESULT,
    RESULTS,
)


@pytest.fixture(autouse=True)
def _table(store: Store) -> None:
    store.create(TABLES)


def stored(store: Store, partition: str, sort: str) -> dict[str, object]:
    name = store.session.name(TABLES[0])
    found = store.session.engine.get(GetItem(name, {"PK": partition, "SK": sort})).item
    return dict(found or {})


@pytest.mark.parametrize(
    ("record", "key", "days"),
    [
        (RACE, ("RACE#202605040601", "METADATA"), 7),
        (RESULTS, ("HORSE#2024100001", "RESULTS"), 7),
        (PARENTS, ("HORSE#2024100001", "PARENT"), 7),
        (JOCKEY, ("JOCKEY#01157", "STATS"), 7),
        (DAY, ("DATE#20261115", "RACES"), 1),
    ],
    ids=["race", "results", "parents", "jockey", "day"],
)
def test_each_kind_is_stored_under_its_key_for_its_time(
    store: Store,
    clock: ManualClock,
    record: Race | HorseResults | HorseParents | JockeyStats | DayRaces,
    key: tuple[str, str],
    days: int,
) -> None:
    fetched = clock.now()

    store(record.replace(fetched_at=fetched, expires=None).save())

    item = stored(store, *key)
    assert item["fetched_at"] == int(fetched.timestamp())
    assert item["ttl"] == int((fetched + timedelta(days=days)).timestamp())
    assert item.keys() >= {"PK", "SK", "data"}


def test_a_race_is_there_until_its_week_is_over(store: Store, clock: ManualClock) -> None:
    store(RACE.replace(fetched_at=clock.now(), expires=None).save())

    clock.advance(7 * 86_400 - 1)
    last = store(Race.by_id("202605040601"))
    clock.advance(1)

    assert last is not None
    assert last.data == RACE.data
    assert store(Race.by_id("202605040601")) is None


def test_what_is_fetched_again_takes_the_place_of_the_old(store: Store, clock: ManualClock) -> None:
    fresh = DAY.replace(fetched_at=clock.now(), expires=None)
    store(fresh.save())

    store(fresh.replace(data=(RaceEntry("東京", 2, "202605040602"),)).save())

    kept = store.read(DayRaces.on(date(2026, 11, 15)))
    assert [race.race_id for race in kept.data] == ["202605040602"]


def test_a_horses_results_and_parents_do_not_mix(store: Store, clock: ManualClock) -> None:
    for record in (RESULTS, PARENTS):
        store(record.replace(fetched_at=clock.now(), expires=None).put())
    wanted: tuple[Get[Any], ...] = (
        HorseResults.by_id("2024100001"),
        HorseParents.by_id("2024100001"),
        HorseParents.by_id("2024100002"),
    )

    results, parents, nobody = store.get_many(wanted)

    assert isinstance(results, HorseResults)
    assert isinstance(parents, HorseParents)
    assert (results.data, parents.data, nobody) == (RESULTS.data, PARENTS.data, None)


def test_a_day_list_without_a_version_has_its_date_from_its_key(
    store: Store, clock: ManualClock
) -> None:
    fresh = DAY.replace(fetched_at=clock.now(), expires=clock.now() + timedelta(days=1))
    plain = dict(DayRaces.__plan__.encode(fresh))
    del plain["date"], plain["schemaVersion"]
    store.session.engine.put(PutItem(store.session.name(TABLES[0]), plain))

    assert store(DayRaces.on(date(2026, 11, 15))) == fresh


def test_the_table_can_have_another_name() -> None:
    naming = Naming(renamed=(("keiba_data", "my_races"),))

    assert TABLES[0].schema(naming).name == "my_races"


@pytest.mark.parametrize(
    ("record", "key"),
    [
        (RESULT, ("RACE#202605040601", "RESULT")),
        (ODDS, ("RACE#202605040601", "ODDS")),
        (PROFILE, ("HORSE#2024100001", "PROFILE")),
        (PEDIGREE, ("HORSE#2024100001", "PEDIGREE")),
        (LOCAL_DAY, ("DATE#20261115", "RACES#NAR")),
        (MEETINGS, ("DATE#20261115", "MEETINGS#jra")),
        (PREVIEW, ("ANALYSIS#202605040601", "PROMPT#0f0f")),
    ],
    ids=["result", "odds", "profile", "pedigree", "local day", "meetings", "preview"],
)
def test_each_further_kind_is_stored_under_its_key_and_comes_back(
    store: Store, clock: ManualClock, record: Any, key: tuple[str, str]
) -> None:
    fetched = record.replace(
        fetched_at=clock.now(),
        expires=clock.now() + timedelta(minutes=1),
        warnings=("a cell is missing",),
    )

    store(fetched.save())

    assert stored(store, *key)["ttl"] == int(clock.epoch()) + 60
    assert store(type(record).get(**fetched.identity())) == fetched


def test_a_watched_horse_is_kept_for_its_person_and_for_everybody(
    store: Store, clock: ManualClock
) -> None:
    watch = Watch(
        user_id="ada", horse_id="2024100001", horse_name="アサヒノユメ", watched_at=clock.now()
    )
    store.all(watch.save(), HorseWatcher(horse_id="2024100001", user_id="ada").save())
    clock.advance(400 * 86_400)

    kept, everybody = store(Watch.of_user("ada")), store(HorseWatcher.all_watchers())
    store.all(Watch.remove("ada", "2024100001"), HorseWatcher.remove("2024100001", "ada"))

    assert kept == [watch]
    assert [(one.horse_id, one.user_id) for one in everybody] == [("2024100001", "ada")]
    assert (store(Watch.of_user("ada")), store(HorseWatcher.all_watchers())) == ([], [])


def test_entries_are_read_page_by_page_without_parts_and_without_people(
    store: Store, clock: ManualClock
) -> None:
    for record in (RACE, RESULTS, PARENTS, JOCKEY):
        store(record.replace(fetched_at=clock.now(), expires=None).put())
    store(
        Watch(user_id="ada", horse_id="2024100001", horse_name="x", watched_at=clock.now()).save()
    )
    name = store.session.name(TABLES[0])
    part: Item = {
        "PK": "HORSE#2024100001",
        "SK": "RESULTS#CHUNK#1#0001",
        "fetched_at": 1,
        "part": b"x",
    }
    store.session.engine.put(PutItem(name, part))

    first = store(ScanEntries(limit=2))
    rest = store(ScanEntries(position=first.position, limit=100))
    horses = store(ScanEntries("HORSE#"))

    found = {(item["PK"], item["SK"]) for item in (*first.items, *rest.items)}
    assert len(found) == 4
    assert {item["SK"] for item in horses.items} == {"RESULTS", "PARENT"}
    assert store(ReadItem("RACE#202605040601", "METADATA")) is not None
    assert store(ReadItem("RACE#202605040699", "METADATA")) is None
