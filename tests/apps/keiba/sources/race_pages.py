"""Pages about races in the site's structure, with everything in them made up."""

from grandstand.apps.keiba.sources.html_reader import Page

RACE = "202605040604"
LOCAL = "202644111503"


def document(body: str, title: str = "2歳未勝利 出馬表 | 2026年11月15日 東京4R") -> str:
    return (
        f'<!DOCTYPE html><html lang="ja"><head><meta charset="UTF-8"><title>{title}</title></head>'
        f"<body>{body}</body></html>"
    )


def page(text: str, encoding: str = "utf-8", content_type: str = "text/html") -> Page:
    """A page at an address of its own, its own word on its encoding left as it is."""
    return Page("https://race.example/page", text.encode(encoding), content_type)


def item(race_id: str, number: int, course: str = "", **more: str) -> str:
    course = course or '<span class="RaceList_ItemLong Turf">芝1800m </span>'
    place = more.get("place", "shutuba")
    runners = more.get("runners", '<span class="RaceList_Itemnumber">11頭</span>')
    return (
        '<li class="RaceList_DataItem ">'
        f'<a href="../race/{place}.html?race_id={race_id}&rf=race_list">'
        f'<div class="Race_Num"><span>{number}R</span></div>'
        f'<div class="RaceList_ItemTitle">'
        f'<span class="ItemTitle">{more.get("name", "未勝利")}</span>'
        f'{more.get("icon", "")}</div><div class="RaceData">'
        f'<span class="RaceList_Itemtime">9:55 </span>{course}{runners}</div></a>'
        f'<a href="../race/movie.html?race_id={race_id}" class="LinkIconRaceMovie">映像</a></li>'
    )


def venue(name: str, *items: str, kai: str = "4回", nth: str = "6日目") -> str:
    return (
        '<dl class="RaceList_DataList"><dt class="RaceList_DataHeader">'
        '<div class="RaceList_DataHeader_Top"><p class="RaceList_DataTitle">'
        f"<small>{kai}</small> {name} <small>{nth}</small></p>"
        '<a href="../top/payback_list.html?kaisai_id=2026050406&kaisai_date=20261115">払</a></div>'
        '<div class="RaceList_DataDesc"><span class="Weather">天候:曇</span>'
        '<span class="Shiba">芝(A):良</span><span class="Da">ダ:稍重</span></div></dt>'
        f'<dd class="RaceList_Data"><ul>{"".join(items)}</ul></dd></dl>'
    )


def day(*venues: str) -> str:
    return f'<div id="RaceTopRace"><div class="RaceList_Box">{"".join(venues)}</div></div>'


THREE_VENUES = day(
    venue(
        "東京",
        item("202605040601", 1, '<span class="RaceList_ItemLong Dart">ダ1600m</span>'),
        item(
            "202605040611",
            11,
            name="ひいらぎ賞",
            icon='<span class="Icon_GradeType Icon_GradeType3"></span>',
            place="result",
        ),
    ),
    venue("京都", item("202608040601", 1, '<span class="">障2910m</span>')),
    venue("福島", item("202603030601", 1, runners="16頭"), kai="3回"),
)

HEAD = (
    '<div class="RaceList_NameBox"><span class="RaceNum">4R</span>'
    '<h1 class="RaceName">かえで特別<span class="Icon_GradeType Icon_GradeType17"></span></h1>'
    '<div class="RaceData01">11:20発走 /<!-- x --><span> ダ1600m</span> (左) / 天候:曇'
    '<span class="Icon_Weather Weather02"></span><span class="Item04">/ 馬場:稍</span></div>'
    '<div class="RaceData02"><span>4回</span><span>東京</span><span>6日目</span>'
    "<span>サラ系3歳以上</span><span>2勝クラス</span><span>(混)[指]</span><span>定量</span>"
    "<span>{count}頭</span><br><span>本賞金:1550,620,390,230,155万円</span></div></div>"
)


