"""Every class, id, label and field that the real site is known by occurs in the simulated one."""

import json
import re
import unicodedata
from collections.abc import Callable
from datetime import UTC, date, datetime, timedelta

import pytest
from hypothesis import given
from hypothesis import strategies as st
from selectolax.lexbor import LexborHTMLParser, LexborNode

from grandstand.simulators.racing.html_pages import Addresses
from grandstand.simulators.racing.race import Race
from grandstand.simulators.racing.racecourses import Circuit
from grandstand.simulators.racing.site import Host, PageRequest, SiteFormat, render_page
from grandstand.simulators.racing.world import World

NOON = datetime(2026, 11, 15, 4, tzinfo=UTC)
SUNDAY = date(2026, 11, 15)
HOSTS: dict[str, Host] = {"race": "race", "nar": "nar", "db": "db"}
ADDRESSES = Addresses("http://race.test", "http://nar.test", "http://db.test")
COLUMNS = """
日付 開催 天気 R レース名 映像 頭数 枠番 馬番 オッズ 人気 着順 騎手 斤量 距離 水分量 馬場
馬場指数 タイム 着差 タイム指数 通過 ペース 上り 馬体重 厩舎コメント 備考 勝ち馬 賞金
"""
NARROW = COLUMNS.split()
ADDED = ["タイム指数M", "スタート指数", "追走指数", "上がり指数"]
FIGURES = """
年度 順位 1着 2着 3着 4着〜 騎乗回数 重賞出走 重賞勝利 勝率 連対率 複勝率 代表馬
"""
YEARS = FIGURES.split()

Get = Callable[..., LexborHTMLParser]


@pytest.fixture
def get(world: World, now: datetime) -> Get:
    def got(address: str, at: datetime = now, form: SiteFormat | None = None) -> LexborHTMLParser:
        return LexborHTMLParser(text(world, address, at, form))

    return got


def text(world: World, address: str, at: datetime, form: SiteFormat | None = None) -> str:
    host, _, rest = address.partition("/")
    path, _, query = rest.partition("?")
    words = dict(pair.split("=") for pair in query.split("&") if pair)
    made = render_page(
        world, form or SiteFormat(), PageRequest(HOSTS[host], f"/{path}", words, at, ADDRESSES)
    )
    assert made is not None
    return made.text


def races(world: World, circuit: Circuit = "jra", day: date = SUNDAY) -> list[Race]:
    return list(world.races_between(circuit, day, day))


def one(node: LexborHTMLParser | LexborNode, selector: str) -> LexborNode:
    found = node.css_first(selector)
    assert found is not None, selector
    return found


def has(node: LexborHTMLParser | LexborNode, selector: str) -> bool:
    return node.css_first(selector) is not None


def words(node: LexborNode) -> str:
    return unicodedata.normalize("NFKC", node.text()).strip()


def attribute(node: LexborNode, name: str) -> str:
    return node.attributes.get(name) or ""


@pytest.mark.parametrize(
    "selector",
    [
        "div#RaceTopRace > div.RaceList_Box > dl.RaceList_DataList > dt.RaceList_DataHeader",
        "dt > div.RaceList_DataHeader_Top > p.RaceList_DataTitle > small",
        "div.RaceList_DataHeader_Top > a[href*='payback_list.html?kaisai_id=']",
        "div.RaceList_DataDesc > span.Weather",
        "div.RaceList_DataDesc > span.Shiba",
        "div.RaceList_DataDesc > span.Da",
        "dd.RaceList_Data > ul > li.RaceList_DataItem > a[href*='/race/shutuba.html?race_id=']",
        "li.RaceList_DataItem > a[href*='/race/result.html?race_id='][href$='&rf=race_list']",
        "li.RaceList_DataItem[class$=' ']",
        "a > div.Race_Num",
        "a > div.RaceList_ItemTitle > span.ItemTitle",
        "div.RaceList_ItemTitle > span.Icon_GradeType",
        "a > div.RaceData > span.RaceList_Itemtime",
        "div.RaceData > span.RaceList_ItemLong.Turf",
        "div.RaceData > span.RaceList_ItemLong.Dart",
        "div.RaceData > span.RaceList_Itemnumber",
        "div.RaceData > span[class='']",
        "li > a.LinkIconRaceMovie[href*='/race/movie.html?race_id=']",
    ],
)
def test_the_list_of_a_day_has(get: Get, selector: str) -> None:
    assert has(get("race/top/race_list_sub.html?kaisai_date=20261115"), selector)


