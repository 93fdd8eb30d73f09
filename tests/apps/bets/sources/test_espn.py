"""The ESPN client and parser; unexpected data is rejected, never guessed."""

from __future__ import annotations

import re
from datetime import UTC, datetime, timedelta
from decimal import Decimal
from typing import Any

import hypothesis
import numpy as np
import pytest
from hypothesis import strategies as st

from grandstand.apps.bets.domain.selections import prop_stat_value
from grandstand.apps.bets.services.ingest.stats_collector import StatsFeed
from grandstand.apps.bets.sources.espn import (
    EspnClient,
    EspnEvent,
    parse_events,
    parse_injuries,
    parse_player_stats,
    parse_team_stats,
)
from grandstand.apps.bets.sources.validation import Rejections
from grandstand.core.errors import NotFound
from grandstand.net.errors import InvalidResponse
from grandstand.simulators.faults import Fault
from tests.apps.bets.sources.feeds import day_of, espn_client, feed_at, played

pytestmark = pytest.mark.anyio

NBA = "basketball_nba"
NOON = datetime(2026, 1, 1, 12, tzinfo=UTC)
EVENT = EspnEvent(
    "4", NOON, "Boston Celtics", "Utah Jazz", True, False, "2026", Decimal(1), Decimal(2)
)


async def test_results_have_names_and_scores() -> None:
    simulated = played()
    feed, clock = feed_at(simulated, 30, timedelta(hours=12))
    day = day_of(simulated, 30).date()
    async with espn_client(feed, clock) as site:
        result = await site.fetch_results(NBA, day - timedelta(days=3), day)

    by_id = {score.game_id: score for score in result.scores}
    score = by_id["espn-401000030"]
    assert result.rejected == ()
    assert (score.home_team, score.commence_time) == (
        simulated.teams[simulated.games.home[30]],
        day_of(simulated, 30),
    )
    assert (score.home_score, score.away_score) == (
        Decimal(int(simulated.games.home_score[30])),
        Decimal(int(simulated.games.away_score[30])),
    )


async def test_box_score_becomes_team_and_player_stats() -> None:
    simulated = played()
    feed, clock = feed_at(simulated, 30, timedelta(hours=9))
    async with espn_client(feed, clock) as site:
        result = await site.fetch_stats(NBA, day_of(simulated, 30).date())

    box_scores = simulated.team_stats
    row = int(np.flatnonzero(box_scores.game == 30)[0])
    (team,) = [
        each
        for each in result.teams
        if each.team == simulated.teams[box_scores.team[row]]
        and each.stats["points"] == box_scores.stats["points"][row]
    ]
    people = [each for each in result.players if each.game_id == "espn-401000030"]
    assert result.rejected == ()
    assert team.stats["rebounds"] == Decimal(str(box_scores.stats["rebounds"][row]))
    assert {"field_goal_pct", "turnovers", "points_allowed"} <= team.stats.keys()
    assert team.known_at <= clock.now()
    assert len(people) == int((simulated.player_stats.game == 30).sum())
    assert {"PTS", "REB", "AST", "3PM", "MIN"} == people[0].stats.keys()


async def test_soccer_players_come_from_rosters() -> None:
    simulated = played("soccer_epl")
    feed, clock = feed_at(simulated, 30, timedelta(hours=9))
    async with espn_client(feed, clock) as site:
        result = await site.fetch_stats("soccer_epl", day_of(simulated, 30).date())

    assert {"SHOTS", "SOT"} == result.players[0].stats.keys()
    assert {"shots", "possession_pct", "points"} <= result.teams[0].stats.keys()


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
    result: dict[str, object] = {"boxscore": {"players": [team]}}

    (player,) = parse_player_stats(result, NBA, EVENT, Rejections(), known_at=NOON)

    assert (
        prop_stat_value(market, {name: float(value) for name, value in player.stats.items()}) == 3.0
    )
    assert (player.opponent, player.starts_at) == (EVENT.away, EVENT.starts_at)


async def test_injuries_are_those_reported_by_now() -> None:
    simulated = played()
    feed, clock = feed_at(simulated, 60, timedelta())
    async with espn_client(feed, clock) as site:
        result = await site.fetch_injuries(NBA, clock.now().date())

    reported = simulated.injuries
    names = {
        simulated.players[player].name
        for player in reported.player[reported.known_us <= clock.epoch() * 1e6].tolist()
    }
    assert result.injuries
    assert {each.player for each in result.injuries} <= names
    assert {each.status for each in result.injuries} <= {"out", "doubtful", "questionable"}
    assert all(each.reported_on <= clock.now().date() for each in result.injuries)


async def test_schedules_hold_each_game_for_both_teams() -> None:
    simulated = played()
    feed, clock = feed_at(simulated, 30, timedelta())
    async with espn_client(feed, clock) as site:
        result = await site.fetch_schedules(NBA, clock.now().date())

    homes = [each for each in result.fixtures if each.is_home]
    assert len(result.fixtures) == 2 * len(homes) > 20


async def test_a_sport_the_site_lacks_and_garbage_are_named() -> None:
    feed, clock = feed_at(played(), 30, timedelta())
    feed.faults.ask_for(Fault("garbage"))
    async with espn_client(feed, clock) as site:
        with pytest.raises(NotFound):
            await site.fetch_injuries("quidditch", clock.now().date())
        with pytest.raises(InvalidResponse):
            await site.fetch_injuries(NBA, clock.now().date())


def test_unknown_status_is_rejected_and_fit_players_are_skipped() -> None:
    def injury(status: str) -> dict[str, Any]:
        return {"status": status, "date": "2026-01-01T10:00Z", "athlete": {"displayName": "A B"}}

    reports = [injury(each) for each in ("Day-To-Day", "Active", "Abducted")]
    result: dict[str, object] = {
        "injuries": [{"displayName": "Boston Celtics", "injuries": reports}]
    }
    rejections = Rejections()

    found = list(parse_injuries(result, NBA, rejections, known_at=NOON))

    assert [(each.status, each.injury) for each in found] == [("questionable", "not specified")]
    assert [each.reason for each in rejections.all] == ["'abducted' is not a known status"]


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
    result=st.dictionaries(st.sampled_from(["boxscore", "rosters", "injuries"]), _anything)
)
def test_whatever_the_site_says_is_taken_or_refused(result: dict[str, Any]) -> None:
    rejections = Rejections()

    teams = list(parse_team_stats(result, NBA, EVENT, rejections, known_at=NOON))
    people = list(parse_player_stats(result, NBA, EVENT, rejections, known_at=NOON))
    hurt = list(parse_injuries(result, NBA, rejections, known_at=NOON))

    assert {each.team for each in teams} <= {EVENT.home, EVENT.away}
    assert all(each.stats for each in people)
    assert all(each.known_at == NOON for each in hurt)


@hypothesis.settings(max_examples=60, deadline=None)
@hypothesis.given(result=_anything)
def test_a_game_is_understood_or_refused(result: Any) -> None:
    rejections = Rejections()

    found = parse_events([result], rejections)

    assert len(found) + len(rejections.all) == 1


def as_port(site: EspnClient) -> StatsFeed:
    """The site is what the service asks for; checked by types alone."""
    return site
