"""The feed's words become ours, and what is wrong in them is counted and not fatal."""

from datetime import UTC, datetime
from decimal import Decimal
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from grandstand.apps.cricket.domain.matches import (
    BattingLine,
    BowlingLine,
    InningsScore,
    MatchSnapshot,
    Revision,
)
from grandstand.apps.cricket.sources.sportmonks import (
    FeedReader,
    inning_of,
    parse_balls,
    parse_fixture,
)
from tests.apps.cricket.sources.sportmonks_rows import ball, fixture, score

ANYTHING = st.one_of(
    st.none(),
    st.booleans(),
    st.integers(),
    st.floats(),
    st.text(max_size=6),
    st.sampled_from([[], {}, [1], {"data": 4}, {"id": "x"}, [{"id": []}], "9" * 400]),
)


def _parsed(row: dict[str, Any]) -> tuple[MatchSnapshot, tuple[str, ...]]:
    reading = FeedReader()
    parsed = parse_fixture(reading, row)
    assert parsed is not None
    return parsed, reading.warnings


def test_a_fixture_is_read_with_all_its_includes_bare_or_wrapped() -> None:
    parsed, warnings = _parsed(fixture())

    assert warnings == ()
    assert (parsed.match_id, parsed.home.code, parsed.away.name) == ("71344", "HAR", "Hill City")
    assert parsed.starting_at == datetime(2026, 11, 16, 8, 40, tzinfo=UTC)
    assert parsed.innings == (InningsScore("1", 1, 11, 1, Decimal("1.2")),)
    assert parsed.boards[0].batting == (
        BattingLine(11, 1, 8, 4, 2, 0, True, 11, Decimal("1.2")),
        BattingLine(12, 1, 3, 4, 0, 0, False),
    )
    assert parsed.boards[0].bowling == (BowlingLine(21, 1, Decimal("1.2"), 0, 11, 1),)
    assert [each.label for each in parsed.balls] == ["0.1", "0.2"]
    assert dict(parsed.players) == {12: "B West", 11: "A North", 21: "Grace South"}
    assert (parsed.toss_team_id, parsed.winner_team_id, parsed.venue) == ("1", None, "The Green")


@pytest.mark.parametrize(
    ("told", "runs", "extras", "extra", "marks"),
    [
        (score("1 Run", runs=1), 1, 0, None, ()),
        (score("FOUR", runs=4, four=True), 4, 0, None, ("four",)),
        (score("SIX", runs=6, six=True), 6, 0, None, ("six",)),
        (score("5 Wides", runs=5, ball=False), 0, 5, "wide", ()),
        (
            score("1 No Ball + 1 Run", runs=2, noball=1, noball_runs=1, ball=False),
            1,
            1,
            "noball",
            (),
        ),
        (
            score("No Ball + 6", runs=7, noball=1, noball_runs=1, six=True, ball=False),
            6,
            1,
            "noball",
            ("six",),
        ),
        (score("2 Byes", bye=2), 0, 2, "bye", ()),
        (score("4 Leg Byes", leg_bye=4, four=True), 0, 4, "legbye", ()),
        (score("1 Leg Bye + 4 Runs", runs=4, leg_bye=5), 0, 5, "legbye", ()),
        (score("Catch Out", is_wicket=True, out=True), 0, 0, None, ("wicket", "credited")),
        (score("Run Out + 1 Run", runs=1, is_wicket=True, out=True), 1, 0, None, ("wicket",)),
        (score("Retired Hurt"), 0, 0, None, ()),
        (
            score("Stump Out Wide", runs=1, is_wicket=True, ball=False),
            0,
            1,
            "wide",
            ("wicket", "credited"),
        ),
    ],
)
def test_a_score_object_is_read_by_the_feeds_arithmetic(
    told: dict[str, Any], runs: int, extras: int, extra: str | None, marks: tuple[str, ...]
) -> None:
    (parsed,) = parse_balls(FeedReader(), [ball(1, 17.3, told)])

    assert (parsed.runs, parsed.extras, parsed.extra) == (runs, extras, extra)
    flags = ("four", "six", "wicket", "credited")
    assert tuple(flag for flag in flags if getattr(parsed, flag)) == marks
    assert (parsed.over, parsed.number, parsed.partner_id) == (17, 3, 12)


