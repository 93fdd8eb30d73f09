"""What happens to a match as a whole is told once, when it happens."""

from decimal import Decimal

import pytest

from grandstand.apps.cricket.domain.matches import Revision
from tests.apps.cricket.domain.scorer import Scorer
from tests.apps.cricket.domain.watcher import Watch, kinds, watched


@pytest.fixture
def scorer() -> Scorer:
    return Scorer()


@pytest.fixture
def watch(scorer: Scorer) -> Watch:
    return watched([scorer.fixture()])


def test_the_toss_and_the_start_are_told_once(scorer: Scorer, watch: Watch) -> None:
    toss = watch.look(scorer.fixture(toss_team_id="2", elected="bowling"))
    start = watch.look(scorer.fixture(toss_team_id="2", status="1st Innings"))
    later = watch.look(scorer.fixture(toss_team_id="2", status="1st Innings"))

    assert [event.text for event in toss.events] == ["Hill City won the toss and chose bowling"]
    assert kinds(start) == ["match_start"]
    assert (later.changed, later.events) == (False, ())


def test_a_start_that_was_not_seen_is_told_when_play_is_seen(scorer: Scorer, watch: Watch) -> None:
    scorer.bowl()

    tick = watch.look(scorer.fixture(status="Int."))

    assert kinds(tick) == ["match_start", "rain_delay"]


def test_rain_and_its_end_are_told_and_a_second_shower_soon_after_is_not(scorer: Scorer) -> None:
    scorer.bowl()
    statuses = ["1st Innings", "Int.", "1st Innings", "Int.", "1st Innings"]

    watch = watched((scorer.fixture(status=status) for status in statuses), every_seconds=60)

    told = [(event.kind, event.filtered) for event in watch.events]
    assert told == [
        ("match_start", None),
        ("rain_delay", None),
        ("play_resumed", None),
        ("rain_delay", "cooldown"),
        ("play_resumed", "cooldown"),
    ]


@pytest.mark.parametrize(
    ("status", "kind"),
    [("Lunch", "lunch"), ("Tea Break", "tea"), ("Dinner", "dinner"), ("Stump Day 2", "stumps")],
)
def test_pauses_of_a_test_are_told_and_do_not_end_it(
    scorer: Scorer, watch: Watch, status: str, kind: str
) -> None:
    scorer.bowl()
    watch.look(scorer.fixture(format="Test", status="1st Innings"))

    tick = watch.look(scorer.fixture(format="Test", status=status))

    assert kinds(tick) == [kind]
    assert tick.state.phase == "break"


def test_a_target_is_told_for_each_value_it_takes(scorer: Scorer, watch: Watch) -> None:
    revisions = [Revision(171, Decimal(15)), Revision(171, Decimal(15)), Revision(140, Decimal(12))]

    found = [watch.look(scorer.fixture(revision=revision)) for revision in revisions]

    assert [kinds(tick) for tick in found] == [["target_revised"], [], ["target_revised"]]
    assert found[0].events[0].text == "Target revised to 171 in 15 overs"


def test_an_innings_ends_once_whatever_tells_it(scorer: Scorer, watch: Watch) -> None:
    for _ in range(120):
        scorer.bowl()
    scorer.status = "1st Innings"
    done = watch.look(scorer.fixture())
    scorer.status = "Innings Break"
    rest = watch.look(scorer.fixture())
    scorer.innings(2, "2nd Innings")
    scorer.bowl()
    begun = watch.look(scorer.fixture())

    assert "innings_end:1" in [event.key for event in done.events]
    assert [rest.events, begun.events] == [(), ()]


def test_an_innings_whose_end_was_not_seen_is_told_with_the_next(
    scorer: Scorer, watch: Watch
) -> None:
    scorer.bowl(4)
    watch.look(scorer.fixture(format="Test", status="1st Innings"))
    scorer.out()
    scorer.innings(2, "2nd Innings")
    scorer.bowl(6)

    tick = watch.look(scorer.fixture(format="Test"))

    reasons = {event.kind: event.filtered for event in tick.events}
    assert reasons == {"innings_end": None, "wicket": "stale", "six": "outranked"}


def test_a_chase_ends_with_the_run_that_wins_it(scorer: Scorer, watch: Watch) -> None:
    scorer.status = "1st Innings"
    scorer.bowl(4)
    watch.look(scorer.fixture())
    scorer.innings(2, "2nd Innings")
    scorer.bowl(6)

    won = watch.look(scorer.fixture())
    over = watch.look(scorer.fixture(status="Finished", winner_team_id="2", note="Hill City won"))

    assert "innings_end:2" in [event.key for event in won.events]
    assert [(event.kind, event.text) for event in over.events] == [("match_end", "Hill City won")]
    assert over.state.phase == "ended"


def test_a_match_without_a_result_ends_without_ending_its_innings(
    scorer: Scorer, watch: Watch
) -> None:
    scorer.bowl()
    watch.look(scorer.fixture(status="1st Innings"))

    tick = watch.look(scorer.fixture(status="Finished", no_result="No result"))

    assert [(event.kind, event.text) for event in tick.events] == [("match_end", "No result")]


@pytest.mark.parametrize("status", ["Aban.", "Cancl.", "Cancl"])
def test_a_match_called_off_has_ended(scorer: Scorer, watch: Watch, status: str) -> None:
    tick = watch.look(scorer.fixture(status=status))

    assert kinds(tick) == ["match_end"]


def test_each_super_over_is_told_once(scorer: Scorer, watch: Watch) -> None:
    scorer.bowl(4)
    watch.look(scorer.fixture(status="1st Innings"))
    scorer.innings(2, "2nd Innings")
    scorer.bowl(4)
    watch.look(scorer.fixture())
    watch.look(scorer.fixture(super_over=True))
    scorer.innings(3, "3rd Innings", (31, 32))
    scorer.bowl(6)
    watch.look(scorer.fixture(super_over=True))
    scorer.innings(5, "5th Innings", (41, 42))
    scorer.bowl(6)

    watch.look(scorer.fixture(super_over=True))

    starts = [key for key in watch.keys if key.startswith("super_over_start")]
    assert starts == ["super_over_start:1", "super_over_start:2"]
