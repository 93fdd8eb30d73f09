"""HTML and JSON pages of the simulated site."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import date, datetime
from typing import Any, Final, Literal, TypeAlias

from grandstand.simulators.racing.career import (
    RideCounts,
    Run,
    Totals,
    format_prizes,
    old_runs,
    totals,
)
from grandstand.simulators.racing.population import Ancestor, Horse, Jockey
from grandstand.simulators.racing.race import (
    Payout,
    Quotes,
    Race,
    corner_positions,
    current_quotes,
    final_quotes,
    format_race_time,
    last_600m,
    paid_places,
    race_payouts,
)
from grandstand.simulators.racing.racecourses import (
    GOINGS,
    JST,
    LETTER,
    Circuit,
    Meeting,
    Surface,
    jst_hour,
)
from grandstand.simulators.racing.season import Conditions
from grandstand.simulators.racing.world import World


@dataclass(frozen=True, slots=True)
class Addresses:
    """Base URLs of the three hosts."""

    race: str
    nar: str
    db: str

    def of(self, circuit: Circuit) -> str:
        """Return the base URL of a circuit's races."""
        return self.race if circuit == "jra" else self.nar


def document(title: str, body: str, encoding: str) -> str:
    """Return an HTML document that declares its encoding."""
    return (
        f'<!DOCTYPE html>\n<html lang="ja">\n<head>\n<meta charset="{encoding}">\n'
        f"<title>{title}</title>\n<script>var simulated = 1 < 2;</script>\n</head>\n"
        f'<body>\n<div id="page">\n{body}\n</div>\n</body>\n</html>\n'
    )


def money(prize: float) -> str:
    """Return an amount in units of 10,000 yen, written with 億 and 万."""
    large, rest = divmod(prize, 10_000)
    shown = f"{rest:,.0f}" if rest == int(rest) else f"{rest:,.1f}"
    return f"{large:.0f}億{shown}万円" if large else f"{shown}万円"


def heading(race: Race, now: datetime) -> str:
    """Return the race header; weather and going are shown from the morning on."""
    terms, meeting = race.terms, race.slot.meeting
    ground = ""
    if now >= race.opens_at:
        ground = (
            f'/ 天候:{meeting.sky}<span class="Icon_Weather Weather01"></span>\n'
            f'<span class="Item04">/ 馬場:{GOINGS[meeting.going(terms.surface)][0]}</span>'
        )
    turn = "芝" if terms.surface == "jump" else meeting.track.turn
    spans = (
        f"{meeting.kai}回",
        meeting.track.name,
        f"{meeting.day}日目",
        terms.age if terms.surface != "jump" else f"障害{terms.age}",
        terms.rank,
        "(混)[指]",
        "馬齢" if race.slot.band[0] == "2" else "定量",
        f"{len(race.horses)}頭",
    )
    return (
        '<div class="RaceList_NameBox">\n'
        f'<div class="RaceList_Item01"><span class="RaceNum">{race.slot.number}R</span></div>\n'
        '<div class="RaceList_Item02">\n'
        f'<h1 class="RaceName">{terms.name}\n{_grade_icon(terms)}</h1>\n'
        f'<div class="RaceData01">{race.off_at.astimezone(JST):%H:%M}発走 /<!-- course -->'
        f"<span> {LETTER[terms.surface]}{terms.metres}m</span> ({turn})\n{ground}</div>\n"
        f'<div class="RaceData02">{"".join(f"<span>{one}</span>" for one in spans)}<br>'
        f"<span>{format_prizes(terms)}</span></div>\n</div>\n</div>\n"
    )


def _grade_icon(terms: Conditions) -> str:
    number = terms.grade_icon
    return f'<span class="Icon_GradeType Icon_GradeType{number}"></span>' if number else ""


# A jump race has no class of its own, as on the real list.
_CLASS: Final[dict[Surface, str]] = {
    "turf": "RaceList_ItemLong Turf",
    "dirt": "RaceList_ItemLong Dart",
    "jump": "",
}


def day_list(world: World, circuit: Circuit, day: date, now: datetime) -> str:
    """Return the fragment with a day's meetings; empty without racing."""
    boxes = [_meeting(world, meeting, now) for meeting in world.meetings(circuit, day)]
    inner = f'<div class="RaceList_Box clearfix">\n{"".join(boxes)}</div>\n'
    return f'<div id="RaceTopRace">\n{inner}</div>\n'


