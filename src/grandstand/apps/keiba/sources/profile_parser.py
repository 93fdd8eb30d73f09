"""Parsers of horse, pedigree and jockey pages."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from dataclasses import replace
from decimal import Decimal
from typing import Any, Final

import msgspec
from selectolax.lexbor import LexborNode

from grandstand.apps.keiba.domain import ids
from grandstand.apps.keiba.domain.horses import (
    Ancestor,
    Form,
    HorseProfile,
    JockeyFigures,
    JockeyRecord,
    JockeyYear,
    PastRun,
    Pedigree,
)
from grandstand.apps.keiba.domain.ids import Circuit
from grandstand.apps.keiba.sources import text_fields
from grandstand.apps.keiba.sources.html_reader import (
    Page,
    PageReader,
    Parsed,
    Row,
    body_rows,
    header_columns,
    horse_id_in,
    jockey_id_in,
    labeled_cells,
    node_classes,
    node_lines,
    node_link,
    node_text,
    open_page,
    page_text,
    race_id_in,
    row_cells,
    table_rows,
    trainer_id_in,
)

_RECORD: Final = re.compile(r"([0-9]{1,4})戦([0-9]{1,4})勝")
_PLACES: Final = re.compile(r"\[\s*([0-9]{1,4})-([0-9]{1,4})-([0-9]{1,4})-([0-9]{1,4})\s*\]")
_AGE: Final = re.compile(r"(?:牡|牝|セ|騙|騸)\s*([0-9]{1,2})歳")
_STABLE: Final = re.compile(r"\(([^)]{1,10})\)")
_NOTHING: Final = {"", "-", "--"}


def parse_horse_profile(page: Page, horse_id: str) -> Parsed[HorseProfile]:
    """Parse a horse's profile.

    Raises PageUnreadable if it has no name or no table.
    """
    reader = open_page(page)
    name = horse_name(reader)
    table = reader.tree.css_first("table.db_prof_table")
    if not name or table is None:
        raise reader.unreadable("no horse name" if not name else "no profile table")
    labels = labeled_cells(table)
    if not labels:
        raise reader.unreadable("the profile table is empty")
    return reader.parsed(_profile(reader, horse_id, name, labels))


def horse_name(reader: PageReader) -> str:
    """Return the name of the horse of a page; empty if it has none."""
    return node_text(reader.tree.css_first("div.horse_title h1"))


def _profile(
    reader: PageReader, horse_id: str, name: str, labels: dict[str, LexborNode]
) -> HorseProfile:
    line = node_text(reader.tree.css_first("div.horse_title p.txt_01"))
    sex, _ = text_fields.parse_sex_and_age(line)
    age = _AGE.search(line)
    words = line.split()
    central = _money(labels, "獲得賞金(中央)")
    local = _money(labels, "獲得賞金(地方)")
    earnings = [amount for amount in (central, local) if amount is not None]
    starts, places = _career_record(reader, labels)
    trainer = labels.get("調教師")
    stable = _STABLE.search(node_text(trainer))
    return HorseProfile(
        horse_id=horse_id,
        horse_name=name,
        english_name=node_text(reader.tree.css_first("div.horse_title p.eng_name")) or None,
        active={"現役": True, "抹消": False}.get(words[0] if words else ""),
        sex=sex,
        age=int(age[1]) if age else None,
        coat=next((word for word in words if word.endswith("毛")), None),
        born_on=text_fields.parse_date(_label_text(labels, "生年月日")),
        trainer_id=trainer_id_in(node_link(trainer)),
        trainer_name=_link_text(trainer),
        stable=stable[1] if stable else None,
        owner=_link_text(labels.get("馬主")),
        breeder=_link_text(labels.get("生産者")),
        birthplace=_label_text(labels, "産地"),
        sale_price=_money(labels, "セリ取引価格"),
        earnings=sum(earnings, Decimal(0)) if earnings else None,
        earnings_central=central,
        earnings_local=local,
        starts=starts,
        first=places[0],
        second=places[1],
        third=places[2],
        fourth_or_lower=places[3],
        main_wins=_label_text(labels, "主な勝鞍"),
        relatives=_names(labels.get("近親馬")),
    )


def _career_record(
    reader: PageReader, labels: dict[str, LexborNode]
) -> tuple[int | None, tuple[int | None, int | None, int | None, int | None]]:
    """Return starts and placings; digits may be separate links, so spaces are ignored."""
    text = text_fields.compact(_label_text(labels, "通算成績"))
    record, places = _RECORD.search(text), _PLACES.search(text)
    starts = int(record[1]) if record else None
    if places is None:
        reader.warn("placings missing")
        return starts, (int(record[2]) if record else None, None, None, None)
    counts = (int(places[1]), int(places[2]), int(places[3]), int(places[4]))
    if starts is not None and starts < sum(counts):
        reader.warn(f"{sum(counts)} placings in {starts} starts")
    return starts, counts


def _money(labels: dict[str, LexborNode], label: str) -> Decimal | None:
    return text_fields.parse_money(_label_text(labels, label))


def _label_text(labels: dict[str, LexborNode], label: str) -> str | None:
    text = node_text(labels.get(label))
    return None if text in _NOTHING else text


def _link_text(cell: LexborNode | None) -> str | None:
    """Return the text of a cell's link, else of the cell."""
    if cell is None:
        return None
    text = node_text(cell.css_first("a")) or node_text(cell)
    return None if text in _NOTHING else text