def test_the_list_of_a_day_names_tracks_between_small_words(get: Get) -> None:
    titles = get("race/top/race_list_sub.html?kaisai_date=20261115").css("p.RaceList_DataTitle")

    assert [words(title) for title in titles] == [
        "5回 東京 4日目",
        "6回 京都 4日目",
        "3回 福島 2日目",
    ]


def test_the_list_of_a_day_shows_thirty_six_races_and_as_many_films(get: Get) -> None:
    listed = get("race/top/race_list_sub.html?kaisai_date=20261115")

    assert len(listed.css("li.RaceList_DataItem")) == len(listed.css("a.LinkIconRaceMovie")) == 36


def test_a_jump_race_is_listed_without_a_class(get: Get) -> None:
    [jump] = get("race/top/race_list_sub.html?kaisai_date=20261115").css(
        "div.RaceData > span[class='']"
    )

    assert re.fullmatch(r"障\d{4}m", words(jump))


def test_a_local_list_counts_runners_in_bare_words(get: Get) -> None:
    listed = get("nar/top/race_list_sub.html?kaisai_date=20261115")

    assert listed.css("span.RaceList_Itemnumber") == []
    assert re.search(r"\d+頭$", words(one(listed, "div.RaceData")))


def test_a_day_without_racing_has_the_wrapper_alone(get: Get) -> None:
    listed = get("race/top/race_list_sub.html?kaisai_date=20261117")

    assert has(listed, "div#RaceTopRace > div.RaceList_Box")
    assert listed.css("dl") == []


def test_the_page_around_the_list_holds_no_races(get: Get) -> None:
    pages = [get(f"race/top/{name}?kaisai_date=20261115") for name in ("race_list.html", "")]

    assert [found.css("a[href*=race_id]") for found in pages] == [[], []]


def test_the_days_around_are_listed_and_one_is_active(get: Get) -> None:
    listed = get("race/top/race_list_get_date_list.html?kaisai_date=20261115")

    assert attribute(one(listed, "li.Active"), "date") == "20261115"
    assert "20261121" in [attribute(item, "date") for item in listed.css("li[date]")]


CARD = [
    "div.RaceList_NameBox span.RaceNum",
    "div.RaceList_NameBox h1.RaceName",
    "div.RaceData01 > span.Icon_Weather",
    "div.RaceData01 > span.Item04",
    "div.RaceData02 > span",
    "div.RaceData02 > br",
    "table.Shutuba_Table.RaceTable01 > thead > tr + tr",
    "tr.HorseList#tr_1 > td.Waku1.Txt_C > span",
    "tr.HorseList > td.Umaban8.Txt_C",
    "tr.HorseList > td.CheckMark select > option",
    "td.HorseInfo span.HorseName > a[href*='/horse/'][title]",
    "tr.HorseList > td.Barei + td.Txt_C",
    "td.Jockey > a[href*='/jockey/result/recent/']",
    "td.Trainer > span.Label1",
    "td.Trainer > span.Label2",
    "td.Trainer > a[href*='/trainer/result/recent/']",
    "td.Weight > small",
    "td.Txt_R.Popular > span#odds-1_01",
    "td.Popular_Ninki > span#ninki-1_01",
    "table.Shutuba_Table.PredictRap_Table td.Waku1",
]


@pytest.mark.parametrize("selector", CARD)
def test_a_card_has(get: Get, world: World, selector: str) -> None:
    race = races(world)[0]

    assert has(get(f"race/race/shutuba.html?race_id={race.race_id}"), selector)


