"""A race in one call: no page more than needed, none twice; what fails leaves a partial card."""

import math
from collections import Counter

import pytest

from grandstand.apps.keiba.domain.errors import PageUnreadable, SiteCoolingDown
from grandstand.apps.keiba.domain.ids import InvalidId
from grandstand.apps.keiba.services.cards import Progress
from grandstand.core.clock import ManualClock
from grandstand.simulators.malformed import MalformedReply
from grandstand.simulators.racing.site import Malformation, Site
from grandstand.storage.tables import Naming, Store
from grandstand.storage.tables.engines.protocol import Engine
from grandstand.storage.tables.engines.sqlite import SqliteEngine
from tests.apps.keiba.stage import ALL_TABLES, NOON, Stage, staged

pytestmark = pytest.mark.anyio


def necessary(stage: Stage, race_id: str) -> Counter[str]:
    """Return every page a cold card needs, each once, derived from the simulated world."""
    race = stage.world.race(race_id)
    assert race is not None
    parents = {parent.id for horse in race.horses for parent in (horse.sire, horse.dam)}
    pages = [
        f"race/race/shutuba.html?race_id={race_id}",
        f"race/api/api_get_jra_odds.html?race_id={race_id}&type=1&action=init",
        *(f"db/horse/result/{horse.id}/" for horse in race.horses),
        *(f"db/horse/ped/{horse.id}/" for horse in race.horses),
        *(f"db/horse/{parent}/" for parent in parents),
        *(f"db/jockey/result.html?id={one}" for one in {each.id for each in race.finish.jockeys}),
    ]
    return Counter(pages)


async def test_a_cold_card_asks_for_the_necessary_pages_and_each_once(sunday: Stage) -> None:
    card = await sunday.keiba.cards.assemble(sunday.small)

    assert Counter(sunday.requested()) == necessary(sunday, sunday.small)
    assert card.complete
    assert card.progress == Progress(done=32, fetched=32, total=32, seconds_left=0.0, finished=True)


async def test_a_card_that_is_kept_is_not_asked_for_again(gathered: Stage) -> None:
    first = await gathered.keiba.cards.assemble(gathered.small)

    again = await gathered.keiba.cards.assemble(gathered.small)

    assert gathered.requested() == []
    assert (again.progress.cached, again.progress.fetched) == (32, 0)
    assert [each.ranked for each in again.runners] == [each.ranked for each in first.runners]
    assert {each.form.state for each in again.runners if each.form} == {"fresh"}


async def test_odds_are_asked_for_again_after_their_minute_and_nothing_else_is(
    gathered: Stage,
) -> None:
    gathered.clock.advance(60)

    card = await gathered.keiba.cards.assemble(gathered.small)

    assert [page.partition("?")[0] for page in gathered.requested()] == [
        "race/api/api_get_jra_odds.html"
    ]
    assert card.odds is not None
    assert card.odds.state == "fetched"


async def test_a_card_is_gone_on_with_where_it_was_left(sunday: Stage) -> None:
    sunday.site.malformed.ask_for(MalformedReply("empty", "/db/horse/result/", times=4))
    partial = await sunday.keiba.cards.assemble(sunday.small)
    asked = len(sunday.requested())

    whole = await sunday.keiba.cards.assemble(sunday.small)

    missing = [each for each in partial.runners if each.form is None]
    assert (len(missing), partial.progress.failed, partial.complete) == (4, 4, False)
    assert all("Past races missing" in each.warnings[0] for each in missing)
    assert all(each.ranked is not None for each in partial.runners)
    assert (len(sunday.requested()) - asked, whole.progress.fetched, whole.complete) == (4, 4, True)


async def test_progress_is_told_step_by_step_to_the_end(sunday: Stage) -> None:
    heard: list[Progress] = []

    await sunday.keiba.cards.assemble(sunday.small, heard.append)

    assert [one.done for one in heard] == list(range(1, 33))
    assert {one.total for one in heard} == {32}
    assert [one.finished for one in heard] == [False] * 31 + [True]


async def test_the_time_left_is_that_of_the_pages_left_at_the_pace_allowed(
    race_site: Site,
) -> None:
    clock = ManualClock(NOON)
    store = Store(SqliteEngine.open(None, clock=clock), naming=Naming(), clock=clock)
    store.create(ALL_TABLES)
    heard: list[Progress] = []

    async with staged(store, race_site, clock, gap_seconds=2, jitter_seconds=1) as stage:
        await stage.keiba.cards.assemble(stage.small, heard.append)
        gaps = stage.clock.elapsed

    left = [one.seconds_left or 0.0 for one in heard]
    assert left == sorted(left, reverse=True)
    assert (left[0], left[-1]) == (51 * 2.5, 0.0)
    assert 49 * 2 <= gaps <= 49 * 3 + 6


async def test_the_look_ups_of_a_kept_card_are_one_get_and_one_batch(
    gathered: Stage, monkeypatch: pytest.MonkeyPatch
) -> None:
    calls: Counter[str] = Counter()
    counting(monkeypatch, gathered.resources.store.store.session.engine, calls)

    await gathered.keiba.cards.assemble(gathered.small)

    assert calls == {"get": 1, "batch_get": 1}


