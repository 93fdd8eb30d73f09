"""What is read from a page comes back from the table as it was."""

from datetime import date

import pytest

from grandstand.apps.keiba.domain.horses import parents_of
from grandstand.apps.keiba.sources.profile_parser import (
    parse_horse_profile,
    parse_horse_results,
    parse_jockey,
    parse_pedigree,
)
from grandstand.apps.keiba.sources.race_parser import parse_card, parse_day_list
from grandstand.apps.keiba.store import (
    TABLES,
    DayRaces,
    HorseParents,
    HorseResults,
    JockeyStats,
    Race,
)
from grandstand.core.clock import ManualClock
from grandstand.storage.tables import Store
from tests.apps.keiba.sources.horse_pages import (
    CAREER,
    HORSE,
    JOCKEY,
    NEW_HEADERS,
    RUNS,
    jockey,
    pedigree,
    profile,
    results,
    year,
)
from tests.apps.keiba.sources.race_pages import RACE, THREE_RUNNERS, THREE_VENUES, page

SUNDAY = date(2026, 11, 15)


@pytest.fixture(autouse=True)
def _table(store: Store) -> None:
    store.create(TABLES)


def test_what_is_read_comes_back_from_the_table_as_it_was(store: Store, clock: ManualClock) -> None:
    now = clock.now()
    card = parse_card(page(THREE_RUNNERS), RACE).value
    form = parse_horse_results(page(results(NEW_HEADERS, *RUNS)), HORSE).value
    sire = parse_horse_profile(page(profile()), "2005101000").value
    parents = parents_of(parse_pedigree(page(pedigree()), HORSE).value, sire)
    years = year("2026", "40 41 42 377 500 20 1", ("8.0", "16.2", "24.6"))
    rider = parse_jockey(page(jockey(CAREER, years)), JOCKEY, all_years=True).value
    races = parse_day_list(page(THREE_VENUES)).value

    for record in (
        Race(data=card, fetched_at=now),
        HorseResults(data=form, fetched_at=now),
        HorseParents(data=parents, fetched_at=now),
        JockeyStats(data=rider, fetched_at=now),
        DayRaces(race_date=SUNDAY, data=races, fetched_at=now),
    ):
        store(record.put())

    assert store.read(Race.by_id(RACE)).data == card
    assert store.read(HorseResults.by_id(HORSE)).data == form
    assert store.read(HorseParents.by_id(HORSE)).data == parents
    assert store.read(JockeyStats.by_id(JOCKEY)).data == rider
    assert store.read(DayRaces.on(SUNDAY)).data == races
