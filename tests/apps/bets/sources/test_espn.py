"""The site of figures is read as far as it is understood; the rest is refused, never guessed."""

from __future__ import annotations

import re
from datetime import UTC, datetime, timedelta
from decimal import Decimal
from typing import Any

import hypothesis
import numpy as np
import pytest
from hypothesis import strategies as st

from grandstand.apps.bets.model.props import counted
from grandstand.apps.bets.service.ports import StatsFeed
from grandstand.apps.bets.sources.errors import FiguresUnknown
from grandstand.apps.bets.sources.espn import Espn
from grandstand.apps.bets.sources.espn_words import (
    Event,
    parse_events,
    parse_injuries,
    parse_people,
    parse_teams,
)
from grandstand.apps.bets.sources.reading import Refusals
from grandstand.simulators.faults import Fault
from grandstand.wire.errors import AnswerGarbled
from tests.apps.bets.sources.feeding import day_of, feed_at, figures, played

pytestmark = pytest.mark.anyio

NBA = "basketball_nba"
NOON = datetime(2026, 1, 1, 12, tzinfo=UTC)
EVENT = Event("4", NOON, "Boston Celtics", "Utah Jazz", True, False, "2026", Decimal(1), Decimal(2))


async def test_results_are_told_with_names_and_scores() -> None:
    made = played()
    feed, clock = feed_at(made, 30, timedelta(hours=12))
    day = day_of(made, 30).date()
    async with figures(feed, clock) as site:
        told = await site.fetch_results(NBA, day - timedelta(days=3), day)

    by_id = {score.game_id: score for score in told.scores}
    score = by_id["espn-401000030"]
    assert told.refused == ()
    assert (score.home_team, score.commence_time) == (
        made.teams[made.games.home[30]],
        day_of(made, 30),
    )
    assert (score.home_score, score.away_score) == (
        Decimal(int(made.games.home_score[30])),
        Decimal(int(made.games.away_score[30])),
    )


async def test_a_box_score_becomes_figures_of_teams_and_players() -> None:
    made = played()
    feed, clock = feed_at(made, 30, timedelta(hours=9))
    async with figures(feed, clock) as site:
        told = await site.fetch_stats(NBA, day_of(made, 30).date())

    counted = made.team_figures
    row = int(np.flatnonzero(counted.game == 30)[0])
    (team,) = [
        each
        for each in told.teams
        if each.team == made.teams[counted.team[row]]
        and each.stats["points"] == counted.stats["points"][row]
    ]
    people = [each for each in told.players if each.game_id == "espn-401000030"]
    assert told.refused == ()
    assert team.stats["rebounds"] == Decimal(str(counted.stats["rebounds"][row]))
    assert {"field_goal_pct", "turnovers", "points_allowed"} <= team.stats.keys()
    assert team.known_at <= clock.now()
    assert len(people) == int((made.player_figures.game == 30).sum())
    assert {"PTS", "REB", "AST", "3PM", "MIN"} == people[0].stats.keys()


async def test_soccer_players_come_from_rosters() -> None:
    made = played("soccer_epl")
    feed, clock = feed_at(made, 30, timedelta(hours=9))
    async with figures(feed, clock) as site:
        told = await site.fetch_stats("soccer_epl", day_of(made, 30).date())

    assert {"SHOTS", "SOT"} == told.players[0].stats.keys()
    assert {"shots", "possession_pct", "points"} <= told.teams[0].stats.keys()


@pytest.mark.parametrize(
    ("group", "label", "market"),
    [
        ("passing", "TD", "player_pass_tds"),
        ("passing", "YDS", "player_pass_yds"),
        ("rushing", "YDS", "player_rush_yds"),
        ("receiving", "REC", "player_receptions"),
        ("receiving", "YDS", "player_reception_yds"),
    ],
)
def test_what_a_football_player_did_is_what_his_markets_count(
    group: str, label: str, market: str
) -> None:
    athletes = [{"athlete": {"displayName": "A B"}, "stats": ["3"]}]
    statistics = [{"name": group, "labels": [label], "athletes": athletes}]
    team = {"team": {"displayName": EVENT.home}, "statistics": statistics}
    told: dict[str, object] = {"boxscore": {"players": [team]}}

    (player,) = parse_people(told, NBA, EVENT, Refusals(), known_at=NOON)

    assert counted(market, {name: float(value) for name, value in player.stats.items()}) == 3.0
    assert (player.opponent, player.starts_at) == (EVENT.away, EVENT.starts_at)