def _names(cell: LexborNode | None) -> tuple[str, ...]:
    if cell is None:
        return ()
    links = [node_text(link) for link in cell.css("a")]
    return tuple(name for name in links or node_lines(cell) if name not in _NOTHING)


_REQUIRED_COLUMNS: Final = ("日付", "開催", "レース名", "着順")
_EXPECTED_COLUMNS: Final = ("距離", "タイム", "騎手", "斤量", "馬場", "頭数")
_MEETING: Final = re.compile(r"([0-9]{1,2})([^0-9]+)([0-9]{1,2})")
_NO_RUNS: Final = re.compile(r"(?:競走|出走|戦績)?データ(?:が|は)ありません|(?<![0-9])0戦0勝")


def parse_horse_results(page: Page, horse_id: str, name: str = "") -> Parsed[Form]:
    """Parse a horse's past races, newest first.

    Accepts the full page and the JSON fragment, which does not name the horse. A page without the
    table is accepted only if it says that the horse has not run. Raises PageUnreadable.
    """
    reader = _open_results(page)
    named = horse_name(reader) or name
    if not named:
        reader.warn("horse name missing")
    table = reader.tree.css_first("table.db_h_race_results")
    if table is None:
        if not _NO_RUNS.search(text_fields.compact(reader.text)):
            raise reader.unreadable("no table of races")
        return reader.parsed(Form(horse_id, named, ()))
    columns = header_columns(table)
    missing = [header for header in _REQUIRED_COLUMNS if header not in columns]
    if missing:
        raise reader.unreadable(f"missing columns: {', '.join(missing)}")
    absent = [header for header in _EXPECTED_COLUMNS if header not in columns]
    if absent:
        reader.warn(f"missing columns: {', '.join(absent)}")
    rows = list(body_rows(table))
    runs = [run for row in rows if (run := _run(row, reader)) is not None]
    if any(row.text("日付") for row in rows) and not runs:
        raise reader.unreadable("no valid races")
    runs.sort(key=lambda run: run.run_on, reverse=True)
    return reader.parsed(Form(horse_id, named, tuple(runs)))


def _open_results(page: Page) -> PageReader:
    """Open a page or its JSON fragment."""
    if page.body.lstrip()[:1] != b"{":
        return open_page(page)
    try:
        reply = msgspec.json.decode(page_text(page).text, type=dict[str, Any])
    except msgspec.DecodeError:
        raise PageReader(page.address, "").unreadable("invalid JSON") from None
    fragment = reply.get("data")
    if reply.get("status") != "OK" or not isinstance(fragment, str):
        raise PageReader(page.address, "").unreadable("unexpected JSON")
    return open_page(Page(page.address, fragment.encode(), "charset=utf-8"), whole=False)


