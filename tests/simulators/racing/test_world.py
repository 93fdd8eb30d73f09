"""A generated world of racing agrees with itself and with its true chances."""

import math
from collections import Counter
from datetime import date, datetime, timedelta
from itertools import pairwise

import pytest

from grandstand.simulators.racing.career import RideCounts, Run, count_rides, totals
from grandstand.simulators.racing.population import FOALS, Horse
from grandstand.simulators.racing.race import Race, format_margin, format_race_time, frames
from grandstand.simulators.racing.racecourses import JST, Circuit
from grandstand.simulators.racing.world import CIRCUITS, World

SUNDAY = date(2026, 11, 15)


def season(world: World, circuit: Circuit, months: int) -> list[Race]:
    first = date(2026, 11 - months, 1)
    return list(world.races_between(circuit, first, date(2026, 10, 31)))


def some_horses(world: World, circuit: Circuit) -> list[Horse]:
    [first, *_] = world.race_ids(circuit, SUNDAY)
    race = world.race(first)
    assert race is not None
    return list(race.horses)


def test_a_sunday_has_three_central_meetings_of_twelve_races(world: World) -> None:
    meetings = world.meetings("jra", SUNDAY)

    assert [meeting.races for meeting in meetings] == [12, 12, 12]
    assert len(set(world.race_ids("jra", SUNDAY))) == 36


def test_a_local_race_tells_its_day_and_a_central_one_does_not(world: World) -> None:
    [local, *_], [central, *_] = (world.race_ids(circuit, SUNDAY) for circuit in ("nar", "jra"))

    assert local[6:10] == "1115"
    assert 30 <= int(local[4:6]) <= 65
    assert central[:4] == "2026"
    assert central[6:10] == f"{world.meetings('jra', SUNDAY)[0].kai:02}04"


def test_every_race_of_a_year_has_an_id_of_its_own(world: World) -> None:
    year = world.season("jra", 2026)

    listed = [race_id for day in year.days for race_id in world.race_ids("jra", day)]

    assert len(listed) == len(set(listed)) == len(year.slots)


def test_an_unknown_race_is_none(world: World) -> None:
    unknown = (
        "",
        "2026",
        "202605059901",
        "199905050401",
        "2026J0032809",
        "20260505040\N{FULLWIDTH DIGIT ONE}",
    )

    assert [world.race(race_id) for race_id in unknown] == [None] * len(unknown)


def test_the_truth_about_an_unknown_race_cannot_be_had(world: World) -> None:
    with pytest.raises(KeyError):
        world.truth("202605059901")


def test_no_horse_runs_twice_within_six_days(world: World) -> None:
    rests = [
        later.meeting.held_on - sooner.meeting.held_on
        for slots in world.season("jra", 2026).entries.values()
        for sooner, later in pairwise(slots)
    ]

    assert min(rests) >= timedelta(days=6)


def test_no_jockey_rides_twice_in_a_race_or_at_two_tracks_on_a_day(world: World) -> None:
    races = list(world.races_between("jra", SUNDAY, SUNDAY))
    seats = {
        (jockey.id, race.slot.meeting.track.code)
        for race in races
        for jockey in race.finish.jockeys
    }

    assert max(Counter(jockey for jockey, _ in seats).values()) == 1
    assert all(len(set(race.finish.jockeys)) == len(race.horses) for race in races)


def test_a_debut_is_for_horses_that_never_ran(world: World) -> None:
    debuts = [race for race in season(world, "jra", 5) if race.slot.debut]

    before = [
        len(world.entries(horse, race.off_at - timedelta(hours=1)))
        for race in debuts[:20]
        for horse in race.horses
    ]

    assert len(debuts) > 40
    assert set(before) == {0}