async def test_injuries_are_those_reported_by_now() -> None:
    made = played()
    feed, clock = feed_at(made, 60, timedelta())
    async with figures(feed, clock) as site:
        told = await site.fetch_injuries(NBA, clock.now().date())

    reported = made.injuries
    names = {
        made.players[player].name
        for player in reported.player[reported.known_us <= clock.epoch() * 1e6].tolist()
    }
    assert told.injuries
    assert {each.player for each in told.injuries} <= names
    assert {each.status for each in told.injuries} <= {"out", "doubtful", "questionable"}
    assert all(each.reported_on <= clock.now().date() for each in told.injuries)


async def test_schedules_hold_each_game_for_both_teams() -> None:
    made = played()
    feed, clock = feed_at(made, 30, timedelta())
    async with figures(feed, clock) as site:
        told = await site.fetch_schedules(NBA, clock.now().date())

    homes = [each for each in told.meetings if each.is_home]
    assert len(told.meetings) == 2 * len(homes) > 20


async def test_a_sport_the_site_lacks_and_garbage_are_named() -> None:
    feed, clock = feed_at(played(), 30, timedelta())
    feed.faults.ask_for(Fault("garbage"))
    async with figures(feed, clock) as site:
        with pytest.raises(FiguresUnknown):
            await site.fetch_injuries("quidditch", clock.now().date())
        with pytest.raises(AnswerGarbled):
            await site.fetch_injuries(NBA, clock.now().date())


def test_a_status_nobody_knows_is_refused_and_the_fit_are_left_out() -> None:
    def injury(status: str) -> dict[str, Any]:
        return {"status": status, "date": "2026-01-01T10:00Z", "athlete": {"displayName": "A B"}}

    reports = [injury(each) for each in ("Day-To-Day", "Active", "Abducted")]
    told: dict[str, object] = {"injuries": [{"displayName": "Boston Celtics", "injuries": reports}]}
    refusals = Refusals()

    found = list(parse_injuries(told, NBA, refusals, known_at=NOON))

    assert [(each.status, each.injury) for each in found] == [("questionable", "not told")]
    assert [each.why for each in refusals.all] == ["'abducted' is no known status"]


WORDS = re.findall(
    r"\w+",
    "id date team competitions competitors homeAway status type name boxscore teams players "
    "statistics athletes athlete displayName stats labels injuries rosters roster value",
)
_anything = st.recursive(
    st.none()
    | st.booleans()
    | st.integers()
    | st.text(max_size=8)
    | st.sampled_from(["home", "1-2"]),
    lambda inner: (
        st.lists(inner, max_size=3)
        | st.dictionaries(
            st.sampled_from(WORDS),
            inner,
            max_size=4,
        )
    ),
    max_leaves=12,
)


@hypothesis.settings(max_examples=60, deadline=None)
@hypothesis.given(
    told=st.dictionaries(st.sampled_from(["boxscore", "rosters", "injuries"]), _anything)
)
def test_whatever_the_site_says_is_taken_or_refused(told: dict[str, Any]) -> None:
    refusals = Refusals()

    teams = list(parse_teams(told, NBA, EVENT, refusals, known_at=NOON))
    people = list(parse_people(told, NBA, EVENT, refusals, known_at=NOON))
    hurt = list(parse_injuries(told, NBA, refusals, known_at=NOON))

    assert {each.team for each in teams} <= {EVENT.home, EVENT.away}
    assert all(each.stats for each in people)
    assert all(each.known_at == NOON for each in hurt)


@hypothesis.settings(max_examples=60, deadline=None)
@hypothesis.given(told=_anything)
def test_a_game_is_understood_or_refused(told: Any) -> None:
    refusals = Refusals()

    found = parse_events([told], refusals)

    assert len(found) + len(refusals.all) == 1


def as_port(site: Espn) -> StatsFeed:
    """The site is what the service asks for; checked by types alone."""
    return site