def _run(row: Row, reader: PageReader) -> PastRun | None:
    run_on = text_fields.parse_date(row.text("日付"))
    if run_on is None:
        if any(cell.text().strip() for cell in row.cells):
            reader.warn(f"race without a date ({row.text('日付')[:20]!r}); skipped")
        return None
    race_id = race_id_in(node_link(row.cell("レース名")))
    if race_id is None:
        reader.warn(f"race on {run_on} has no link")
    finish = text_fields.parse_finish(row.text("着順"))
    if finish is None:
        reader.warn(f"race on {run_on} has no finishing position")
    # JRA tracks are enclosed in meeting and day numbers.
    venue = text_fields.compact(row.text("開催"))
    meeting = _MEETING.fullmatch(venue)
    surface, distance = text_fields.parse_course(row.text("距離"))
    weight, change = text_fields.parse_body_weight(row.text("馬体重"))
    return PastRun(
        run_on=run_on,
        race_name=row.text("レース名"),
        race_id=race_id,
        circuit=ids.circuit_of(race_id) if race_id else None,
        position=finish.position if finish else None,
        outcome=finish.outcome if finish else None,
        demoted=finish.demoted if finish else None,
        track=meeting[2] if meeting else venue,
        meeting_number=int(meeting[1]) if meeting else None,
        day_number=int(meeting[3]) if meeting else None,
        race_number=text_fields.parse_positive_int(row.text("R")),
        distance=distance,
        track_type=surface,
        weather=text_fields.parse_weather(row.text("天気")),
        going=text_fields.parse_going(row.text("馬場")),
        runner_count=text_fields.parse_positive_int(row.text("頭数")),
        frame_number=text_fields.parse_positive_int(row.text("枠番")),
        horse_number=text_fields.parse_positive_int(row.text("馬番")),
        win_odds=text_fields.parse_decimal(row.text("オッズ")),
        popularity=text_fields.parse_positive_int(row.text("人気")),
        jockey_id=jockey_id_in(node_link(row.cell("騎手"))),
        jockey_name=text_fields.parse_jockey_name(row.text("騎手"))[1],
        carried_weight=text_fields.parse_decimal(row.text("斤量")),
        time=_visible(row.text("タイム")),
        time_seconds=text_fields.parse_race_time(row.text("タイム")),
        margin=_visible(row.text("着差")),
        passing=text_fields.parse_corner_positions(row.text("通過")),
        pace=_visible(row.text("ペース")),
        last_3f=text_fields.parse_decimal(row.text("上り")),
        body_weight=weight,
        body_weight_change=change,
        remarks=_visible(row.text("備考")),
        winner=_visible(row.text("勝ち馬(2着馬)", "勝ち馬")),
        prize=text_fields.parse_decimal(row.text("賞金")),
    )


def _visible(text: str) -> str | None:
    """Return a text; None if it is hidden behind asterisks for non-subscribers."""
    return text if text.strip("*") else None


_ROWS: Final = 32
_GENERATIONS: Final = {16: 1, 8: 2, 4: 3, 2: 4, 1: 5}
_ANCESTORS: Final = 62
_BORN: Final = re.compile(r"([0-9]{4})(?:\s+(\S+毛))?")
_ABROAD: Final = re.compile(r"(.{1,60}?)\s*\((\S{1,8})\)")
_FAMILY: Final = re.compile(r"FNo\.?\s*\[([^\]]{1,10})\]")