def date_list(world: World, circuit: Circuit, day: date) -> str:
    """Return the fragment with the racing days around a day."""
    items = [
        f'<li class="{"Active" if one == day else ""}" date="{one:%Y%m%d}">'
        f'<a href="../top/race_list.html?kaisai_date={one:%Y%m%d}">{one.month}/{one.day}</a></li>\n'
        for one in world.days(circuit, day)
    ]
    return f'<ul id="date_list_sub">\n{"".join(items)}</ul>\n'


def shell(day: date) -> str:
    """Return the page shell without races, which a script would fill."""
    return (
        f'<div class="RaceTop" data-date="{day:%Y%m%d}"><ul id="date_list"></ul>'
        '<div id="race_list" class="Loading"></div></div>'
    )


def _meeting(world: World, meeting: Meeting, now: datetime) -> str:
    races = (world.race(meeting.race_id(number)) for number in range(1, meeting.races + 1))
    items = "".join(_item(race, now) for race in races if race is not None)
    going = ""
    if now >= jst_hour(meeting.held_on, 8):
        going = (
            f'<span class="Shiba">芝(A)\N{FULLWIDTH COLON}{GOINGS[meeting.turf_going]}</span>'
            f'<span class="Da">ダ\N{FULLWIDTH COLON}{GOINGS[meeting.dirt_going]}</span>'
        )
    return (
        '<dl class="RaceList_DataList">\n<dt class="RaceList_DataHeader">\n'
        '<div class="RaceList_DataHeader_Top">\n'
        f'<p class="RaceList_DataTitle"><small>{meeting.kai}回</small> {meeting.track.name} '
        f"<small>{meeting.day}日目</small></p>\n"
        f'<a href="../top/payback_list.html?kaisai_id={meeting.kaisai_id}'
        f'&kaisai_date={meeting.held_on:%Y%m%d}">払戻一覧</a>\n</div>\n'
        '<div class="RaceList_DataDesc">'
        f'<span class="Weather"><span class="Icon_Weather Weather01"></span></span>{going}'
        f'</div>\n</dt>\n<dd class="RaceList_Data">\n<ul>\n{items}</ul>\n</dd>\n</dl>\n'
    )


def _item(race: Race, now: datetime) -> str:
    terms, circuit = race.terms, race.slot.meeting.circuit
    page = "result" if now >= race.confirmed_at else "shutuba"
    runners = f"{len(race.horses)}頭"
    many = f'<span class="RaceList_Itemnumber">{runners}</span>' if circuit == "jra" else runners
    return (
        '<li class="RaceList_DataItem ">\n'
        f'<a href="../race/{page}.html?race_id={race.race_id}&rf=race_list">\n'
        f'<div class="Race_Num"><span>{race.slot.number}R</span></div>\n'
        f'<div class="RaceList_ItemTitle"><span class="ItemTitle">{terms.name[:9]}'
        f"</span>{_grade_icon(terms)}</div>\n"
        '<div class="RaceData">'
        f'<span class="RaceList_Itemtime">{race.off_at.astimezone(JST):%H:%M} </span>'
        f'<span class="{_CLASS[terms.surface]}">{LETTER[terms.surface]}{terms.metres}m </span>'
        f"{many}</div>\n</a>\n"
        f'<a href="../race/movie.html?race_id={race.race_id}" class="LinkIconRaceMovie">映像</a>\n'
        "</li>\n"
    )


_MARKS: Final = "".join(
    f'<option value="{at}">{mark}</option>'
    for at, mark in enumerate(("--", "◎", "○", "▲", "1", "2"))
)
_HEAD: Final = (
    '<thead>\n<tr class="Header"><th>枠</th><th>馬<br>番</th><th>印</th><th>馬名</th><th>性齢</th>'
    "<th>斤量</th><th>騎手</th><th>厩舎</th><th>馬体重<br>(増減)</th><th>オッズ<br>更新</th>"
    '<th>人気</th></tr>\n<tr class="Header Sub"><th colspan="11">お気に入り馬</th></tr>\n</thead>\n'
)


