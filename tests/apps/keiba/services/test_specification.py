"""Every scenario of the specification, under its own name, on each kind of store."""

import logging
from base64 import b64encode
from contextlib import ExitStack
from datetime import date
from pathlib import Path
from random import Random

import pytest

from grandstand.apps.keiba.domain.horses import Form, PastRun
from grandstand.apps.keiba.sources.html_reader import Parsed
from grandstand.apps.keiba.store import TABLES
from grandstand.core.clock import ManualClock, SystemClock
from grandstand.simulators.racing.site import Site
from grandstand.storage.tables import Naming, Store
from grandstand.storage.tables.engines.sqlite import SqliteEngine
from grandstand.storage.tables.schema import create_table_shape
from tests.apps.keiba.stage import ALL_TABLES, SUNDAY, Stage, staged
from tests.kit.stores import open_engine
from tests.parts import dynamodb_local as local
from tests.parts.part_cache import PartCache
from tests.storage.tables.cache.races import Failing

pytestmark = pytest.mark.anyio

WEEK = 7 * 86_400
HORSE = "2024100001"


async def test_store_race_data_with_ttl(stage: Stage) -> None:
    fetched = int(stage.clock.epoch())

    first = await stage.keiba.pages.dated_race(stage.small)
    stage.clock.advance(3600)
    again = await stage.keiba.pages.dated_race(stage.small, refresh=True)

    item = stage.stored(f"RACE#{stage.small}", "METADATA")
    assert len(item["data"]["horses"]) == len(first.value.horses) == 10
    assert item["fetched_at"] == fetched + 3600
    assert item["ttl"] == fetched + 3600 + WEEK
    assert again.state == "fetched"
    assert item.keys() == {"PK", "SK", "data", "fetched_at", "ttl"}


async def test_store_horse_data_with_ttl(stage: Stage) -> None:
    horse = stage.world.race(stage.small).horses[0].id  # type: ignore[union-attr]
    fetched = int(stage.clock.epoch())

    seen = await stage.keiba.pages.horse(horse)

    results, parent = (stage.stored(f"HORSE#{horse}", kind) for kind in ("RESULTS", "PARENT"))
    assert seen.form is not None
    assert len(results["data"]["recent_results"]) == len(seen.form.value.recent_results) > 0
    assert parent["data"]["sire"]["name"]
    assert parent["data"]["dam"]["name"]
    assert [item["ttl"] for item in (results, parent)] == [fetched + WEEK] * 2


async def test_store_jockey_data_with_ttl(stage: Stage) -> None:
    jockey = stage.world.race(stage.small).finish.jockeys[0].id  # type: ignore[union-attr]
    fetched = int(stage.clock.epoch())

    seen = await stage.keiba.pages.jockey(jockey)

    item = stage.stored(f"JOCKEY#{jockey}", "STATS")
    assert item["data"]["overall_stats"]["win_rate"] == seen.value.overall_stats.win_rate
    assert item["data"]["overall_stats"]["place_rate"] == seen.value.overall_stats.place_rate
    assert item["data"]["recent_5year_stats"]["total_races"] > 0
    assert item["ttl"] == fetched + WEEK


async def test_store_available_races_by_date(stage: Stage) -> None:
    fetched = int(stage.clock.epoch())

    await stage.keiba.days.day(SUNDAY, "jra")

    item = stage.stored("DATE#20261115", "RACES")
    listed = {(race["track_name"], race["race_number"], race["race_id"]) for race in item["data"]}
    assert ("福島", 11, stage.small) in listed
    assert len(listed) == 36
    assert item["ttl"] == fetched + 86_400


async def test_check_cache_before_scraping(stage: Stage, caplog: pytest.LogCaptureFixture) -> None:
    caplog.set_level(logging.DEBUG, "grandstand.cache")
    key = f"RACE#{stage.small}/METADATA"

    missed = await stage.keiba.pages.dated_race(stage.small)
    stage.clock.advance(WEEK - 1)
    hit = await stage.keiba.pages.dated_race(stage.small)
    stage.clock.advance(1)
    expired = await stage.keiba.pages.dated_race(stage.small)

    said = [record.getMessage().strip() for record in caplog.records]
    assert [one.state for one in (missed, hit, expired)] == ["fetched", "fresh", "fetched"]
    assert hit.value == missed.value
    assert (round(hit.origin.age_seconds), hit.fetched_at) == (WEEK - 1, missed.fetched_at)
    assert said == [
        f"cache_miss key={key} detail=''",
        f"cache_hit key={key} detail='{WEEK - 1} s old'",
        f"cache_miss key={key} detail=''",
    ]
    assert len(stage.requested()) == 2


