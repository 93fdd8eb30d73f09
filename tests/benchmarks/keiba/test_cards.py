"""What the benchmark of cards holds ours against."""

import pytest

from benchmarks.keiba.cards import necessary_pages
from benchmarks.keiba.pages import MORNING, RACE_DAY, RacePages, pages_of_race
from grandstand.apps.keiba.sources.race_parser import parse_card
from grandstand.simulators.racing.world import World


@pytest.fixture(scope="module")
def pages() -> RacePages:
    world = World.at(7, MORNING, seasons_before=0)
    races = world.races_between("jra", RACE_DAY, RACE_DAY)
    return pages_of_race(world, min(races, key=lambda race: len(race.horses)))


def test_the_pages_of_a_race_are_its_card_and_two_for_each_runner(pages: RacePages) -> None:
    card = parse_card(pages.card, pages.race_id)

    horses = {runner.horse_id for runner in card.value.horses}
    assert card.warnings == ()
    assert set(pages.results) == set(pages.pedigrees) == horses
    assert pages.count == 1 + 2 * len(horses)


def test_a_page_that_two_runners_need_is_necessary_once(pages: RacePages) -> None:
    first, second = list(pages.pedigrees)[:2]
    siblings = {**pages.pedigrees, second: pages.pedigrees[first]}

    apart = necessary_pages(pages)
    related = necessary_pages(RacePages(pages.race_id, pages.card, pages.results, siblings))

    assert {"card", "odds", f"results {first}", f"pedigree {first}"} <= apart
    assert len(apart) - len(related) == 2