def card(world: World, race: Race, now: datetime, addresses: Addresses) -> str:
    """Return the body of a card: no runners until they are listed, no numbers until the draw.

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
        yield f'<div class="Modal_{at + 1}" style="display:none"><p>メモ</p></div>\n'


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
        f"{_draw_cells(race, at, now)}"
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


def _draw_cells(race: Race, at: int, now: datetime) -> str:
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


def odds_json(race: Race, now: datetime) -> dict[str, Any]:
    """Return win and place odds; forecasts have no place odds."""
    quotes = current_quotes(race, now)
    if quotes is None:
        return {"status": "yoso", "data": {"official_datetime": "", "odds": {"1": {}}}}
    win = {
        f"{number:02}": [f"{odds:.1f}", "0.0", str(quotes.rank[number])]
        for number, odds in sorted(quotes.win.items())
    }
    odds: dict[str, Any] = {"1": win}
    if quotes.status != "yoso":
        odds["2"] = {
            f"{number:02}": [f"{low:.1f}", f"{high:.1f}", str(quotes.rank[number])]
            for number, (low, high) in sorted(quotes.place(paid_places(race)).items())
        }
    at = quotes.quoted_at.astimezone(JST)
    return {
        "status": quotes.status,
        "data": {"official_datetime": f"{at:%Y-%m-%d %H:%M:%S}", "odds": odds},
        "reason": "",
    }


def odds_tables(race: Race, now: datetime) -> str:
    """Return both odds tables; empty before the draw."""
    quotes = current_quotes(race, now)
    win = place = ""
    if quotes is not None:
        bands = quotes.place(paid_places(race))
        win = _odds_rows(race, quotes, {at: f"{one:.1f}" for at, one in quotes.win.items()})
        place = _odds_rows(
            race, quotes, {at: f"{low:.1f} - {high:.1f}" for at, (low, high) in bands.items()}
        )
    return (
        f"{heading(race, now)}{_block('odds_tan_block', '単勝', win)}"
        f"{_block('odds_fuku_block', '複勝', place)}"
    )


def _block(identifier: str, title: str, rows: str) -> str:
    return (
        f'<div id="{identifier}">\n<h2>{title}</h2>\n<table class="RaceOdds_HorseList_Table">\n'
        "<thead><tr><th>枠</th><th>馬番</th><th>馬名</th><th>オッズ</th></tr></thead>\n"
        f"<tbody>\n{rows}</tbody>\n</table>\n</div>\n"
    )


def _odds_rows(race: Race, quotes: Quotes, odds: dict[int, str]) -> str:
    return "".join(
        f'<tr id="ninki-data-{quotes.rank[number]}"><td class="Waku{race.frames[number - 1]}">'
        f'{race.frames[number - 1]}</td><td class="W31">{number}</td>'
        f'<td class="Horse_Name">{race.horses[number - 1].name}</td>'
        f'<td class="Odds Popular"><span class="Odds">{odds[number]}</span></td></tr>\n'
        for number in sorted(odds)
    )


_RESULT_HEAD: Final = (
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
    """Return the body of a result: an empty table and no payouts until it is confirmed."""
    known = now >= race.confirmed_at
    quotes = final_quotes(race)
    rows = (
        "".join(_result_row(world, race, at, quotes, addresses) for at in race.order)
        if known
        else ""
    )
    table = (
        f'<table id="All_Result_Table" class="RaceTable01 RaceCommon_Table ResultRefund"'
        f' summary="全着順">\n{_RESULT_HEAD}<tbody>\n{rows}</tbody>\n</table>\n'
    )
    return f"{heading(race, now)}{table}{_payout_tables(race) if known else ''}"


def _result_row(world: World, race: Race, at: int, quotes: Quotes, addresses: Addresses) -> str:
    horse, jockey, started = race.horses[at], race.finish.jockeys[at], race.finish.started(at)
    meeting = race.slot.meeting
    trainer = world.people.trainer_of(horse, meeting.held_on.year)
    mark, _ = jockey.allowance(meeting.held_on.year)
    kind = ' class="HorseList"' if meeting.circuit == "jra" else ""
    weight, bracket, change = world.weight(race, at).partition("(")
    rank = f"{quotes.rank[at + 1]}" if started else ""
    odds = f"{quotes.win[at + 1]:.1f}" if started else ""
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
        f'<td class="Time"><span class="RaceTime">{format_race_time(race.seconds(at))}'
        "</span></td>\n"
        f'<td class="Time"><span class="RaceTime">{race.margin(at)}</span></td>\n'
        f'<td class="Odds Txt_C"><span class="OddsPeople">{rank}</span></td>\n'
        f'<td class="Odds Txt_R"><span class="Odds_Ninki">{odds}</span></td>\n'
        f'<td class="Time">{last_600m(race, at)}</td>\n'
        f'<td class="PassageRate">{corner_positions(race, at)}</td>\n'
        f'<td class="Trainer"><span class="Label1">{trainer.stable}</span>'
        f'<a href="{addresses.db}/trainer/result/recent/{trainer.id}/">{trainer.short}</a></td>\n'
        f'<td class="Weight">{weight}{f"<small>({change}</small>" if bracket else ""}</td>\n</tr>\n'
    )


def _payout_tables(race: Race) -> str:
    paid = race_payouts(race)
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


Columns: TypeAlias = Literal[29, 33]

# As the page writes them: words broken in two, some in half-width letters.
_HEADER_TEXT: Final = """
日付 開催 天<br>気 R レース名 映<br>像 頭<br>数 枠<br>番 馬<br>番 オ<br>ッ<br>ズ 人<br>気 着<br>順
騎手 斤<br>量 距離 水<br>分<br>量 馬<br>場 馬場<br>指数 タイム 着差 ﾀｲﾑ<br>指数 通過 ペース 上り
馬体重 厩舎<br>ｺﾒﾝﾄ 備考 勝ち馬 賞金
"""
_HEADERS: Final = _HEADER_TEXT.split()
_ADDED: Final = ("ﾀｲﾑ<br>指数M", "ｽﾀｰﾄ<br>指数", "追走<br>指数", "上がり<br>指数")
_ADDED_AFTER: Final = 20
_PREMIUM: Final = "**"


def runs_of(world: World, horse: Horse | Ancestor, now: datetime) -> list[Run]:
    return world.runs(horse, now) if isinstance(horse, Horse) else old_runs(world.seed, horse)


def profile(world: World, horse: Horse | Ancestor, now: datetime) -> str:
    """Return the body of a profile, without results and pedigree."""
    summed = totals(runs_of(world, horse, now))
    pairs = (
        _racehorse_rows(world, horse, now) if isinstance(horse, Horse) else _ancestor_rows(horse)
    )
    rows = "".join(
        f"<tr>\n<th>{label}</th>\n<td>{value}</td>\n</tr>\n"
        for label, value in (
            *pairs,
            *_career_rows(horse.id, summed),
            ("近親馬", _relatives(world, horse)),
        )
    )
    return (
        f"{headline(horse, now)}"
        '<div class="db_prof_box">\n<table class="db_prof_table no_OwnerUnit">\n'
        f"{rows}</table>\n</div>\n"
    )


def headline(horse: Horse | Ancestor, now: datetime) -> str:
    """Return the header of a horse page."""
    return (
        '<div class="db_head_name fc">\n<div class="horse_title">\n'
        f"<h1>{horse.name}</h1>\n"
        f'<p class="eng_name"><a href="/horse/{horse.id}/">{horse.english}</a></p>\n'
        f'<p class="txt_01">{_state(horse, now)}</p>\n</div>\n</div>\n'
    )


def results(horse_id: str, runs: Sequence[Run], columns: Columns) -> str:
    """Return the table of a horse's past races."""
    headers = list(_HEADERS)
    if columns == 33:
        headers[_ADDED_AFTER + 1 : _ADDED_AFTER + 1] = _ADDED
    shown = "".join(f"<th{_style(at)}>{label}</th>" for at, label in enumerate(headers))
    rows = "".join(_run_row(run, columns) for run in runs)
    return (
        f'<div id="horse_results_box" data-horse="{horse_id}">\n'
        '<table class="db_h_race_results nk_tb_common" summary="競走成績">\n'
        f"<thead>\n<tr>{shown}</tr>\n</thead>\n<tbody>\n{rows}</tbody>\n</table>\n</div>\n"
    )


