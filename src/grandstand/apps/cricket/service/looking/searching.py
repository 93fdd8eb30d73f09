"""Kept here: the matches and teams that some words are about."""

from __future__ import annotations

from datetime import timedelta
from typing import Final

from grandstand.apps.cricket.service.looking.matches import Matches
from grandstand.apps.cricket.service.looking.reference import Reference
from grandstand.apps.cricket.service.means import Means
from grandstand.apps.cricket.service.values import MatchView
from grandstand.apps.cricket.store import Fixture, Team
from grandstand.kit.app import Found
from grandstand.kit.sought import MOST, nearest

_TEAMS: Final = 3


class Searching:
    """Looks among the fixtures kept around now, by their teams and leagues."""

    def __init__(self, means: Means, matches: Matches, reference: Reference) -> None:
        self._means = means
        self._matches = matches
        self._reference = reference

    async def run(self, sought: str) -> tuple[Found, ...]:
        """Answer teams first, each leading to its match nearest in time, then matches."""
        now, around = self._means.now(), timedelta(days=self._means.settings.sync_days)
        leagues = await self._reference.leagues()
        fixtures = await self._matches.starting_within(leagues, now - around, now + around)
        fixtures.sort(key=lambda one: abs(one.start_time - now))
        names = {one.team_id: one for one in await self._reference.teams()}
        titles = {one.league_id: one.name for one in leagues}
        teams = self._teams(sought, fixtures, names)

        def texts(one: Fixture) -> tuple[str, ...]:
            sides = (names.get(each or "") for each in (one.home_team_id, one.away_team_id))
            said = [text for side in sides if side for text in (side.name, side.code or "")]
            return (*said, titles.get(one.league_id or "", ""), one.round or "")

        chosen = nearest(sought, fixtures, texts, MOST - len(teams))
        views = await self._matches.shown(chosen)
        return (*teams, *(_match(view) for view in views))

    def _teams(
        self, sought: str, fixtures: list[Fixture], names: dict[str, Team]
    ) -> tuple[Found, ...]:
        first: dict[str, Fixture] = {}
        for fixture in fixtures:
            for team_id in (fixture.home_team_id, fixture.away_team_id):
                if team_id in names:
                    first.setdefault(team_id, fixture)
        found = nearest(sought, first, lambda one: (names[one].name, names[one].code or ""), _TEAMS)
        return tuple(self._team(names[each], first[each], names) for each in found)

    def _team(self, team: Team, fixture: Fixture, names: dict[str, Team]) -> Found:
        home, away = fixture.home_team_id or "", fixture.away_team_id or ""
        other = names.get(away if team.team_id == home else home)
        against = "" if other is None else f" against {other.name}"
        when = "next" if fixture.start_time > self._means.now() else "latest"
        detail = f"Cricket, {when}{against}, {fixture.start_time:%a %d %b}"
        return Found("team", team.name, detail, f"/cricket/matches/{fixture.match_id}")


def _match(view: MatchView) -> Found:
    scores = ", ".join(f"{one.score}-{one.wickets} ({one.overs})" for one in view.innings)
    said = scores or f"{view.starts_at:%a %d %b %H:%M} UTC"
    title = f"{view.home.name} v {view.away.name}"
    detail = ", ".join(filter(None, (view.league_name, view.round, said)))
    return Found("match", title, detail, f"/cricket/matches/{view.match_id}")