@pytest.mark.parametrize("circuit", CIRCUITS)
def test_every_row_of_a_horse_agrees_with_its_race(
    world: World, circuit: Circuit, now: datetime
) -> None:
    shown: list[tuple[object, ...]] = []
    true: list[tuple[object, ...]] = []
    for horse in some_horses(world, circuit):
        for run in world.runs(horse, now):
            race = world.race(run.race_id)
            if race is not None:
                at = race.at(horse)
                shown.append((run.place, run.time, run.jockey, run.prize, run.number, run.held_on))
                true.append(
                    (
                        race.finish.places[at],
                        format_race_time(race.seconds(at)),
                        race.finish.jockeys[at],
                        race.prize(at),
                        str(at + 1),
                        race.slot.meeting.held_on,
                    )
                )

    assert len(shown) > 60
    assert shown == true


def test_the_rows_of_a_horse_are_its_races_so_far_and_no_other(world: World, now: datetime) -> None:
    horse = some_horses(world, "jra")[0]

    rows = {run.race_id for run in world.runs(horse, now)}

    assert rows >= {race.race_id for race in world.entries(horse, now - timedelta(hours=1))}
    assert rows == {
        race.race_id
        for race in world.races_between("jra", date(2025, 1, 1), SUNDAY)
        if race.confirmed_at <= now and any(one.id == horse.id for one in race.horses)
    } | {run.race_id for run in world.runs(horse, now) if not run.race_id.isdecimal()}


def test_a_result_enters_the_rows_when_it_is_confirmed(world: World) -> None:
    race = next(world.races_between("jra", SUNDAY, SUNDAY))
    horse = race.horses[race.order[0]]

    before = world.runs(horse, race.confirmed_at - timedelta(seconds=1))
    after = world.runs(horse, race.confirmed_at)

    assert len(after) == len(before) + 1
    assert (after[0].race_id, after[0].rank) == (race.race_id, "1")


def test_body_weights_change_from_row_to_row_by_what_is_told(world: World, now: datetime) -> None:
    horses = some_horses(world, "jra")
    weighed = [
        [run.weight for run in world.runs(horse, now) if run.weight.endswith(")")]
        for horse in horses
    ]
    steps = [
        (int(newer.split("(")[0]) - int(older.split("(")[0]), int(newer.split("(")[1][:-1]))
        for weights in weighed
        for newer, older in pairwise(weights)
    ]

    assert len(steps) > 50
    assert all(real == shown for real, shown in steps)


def test_a_scratched_horse_did_not_start() -> None:
    scratched = Run("1", date(2026, 1, 1), "jra", "", "", "取", 0.0, 10, "芝1200", "良")
    won = Run("2", date(2026, 1, 2), "jra", "", "A", "1", 800.0, 10, "芝1200", "良")
    fallen = Run("3", date(2026, 1, 3), "nar", "", "", "中", 0.0, 10, "ダ1200", "良")
    demoted = Run("4", date(2026, 1, 4), "nar", "", "", "5(降)", 12.5, 10, "ダ1200", "良")

    summed = totals([scratched, won, fallen, demoted])

    assert (summed.starts, summed.places) == (3, (1, 0, 0, 2))
    assert (summed.central, summed.local, summed.best) == (800.0, 12.5, "26'A")


def test_jockeys_ride_as_often_as_the_races_say(world: World, now: datetime) -> None:
    jockey = world.people.jockey("jra", 5)
    races = [
        race
        for race in world.races_between("jra", date(2026, 1, 1), SUNDAY)
        if race.confirmed_at <= now
    ]

    counted = Counter[int | None]()
    for race in races:
        for at in race.running:
            counted[race.finish.places[at]] += race.finish.jockeys[at] is jockey
    shown = world.rides(jockey, "jra", 2026, now)

    assert shown.places[:3] == [counted[1], counted[2], counted[3]]
    assert shown.rides == counted.total() > 100


def test_guests_of_the_local_circuit_are_counted_there(world: World, now: datetime) -> None:
    races = [
        race
        for race in world.races_between("nar", date(2026, 1, 1), SUNDAY)
        if race.confirmed_at <= now
    ]
    guests = {
        jockey_id: tally
        for jockey_id, tally in count_rides(races).items()
        if jockey_id.startswith("01")
    }
    [first, *_] = sorted(guests)
    jockey = world.people.find_jockey(first)
    assert jockey is not None

    shown = world.rides(jockey, "nar", 2026, now)

    assert shown == guests[first] != RideCounts()
    assert world.standing(jockey, "nar", 2026, now) is None