def counting(patch: pytest.MonkeyPatch, engine: Engine, calls: Counter[str]) -> None:
    """Count what is asked of an engine from here on."""

    def counted(name: str) -> None:
        asked = getattr(engine, name)

        def ask(*given: object) -> object:
            calls[name] += 1
            return asked(*given)

        patch.setattr(engine, name, ask)

    for name in ("get", "batch_get", "query", "scan", "put", "update", "transact_write"):
        counted(name)


async def test_the_ranking_is_a_distribution_with_reasons_beside_the_odds(gathered: Stage) -> None:
    card = await gathered.keiba.cards.assemble(gathered.small)

    ranked = [each.ranked for each in card.ranking if each.ranked is not None]
    assert math.isclose(sum(one.win for one in ranked), 1.0)
    assert math.isclose(sum(one.top3 for one in ranked), 3.0)
    assert [one.rank for one in ranked] == sorted(one.rank for one in ranked)
    assert all(len(one.reasons) == 14 and one.reasons[0].sentence_ja for one in ranked)
    assert all(one.odds and one.market and one.edge is not None for one in ranked)
    assert card.off_at is not None
    assert card.off_at.isoformat() == "2026-11-15T15:40:00+09:00"


async def test_a_scratched_runner_is_not_asked_for_and_has_no_rank(sunday: Stage) -> None:
    race_id, out = scratched(sunday)

    card = await sunday.keiba.cards.assemble(race_id)

    [gone] = [each for each in card.runners if each.runner.scratched]
    assert (gone.runner.horse_id, gone.ranked, gone.form) == (out, None, None)
    assert not [page for page in sunday.requested() if out in page]
    assert len(card.ranking) == len(card.runners) - 1


def scratched(stage: Stage) -> tuple[str, str]:
    """A race of the Sunday with one horse that does not start, and which."""
    races = [stage.world.race(race_id) for race_id in stage.race_ids()]
    found = [
        (race.slot.meeting.race_id(race.slot.number), horses[0])
        for race in races
        if race is not None
        and len(
            horses := [
                horse.id for at, horse in enumerate(race.horses) if not race.finish.started(at)
            ]
        )
        == 1
    ]
    return found[0]


async def test_a_card_begun_for_many_pages_is_gathered_once_and_told_to_all(
    sunday: Stage,
) -> None:
    begun = [sunday.keiba.background.start(sunday.small) for _ in range(3)]
    await sunday.keiba.background.wait()

    done = sunday.keiba.background.progress(sunday.small)
    assert begun == [Progress()] * 3
    assert Counter(sunday.requested()) == necessary(sunday, sunday.small)
    assert done is not None
    assert (done.done, done.total, done.finished, done.error) == (32, 32, True, None)
    assert {topic for topic, _ in sunday.publisher.messages} == {f"keiba/card/{sunday.small}"}
    assert sunday.publisher.messages[-1][1]["finished"] is True


async def test_a_card_that_cannot_be_gathered_says_why(sunday: Stage) -> None:
    sunday.site.malformed.ask_for(MalformedReply("empty", "/race/race/"))

    sunday.keiba.background.start(sunday.small)
    await sunday.keiba.background.wait()

    done = sunday.keiba.background.progress(sunday.small)
    assert done is not None
    assert done.finished
    assert "it is empty" in (done.error or "")
    with pytest.raises(InvalidId):
        sunday.keiba.background.start("no race")


async def test_what_is_kept_of_a_card_is_shown_without_asking(
    sunday: Stage, gathered: Stage
) -> None:
    nothing = await sunday.keiba.cards.cached(sunday.small)
    await sunday.keiba.pages.dated_race(sunday.small)
    gathered.clock.advance(60)

    some = await sunday.keiba.cards.cached(sunday.small)
    whole = await gathered.keiba.cards.cached(gathered.small)

    assert nothing is None
    assert some is not None
    assert (some.progress.done, some.progress.total, some.complete) == (1, 31, False)
    assert whole is not None
    assert (whole.odds, whole.complete) == (None, True)
    assert len(sunday.requested()) == 1


OUTCOMES: dict[Malformation, type[Exception]] = {
    "truncated": PageUnreadable,
    "empty": PageUnreadable,
    "no table": PageUnreadable,
    "huge": PageUnreadable,
    "captcha": SiteCoolingDown,
    "denied": SiteCoolingDown,
}


@pytest.mark.parametrize("wrong", OUTCOMES)
async def test_of_garbage_nothing_is_kept(sunday: Stage, wrong: Malformation) -> None:
    sunday.site.malformed.ask_for(MalformedReply(wrong))
    race = sunday.world.race(sunday.small)
    assert race is not None
    horse, jockey = race.horses[0].id, race.finish.jockeys[0].id

    with pytest.raises(OUTCOMES[wrong], match=r"127\.0\.0\.1"):
        await sunday.keiba.cards.assemble(sunday.small)
    with pytest.raises(OUTCOMES[wrong], match=r"127\.0\.0\.1"):
        await sunday.keiba.pages.horse(horse)
    with pytest.raises(OUTCOMES[wrong], match=r"127\.0\.0\.1"):
        await sunday.keiba.pages.jockey(jockey)
    with pytest.raises(OUTCOMES[wrong], match=r"127\.0\.0\.1"):
        await sunday.keiba.pages.result(sunday.small)

    assert sunday.stored_keys() == []