def test_a_card_says_what_the_race_is(get: Get, world: World) -> None:
    race = races(world)[0]

    shown = get(f"race/race/shutuba.html?race_id={race.race_id}")

    assert re.match(
        r"10:05発走 / [芝ダ]\d+m \([左右]\)\s+/ 天候:.+\s/ 馬場:.$",
        words(one(shown, "div.RaceData01")),
    )
    spans = [words(span) for span in shown.css("div.RaceData02 > span")]
    assert spans[:3] == ["5回", "東京", "4日目"]
    assert spans[7] == f"{len(race.horses)}頭"
    assert re.fullmatch(r"本賞金:\d+,\d+,\d+,\d+,\d+万円", spans[8])


def test_a_card_leaves_odds_to_a_script(get: Get, world: World) -> None:
    shown = get(f"race/race/shutuba.html?race_id={races(world)[0].race_id}")

    assert {words(span) for span in shown.css("td.Popular > span[id^=odds]")} == {"---.-"}
    assert {words(span) for span in shown.css("td.Popular_Ninki > span")} == {"**"}


def test_a_card_has_pieces_between_its_rows_that_are_no_rows(world: World, now: datetime) -> None:
    source = text(world, f"race/race/shutuba.html?race_id={races(world)[0].race_id}", now)

    assert re.search(r"</tr>\s*<div", source)


def test_a_local_card_has_bare_frames(get: Get, world: World) -> None:
    shown = get(f"nar/race/shutuba.html?race_id={races(world, 'nar')[0].race_id}")

    assert words(one(shown, "td.Waku1")) == "1"
    assert shown.css("td.Waku1.Txt_C + td.Umaban1") != []
    assert one(shown, "table.Shutuba_Table").css("td.Waku1 > span") == []


def test_before_the_draw_there_are_runners_without_numbers(get: Get, world: World) -> None:
    race = races(world, day=date(2026, 11, 21))[0]

    shown = get(
        f"race/race/shutuba.html?race_id={race.race_id}", at=race.drawn_at - timedelta(hours=1)
    )

    ids = {attribute(link, "href")[-10:] for link in shown.css("span.HorseName > a")}
    assert ids == {horse.id for horse in race.horses}
    assert {words(cell) for cell in shown.css("td.Umaban, td.Waku")} == {""}
    assert shown.css("td.Weight small, span.Item04, table.PredictRap_Table") == []


def test_before_the_entries_a_card_has_no_runners(get: Get, world: World) -> None:
    race = races(world, day=date(2026, 11, 29))[0]

    shown = get(f"race/race/shutuba.html?race_id={race.race_id}")

    assert has(shown, "h1.RaceName")
    assert shown.css("tr.HorseList") == []


def test_a_scratched_runner_is_marked_from_the_morning_on(get: Get, world: World) -> None:
    race = next(
        race
        for race in world.races_between("jra", date(2026, 10, 1), SUNDAY)
        if len(race.running) < len(race.horses)
    )
    address = f"race/race/shutuba.html?race_id={race.race_id}"

    before, after = (get(address, at=race.opens_at + timedelta(minutes=at)) for at in (-1, 1))

    assert before.css("tr.Cancel") == []
    assert re.search("取消|除外", words(one(after, "tr.HorseList.Cancel")))


RESULT = [
    "table#All_Result_Table > thead th",
    "table#All_Result_Table > tbody > tr.HorseList > td.Result_Num > div.Rank",
    "tr > td.Num.Waku1",
    "tr > td.Num.Txt_C",
    "td.Horse_Info > span.Horse_Name > a[href*='/horse/']",
    "td span.JockeyWeight",
    "td.Jockey > a[href*='/jockey/']",
    "td.Time > span.RaceTime",
    "td.PassageRate",
    "td.Trainer > a",
    "td.Weight > small",
    "table.Payout_Detail_Table + table.Payout_Detail_Table",
    "tr.Tansho > th + td.Result + td.Payout + td.Ninki",
    "tr.Fukusho > td.Payout br",
    "tr.Wakuren > td.Result span",
    "tr.Umaren > td.Result span",
    "tr.Wide > td.Result span",
    "tr.Umatan > td.Result span",
    "tr.Fuku3 > td.Result span",
    "tr.Tan3 > td.Result span",
]