def test_the_list_of_winners_puts_the_most_first(world: World, now: datetime) -> None:
    jockeys = [world.people.jockey("jra", at) for at in range(20)]
    wins = {jockey: world.rides(jockey, "jra", 2026, now).places[0] for jockey in jockeys}

    standings = {jockey: world.standing(jockey, "jra", 2026, now) or 0 for jockey in jockeys}

    best, worst = max(jockeys, key=wins.__getitem__), min(jockeys, key=wins.__getitem__)
    assert standings[best] < standings[worst]


def test_true_chances_add_up_and_leave_out_the_scratched(world: World) -> None:
    races = season(world, "jra", 1)
    scratched = [race for race in races if len(race.running) < len(race.horses)]

    sums = [sum(world.truth(race.race_id).values()) for race in races]

    assert all(math.isclose(whole, 1.0) for whole in sums)
    assert scratched
    assert all(set(race.truth) == {at + 1 for at in race.running} for race in scratched)


def test_winners_come_as_often_as_their_true_chances(world: World) -> None:
    races = season(world, "jra", 9) + season(world, "nar", 5)
    favourites = [max(race.truth, key=race.truth.__getitem__) for race in races]
    chances = [race.truth[number] for race, number in zip(races, favourites, strict=True)]

    won = sum(race.order[0] + 1 == one for race, one in zip(races, favourites, strict=True))

    spread = math.sqrt(sum(chance * (1 - chance) for chance in chances))
    assert len(races) > 3_000
    assert abs(won - sum(chances)) < 4 * spread


def test_the_truth_says_more_than_nothing(world: World) -> None:
    races = season(world, "jra", 6)

    uniform = sum(math.log(len(race.running)) for race in races) / len(races)
    true = -sum(math.log(race.truth[race.order[0] + 1]) for race in races) / len(races)

    assert uniform - true > 0.3


def test_a_year_has_everything_that_can_happen(world: World) -> None:
    races = season(world, "jra", 9)
    words = {race.rank(at).strip("0123456789") for race in races for at in race.order}
    margins = {race.margin(at) for race in races for at in race.order}

    assert words == {"", "取消", "除外", "中止", "失格", "(降)"}
    assert {"同着", "ハナ", "大差"} <= margins
    assert {race.terms.surface for race in races} == {"turf", "dirt", "jump"}
    assert {"GI", "GII", "GIII", "L", None} == {race.terms.grade for race in races}
    assert {race.slot.meeting.turf_going for race in races} == {0, 1, 2, 3}


def test_those_in_a_dead_heat_share_the_prizes_and_the_next_place_is_skipped(world: World) -> None:
    race, tied = next(
        (race, place)
        for race in season(world, "jra", 9)
        for place in (1, 2, 3, 4)
        if race.finish.places.count(place) == 2
    )
    level = [at for at in race.order if race.finish.places[at] == tied]

    prizes = [race.prize(at) for at in level]

    assert prizes == [round(sum(race.terms.prizes[tied - 1 : tied + 1]) / 2, 1)] * 2
    assert race.margin(level[1]) == "同着"
    assert race.seconds(level[0]) == race.seconds(level[1])
    assert race.finish.places.count(tied + 1) == 0


def test_some_go_abroad_and_come_back_with_a_row(world: World, now: datetime) -> None:
    [first, *_] = world.season("jra", 2026).abroad
    horse = first.entered[0]

    [row] = [run for run in world.runs(horse, now) if run.race_id == first.race_id]

    assert (row.venue, row.race_id) == ("メイダン", "2026J0032809")
    assert (row.frame, row.behind, row.corner_positions, row.weight) == ("", "", "", "")
    places = [
        run.place
        for one in first.entered
        for run in world.runs(one, now)
        if run.race_id == first.race_id
    ]
    assert len(set(places)) == len(places)


def test_some_leave_the_central_circuit_for_a_local_one(world: World, now: datetime) -> None:
    movers = [
        horse
        for horse in (world.people.horse(2022, number) for number in range(FOALS["jra"]))
        if horse.leaves_at == 4 and horse.retires_at >= 4
    ]

    summed = [totals(world.runs(horse, now)) for horse in movers[:20]]

    assert any(one.central and one.local for one in summed)