def test_who_is_out_is_told_by_the_row_and_is_the_striker_otherwise() -> None:
    out = score("Run Out", is_wicket=True)

    parsed = parse_balls(FeedReader(), [ball(1, 0.1, out, batsmanout_id=12), ball(2, "0.2", out)])

    assert [each.out_id for each in parsed] == [12, 11]


def test_only_the_balls_since_the_last_one_known_are_read_again() -> None:
    rows = [ball(n, n // 6 + n % 6 / 10 + 0.1, score("0 Run")) for n in range(200)]

    parsed = parse_balls(FeedReader(), rows, since=180)

    assert (parsed[0].id, parsed[-1].id) == (151, 199)


def test_a_revised_target_is_read_from_texts() -> None:
    block = {"score": 168, "overs": "14.5", "wickets_out": 5}

    parsed, _ = _parsed(fixture(rpc_target="171", rpc_overs="15", visitorteam_dl_data=block))

    assert parsed.revision == Revision(171, Decimal(15), "168/14.5")


def test_an_unknown_status_is_kept_and_counted() -> None:
    parsed, warnings = _parsed(fixture(status="Drinks"))

    assert parsed.status == "Drinks"
    assert warnings == ("unknown status 'Drinks'",)


def test_missing_includes_are_nothing_to_warn_of() -> None:
    row = fixture()
    bare = {name: row[name] for name in ("id", "status", "localteam_id", "visitorteam_id", "type")}

    parsed, warnings = _parsed(bare)

    assert (parsed.balls, parsed.boards, parsed.innings, parsed.home.name) == ((), (), (), "")
    assert warnings == ()


def test_rows_that_cannot_be_used_are_left_out_and_counted() -> None:
    broken = fixture(
        runs=[{"team_id": 1, "score": 4}, "row"],
        batting=[{"player_id": None, "scoreboard": "S1"}, {"player_id": 4, "scoreboard": "X"}],
        bowling="none",
        balls=[ball(5, None, score("0 Run")), ball(6, 0.1, {})],
    )

    parsed, warnings = _parsed(broken)

    assert (parsed.innings, parsed.boards, [each.id for each in parsed.balls]) == ((), (), [6])
    assert "batting line without a player or a scoreboard (2 times)" in warnings
    assert "bowling is not a list" in warnings
    assert "runs has rows that are not objects" in warnings
    assert "ball without a score" in warnings


@pytest.mark.parametrize(
    ("name", "value", "warning"),
    [
        ("rpc_overs", "NaN", "rpc_overs is not a number"),
        ("rpc_overs", float("nan"), "rpc_overs is not a number"),
        ("rpc_target", "1e999999999", "rpc_target is not a number"),
        ("starting_at", "0001-01-01T00:00:00+14:00", "starting_at is out of range"),
        ("starting_at", "9999-12-31T23:59:59Z", "starting_at is out of range"),
    ],
)
def test_figures_beyond_all_bounds_are_left_out_and_counted(
    name: str, value: object, warning: str
) -> None:
    parsed, warnings = _parsed(fixture(**{name: value}))

    assert warnings == (warning,)
    assert (parsed.revision, parsed.match_id) == (Revision(), "71344")


def test_a_fixture_without_an_id_is_none() -> None:
    reading = FeedReader()

    assert parse_fixture(reading, fixture(id=None)) is None
    assert reading.warnings == ("fixture without an id",)


@pytest.mark.parametrize(
    ("name", "inning"),
    [("S1", 1), ("s4", 4), ("S0", None), ("T1", None), ("S", None), ("S²", None)],
)
def test_a_scoreboard_names_its_innings(name: str, inning: int | None) -> None:
    assert inning_of(name) == inning


@settings(max_examples=40, deadline=None)
@given(
    name=st.sampled_from(sorted(fixture())),
    inside=st.sampled_from(sorted(fixture()["balls"][0]) + sorted(fixture()["batting"][1])),
    value=ANYTHING,
)
def test_whatever_stands_where_something_else_should_the_match_goes_on(
    name: str, inside: str, value: object
) -> None:
    row = fixture(id=71344)
    row["balls"][0][inside] = value
    row["batting"][1][inside] = value
    row = {**row, name: value, "id": 71344}

    parsed, _ = _parsed(row)

    assert parsed.match_id == "71344"
