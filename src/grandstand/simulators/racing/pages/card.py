"""Kept here: the card of a race, before and after the draw."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import datetime
from typing import Final

from grandstand.simulators.racing.pages.frame import Addresses
from grandstand.simulators.racing.pages.heading import heading
from grandstand.simulators.racing.running import Race
from grandstand.simulators.racing.world import World

_MARKS: Final = "".join(
    f'<option value="{at}">{mark}</option>'
    for at, mark in enumerate(("--", "◎", "○", "▲", "1", "2"))
)
_HEAD: Final = (
    '<thead>\n<tr class="Header"><th>枠</th><th>馬<br>番</th><th>印</th><th>馬名</th><th>性齢</th>'
    "<th>斤量</th><th>騎手</th><th>厩舎</th><th>馬体重<br>(増減)</th><th>オッズ<br>更新</th>"
    '<th>人気</th></tr>\n<tr class="Header Sub"><th colspan="11">お気に入り馬</th></tr>\n</thead>\n'
)
_MODAL: Final = '<div class="Modal_{number}" style="display:none"><p>メモ</p></div>\n'


def card(world: World, race: Race, now: datetime, addresses: Addresses) -> str:
    """Answer the body of a card: no runners until they are listed, no numbers until the draw.

    The pieces between the rows are no part of a table: the real page is as wrong.
    """
    drawn = now >= race.drawn_at
    rows = "".join(_rows(world, race, now, addresses)) if now >= race.listed_at else ""
    table = (
        f'<table class="Shutuba_Table RaceTable01 ShutubaTable">\n{_HEAD}<tbody>\n{rows}</tbody>\n'
        "</table>\n"
    )
    return f"{heading(race, now)}{table}{_sections(race) if drawn else ''}"


def _rows(world: World, race: Race, now: datetime, addresses: Addresses) -> Iterator[str]:
    order = range(len(race.horses))
    if now < race.drawn_at:
        for number, at in enumerate(sorted(order, key=lambda one: race.horses[one].name), 1):
            yield _row(world, race, at, (number, now), addresses)
        return
    for at in order:
        yield _row(world, race, at, (at + 1, now), addresses)
        yield _MODAL.format(number=at + 1)


def _row(
    world: World, race: Race, at: int, shown: tuple[int, datetime], addresses: Addresses
) -> str:
    number, now = shown
    horse, jockey = race.horses[at], race.finish.jockeys[at]
    year = race.slot.meeting.held_on.year
    trainer = world.people.trainer_of(horse, year)
    out = now >= race.opens_at and not race.finish.started(at)
    label = {"美浦": "Label1", "栗東": "Label2"}.get(trainer.stable, "Label3")
    return (
        f'<tr class="HorseList{" Cancel" if out else ""}" id="tr_{number}">\n'
        f"{_draw(race, at, now)}"
        f"{_mark(race, at, out=out)}"
        '<td class="HorseInfo"><div><div><span class="HorseName">'
        f'<a href="{addresses.db}/horse/{horse.id}" target="_blank" title="{horse.name}">'
        f"{horse.name}</a></span></div></div></td>\n"
        f'<td class="Barei Txt_C">{horse.sex}{year - horse.foaled}</td>\n'
        f'<td class="Txt_C">{race.carried(at):.1f}</td>\n'
        f'<td class="Jockey"><a href="{addresses.db}/jockey/result/recent/{jockey.id}/" '
        f'title="{jockey.short}">{jockey.short}</a></td>\n'
        f'<td class="Trainer"><span class="{label}">{trainer.stable}</span>'
        f'<a href="{addresses.db}/trainer/result/recent/{trainer.id}/">{trainer.short}</a></td>\n'
        f'<td class="Weight">{_weight(world, race, at, now)}</td>\n'
        f'<td class="Txt_R Popular"><span id="odds-1_{number:02}">---.-</span></td>\n'
        f'<td class="Popular Popular_Ninki Txt_C"><span id="ninki-1_{number:02}">**</span></td>\n'
        "</tr>\n"
    )


def _draw(race: Race, at: int, now: datetime) -> str:
    if now < race.drawn_at:
        return '<td class="Waku Txt_C"><span></span></td>\n<td class="Umaban Txt_C"></td>\n'
    frame = race.frames[at]
    inner = f"<span>{frame}</span>" if race.slot.meeting.circuit == "jra" else str(frame)
    return (
        f'<td class="Waku{frame} Txt_C">{inner}</td>\n'
        f'<td class="Umaban{frame} Txt_C">{at + 1}</td>\n'
    )


def _mark(race: Race, at: int, *, out: bool) -> str:
    if out:
        return f'<td class="CheckMark Cancel_Txt Txt_C">{race.finish.words[at]}</td>\n'
    return f'<td class="CheckMark Horse_Select"><select>{_MARKS}</select></td>\n'


def _weight(world: World, race: Race, at: int, now: datetime) -> str:
    if now < race.weighed_at:
        return ""
    weight, bracket, change = world.weight(race, at).partition("(")
    return f"{weight}\n<small>({change}</small>" if bracket else weight


def _sections(race: Race) -> str:
    rows = "".join(
        f'<tr class="HorseList"><td class="Waku{frame} Txt_C"><span>{frame}</span></td>'
        f'<td class="Umaban{frame} Txt_C">{number}</td><td>**</td></tr>\n'
        for number, frame in enumerate(race.frames, 1)
    )
    return (
        '<table class="Shutuba_Table PredictRap_Table">\n<thead><tr><th>枠</th><th>馬番</th>'
        f"<th>予測</th></tr></thead>\n<tbody>\n{rows}</tbody>\n</table>\n"
    )