@pytest.mark.parametrize("selector", RESULT)
def test_a_result_has(get: Get, world: World, selector: str) -> None:
    assert has(get(f"race/race/result.html?race_id={races(world)[0].race_id}"), selector)


def test_a_result_lists_the_finish_as_it_was_drawn(get: Get, world: World) -> None:
    race = races(world)[0]

    shown = get(f"race/race/result.html?race_id={race.race_id}")

    assert [words(rank) for rank in shown.css("div.Rank")] == [race.rank(at) for at in race.order]
    names = [words(name) for name in shown.css("span.Horse_Name")]
    assert names == [race.horses[at].name for at in race.order]


def test_the_rows_of_a_local_result_have_no_class(get: Get, world: World) -> None:
    race = races(world, "nar", SUNDAY - timedelta(days=1))[0]

    shown = get(f"nar/race/result.html?race_id={race.race_id}")

    assert {attribute(row, "class") for row in shown.css("#All_Result_Table > tbody > tr")} == {""}


def test_a_result_not_yet_run_is_an_empty_table(get: Get, world: World) -> None:
    shown = get(f"race/race/result.html?race_id={races(world)[11].race_id}")

    assert has(shown, "table#All_Result_Table > thead")
    assert shown.css("#All_Result_Table > tbody > tr, table.Payout_Detail_Table") == []


def test_apprentices_have_a_mark_before_their_name_in_results(get: Get, world: World) -> None:
    shown = [
        words(link)
        for race in races(world)[:4]
        for link in get(f"race/race/result.html?race_id={race.race_id}").css("td.Jockey > a")
    ]

    assert {name[0] for name in shown} & {"▲", "△", "☆"}


def test_a_profile_has_every_label(get: Get, world: World) -> None:
    shown = get(f"db/horse/{races(world)[0].horses[0].id}/")

    labels = [words(label) for label in shown.css("table.db_prof_table > tbody > tr > th")]
    assert labels == [
        "生年月日",
        "調教師",
        "馬主",
        "生産者",
        "産地",
        "セリ取引価格",
        "獲得賞金 (中央)",
        "獲得賞金 (地方)",
        "通算成績",
        "主な勝鞍",
        "近親馬",
    ]
    assert has(shown, "div.horse_title > h1 + p.eng_name + p.txt_01")
    assert shown.css("table.db_h_race_results, table.blood_table") == []


def test_a_profile_adds_up_the_rows_of_the_results(get: Get, world: World) -> None:
    horse = races(world)[9].horses[0]

    cells = [words(cell) for cell in get(f"db/horse/{horse.id}/").css("table.db_prof_table td")]
    table = [
        [words(cell) for cell in row.css("td")]
        for row in get(f"db/horse/result/{horse.id}/").css("table.db_h_race_results > tbody > tr")
    ]

    started = [row for row in table if row[11] not in {"取", "除"}]
    first, second, third = (sum(row[11] == place for row in started) for place in "123")
    rest = len(started) - first - second - third
    assert cells[8] == f"{len(started)}戦{first}勝 [{first}-{second}-{third}-{rest}]"
    earned = sum(
        float(row[32].replace(",", "")) for row in table if row[32] and row[1][0].isdigit()
    )
    digits = re.fullmatch(r"(?:(\d+)億)?([\d,.]+)万円", cells[6])
    assert digits is not None
    assert int(digits[1] or 0) * 10_000 + float(digits[2].replace(",", "")) == earned > 0