def _run_row(run: Run, columns: Columns) -> str:
    cells = (f"<td{_style(at)}>{cell}</td>" for at, cell in enumerate(_cells(run, columns)))
    return f"<tr>{''.join(cells)}</tr>\n"


def _style(at: int) -> str:
    return ' style="display:none"' if at == 15 else ""


def _cells(run: Run, columns: Columns) -> Iterator[str]:
    day = f"{run.held_on:%Y%m%d}"
    yield f'<a href="/race/list/{day}/">{run.held_on:%Y/%m/%d}</a>'
    yield f'<a href="/race/sum/{run.race_id[4:6]}/{day}/">{run.venue}</a>'
    yield run.sky
    yield run.race_number
    yield f'<a href="/race/{run.race_id}/" title="{run.race_name}">{run.race_name}</a>'
    yield ""
    yield str(run.runners)
    yield run.frame
    yield run.number
    yield run.odds
    yield run.favourite
    yield run.rank
    yield _link("jockey/result/recent", run.jockey.id if run.jockey else "", run.jockey_name)
    yield run.carried
    yield run.course
    yield ""
    yield run.going
    yield _PREMIUM
    yield run.time
    yield run.behind
    yield _PREMIUM
    yield from [_PREMIUM] * (columns - len(_HEADERS))
    yield run.corner_positions
    yield run.pace
    yield run.last
    yield run.weight
    yield ""
    yield "&nbsp;"
    yield _link("horse", run.best_id, run.best_name)
    yield f"{run.prize:,.1f}" if run.prize else "&nbsp;"


