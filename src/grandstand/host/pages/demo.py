"""The demo page: simulated sources, how to connect real ones, and a phone."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from starlette.requests import Request
from starlette.responses import Response

from grandstand.host.demo.sources import demo_enabled, source_connections
from grandstand.kit.routes import CurrentCaller, page

if TYPE_CHECKING:
    from grandstand.host.runtime import Platform
    from grandstand.simulators.push.phones import LockScreenActivity


@dataclass(frozen=True, slots=True)
class LockScreenView:
    """A Live Activity as a lock screen shows it; teams are names with their scores."""

    teams: tuple[tuple[str, str], ...]
    event: str
    over: str
    status: str
    href: str


class DemoPages:
    """The demo page."""

    def __init__(self, platform: Platform) -> None:
        self._platform = platform

    @page("/demo")
    async def demo(self, request: Request, who: CurrentCaller) -> Response:
        """All external sources and their state, and the simulated lock screen."""
        del who
        platform = self._platform
        phones = None if platform.demo is None else platform.demo.phones
        return platform.pages.render(
            request,
            "platform/demo.html",
            demo_enabled=demo_enabled(platform.settings),
            source_connections=source_connections(platform.settings),
            titles={section.name: section.title for section in platform.pages.sections},
            has_phone=phones is not None,
            locks=[] if phones is None else [lock_screen_view(lock) for lock in phones.locks()],
            notifications=[] if phones is None else [_alert(n) for n in phones.notifications()],
        )


def lock_screen_view(lock: LockScreenActivity) -> LockScreenView:
    """Return the texts of a lock screen."""
    state = lock.state
    event = state.get("keyEvent") or {}
    status = str(state.get("result") or state.get("status") or "")
    age = "over" if lock.ended else "no message for a while" if lock.stale else ""
    match_id = lock.attributes.get("matchId")
    return LockScreenView(
        tuple(_team(team) for team in _listed(state, "teams")),
        str(event.get("text", "")),
        " ".join(map(str, _listed(state, "thisOver"))),
        " · ".join(filter(None, (status, age, f"update {lock.updates}"))),
        f"/cricket/matches/{match_id}" if match_id else "/cricket",
    )


def _team(team: dict[str, Any]) -> tuple[str, str]:
    innings = " & ".join(
        f"{each.get('score')}-{each.get('wickets')} ({each.get('overs')})"
        for each in _listed(team, "innings")
    )
    return str(team.get("name") or team.get("code", "")), innings


def _alert(payload: dict[str, Any]) -> dict[str, str]:
    alert = payload.get("aps", {}).get("alert") or {}
    return {"title": str(alert.get("title", "")), "body": str(alert.get("body", ""))}


def _listed(values: dict[str, Any], name: str) -> list[Any]:
    found = values.get(name)
    return found if isinstance(found, list) else []