@pytest.mark.parametrize(
    ("form", "expected"),
    [
        (SiteFormat(columns=29), NARROW),
        (SiteFormat(columns=33), [*NARROW[:21], *ADDED, *NARROW[21:]]),
    ],
)
def test_results_have_the_columns_of_their_year(
    get: Get, world: World, form: SiteFormat, expected: list[str]
) -> None:
    shown = get(f"db/horse/result/{races(world)[0].horses[0].id}/", form=form)

    table = one(shown, "table.db_h_race_results")
    assert [words(head) for head in table.css("thead th")] == expected
    assert {len(row.css("td")) for row in table.css("tbody > tr")} == {len(expected)}
    assert words(one(table, "th[style='display:none']")) == "水分量"
    assert has(table, "th > br")


@pytest.mark.parametrize("kind", ["", "result/", "ped/"])
def test_every_page_of_a_horse_names_it(get: Get, world: World, kind: str) -> None:
    horse = races(world)[0].horses[0]

    shown = get(f"db/horse/{kind}{horse.id}/")

    assert words(one(shown, "div.horse_title > h1")) == horse.name


def test_results_hide_what_is_for_subscribers(get: Get, world: World) -> None:
    shown = get(f"db/horse/result/{races(world)[9].horses[0].id}/")

    row = [words(cell) for cell in one(shown, "table.db_h_race_results > tbody > tr").css("td")]
    assert [row[at] for at in (17, 20, 21, 22, 23, 24)] == ["**"] * 6
    assert re.fullmatch(r"\d+[東京福島中山新潟阪神京都小倉函館札幌中京]+\d+", row[1])
    assert re.fullmatch(r"[芝ダ障]\d{3,4}", row[14])
    assert re.fullmatch(r"\d{3}\([+-]?\d+\)|計不", row[28])


def test_a_race_abroad_keeps_its_row_with_empty_cells(get: Get, world: World) -> None:
    horse = world.season("jra", 2026).abroad[0].entered[0]

    rows = get(f"db/horse/result/{horse.id}/").css("table.db_h_race_results > tbody > tr")

    [row] = [[words(cell) for cell in row.css("td")] for row in rows if "メイダン" in row.text()]
    assert [row[at] for at in (7, 19, 25, 28)] == [""] * 4
    assert any("/race/2026J0032809/" in (row.html or "") for row in rows)


def test_a_horse_that_never_ran_has_a_table_without_rows(get: Get, world: World) -> None:
    race = next(
        race for race in world.races_between("jra", date(2026, 6, 1), SUNDAY) if race.slot.debut
    )
    early = race.off_at - timedelta(hours=2)

    shown = get(f"db/horse/result/{race.horses[0].id}/", at=early)

    assert has(shown, "table.db_h_race_results > thead")
    assert shown.css("table.db_h_race_results > tbody > tr") == []


def test_results_and_pedigree_also_come_as_a_fragment_in_json(world: World, now: datetime) -> None:
    horse = races(world)[0].horses[0]
    asked = f"html?input=UTF-8&output=json&id={horse.id}"

    results = json.loads(text(world, f"db/horse/ajax_horse_results.{asked}", now))
    family = json.loads(text(world, f"db/horse/ajax_horse_pedigree.{asked}", now))

    assert (results["status"], family["status"]) == ("OK", "OK")
    assert LexborHTMLParser(results["data"]).css("table.db_h_race_results > tbody > tr")
    assert LexborHTMLParser(family["data"]).css("table.blood_table")


def test_a_pedigree_has_five_generations_in_thirty_two_rows(get: Get, world: World) -> None:
    horse = races(world)[0].horses[0]

    table = one(get(f"db/horse/ped/{horse.id}/"), "table.blood_table")

    assert (len(table.css("tr")), len(table.css("td")), len(table.css("td[rowspan]"))) == (
        32,
        62,
        30,
    )
    sire, dam = one(table, "td.b_ml[rowspan='16']"), one(table, "td.b_fml[rowspan='16']")
    assert attribute(one(sire, "a"), "href") == f"/horse/{horse.sire.id}/"
    assert attribute(one(dam, "a"), "href") == f"/horse/{horse.dam.id}/"
    assert re.search(r"FNo\.\[\d+-[a-z]\]$", words(dam))
    assert re.search(r"\b\d{4} \w*毛", words(sire))
    assert has(table.css("tr")[16], "td.b_fml[rowspan='16']")
    spans = [len(table.css(f"td[rowspan='{span}']")) for span in (16, 8, 4, 2)]
    assert spans == [2, 4, 8, 16]


