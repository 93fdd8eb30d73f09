"""Kept here: a horse's profile and its results, in the width of either year."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from datetime import datetime
from typing import Final, Literal, TypeAlias

from grandstand.simulators.racing.breeding import Ancestor
from grandstand.simulators.racing.calendar import JST
from grandstand.simulators.racing.career import Run, Totals, totals
from grandstand.simulators.racing.pages.frame import money
from grandstand.simulators.racing.population import Horse
from grandstand.simulators.racing.world import World

Columns: TypeAlias = Literal[29, 33]

# As the page writes them: words broken in two, some in half-width letters.
_HEADERS: Final = (
    "日付",
    "開催",
    "天<br>気",
    "R",
    "レース名",
    "映<br>像",
    "頭<br>数",
    "枠<br>番",
    "馬<br>番",
    "オ<br>ッ<br>ズ",
    "人<br>気",
    "着<br>順",
    "騎手",
    "斤<br>量",
    "距離",
    "水<br>分<br>量",
    "馬<br>場",
    "馬場<br>指数",
    "タイム",
    "着差",
    "ﾀｲﾑ<br>指数",
    "通過",
    "ペース",
    "上り",
    "馬体重",
    "厩舎<br>ｺﾒﾝﾄ",
    "備考",
    "勝ち馬",
    "賞金",
)
_ADDED: Final = ("ﾀｲﾑ<br>指数M", "ｽﾀｰﾄ<br>指数", "追走<br>指数", "上がり<br>指数")
_ADDED_AFTER: Final = 20
_HIDDEN: Final = 15
_PREMIUM: Final = "**"


def profile(world: World, horse: Horse | Ancestor, now: datetime) -> str:
    """Answer the body of a profile: no results and no pedigree in it."""
    runs = world.runs(horse, now) if isinstance(horse, Horse) else world.old_runs(horse)
    summed = totals(runs)
    pairs = _native(world, horse, now) if isinstance(horse, Horse) else _bred(horse)
    rows = "".join(
        f"<tr>\n<th>{label}</th>\n<td>{value}</td>\n</tr>\n"
        for label, value in (*pairs, *_earned(horse.id, summed), ("近親馬", _near(world, horse)))
    )
    return (
        f"{headline(horse, now)}"
        '<div class="db_prof_box">\n<table class="db_prof_table no_OwnerUnit">\n'
        f"{rows}</table>\n</div>\n"
    )


def headline(horse: Horse | Ancestor, now: datetime) -> str:
    """Answer what stands above every page of a horse: who it is."""
    return (
        '<div class="db_head_name fc">\n<div class="horse_title">\n'
        f"<h1>{horse.name}</h1>\n"
        f'<p class="eng_name"><a href="/horse/{horse.id}/">{horse.english}</a></p>\n'
        f'<p class="txt_01">{_state(horse, now)}</p>\n</div>\n</div>\n'
    )


def results(horse_id: str, runs: Sequence[Run], columns: Columns) -> str:
    """Answer the table of a horse's results; one that never ran has no rows."""
    headers = list(_HEADERS)
    if columns == 33:  # noqa: PLR2004 - the width of 2026
        headers[_ADDED_AFTER + 1 : _ADDED_AFTER + 1] = _ADDED
    shown = "".join(f"<th{_style(at)}>{label}</th>" for at, label in enumerate(headers))
    rows = "".join(_result(run, columns) for run in runs)
    return (
        f'<div id="horse_results_box" data-horse="{horse_id}">\n'
        '<table class="db_h_race_results nk_tb_common" summary="競走成績">\n'
        f"<thead>\n<tr>{shown}</tr>\n</thead>\n<tbody>\n{rows}</tbody>\n</table>\n</div>\n"
    )


def _result(run: Run, columns: Columns) -> str:
    cells = (f"<td{_style(at)}>{cell}</td>" for at, cell in enumerate(_cells(run, columns)))
    return f"<tr>{''.join(cells)}</tr>\n"


def _style(at: int) -> str:
    return ' style="display:none"' if at == _HIDDEN else ""


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
    yield _linked("jockey/result/recent", run.jockey.id if run.jockey else "", run.jockey_name)
    yield run.carried
    yield run.course
    yield ""
    yield run.going
    yield _PREMIUM
    yield run.time
    yield run.behind
    yield _PREMIUM
    yield from [_PREMIUM] * (columns - len(_HEADERS))
    yield run.passing
    yield run.pace
    yield run.last
    yield run.weight
    yield ""
    yield "&nbsp;"
    yield _linked("horse", run.best_id, run.best_name)
    yield f"{run.prize:,.1f}" if run.prize else "&nbsp;"


def _linked(kind: str, identifier: str, name: str) -> str:
    return f'<a href="/{kind}/{identifier}/" title="{name}">{name}</a>' if identifier else name


def _state(horse: Horse | Ancestor, now: datetime) -> str:
    if isinstance(horse, Ancestor):
        return f"抹消　{'牡' if horse.sex == 'sire' else '牝'}　{horse.coat}"
    year = now.astimezone(JST).year
    if year - horse.foaled > horse.retires_at:
        return f"抹消　{horse.sex}　{horse.coat}"
    return f"現役　{horse.sex}{year - horse.foaled}歳　{horse.coat}"


def _native(world: World, horse: Horse, now: datetime) -> list[tuple[str, str]]:
    year = min(now.astimezone(JST).year, horse.foaled + horse.retires_at)
    trainer = world.people.trainer_of(horse, year)
    born = horse.born_on
    return [
        ("生年月日", f"{born.year}年{born.month}月{born.day}日"),
        ("調教師", f"{_linked('trainer', trainer.id, trainer.short)} ({trainer.stable})"),
        ("馬主", horse.owner),
        ("生産者", horse.breeder),
        ("産地", horse.birthplace),
        ("セリ取引価格", money(horse.sold_for) if horse.sold_for else "-"),
    ]


def _bred(ancestor: Ancestor) -> list[tuple[str, str]]:
    return [
        ("生年月日", f"{ancestor.born}年"),
        ("調教師", ""),
        ("馬主", ""),
        ("生産者", ""),
        ("産地", ancestor.country or "日高町"),
        ("セリ取引価格", "-"),
    ]


def _earned(horse_id: str, summed: Totals) -> list[tuple[str, str]]:
    places = "-".join(map(str, summed.places))
    linked = f'<a href="/horse/result/{horse_id}/" title="全競走成績">{places}</a>'
    return [
        ("獲得賞金 (中央)", money(summed.central)),
        ("獲得賞金 (地方)", money(summed.local)),
        ("通算成績", f"{summed.starts}戦{summed.places[0]}勝 [{linked}]"),
        ("主な勝鞍", summed.best),
    ]


def _near(world: World, horse: Horse | Ancestor) -> str:
    if isinstance(horse, Ancestor):
        return ""
    return "、".join(_linked("horse", one.id, one.name) for one in world.people.siblings(horse)[:2])