def _link(kind: str, identifier: str, name: str) -> str:
    return f'<a href="/{kind}/{identifier}/" title="{name}">{name}</a>' if identifier else name


def _state(horse: Horse | Ancestor, now: datetime) -> str:
    if isinstance(horse, Ancestor):
        return f"抹消　{'牡' if horse.sex == 'sire' else '牝'}　{horse.coat}"
    year = now.astimezone(JST).year
    if year - horse.foaled > horse.retires_at:
        return f"抹消　{horse.sex}　{horse.coat}"
    return f"現役　{horse.sex}{year - horse.foaled}歳　{horse.coat}"


def _racehorse_rows(world: World, horse: Horse, now: datetime) -> list[tuple[str, str]]:
    year = min(now.astimezone(JST).year, horse.foaled + horse.retires_at)
    trainer = world.people.trainer_of(horse, year)
    born = horse.born_on
    return [
        ("生年月日", f"{born.year}年{born.month}月{born.day}日"),
        ("調教師", f"{_link('trainer', trainer.id, trainer.short)} ({trainer.stable})"),
        ("馬主", horse.owner),
        ("生産者", horse.breeder),
        ("産地", horse.birthplace),
        ("セリ取引価格", money(horse.sold_for) if horse.sold_for else "-"),
    ]


def _ancestor_rows(ancestor: Ancestor) -> list[tuple[str, str]]:
    return [
        ("生年月日", f"{ancestor.born}年"),
        ("調教師", ""),
        ("馬主", ""),
        ("生産者", ""),
        ("産地", ancestor.country or "日高町"),
        ("セリ取引価格", "-"),
    ]


def _career_rows(horse_id: str, summed: Totals) -> list[tuple[str, str]]:
    places = "-".join(map(str, summed.places))
    linked = f'<a href="/horse/result/{horse_id}/" title="全競走成績">{places}</a>'
    return [
        ("獲得賞金 (中央)", money(summed.central)),
        ("獲得賞金 (地方)", money(summed.local)),
        ("通算成績", f"{summed.starts}戦{summed.places[0]}勝 [{linked}]"),
        ("主な勝鞍", summed.best),
    ]


def _relatives(world: World, horse: Horse | Ancestor) -> str:
    if isinstance(horse, Ancestor):
        return ""
    return "、".join(_link("horse", one.id, one.name) for one in world.people.siblings(horse)[:2])


_GENERATIONS: Final = 5
_ROWS: Final = 2**_GENERATIONS


def pedigree(world: World, horse: Horse | Ancestor) -> str:
    """Return the pedigree table."""
    rows: list[list[str]] = [[] for _ in range(_ROWS)]
    families = world.people.families
    parents = (horse.sire, horse.dam) if isinstance(horse, Horse) else families.parents(horse)
    level: list[Ancestor] = list(parents)
    for generation in range(1, _GENERATIONS + 1):
        span = _ROWS >> generation
        for at, ancestor in enumerate(level):
            rows[at * span].append(_cell(ancestor, span))
        level = [parent for ancestor in level for parent in families.parents(ancestor)]
    shown = "".join(f"<tr>\n{''.join(cells)}</tr>\n" for cells in rows)
    return (
        '<table class="blood_table detail" summary="5代血統表">\n'
        f"<tbody>\n{shown}</tbody>\n</table>\n"
    )