def runner(at: int, name: str, **more: str) -> str:
    frame, number = more.get("frame", str((at + 1) // 2)), more.get("number", str(at))
    mark = more.get("mark", "<select><option>取消</option><option>1</option></select>")
    person = more.get(
        "jockey", f'<a href="https://db.example/jockey/result/recent/0110{at}/">佐伯</a>'
    )
    return (
        f'<tr class="HorseList" id="tr_{at}">'
        f'<td class="Waku{frame} Txt_C"><span>{frame}</span></td>'
        f'<td class="Umaban{frame} Txt_C">{number}</td><td class="CheckMark">{mark}</td>'
        '<td class="HorseInfo"><div><span class="HorseName">'
        f'<a href="https://db.example/horse/202310000{at}" title="{name}">{name}</a>'
        "</span></div></td>"
        f'<td class="Barei Txt_C">{more.get("age", "牝3")}</td>'
        f'<td class="Txt_C">{more.get("carried", "55.0")}</td><td class="Jockey">{person}</td>'
        '<td class="Trainer"><span class="Label1">美浦</span>'
        f'<a href="https://db.example/trainer/result/recent/a0{at}bb/">高瀬</a></td>'
        f'<td class="Weight">{more.get("weight", "464<small>(-8)</small>")}</td>'
        f'<td class="Txt_R Popular"><span id="odds-1_0{at}">{more.get("odds", "---.-")}</span></td>'
        f'<td class="Popular_Ninki">'
        f'<span id="ninki-1_0{at}">{more.get("rank", "**")}</span></td></tr>'
    )


def card(*rows: str, count: int | None = None) -> str:
    modal = '<div class="Modal"><p>3</p></div>'
    return document(
        HEAD.format(count=len(rows) if count is None else count)
        + '<table class="Shutuba_Table RaceTable01"><thead><tr><th>枠</th><th>馬番</th></tr>'
        f'<tr><th colspan="2">印</th></tr></thead><tbody>{modal.join(rows)}</tbody></table>'
        '<table class="Shutuba_Table PredictRap_Table"><tr class="HorseList">'
        '<td class="Waku8">8</td><td class="Umaban8">99</td></tr></table>'
    )


THREE_RUNNERS = card(
    runner(1, "アオイソラ", odds="3.4", rank="1"),
    runner(2, "ミナトカゼ", age="セ5", weight="計不", carried="57.5"),
    runner(3, "ユウヤケ", mark="取消", weight=""),
)

RESULT_HEADERS = (
    "着<br>順",
    "枠",
    "馬<br>番",
    "馬名",
    "性齢",
    "斤量",
    "騎手",
    "タイム",
    "着差",
    "人<br>気",
    "単勝<br>オッズ",
    "後3F",
    "コーナー<br>通過順",
    "厩舎",
    "馬体重<br>(増減)",
)


def finisher(at: int, rank: str, time: str, margin: str = "", jockey: str = "佐伯") -> str:
    return (
        f'<tr class="HorseList"><td class="Result_Num"><div class="Rank">{rank}</div></td>'
        f'<td class="Num Waku{at}">{at}</td><td class="Num Txt_C">{at}</td>'
        '<td class="Horse_Info"><span class="Horse_Name">'
        f'<a href="https://db.example/horse/202310000{at}">ウマ{at}</a></span></td>'
        '<td>牡4</td><td><span class="JockeyWeight">57.0</span></td>'
        f'<td class="Jockey"><a href="/jockey/result/recent/a0{at}bb/">{jockey}</a></td>'
        f'<td class="Time"><span class="RaceTime">{time}</span></td>'
        f'<td class="Time"><span class="RaceTime">{margin}</span></td><td>{at}</td><td>1{at}.5</td>'
        '<td>35.1</td><td class="PassageRate">2-2-4-2</td>'
        '<td class="Trainer"><span class="Label2">栗東</span><a href="/trainer/01055/">堀</a></td>'
        '<td class="Weight">500<small>(+2)</small></td></tr>'
    )


def paid(kind: str, name: str, numbers: str, yen: str, ranks: str) -> str:
    return (
        f'<tr class="{kind}"><th>{name}</th><td class="Result">{numbers}</td>'
        f'<td class="Payout"><span>{yen}</span></td><td class="Ninki">{ranks}</td></tr>'
    )


def result(*rows: str, payouts: str = "") -> str:
    head = "".join(f"<th>{name}</th>" for name in RESULT_HEADERS)
    return document(
        HEAD.format(count=len(rows))
        + f'<table id="All_Result_Table"><thead><tr>{head}</tr></thead>'
        f"<tbody>{''.join(rows)}</tbody>"
        f'</table><table class="Payout_Detail_Table"><tbody>{payouts}</tbody></table>'
    )


PAYOUTS = (
    paid("Tansho", "単勝", "<div><span>1</span></div>", "1,150円", "<span>1人気</span>")
    + paid(
        "Fukusho",
        "複勝",
        "<div><span>1</span></div><div><span>2</span></div>",
        "210円<br>170円",
        "<span>2人気</span><span>1人気</span>",
    )
    + paid(
        "Tan3",
        "3連単",
        "<ul><li><span>1</span></li><li><span>2</span></li><li><span>3</span></li></ul>",
        "12,340円",
        "<span>45人気</span>",
    )
)
WITH_DEAD_HEAT = result(
    finisher(1, "1", "1:38.2", jockey="▲佐伯"),
    finisher(2, "2", "1:38.4", "1.1/4"),
    finisher(3, "2", "1:38.4", "同着"),
    finisher(4, "4(降)", "1:38.3", "1"),
    finisher(5, "中止", ""),
    finisher(6, "取消", ""),
    finisher(7, "失格", ""),
    payouts=PAYOUTS,
)

LOCAL_ODDS = document(
    '<div id="odds_tan_block"><table><tr><th>枠</th><th>馬番</th><th>馬名</th><th>オッズ</th></tr>'
    '<tr><td>1</td><td>1</td><td>ウマ</td><td class="Odds">2.4</td></tr>'
    '<tr><td>2</td><td>2</td><td>トリ</td><td class="Odds">---.-</td></tr></table></div>'
    '<div id="odds_fuku_block"><table><tr><th>枠</th><th>馬番</th><th>馬名</th><th>オッズ</th></tr>'
    '<tr><td>1</td><td>1</td><td>ウマ</td><td class="Odds">1.2 - 1.7</td></tr></table></div>'
)
