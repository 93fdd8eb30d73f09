"""Pages of the simulated race site, taken from it without a network: those of one full race."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import UTC, date, datetime

from grandstand.apps.keiba.sources.html_reader import Page
from grandstand.simulators.racing.html_pages import Addresses
from grandstand.simulators.racing.race import Race
from grandstand.simulators.racing.site import Host, PageRequest, SiteFormat, render_page
from grandstand.simulators.racing.world import World

SEED = 7
# The morning of a day with a full race, whose horses have run some twenty times each.
RACE_DAY = date(2026, 11, 22)
MORNING = datetime(2026, 11, 22, 1, tzinfo=UTC)
# The most that a national track lets run.
FULL = 18

_PLACES = Addresses(
    "https://race.netkeiba.com", "https://nar.netkeiba.com", "https://db.netkeiba.com"
)


@dataclass(frozen=True)
class RacePages:
    """A card, and of each runner the races and the ancestors, by the ids they are of."""

    race_id: str
    card: Page
    results: dict[str, Page]
    pedigrees: dict[str, Page]

    @property
    def count(self) -> int:
        """How many pages these are."""
        return 1 + len(self.results) + len(self.pedigrees)


def full_race(world: World) -> Race:
    """Return a race of the day with as many runners as there can be, all of whom start."""
    races = world.races_between("jra", RACE_DAY, RACE_DAY)
    return next(race for race in races if len(race.horses) == len(race.truth) == FULL)


def pages_of_race(world: World, race: Race) -> RacePages:
    """Return the pages of a race as the site writes them."""
    race_id = race.slot.race_id
    horses = [horse.id for horse in race.horses]
    return RacePages(
        race_id=race_id,
        card=_page(world, "race", "/race/shutuba.html", {"race_id": race_id}),
        results={each: _page(world, "db", f"/horse/result/{each}/") for each in horses},
        pedigrees={each: _page(world, "db", f"/horse/ped/{each}/") for each in horses},
    )


def _page(world: World, host: Host, path: str, query: dict[str, str] | None = None) -> Page:
    made = render_page(world, SiteFormat(), PageRequest(host, path, query or {}, MORNING, _PLACES))
    if made is None:
        message = f"the simulated site has no {path}"
        raise RuntimeError(message)
    return Page(f"https://{host}.netkeiba.com{path}", made.body, made.content_type)