def test_foreign_ancestors_have_letters_in_their_ids_and_names(get: Get, world: World) -> None:
    table = one(get(f"db/horse/ped/{races(world)[0].horses[0].id}/"), "table.blood_table")

    foreign = [link for link in table.css("td > a") if "/horse/000a" in attribute(link, "href")]

    assert foreign
    assert all(re.search(r"[A-Z][A-Za-z ]+\([米英愛仏加豪]\)", words(link)) for link in foreign)


def test_every_ancestor_of_a_pedigree_has_pages_of_its_own(get: Get, world: World) -> None:
    table = one(get(f"db/horse/ped/{races(world)[0].horses[0].id}/"), "table.blood_table")
    links = [attribute(link, "href") for link in table.css("td[rowspan] > a[href^='/horse/']")]
    ids = [link.split("/")[2] for link in links if re.fullmatch("/horse/[0-9a-z]{10}/", link)]

    shown = {identifier: get(f"db/horse/{identifier}/") for identifier in ids}

    assert len(ids) == 30
    assert all(has(found, "table.db_prof_table") for found in shown.values())
    assert all(get(f"db/horse/ped/{identifier}/").css("td[rowspan]") for identifier in ids)


def test_a_jockey_has_two_tabs_and_an_empty_template(get: Get, world: World) -> None:
    jockey = races(world)[0].finish.jockeys[0]

    shown = get(f"db/jockey/{jockey.id}/")

    assert re.fullmatch(r".+ .+ \(.+\)", words(one(shown, "div.db_head_name h1")))
    assert re.match(r"\d{4}/\d\d/\d\d", words(one(shown, "p.txt_01")))
    assert [words(tab) for tab in shown.css("ul#ResultsTab > li")] == ["中央", "地方"]
    tables = [one(shown, f"div#ResultsBox{at} > table.ResultsByYears") for at in (0, 1)]
    assert [[words(head) for head in table.css("thead th")] for table in tables] == [
        [unicodedata.normalize("NFKC", label) for label in YEARS]
    ] * 2
    first = [words(row.css("td")[0]) for row in tables[0].css("tbody > tr")]
    assert first == ["累計", "2026"]
    assert [
        words(cell) for cell in shown.css("table.ResultsByYears")[2].css("td") if words(cell)
    ] == ["%"] * 3


def test_a_jockeys_years_add_up_to_the_career(get: Get, world: World) -> None:
    jockey = races(world)[0].finish.jockeys[0]

    table = one(
        get(f"db/jockey/result.html?id={jockey.id}"), "div#ResultsBox0 > table.ResultsByYears"
    )

    rows = [[words(cell) for cell in row.css("td")] for row in table.css("tbody > tr")]
    [career, *years] = [[int(cell.replace(",", "")) for cell in row[2:9]] for row in rows]
    assert len(years) == min(2026 - jockey.first_year + 1, len(years))
    assert career == [sum(column) for column in zip(*years, strict=True)]
    rates = [float(cell.rstrip("%")) for cell in rows[0][9:12]]
    shares = [100 * sum(career[:places]) / career[4] for places in (1, 2, 3)]
    assert rates == pytest.approx(shares, abs=0.051)


def test_local_jockeys_may_have_letters_in_their_ids(get: Get, world: World) -> None:
    ids = {jockey.id for race in races(world, "nar") for jockey in race.finish.jockeys}

    lettered = sorted(one for one in ids if re.fullmatch("a[0-9a-f]{4}", one))

    assert has(get(f"db/jockey/{lettered[0]}/"), "div#ResultsBox1 > table.ResultsByYears")


