"""A page with the lock screens of all simulated phones."""

from __future__ import annotations

from dataclasses import asdict
from typing import Any, Final

from markupsafe import Markup, escape

from grandstand.simulators.asgi import Application, Message, Receive, Send, send_json, send_response
from grandstand.simulators.push.phones import LockScreenActivity, Phone, PhoneWall

_STYLE: Final = """
:root { color-scheme: light dark; font: 15px/1.4 system-ui, sans-serif;
  --paper: #eef1f4; --ink: #17202a; --quiet: #55606c; --phone: #1c2733; --glass: #f7f9fb;
  --accent: #1f6f43; }
@media (prefers-color-scheme: dark) { :root { --paper: #12171c; --ink: #e8edf2; --quiet: #9aa7b4;
  --phone: #000; --glass: #202a34; --accent: #6fce9b; } }
body { margin: 0; padding: 1rem; background: var(--paper); color: var(--ink); }
h1 { font-size: 1.3rem; margin: 0 0 .2rem; } p { margin: 0; color: var(--quiet); }
main { display: grid; gap: 1rem; margin-top: 1rem;
  grid-template-columns: repeat(auto-fill, minmax(min(19rem, 100%), 1fr)); }
article { background: var(--phone); border-radius: 1.6rem; padding: .9rem; min-height: 9rem; }
h2 { color: #d5dde5; font-size: .85rem; font-weight: 500; margin: 0 0 .6rem; text-align: center; }
section { background: var(--glass); border-radius: 1rem; padding: .7rem .9rem; margin-top: .5rem; }
.teams { display: flex; justify-content: space-between; gap: 1rem; font-weight: 650; }
.teams span { font-variant-numeric: tabular-nums; } .event { color: var(--accent); }
.quiet, .empty { color: var(--quiet); font-size: .87rem; } .empty { color: #8b98a5; margin: 1rem; }
.stale { outline: 2px dashed var(--quiet); outline-offset: -4px; } .balls { letter-spacing: .25em; }
"""
_EVERY_SECONDS: Final = 2
_HTML: Final = (b"content-type", b"text/html; charset=utf-8")
_TEXT: Final = (b"content-type", b"text/plain")


def wall_application(wall: PhoneWall) -> Application:
    """Return the ASGI application: the page at /, and JSON at /phones."""

    async def serve(scope: Message, _receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            return
        if scope["path"] == "/phones":
            await send_json(send, 200, _told(wall))
        elif scope["path"] == "/":
            await send_response(send, 200, wall_page(wall).encode(), [_HTML])
        else:
            await send_response(send, 404, b"no such page", [_TEXT])

    return serve


def wall_page(wall: PhoneWall) -> str:
    """Return the page, which reloads every two seconds."""
    now = wall.clock.epoch()
    phones = Markup("").join(_phone(phone, now) for phone in wall.phones)
    running = sum(len(phone.running(now)) for phone in wall.phones)
    return str(
        Markup(
            '<!doctype html><html lang="en"><head><meta charset="utf-8">'
            '<meta name="viewport" content="width=device-width, initial-scale=1">'
            '<meta http-equiv="refresh" content="{every}"><title>Wall of phones</title>'
            "<style>{style}</style></head><body><h1>Wall of phones</h1>"
            "<p>{phone_count}, Live Activities: {running}</p>"
            "<main>{phones}</main></body></html>"
        ).format(
            every=_EVERY_SECONDS,
            style=Markup(_STYLE),  # noqa: S704 - our own text
            phone_count=_counted(len(wall.phones), "phone"),
            running=f"{running} running",
            phones=phones,
        )
    )


def _told(wall: PhoneWall) -> dict[str, Any]:
    return {
        phone.name: {
            "locks": [asdict(lock) for lock in phone.locks(wall.clock.epoch())],
            "notifications": phone.notifications,
            "dropped": phone.dropped,
        }
        for phone in wall.phones
    }


def _phone(phone: Phone, now: float) -> Markup:
    locks = phone.locks(now)
    notes = Markup("").join(_notification(each) for each in phone.notifications[-2:])
    cards = notes + Markup("").join(_card(lock) for lock in locks)
    shown = cards or Markup('<p class="empty">Nothing on the lock screen</p>')
    return Markup("<article><h2>{}</h2>{}</article>").format(phone.name, shown)


def _notification(payload: dict[str, Any]) -> Markup:
    alert = payload.get("aps", {}).get("alert", {})
    title, body = (alert.get("title", ""), alert.get("body", "")) if alert else ("", "")
    return Markup('<section><strong>{}</strong><div class="quiet">{}</div></section>').format(
        title, body
    )


def _card(lock: LockScreenActivity) -> Markup:
    state = lock.state
    lines = [_team(team) for team in _listed(state, "teams")]
    if event := state.get("keyEvent"):
        lines.append(Markup('<div class="event">{}</div>').format(event.get("text", "")))
    if balls := _listed(state, "thisOver"):
        lines.append(Markup('<div class="balls">{}</div>').format(" ".join(map(str, balls))))
    lines.append(Markup('<div class="quiet">{}</div>').format(_words(lock)))
    kind = escape("stale" if lock.stale else "fresh")
    return Markup('<section class="{}">{}</section>').format(kind, Markup("").join(lines))


def _team(team: dict[str, Any]) -> Markup:
    innings = " & ".join(
        f"{each.get('score')}-{each.get('wickets')} ({each.get('overs')})"
        for each in _listed(team, "innings")
    )
    name = team.get("name") or team.get("code", "")
    return Markup('<div class="teams"><span>{}</span><span>{}</span></div>').format(name, innings)


def _words(lock: LockScreenActivity) -> str:
    """Return the status line: the match, whether it is stale, and the counts."""
    status = str(lock.state.get("result") or lock.state.get("status") or "")
    age = "over" if lock.ended else "no news for a while" if lock.stale else ""
    counts = f"{_counted(lock.updates, 'update')}, {_counted(lock.alerts, 'alert')}"
    return " · ".join(filter(None, (status, age, counts)))


def _counted(count: int, word: str) -> str:
    return f"{count} {word}" if count == 1 else f"{count} {word}s"


def _listed(state: dict[str, Any], name: str) -> list[Any]:
    value = state.get(name)
    return value if isinstance(value, list) else []