def test_a_mare_has_one_foal_a_year_and_its_parents_know_their_own(world: World) -> None:
    people = world.people
    horse = people.horse(2023, 17)

    siblings = people.siblings(horse)

    assert siblings
    assert all(one.dam.id == horse.dam.id for one in siblings)
    assert len({one.foaled for one in siblings}) == len(siblings)
    assert people.families.find(horse.sire.id) == horse.sire
    assert people.families.find(horse.dam.id) == horse.dam
    grand = people.families.parents(horse.dam)
    assert [people.families.find(one.id) for one in grand] == list(grand)


def test_parents_are_older_than_their_foals(world: World) -> None:
    families = world.people.families
    horses = [world.people.horse(2019, number) for number in range(0, 900, 30)]

    ages = [horse.foaled - parent.born for horse in horses for parent in (horse.sire, horse.dam)]
    older = [
        parent.born - grand.born
        for horse in horses
        for parent in (horse.sire, horse.dam)
        for grand in families.parents(parent)
    ]

    assert min(ages) >= 4
    assert min(older) >= 4


def test_no_two_horses_have_one_name(world: World) -> None:
    names = [
        world.people.horse(year, number).name
        for year in range(2020, 2025)
        for number in range(0, sum(FOALS.values()), 3)
    ]

    assert len(set(names)) == len(names)


def test_a_seed_makes_the_same_world_again(world: World) -> None:
    again, other = World(7, world.first_year), World(8, world.first_year)
    [race_id, *_] = world.race_ids("jra", SUNDAY)

    shown = [
        [(horse.name, rank) for horse, rank in zip(race.horses, race.finish.places, strict=True)]
        for race in (one.race(race_id) for one in (world, again, other))
        if race is not None
    ]

    assert shown[0] == shown[1] != shown[2]


def test_a_race_is_the_same_whichever_was_asked_for_first(world: World) -> None:
    ids = world.race_ids("nar", SUNDAY)
    again = World(7, world.first_year)

    backwards = [again.truth(race_id) for race_id in reversed(ids)]

    assert backwards[::-1] == [world.truth(race_id) for race_id in ids]


def test_what_is_kept_is_bounded(world: World) -> None:
    kept = (world.season, world._cached_race, world._day_jockeys, world._month, world.people.horse)  # noqa: SLF001

    assert all(cache.cache_info().maxsize is not None for cache in kept)


@pytest.mark.parametrize(
    ("size", "expected"),
    [
        (5, "12345"),
        (8, "12345678"),
        (10, "1234567788"),
        (16, "1122334455667788"),
        (18, "112233445566777888"),
    ],
)
def test_frames_are_filled_from_the_outside(size: int, expected: str) -> None:
    assert "".join(map(str, frames(size))) == expected


@pytest.mark.parametrize(
    ("lengths", "words"), [(0.0, "ハナ"), (0.3, "クビ"), (1.0, "1"), (3.2, "3"), (12.0, "大差")]
)
def test_margins_are_told_in_lengths(lengths: float, words: str) -> None:
    assert format_margin(lengths) == words


def test_a_race_passes_through_its_moments_in_order(world: World) -> None:
    race = next(world.races_between("jra", SUNDAY, SUNDAY))

    moments = (race.listed_at, race.drawn_at, race.opens_at, race.weighed_at, race.off_at)

    assert sorted(moments) == list(moments)
    assert race.confirmed_at > race.off_at
    assert race.off_at.astimezone(JST).strftime("%H:%M") == "10:05"


def test_a_world_that_keeps_few_races_tells_the_same_of_them() -> None:
    now = datetime(2026, 11, 15, 12, tzinfo=JST)
    frugal = World.at(7, now, seasons_before=0, cached_races=2)
    ids = frugal.race_ids("nar", SUNDAY)[:4]

    first = [frugal.race(one) for one in ids]
    again = [frugal.race(one) for one in ids]

    assert [one.title for one in first if one] == [one.title for one in again if one]
    assert first[0] is not again[0]
