"""What is kept comes back equal, whatever it is, and each kind for its own time."""

import asyncio
import dataclasses
from datetime import date
from random import Random
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from grandstand.apps.keiba.domain.horses import (
    Form,
    HorseProfile,
    JockeyRecord,
    Parents,
    PastRun,
    Pedigree,
)
from grandstand.apps.keiba.domain.races import (
    Odds,
    RaceCard,
    RaceEntry,
    RaceResult,
    Runner,
    WrittenPreview,
)
from grandstand.apps.keiba.services.page_cache import build_cache_kinds
from grandstand.apps.keiba.settings import KeibaSettings
from grandstand.apps.keiba.sources.html_reader import Parsed
from grandstand.apps.keiba.store import TABLES
from grandstand.storage.tables import AsyncStore, Store
from grandstand.storage.tables.cache import AsyncCache, CacheSettings
from tests.apps.keiba.services.payloads import any_of
from tests.apps.keiba.stage import SUNDAY

FORMS = build_cache_kinds(KeibaSettings())
WEEK, DAY = 7 * 86_400.0, 86_400.0
RACE, HORSE, JOCKEY = "202605040601", "2024100001", "01157"
KEYS: dict[Any, Any] = {
    RaceCard: FORMS.race.key(race_id=RACE),
    RaceResult: FORMS.result.key(race_id=RACE),
    Odds: FORMS.odds.key(race_id=RACE),
    Form: FORMS.form.key(horse_id=HORSE),
    Parents: FORMS.parents.key(horse_id=HORSE),
    HorseProfile: FORMS.profile.key(horse_id=HORSE),
    Pedigree: FORMS.pedigree.key(horse_id=HORSE),
    JockeyRecord: FORMS.jockey.key(jockey_id=JOCKEY),
    tuple[RaceEntry, ...]: FORMS.day.key(race_date=SUNDAY),
    tuple[date, ...]: FORMS.meetings.key(around=SUNDAY, circuit="jra"),
    WrittenPreview: FORMS.preview.key(race_id=RACE, digest="0f"),
}
IDS = {"race_id": RACE, "horse_id": HORSE, "jockey_id": JOCKEY}


def known(value: Any) -> Any:
    """The same value with the id of its key."""
    if not dataclasses.is_dataclass(value):
        return value
    names = {each.name for each in dataclasses.fields(value)}
    return dataclasses.replace(
        value,  # type: ignore[type-var]
        **{name: of for name, of in IDS.items() if name in names},
    )


@pytest.fixture
def cache(store: Store) -> AsyncCache:
    """A cache for which nobody else fetches."""
    store.create(TABLES)
    calm = CacheSettings(flight_seconds=None)
    return AsyncCache(AsyncStore(store), owner="ada", random=Random(1), settings=calm)


@settings(
    max_examples=60,
    deadline=None,
    suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow],
)
@given(data=st.data())
def test_whatever_is_put_comes_back_equal(cache: AsyncCache, data: st.DataObject) -> None:
    kind = data.draw(st.sampled_from(list(KEYS)))
    warnings = data.draw(st.lists(st.text(max_size=9), max_size=2).map(tuple))
    read = Parsed(known(data.draw(any_of(kind))), warnings)

    kept = asyncio.run(cache.put(KEYS[kind], read))
    found = asyncio.run(cache.get(KEYS[kind]))

    assert kept
    assert found.value == read
    assert found.state == "fresh"


NUMBERED, UNNUMBERED = (Runner(HORSE, "アサヒノユメ", horse_number=number) for number in (1, None))
DRAWN = RaceCard(race_id=RACE, race_name="2歳未勝利", horses=(NUMBERED,))
UNDRAWN = RaceCard(race_id=RACE, race_name="2歳未勝利", horses=(UNNUMBERED,))
CONFIRMED = RaceResult(race_id=RACE, race_name="2歳未勝利", confirmed=True)


@pytest.mark.parametrize(
    ("form", "value", "seconds"),
    [
        (FORMS.race, DRAWN, WEEK),
        (FORMS.race, UNDRAWN, 3600.0),
        (FORMS.result, CONFIRMED, WEEK),
        (FORMS.result, dataclasses.replace(CONFIRMED, confirmed=False), 180.0),
        (FORMS.odds, Odds(RACE, "final", ()), WEEK),
        (FORMS.odds, Odds(RACE, "live", ()), 60.0),
        (FORMS.form, Form(HORSE, "アサヒノユメ", (PastRun(SUNDAY, "東京", "新馬"),)), WEEK),
        (FORMS.form, Form(HORSE, "アサヒノユメ", ()), DAY),
        (FORMS.day, (RaceEntry("東京", 1, RACE),), DAY),
        (FORMS.day, (), 3600.0),
        (FORMS.local_day, (RaceEntry("大井", 1, RACE),), DAY),
    ],
)
def test_each_kind_is_kept_for_its_time(form: Any, value: Any, seconds: float) -> None:
    whole, partial = Parsed(value), Parsed(value, ("a cell is missing",))

    assert form.lifetime_seconds(whole) == seconds
    assert form.lifetime_seconds(partial) == min(seconds, 3600.0)
    assert form.lifetime_seconds(None) == 300.0


def test_nothing_is_used_past_its_time_unless_that_is_chosen() -> None:
    chosen = build_cache_kinds(KeibaSettings(stale_on_error_seconds=600))

    assert {(form.revalidates, form.outlives_errors) for form in FORMS.all()} == {(False, False)}
    assert {(form.outlives_errors, form.stale_seconds) for form in chosen.all()} == {(True, 600.0)}