def parse_pedigree(page: Page, horse_id: str) -> Parsed[Pedigree]:
    """Parse five generations, as far as the table has them.

    Sire and dam are the two cells that span sixteen rows. Raises PageUnreadable.
    """
    reader = open_page(page)
    table = reader.tree.css_first("table.blood_table")
    if table is None:
        raise reader.unreadable("no pedigree table")
    rows = table_rows(table)
    found = dict(_parent_cells(rows))
    if not found:
        raise reader.unreadable("neither sire nor dam found")
    if len(rows) == _ROWS:
        found |= {path: cell for path, cell in _all_cells(rows) if path not in found}
    else:
        reader.warn(f"the table has {len(rows)} rows; only the parents can be read")
    paths = sorted(found, key=lambda path: (len(path), path.replace("S", "A")))
    horses = [_ancestor(path, found[path]) for path in paths]
    known = tuple(horse for horse in horses if horse.id or horse.name)
    if not known:
        raise reader.unreadable("the ancestors have no names")
    _warn_missing(reader, known)
    return reader.parsed(Pedigree(horse_id, known))


def _warn_missing(reader: PageReader, known: tuple[Ancestor, ...]) -> None:
    paths = {horse.path for horse in known}
    for path, word in (("S", "sire"), ("D", "dam")):
        if path not in paths:
            reader.warn(f"{word} missing")
    if len(known) < _ANCESTORS:
        reader.warn(f"{_ANCESTORS - len(known)} of {_ANCESTORS} ancestors missing")


def _parent_cells(rows: list[LexborNode]) -> Iterator[tuple[str, LexborNode]]:
    for cell in (cell for row in rows for cell in row_cells(row)):
        if _span(cell) == _ROWS // 2:
            if "b_ml" in node_classes(cell):
                yield "S", cell
            elif "b_fml" in node_classes(cell):
                yield "D", cell


def _all_cells(rows: list[LexborNode]) -> Iterator[tuple[str, LexborNode]]:
    """Yield every cell with its path, which follows from its row and span."""
    for at, row in enumerate(rows):
        for cell in row_cells(row):
            span = _span(cell)
            generation = _GENERATIONS.get(span)
            if generation is not None and at % span == 0:
                bits = f"{at // span:0{generation}b}"
                yield bits.replace("0", "S").replace("1", "D"), cell


def _span(cell: LexborNode) -> int:
    rowspan = cell.attributes.get("rowspan") or "1"
    return int(rowspan) if rowspan in {"1", "2", "4", "8", "16"} else 0


def _ancestor(path: str, cell: LexborNode) -> Ancestor:
    lines = [line for line in node_lines(cell) if line not in {"血統", "産駒", "[", "]", "[]", "|"}]
    horse = horse_id_in(node_link(cell)) or next(
        (found for link in cell.css("a[href]") if (found := horse_id_in(node_link(link)))), None
    )
    details: dict[str, Any] = {}
    for line in lines:
        _add_detail(details, line)
    return Ancestor(path, horse, **details)


def _add_detail(details: dict[str, Any], line: str) -> None:
    """Add the details in one line of a pedigree cell."""
    if "FNo" in line and (family := _FAMILY.search(line)):
        details["family"] = family[1]
    elif born := _BORN.fullmatch(line):
        details["born_year"], details["coat"] = int(born[1]), born[2]
    elif line.endswith(")") and (abroad := _ABROAD.fullmatch(line)):
        details["english_name" if "name" in details else "name"] = abroad[1]
        details["country"] = abroad[2]
    elif "name" not in details:
        details["name"] = line
    elif "english_name" not in details and line.isascii() and any(map(str.isalpha, line)):
        details["english_name"] = line


_YEAR_COLUMNS: Final = frozenset({"年度", "1着", "2着", "3着", "騎乗回数"})
_YEAR: Final = re.compile(r"((?:19|20|21)[0-9]{2})年?")
_NAME: Final = re.compile(r"([^()]+?)\s*(?:\(([^()]*)\))?")
_AFFILIATION: Final = re.compile(r"\[([^\]]{1,10})\]\s*(\S+)?")
_FOUR_DIGITS: Final = re.compile(r"(?:19|20)[0-9]{2}")
_DEBUT: Final = re.compile(r"(?:19|20)[0-9]{2}(?=年\s*デビュー)")