@pytest.mark.parametrize(("at", "status"), [(10, "middle"), (0, "result")])
def test_odds_come_as_json_by_number(world: World, now: datetime, at: int, status: str) -> None:
    race = races(world)[at]
    asked = f"race/api/api_get_jra_odds.html?race_id={race.race_id}&type=1&action=init"

    data = json.loads(text(world, asked, now))

    assert data["status"] == status
    assert re.fullmatch(r"2026-11-15 \d\d:\d\d:\d\d", data["data"]["official_datetime"])
    win, place = (data["data"]["odds"][kind] for kind in "12")
    assert set(win) == set(place) == {f"{number:02}" for number in race.truth}
    assert sorted(int(rank) for _, _, rank in win.values()) == list(range(1, len(race.truth) + 1))
    assert all(float(low) < float(high) for low, high, _ in place.values())


def test_forecast_odds_have_no_places(world: World) -> None:
    race = races(world, day=date(2026, 11, 21))[0]
    asked = f"race/api/api_get_jra_odds.html?race_id={race.race_id}"

    data = json.loads(text(world, asked, race.drawn_at))

    assert (data["status"], set(data["data"]["odds"])) == ("yoso", {"1"})


def test_local_odds_come_in_two_tables(get: Get, world: World) -> None:
    race = races(world, "nar")[0]

    shown = get(f"nar/odds/index.html?type=b1&race_id={race.race_id}")

    win = shown.css("#odds_tan_block tbody > tr")
    assert len(win) == len(shown.css("#odds_fuku_block tbody > tr")) == len(race.running)


@pytest.mark.parametrize(
    ("host", "path", "query"),
    [
        ("race", "/race/shutuba.html", {"race_id": "202605059901"}),
        ("race", "/race/shutuba.html", {}),
        ("nar", "/race/shutuba.html", {"race_id": "202605050401"}),
        ("race", "/top/race_list_sub.html", {"kaisai_date": "20261332"}),
        ("race", "/top/unknown.html", {}),
        ("db", "/horse/2031100001/", {}),
        ("db", "/horse/short/", {}),
        ("db", "/horse/000azzzzzz/", {}),
        ("db", "/horse/2007200099999/", {}),
        ("db", "/jockey/99999/", {}),
        ("db", "/race/202605050412/", {}),
        ("db", "/somewhere/", {}),
    ],
)
def test_what_is_not_there_is_none(
    world: World, now: datetime, host: str, path: str, query: dict[str, str]
) -> None:
    asked = PageRequest(HOSTS[host], path, query, now, ADDRESSES)

    assert render_page(world, SiteFormat(), asked) is None


ADDRESS = st.text(alphabet="0123456789abcJP/.?#&= \N{FULLWIDTH DIGIT ONE}", max_size=14)


@given(
    words=ADDRESS, path=st.sampled_from(["horse", "horse/result", "horse/ped", "jockey", "race"])
)
def test_no_address_breaks_the_archive(world: World, words: str, path: str) -> None:
    asked = PageRequest("db", f"/{path}/{words}", {"id": words}, NOON, ADDRESSES)

    made = render_page(world, SiteFormat(), asked)

    assert made is None or made.status == 200


@given(words=ADDRESS, path=st.sampled_from(["top/race_list_sub.html", "race/shutuba.html", "top/"]))
def test_no_address_breaks_the_races(world: World, words: str, path: str) -> None:
    asked = PageRequest(
        "race", f"/{path}", {"kaisai_date": words, "race_id": words}, NOON, ADDRESSES
    )

    made = render_page(world, SiteFormat(), asked)

    assert made is None or made.status == 200


def test_the_archive_shows_a_result_once_it_is_confirmed(get: Get, world: World) -> None:
    race = races(world)[0]

    shown = get(f"db/race/{race.race_id}/", at=datetime(2026, 12, 1, tzinfo=UTC))

    assert len(shown.css("div.Rank")) == len(race.horses)
