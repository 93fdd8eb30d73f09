"""What the figures of an innings tell, with or without balls."""

from decimal import Decimal

import pytest

from grandstand.apps.cricket.domain.matches import (
    BattingLine,
    Board,
    BowlingLine,
    InningsScore,
    MatchSnapshot,
)
from tests.apps.cricket.domain.scorer import AWAY, HOME, Scorer
from tests.apps.cricket.domain.watcher import Watch, kinds


def _seen(batting: tuple[BattingLine, ...] = (), **given: object) -> MatchSnapshot:
    """A match without balls, as most are polled."""
    told: dict[str, object] = {
        "match_id": "71344",
        "status": "1st Innings",
        "home": HOME,
        "away": AWAY,
        "format": "ODI",
        "innings": (InningsScore("1", 1, 0, 0, Decimal("4.5")),),
        "boards": (Board(1, batting),),
    }
    return MatchSnapshot(**{**told, **given})  # type: ignore[arg-type]


def _line(score: int, player: int = 11, *, out: bool = False) -> BattingLine:
    fall = (120, Decimal("4.4")) if out else (None, None)
    return BattingLine(player, 1, score, score // 2, 0, 0, out, *fall)


@pytest.fixture
def watch() -> Watch:
    made = Watch()
    made.look(_seen((_line(45), _line(3, 12))))
    return made


def test_every_milestone_passed_at_once_is_found_and_only_the_last_is_told(watch: Watch) -> None:
    tick = watch.look(_seen((_line(151), _line(3, 12))))

    found = {(event.kind, event.value): event.filtered for event in tick.events}
    assert found == {
        ("fifty", 50): "stale",
        ("batsman_on_90s", 90): "stale",
        ("hundred", 100): "stale",
        ("hundred", 150): None,
    }


def test_a_milestone_taken_back_and_reached_again_is_told_once(watch: Watch) -> None:
    watch.look(_seen((_line(51), _line(3, 12))))
    back = watch.look(_seen((_line(47), _line(3, 12))))

    again = watch.look(_seen((_line(53), _line(3, 12))))

    assert (back.resync, back.events) == (True, ())
    assert (again.changed, again.events) == (True, ())
    assert watch.keys.count("fifty:1:11:50") == 1


def test_a_wicket_is_told_by_who_is_out_and_who_comes_in(watch: Watch) -> None:
    tick = watch.look(_seen((_line(45, out=True), _line(3, 12), _line(0, 13))))

    assert kinds(tick) == ["new_batsman", "wicket"]
    assert tick.key_event is not None
    assert (tick.key_event.player_id, tick.key_event.alert) == (11, True)
    assert tick.key_event.text == "WICKET! The batter 45 (22)"


def test_two_wickets_in_one_look_are_two(watch: Watch) -> None:
    tick = watch.look(_seen((_line(45, out=True), _line(3, 12, out=True), _line(0, 13))))

    assert kinds(tick).count("wicket") == 2
    assert [event.filtered for event in tick.events if event.kind == "wicket"].count(None) == 1


def test_without_names_wickets_are_told_by_their_number() -> None:
    watch = Watch()
    watch.look(_seen(boards=()))
    before, after = (InningsScore("1", 1, 40, n, Decimal("4.5")) for n in (1, 3))

    watch.look(_seen(boards=(), innings=(before,)))
    watch.look(_seen(boards=(), innings=(after,)))
    watch.look(_seen(boards=(), innings=(before,)))
    watch.look(_seen(boards=(), innings=(after,)))

    assert watch.keys.count("wicket:1:number 1") == 1
    assert [event.value for event in watch.events if event.kind == "wicket"] == [1, 2, 3]


def test_names_that_come_late_tell_no_wicket_again() -> None:
    watch = Watch()
    watch.look(_seen(boards=()))
    watch.look(_seen(boards=(), innings=(InningsScore("1", 1, 40, 1, Decimal("4.5")),)))

    named = watch.look(_seen((_line(45, out=True), _line(3, 12))))

    assert "wicket" not in kinds(named)


def test_figures_left_out_once_are_neither_lost_nor_told_again(watch: Watch) -> None:
    watch.look(_seen((_line(51), _line(3, 12))))

    without = watch.look(_seen(boards=()))
    again = watch.look(_seen((_line(55, out=True), _line(3, 12))))

    assert (without.changed, without.events) == (False, ())
    assert kinds(again) == ["wicket"]


@pytest.mark.parametrize(("wickets", "alert"), [(3, False), (5, True)])
def test_a_bowler_is_on_fire_and_wakes_people_from_the_fifth(*, wickets: int, alert: bool) -> None:
    watch = Watch()
    bowling = [BowlingLine(21, 1, Decimal(4), 0, 20, n) for n in (wickets - 1, wickets)]
    watch.look(_seen(boards=(Board(1, (), (bowling[0],)),)))

    tick = watch.look(_seen(boards=(Board(1, (), (bowling[1],)),)))

    assert [(event.kind, event.value) for event in tick.events] == [("bowler_on_fire", wickets)]
    assert tick.events[0].alert is alert


def test_overs_are_told_one_by_one_even_when_several_have_passed(watch: Watch) -> None:
    far = (InningsScore("1", 1, 30, 0, Decimal("7.1")),)

    tick = watch.look(_seen((_line(45), _line(3, 12)), innings=far))

    assert [event.key for event in tick.events] == ["over_end:1:5", "over_end:1:6", "over_end:1:7"]
    assert [event.filtered for event in tick.events] == ["stale", "stale", None]


def test_the_sixth_ball_ends_an_over_and_the_next_over_does_not_end_it_again(watch: Watch) -> None:
    sixth, whole = ((InningsScore("1", 1, 30, 0, Decimal(overs)),) for overs in ("4.6", "5"))

    watch.look(_seen((_line(45), _line(3, 12)), innings=sixth))
    watch.look(_seen((_line(45), _line(3, 12)), innings=whole))

    assert watch.keys.count("over_end:1:5") == 1


def test_a_milestone_says_how_it_stood_on_its_ball() -> None:
    scorer, watch = Scorer(status="1st Innings"), Watch()
    watch.look(scorer.fixture())
    for _ in range(14):
        scorer.bowl(4)

    tick = watch.look(scorer.fixture())

    (fifty,) = [event for event in tick.events if event.kind == "fifty"]
    assert fifty.text == "FIFTY! Player 11 52 (13)"
    assert fifty.ball_id == scorer.balls[12].id
