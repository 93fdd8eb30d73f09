"""Kept here: the result of a race and what bets on it returned."""

from __future__ import annotations

from datetime import datetime
from typing import Final

from grandstand.simulators.racing.details import clock_words, last_seconds, passing
from grandstand.simulators.racing.market import Payout, Quotes, final, payouts
from grandstand.simulators.racing.pages.frame import Addresses
from grandstand.simulators.racing.pages.heading import heading
from grandstand.simulators.racing.running import Race
from grandstand.simulators.racing.world import World

_HEAD: Final = (
    '<thead>\n<tr class="Header"><th>着<br>順</th><th>枠</th><th>馬<br>番</th><th>馬名</th>'
    "<th>性齢</th><th>斤量</th><th>騎手</th><th>タイム</th><th>着差</th><th>人<br>気</th>"
    "<th>単勝<br>オッズ</th><th>後3F</th><th>コーナー<br>通過順</th><th>厩舎</th>"
    "<th>馬体重<br>(増減)</th></tr>\n</thead>\n"
)
_BETS: Final = {
    "Tansho": "単勝",
    "Fukusho": "複勝",
    "Wakuren": "枠連",
    "Umaren": "馬連",
    "Wide": "ワイド",
    "Umatan": "馬単",
    "Fuku3": "3連複",
    "Tan3": "3連単",
}
_FIRST_TABLE: Final = ("Tansho", "Fukusho", "Wakuren", "Umaren")


def result(world: World, race: Race, now: datetime, addresses: Addresses) -> str:
    """Answer the body of a result: an empty table and no payouts until it is confirmed."""
    known = now >= race.confirmed_at
    told = final(race)
    rows = "".join(_row(world, race, at, told, addresses) for at in race.order) if known else ""
    table = (
        f'<table id="All_Result_Table" class="RaceTable01 RaceCommon_Table ResultRefund"'
        f' summary="全着順">\n{_HEAD}<tbody>\n{rows}</tbody>\n</table>\n'
    )
    return f"{heading(race, now)}{table}{_returned(race) if known else ''}"


def _row(world: World, race: Race, at: int, told: Quotes, addresses: Addresses) -> str:
    horse, jockey, started = race.horses[at], race.finish.jockeys[at], race.finish.started(at)
    meeting = race.slot.meeting
    trainer = world.people.trainer_of(horse, meeting.held_on.year)
    mark, _ = jockey.allowance(meeting.held_on.year)
    kind = ' class="HorseList"' if meeting.circuit == "jra" else ""
    weight, bracket, change = world.weight(race, at).partition("(")
    rank = f"{told.rank[at + 1]}" if started else ""
    odds = f"{told.win[at + 1]:.1f}" if started else ""
    return (
        f'<tr{kind}>\n<td class="Result_Num"><div class="Rank">{race.rank(at)}</div></td>\n'
        f'<td class="Num Waku{race.frames[at]}"><div>{race.frames[at]}</div></td>\n'
        f'<td class="Num Txt_C"><div>{at + 1}</div></td>\n'
        '<td class="Horse_Info"><span class="Horse_Name">'
        f'<a href="{addresses.db}/horse/{horse.id}" title="{horse.name}">{horse.name}</a>'
        "</span></td>\n"
        '<td class="Horse_Info Txt_C"><div><span class="Lgt_Txt">'
        f"{horse.sex}{meeting.held_on.year - horse.foaled}</span></div></td>\n"
        f'<td class="Jockey_Info"><div><span class="JockeyWeight">{race.carried(at):.1f}</span>'
        "</div></td>\n"
        f'<td class="Jockey"><a href="{addresses.db}/jockey/result/recent/{jockey.id}/">'
        f"{mark}{jockey.short}</a></td>\n"
        f'<td class="Time"><span class="RaceTime">{clock_words(race.seconds(at))}</span></td>\n'
        f'<td class="Time"><span class="RaceTime">{race.margin(at)}</span></td>\n'
        f'<td class="Odds Txt_C"><span class="OddsPeople">{rank}</span></td>\n'
        f'<td class="Odds Txt_R"><span class="Odds_Ninki">{odds}</span></td>\n'
        f'<td class="Time">{last_seconds(race, at)}</td>\n'
        f'<td class="PassageRate">{passing(race, at)}</td>\n'
        f'<td class="Trainer"><span class="Label1">{trainer.stable}</span>'
        f'<a href="{addresses.db}/trainer/result/recent/{trainer.id}/">{trainer.short}</a></td>\n'
        f'<td class="Weight">{weight}{f"<small>({change}</small>" if bracket else ""}</td>\n</tr>\n'
    )


def _returned(race: Race) -> str:
    paid = payouts(race)
    first = "".join(_bet(one) for one in paid if one.kind in _FIRST_TABLE)
    second = "".join(_bet(one) for one in paid if one.kind not in _FIRST_TABLE)
    return "".join(
        f'<table class="Payout_Detail_Table" summary="払戻">\n<tbody>\n{rows}</tbody>\n</table>\n'
        for rows in (first, second)
    )


def _bet(paid: Payout) -> str:
    single = paid.kind in {"Tansho", "Fukusho"}
    numbers = "".join(
        f"<div><span>{one[0]}</span></div>"
        if single
        else f"<ul>{''.join(f'<li><span>{number}</span></li>' for number in one)}</ul>"
        for one in paid.combinations
    )
    yen = "<br>".join(f"{one:,}円" for one in paid.yen)
    ranks = "".join(f"<span>{one}人気</span>" for one in paid.ranks)
    return (
        f'<tr class="{paid.kind}">\n<th>{_BETS[paid.kind]}</th>\n'
        f'<td class="Result">{numbers}</td>\n'
        f'<td class="Payout"><span>{yen}</span></td>\n<td class="Ninki">{ranks}</td>\n</tr>\n'
    )