def _cell(ancestor: Ancestor, span: int) -> str:
    kind = "b_ml" if ancestor.sex == "sire" else "b_fml"
    rows = f' rowspan="{span}"' if span > 1 else ""
    foreign = f"<br>\n{ancestor.english}({ancestor.country})" if ancestor.country else ""
    family = f"<br>\nFNo.[{ancestor.family}]" if ancestor.sex == "dam" and span > 1 else ""
    own = f'[<a href="/horse/ped/{ancestor.id}/">血統</a>]'
    foals = f'[<a href="/horse/sire/{ancestor.id}/">産駒</a>]'
    return (
        f'<td{rows} class="{kind}">\n<a href="/horse/{ancestor.id}/">{ancestor.name}{foreign}</a>'
        f"<br>\n{ancestor.born} {ancestor.coat}<br>\n{own}{foals}{family}\n</td>\n"
    )


_LABELS: Final = """
年度 順位 1着 2着 3着 4着〜 騎乗回数 重賞出走 重賞勝利 勝率 連対率 複勝率 代表馬
"""
_PERCENT: Final = "\N{FULLWIDTH PERCENT SIGN}"
_TABS: Final[tuple[tuple[Circuit, str], ...]] = (("jra", "中央"), ("nar", "地方"))
_TEMPLATE: Final = f"<tr>{'<td></td>' * 9}{f'<td>{_PERCENT}</td>' * 3}<td></td></tr>\n"


def jockey_page(world: World, jockey: Jockey, now: datetime, *, every_year: bool) -> str:
    """Return the body with the career and this year, or all years with `every_year`."""
    tabs = "".join(
        f'<li><a href="#ResultsBox{at}">{tab}</a></li>' for at, (_, tab) in enumerate(_TABS)
    )
    boxes = "".join(
        f'<div id="ResultsBox{at}" class="ResultsBox">\n'
        f"{_table(_jockey_rows(world, jockey, circuit, now, every_year=every_year))}</div>\n"
        for at, (circuit, _) in enumerate(_TABS)
    )
    born = jockey.born_on
    return (
        '<div class="db_head_name fc">\n<div class="Name">\n'
        f"<h1>{jockey.name} ({jockey.kana})</h1>\n"
        f'<p class="txt_01">{born.year}/{born.month:02}/{born.day:02} '
        f"[{'美浦' if jockey.number % 2 else '栗東'}]　{jockey.first_year}年デビュー</p>\n"
        "</div>\n</div>\n"
        f'<h2 class="DataTitle">直近5年成績</h2>\n<ul id="ResultsTab">{tabs}</ul>\n{boxes}'
        f'<div class="Template" style="display:none">\n{_table(_TEMPLATE)}</div>\n'
    )


def _table(rows: str) -> str:
    heads = "".join(f"<th>{label}</th>" for label in _LABELS.split())
    return (
        '<table class="nk_tb_common race_table_01 ResultsByYears" summary="年度別成績">\n'
        f"<thead>\n<tr>{heads}</tr>\n</thead>\n<tbody>\n{rows}</tbody>\n</table>\n"
    )


def _jockey_rows(
    world: World, jockey: Jockey, circuit: Circuit, now: datetime, *, every_year: bool
) -> str:
    this_year = now.astimezone(JST).year
    career, rows = RideCounts(), []
    for year in range(this_year, jockey.first_year - 1, -1):
        tally = world.rides(jockey, circuit, year, now)
        career.add(tally)
        if year == this_year or (every_year and tally.rides):
            standing = world.standing(jockey, circuit, year, now)
            rows.append(_jockey_row(f"{year}", str(standing or ""), tally))
    return _jockey_row("累計", "", career) + "".join(rows)


def _jockey_row(year: str, standing: str, tally: RideCounts) -> str:
    counts = (*tally.places, tally.rides, tally.graded, tally.graded_won)
    rates = (f"{tally.rate(places):.1f}{_PERCENT}" for places in (1, 2, 3))
    horse_id, name = tally.best_horse
    best = f'<a href="/horse/{horse_id}/">{name}</a>' if horse_id else ""
    cells = (year, standing, *(f"{count:,}" for count in counts), *rates, best)
    return f"<tr>{''.join(f'<td>{cell}</td>' for cell in cells)}</tr>\n"
