"""Pages about horses and jockeys in the site's structure, with everything in them made up."""

from tests.apps.keiba.sources.race_pages import document

HORSE = "2023100001"
JOCKEY = "01157"

OLD_HEADERS = (
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
    "ﾀｲﾑ",
    "着差",
    "ﾀｲﾑ<br>指数",
    "通過",
    "ペース",
    "上り",
    "馬体重",
    "厩舎<br>ｺﾒﾝﾄ",
    "備考",
    "勝ち馬<br>(2着馬)",
    "賞金",
)
NEW_HEADERS = (
    *OLD_HEADERS[:21],
    "ﾀｲﾑ<br>指数M",
    "スタート<br>指数",
    "追走<br>指数",
    "上がり<br>指数",
    *OLD_HEADERS[21:],
)


def run(day: str, place: str, race_id: str, **more: str) -> dict[str, str]:
    """Cells of a row by their headers; what is not given is as the site leaves it."""
    return {
        "日付": f'<a href="/race/list/x/">{day}</a>',
        "開催": place,
        "天<br>気": "晴",
        "R": "4",
        "レース名": f'<a href="/race/{race_id}/">こすもす賞(L)</a>',
        "頭<br>数": "16",
        "枠<br>番": "3",
        "馬<br>番": "5",
        "オ<br>ッ<br>ズ": "7.7",
        "人<br>気": "4",
        "着<br>順": "3",
        "騎手": '<a href="/jockey/result/recent/01157/">▲佐伯</a>',
        "斤<br>量": "54",
        "距離": "ダ1800",
        "馬<br>場": "重",
        "馬場<br>指数": "**",
        "ﾀｲﾑ": "1:52.4",
        "着差": "-0.2",
        "ﾀｲﾑ<br>指数": "**",
        "通過": "10-9-7-4",
        "ペース": "36.1-37.9",
        "上り": "36.8",
        "馬体重": "445(0)",
        "備考": "&nbsp;",
        "勝ち馬<br>(2着馬)": "ハルカゼ",
        "賞金": "1,243.5",
        "ﾀｲﾑ<br>指数M": "88",
        "上がり<br>指数": "77",
    } | more


def results(headers: tuple[str, ...], *runs: dict[str, str], title: str = "アオイソラ") -> str:
    head = "".join(f"<th>{name}</th>" for name in headers)
    rows = "".join(
        f"<tr>{''.join(f'<td>{cells.get(name, str())}</td>' for name in headers)}</tr>"
        for cells in runs
    )
    return document(
        f'<div class="horse_title"><h1>{title}</h1></div>'
        '<table class="db_h_race_results nk_tb_common">'
        f"<thead><tr>{head}</tr></thead><tbody>{rows}</tbody></table>",
        title="競走馬",
    )


RUNS = (
    run("2026/09/06", "3新潟4", "202604030411"),
    run(
        "2026/10/18",
        "金沢",
        "202646101809",
        **{"着<br>順": "中", "ﾀｲﾑ": "", "距離": "ダ1500", "賞金": "", "馬体重": "計不"},
    ),
    run(
        "2026/03/28",
        "メイダン",
        "2026J0032804",
        **{
            "枠<br>番": "",
            "着差": "",
            "通過": "",
            "馬体重": "",
            "距離": "芝2410",
            "着<br>順": "5(降)",
        },
    ),
)


def profile(**more: str) -> str:
    labels = {
        "生年月日": "2023年3月21日",
        "調教師": '<a href="/trainer/01055/">高瀬</a> (美浦)',
        "馬主": '<a href="/owner/1/">空の会</a>',
        "生産者": "青葉牧場",
        "産地": "新冠町",
        "セリ取引価格": "1,430万円 (2024年 セール)",
        "獲得賞金 (中央)": "1億2,345万円",
        "獲得賞金 (地方)": "678.5万円",
        "通算成績": '12戦3勝 [<a href="/x/">3</a>-<a href="/x/">2</a>-1-6]',
        "主な勝鞍": "26'こすもす賞",
        "近親馬": '<a href="/horse/2020100002/">ハルカゼ</a>、<a href="/horse/2021/">アキカゼ</a>',
    } | more
    rows = "".join(f"<tr><th>{name}</th><td>{value}</td></tr>" for name, value in labels.items())
    return document(
        '<div class="horse_title"><h1>アオイソラ</h1><p class="eng_name">Aoi Sora</p>'
        '<p class="txt_01">現役\u3000牝3歳\u3000栗毛</p></div>'
        f'<table class="db_prof_table">{rows}</table>',
        title="競走馬",
    )


def ancestor(generation: int, nth: int) -> str:
    span = 32 >> generation
    kind = "b_fml" if nth % 2 else "b_ml"
    name = f"ウマ{generation}-{nth}"
    link = f"{2010 - 5 * generation}10{generation}{nth:03}"
    if (generation, nth) == (1, 1):
        link, name = "000a00033a", "クワイエットハーバー<br>Quiet Harbour(愛)"
    rows = f' rowspan="{span}"' if span > 1 else ""
    family = "<br>FNo.[23-b]" if kind == "b_fml" else ""
    return (
        f'<td class="{kind}"{rows}><a href="/horse/{link}/">{name}</a><br>2005 栗毛<br>'
        f'[<a href="/horse/ped/{link}/">血統</a>]'
        f'[<a href="/horse/sire/{link}/">産駒</a>]{family}</td>'
    )


def pedigree(*, rows: int = 32) -> str:
    cells: list[list[str]] = [[] for _ in range(32)]
    for generation in range(1, 6):
        for nth in range(2**generation):
            cells[nth * (32 >> generation)].append(ancestor(generation, nth))
    body = "".join(f"<tr>{''.join(row)}</tr>" for row in cells[:rows])
    return document(f'<table class="blood_table">{body}</table>', title="血統")


JOCKEY_HEADERS = (
    "年度",
    "順位",
    "1着",
    "2着",
    "3着",
    "4着〜",
    "騎乗回数",
    "重賞出走",
    "重賞勝利",
    "勝率",
    "連対率",
    "複勝率",
    "代表馬",
)
PERCENT = "\uff05"


def year(label: str, counts: str, rates: tuple[str, str, str]) -> str:
    cells = (label, "12", *counts.split(), *(f"{one}{PERCENT}" for one in rates), "ハルカゼ")
    return f"<tr>{''.join(f'<td>{cell}</td>' for cell in cells)}</tr>"


def years(*rows: str) -> str:
    head = "".join(f"<th>{name}</th>" for name in JOCKEY_HEADERS)
    return (
        f'<table class="ResultsByYears"><thead><tr>{head}</tr></thead>'
        f"<tbody>{''.join(rows)}</tbody>"
        "</table>"
    )


CAREER = year("累計", "582 640 634 5,717 7,573 210 9", ("7.7", "16.1", "24.5"))
TEMPLATE = year("", "     ", ("", "", ""))


def jockey(*central: str, local: tuple[str, ...] = ()) -> str:
    return document(
        '<div class="db_head_name"><h1>佐伯 遼 (ｻｴｷ ﾘｮｳ)</h1>'
        '<p class="txt_01">1998/04/30 [栗東]フリー</p>'
        '</div><ul id="ResultsTab"><li>中央</li><li>地方</li></ul>'
        f'<div id="ResultsBox0">{years(*central)}</div><div id="ResultsBox1">{years(*local)}</div>'
        f"<div>{years(TEMPLATE)}</div>"
        "<table><tr><th>身長</th><td>168cm</td></tr><tr><th>体重</th><td>50.5kg</td></tr></table>",
        title="騎手",
    )