async def test_table_structure(store: Store) -> None:
    store.create(TABLES)

    schema = TABLES[0].schema(Naming(renamed=(("keiba_data", "my_races"),)))
    shape = create_table_shape(schema)
    here = store.session.engine.describe_table(store.session.name(TABLES[0]))

    assert TABLES[0].name == "keiba_data"
    assert shape["TableName"] == "my_races"
    assert shape["BillingMode"] == "PAY_PER_REQUEST"
    assert shape["KeySchema"] == [
        {"AttributeName": "PK", "KeyType": "HASH"},
        {"AttributeName": "SK", "KeyType": "RANGE"},
    ]
    assert here.schema.ttl == "ttl"


@pytest.mark.usefixtures("dynamodb_local")
async def test_handle_dynamodb_unavailability(
    race_site: Site, tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    clock = ManualClock(SystemClock().now().replace(microsecond=0))
    running = ExitStack()
    program = local.find(PartCache(may_fetch=False))
    place = running.enter_context(local.serving(program, tmp_path))
    store = Store(open_engine(place, clock), naming=Naming(), clock=clock)
    store.create(ALL_TABLES)

    async with staged(store, race_site, clock) as stage:
        before = await stage.keiba.pages.dated_race(stage.small)
        running.close()
        after = await stage.keiba.pages.dated_race(stage.small)
        card = await stage.keiba.cards.assemble(stage.small)

    events = [record.getMessage().split()[0] for record in caplog.records if "cache" in record.name]
    assert (before.state, after.state) == ("fetched", "fetched")
    assert after.value == before.value
    assert (card.complete, card.progress.fetched) == (True, card.progress.total)
    assert events[:4] == ["cache_error", "cache_error", "cache_error", "cache_paused"]
    assert events.count("error") < len(stage.requested()) / 4


async def test_handle_unavailability_of_an_embedded_store(
    race_site: Site, caplog: pytest.LogCaptureFixture
) -> None:
    clock = ManualClock(SystemClock().now().replace(microsecond=0))
    engine = Failing(SqliteEngine.open(None, clock=clock), down=False)
    store = Store(engine, naming=Naming(), clock=clock)
    store.create(ALL_TABLES)

    async with staged(store, race_site, clock) as stage:
        await stage.keiba.pages.dated_race(stage.small)
        engine.down = True
        seen = await stage.keiba.pages.dated_race(stage.small)
        engine.down = False
        clock.advance(60)
        back = await stage.keiba.pages.dated_race(stage.small)

    assert (seen.state, back.state) == ("fetched", "fresh")
    assert "cache_error" in caplog.text


async def test_handle_item_size_limits(stage: Stage, caplog: pytest.LogCaptureFixture) -> None:
    library = stage.keiba.pages
    key = library.kinds.form.key(horse_id=HORSE)
    long, endless = (Parsed(form_of(size)) for size in (500_000, 4_100_000))

    kept = await library.cache.put(key, long)
    read = await library.cache.get(key)
    parts = [where for where in stage.stored_keys() if where[1].startswith("RESULTS#CHUNK#")]
    skipped = await library.cache.put(key, endless)

    assert (kept, read.value, len(parts) > 1) == (True, long, True)
    assert skipped is False
    assert f"cache_rejected key=HORSE#{HORSE}/RESULTS" in caplog.text
    assert (await library.cache.get(key)).value == long


def form_of(size: int) -> Form:
    """A career whose remarks are chance, so that it cannot be made shorter than that."""
    remarks = b64encode(Random(size).randbytes(size)).decode()
    run = PastRun(date(2026, 10, 4), "東京", "新馬", remarks=remarks)
    return Form(HORSE, "アサヒノユメ", (run,))