def parse_jockey(page: Page, jockey_id: str, *, all_years: bool = False) -> Parsed[JockeyRecord]:
    """Parse a jockey's career and years.

    Rates are computed from the counts and compared with those of the page. The default page has
    only the current year, so the five-year statistics need the page of `all_years`. Raises
    PageUnreadable if there is no career.
    """
    reader = open_page(page)
    name, kana = _name(reader)
    if not name:
        raise reader.unreadable("no jockey name")
    careers: dict[Circuit, JockeyFigures] = {}
    years: dict[tuple[Circuit, int], JockeyYear] = {}
    for table, circuit in _tables(reader):
        for row in body_rows(table):
            _add_row(row, circuit, reader, careers, years)
    if not careers:
        raise reader.unreadable("no career statistics")
    ordered = tuple(sorted(years.values(), key=lambda year: (-year.year, year.circuit)))
    record = _jockey_record(reader, jockey_id, (name, kana), careers, ordered)
    return reader.parsed(
        replace(record, recent_5year_stats=_last_five_years(ordered, all_years=all_years))
    )


def _jockey_record(
    reader: PageReader,
    jockey_id: str,
    names: tuple[str, str | None],
    careers: dict[Circuit, JockeyFigures],
    years: tuple[JockeyYear, ...],
) -> JockeyRecord:
    line = node_text(reader.tree.css_first(".db_head_name p.txt_01, p.txt_01"))
    stable = _AFFILIATION.search(line)
    labels = _labels(reader)
    debut_text = _label(labels, "デビュー年", "初騎乗", "初免許年", "デビュー")
    debut = _FOUR_DIGITS.search(debut_text) or _DEBUT.search(line)
    return JockeyRecord(
        jockey_id=jockey_id,
        jockey_name=names[0],
        kana=names[1],
        overall_stats=sum_figures(careers.values()),
        born_on=text_fields.parse_date(line),
        affiliation=stable[1] if stable else None,
        debut_year=int(debut[0]) if debut else None,
        height_cm=text_fields.parse_positive_int(_label(labels, "身長").lower().removesuffix("cm")),
        weight_kg=text_fields.parse_decimal(_label(labels, "体重").lower().removesuffix("kg")),
        central=careers.get("jra"),
        local=careers.get("nar"),
        years=years,
    )


def _last_five_years(years: tuple[JockeyYear, ...], *, all_years: bool) -> JockeyFigures | None:
    """Return the sum of the last five years, or of as many as there are."""
    newest = sorted({year.year for year in years}, reverse=True)[:5]
    if not newest or not all_years:
        return None
    return sum_figures(year.figures for year in years if year.year in newest)


def sum_figures(figures: Iterable[JockeyFigures]) -> JockeyFigures:
    """Return the sum of several statistics, with rates."""
    parts = tuple(figures)
    lower = [part.fourth_or_lower for part in parts if part.fourth_or_lower is not None]
    rides = [part.graded_rides for part in parts if part.graded_rides is not None]
    wins = [part.graded_wins for part in parts if part.graded_wins is not None]
    return _with_rates(
        JockeyFigures(
            wins=sum(part.wins for part in parts),
            seconds=sum(part.seconds for part in parts),
            thirds=sum(part.thirds for part in parts),
            total_races=sum(part.total_races for part in parts),
            fourth_or_lower=sum(lower) if lower else None,
            graded_rides=sum(rides) if rides else None,
            graded_wins=sum(wins) if wins else None,
        )
    )


def _with_rates(counts: JockeyFigures) -> JockeyFigures:
    """Add the rates; None if there are no rides, or fewer rides than placings."""
    top3 = counts.wins + counts.seconds + counts.thirds
    if not counts.total_races or top3 > counts.total_races:
        return counts
    return replace(
        counts,
        win_rate=text_fields.round_percent(counts.wins, counts.total_races),
        top2_rate=text_fields.round_percent(counts.wins + counts.seconds, counts.total_races),
        place_rate=text_fields.round_percent(top3, counts.total_races),
    )


