"""Kept here: the page of what is simulated: the sources, how to connect them, a drawn phone."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from starlette.requests import Request
from starlette.responses import Response

from grandstand.host.demo.sources import plays, standings
from grandstand.kit.routes import Who, page

if TYPE_CHECKING:
    from grandstand.host.house import House
    from grandstand.simulators.push import Lock


@dataclass(frozen=True, slots=True)
class ShownTeam:
    """A team on a lock screen, with what it has scored so far."""

    name: str
    scored: str


@dataclass(frozen=True, slots=True)
class ShownLock:
    """A Live Activity as a lock screen shows it."""

    teams: tuple[ShownTeam, ...]
    event: str
    over: str
    words: str
    href: str


class DemoPages:
    """What is simulated, for whoever wants it real."""

    def __init__(self, house: House) -> None:
        self._house = house

    @page("/demo")
    async def demo(self, request: Request, who: Who) -> Response:
        """Every outside source and how it stands; the lock screen of the simulated phone."""
        del who
        house = self._house
        phones = None if house.demo is None else house.demo.phones
        return house.pages.render(
            request,
            "house/demo.html",
            plays=plays(house.settings),
            standings=standings(house.settings),
            titles={section.name: section.title for section in house.pages.sections},
            has_phone=phones is not None,
            locks=[] if phones is None else [shown_lock(lock) for lock in phones.locks()],
            notifications=[] if phones is None else [_alert(n) for n in phones.notifications()],
        )


def shown_lock(lock: Lock) -> ShownLock:
    """Answer what a lock screen shows, in words."""
    state = lock.state
    event = state.get("keyEvent") or {}
    status = str(state.get("result") or state.get("status") or "")
    age = "over" if lock.ended else "no news for a while" if lock.stale else ""
    match_id = lock.attributes.get("matchId")
    return ShownLock(
        tuple(_team(team) for team in _listed(state, "teams")),
        str(event.get("text", "")),
        " ".join(map(str, _listed(state, "thisOver"))),
        " · ".join(filter(None, (status, age, f"update {lock.updates}"))),
        f"/cricket/matches/{match_id}" if match_id else "/cricket",
    )


def _team(team: dict[str, Any]) -> ShownTeam:
    innings = " & ".join(
        f"{each.get('score')}-{each.get('wickets')} ({each.get('overs')})"
        for each in _listed(team, "innings")
    )
    return ShownTeam(str(team.get("name") or team.get("code", "")), innings)


def _alert(payload: dict[str, Any]) -> dict[str, str]:
    alert = payload.get("aps", {}).get("alert") or {}
    return {"title": str(alert.get("title", "")), "body": str(alert.get("body", ""))}


def _listed(values: dict[str, Any], name: str) -> list[Any]:
    found = values.get(name)
    return found if isinstance(found, list) else []