def _name(reader: PageReader) -> tuple[str, str | None]:
    text = node_text(reader.tree.css_first(".db_head_name h1, .db_head h1, h1"))
    found = _NAME.fullmatch(text)
    return (found[1], found[2] or None) if found else (text, None)


def _tables(reader: PageReader) -> list[tuple[LexborNode, Circuit]]:
    """Return the tables of years with their circuits."""
    return [
        (table, "nar" if _results_box_id(table) == "ResultsBox1" else "jra")
        for table in reader.tree.css("table")
        if header_columns(table).keys() >= _YEAR_COLUMNS
    ]


def _results_box_id(table: LexborNode) -> str:
    node: LexborNode | None = table
    while node is not None:
        name = node.attributes.get("id") or "" if node.is_element_node else ""
        if name.startswith("ResultsBox"):
            return name
        node = node.parent
    return ""


def _add_row(
    row: Row,
    circuit: Circuit,
    reader: PageReader,
    careers: dict[Circuit, JockeyFigures],
    years: dict[tuple[Circuit, int], JockeyYear],
) -> None:
    """Add a row to the careers or to the years."""
    label = text_fields.compact(row.text("年度"))
    year = _YEAR.fullmatch(label)
    if not year and not label.startswith(("累計", "通算")):
        return
    figures = _figures(row, reader, f"the row {label}")
    if figures is None:
        return
    if year is None:
        careers.setdefault(circuit, figures)
    else:
        jockey_year = JockeyYear(
            int(year[1]),
            circuit,
            figures,
            text_fields.parse_positive_int(
                text_fields.compact(row.text("順位")).removesuffix("位")
            ),
            row.text("代表馬") or None,
        )
        years.setdefault((circuit, jockey_year.year), jockey_year)


def _figures(row: Row, reader: PageReader, where: str) -> JockeyFigures | None:
    counts = [
        text_fields.parse_int(row.text(header)) for header in ("1着", "2着", "3着", "騎乗回数")
    ]
    known = [count for count in counts if count is not None and count >= 0]
    if len(known) < len(counts):
        reader.warn(f"{where} lacks counts; skipped")
        return None
    wins, seconds, thirds, rides = known
    if wins + seconds + thirds > rides:
        reader.warn(f"{where} has more places than rides")
    lower = next((name for name in row.columns if name.startswith("4着")), "4着")
    figures = _with_rates(
        JockeyFigures(
            wins,
            seconds,
            thirds,
            rides,
            fourth_or_lower=text_fields.parse_int(row.text(lower)),
            graded_rides=text_fields.parse_int(row.text("重賞出走")),
            graded_wins=text_fields.parse_int(row.text("重賞勝利")),
        )
    )
    _check_rates(row, figures, reader, where)
    return figures


def _check_rates(row: Row, figures: JockeyFigures, reader: PageReader, where: str) -> None:
    """Warn if a rate of the page is invalid or does not follow from its counts."""
    for header, name in (("勝率", "win_rate"), ("連対率", "top2_rate"), ("複勝率", "place_rate")):
        stated = text_fields.parse_percent(row.text(header))
        computed: Decimal | None = getattr(figures, name)
        if stated is None or computed is None:
            continue
        if not 0 <= stated <= 100:
            reader.warn(f"{where} has an invalid {header} of {stated} %")
        elif abs(stated - computed) > Decimal("0.1"):
            reader.warn(f"{where} has {header} {stated} % but its counts give {computed} %")


def _labels(reader: PageReader) -> dict[str, LexborNode]:
    found: dict[str, LexborNode] = {}
    for table in reader.tree.css("table"):
        found = labeled_cells(table) | found
    return found


def _label(labels: dict[str, LexborNode], *names: str) -> str:
    return next(
        (text_fields.compact(node_text(labels[name])) for name in names if name in labels), ""
    )
