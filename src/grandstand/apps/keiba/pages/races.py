"""Pages of a racing day and its races: card, comparison, result and preview."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, date, datetime, time, timedelta
from typing import Annotated, Final

from fastapi import Path
from markupsafe import Markup
from starlette.requests import Request
from starlette.responses import Response

from grandstand.apps.keiba.domain import ids
from grandstand.apps.keiba.domain.horses import PastRun
from grandstand.apps.keiba.domain.ids import CIRCUITS, Circuit
from grandstand.apps.keiba.domain.races import Finisher, RaceCard, RaceResult, Runner
from grandstand.apps.keiba.pages.base import (
    SITE_ERRORS,
    STRIP_RUNS,
    KeibaPage,
    RaceId,
    distinct_origins,
    format_body_weight,
    format_points,
    format_sex_age,
    format_win_odds,
    japanese_text,
    number_badge,
    render_form_strip,
)
from grandstand.apps.keiba.pages.i18n import LANGUAGE_COOKIE, LANGUAGES, Locale, locale_of
from grandstand.apps.keiba.services.analysis import RankedRunner
from grandstand.apps.keiba.services.cards import Card, CardRunner, Progress
from grandstand.apps.keiba.services.page_cache import (
    Origin,
    now_to_second,
    start_time,
    today_in_japan,
)
from grandstand.apps.keiba.services.previews import Preview, PreviewRejected
from grandstand.apps.keiba.services.race_days import Day, DayRace, Meeting
from grandstand.core.formatting import EMPTY, format_number, format_percent
from grandstand.kit.charts import Axis, Chart, Plot, epoch
from grandstand.kit.pages.page import form_fields, redirect_to
from grandstand.kit.pages.rendering import safe_return
from grandstand.kit.pages.table import Cell, Column, DataTable, Row
from grandstand.kit.routes import page


@dataclass(frozen=True, slots=True)
class RaceHeader:
    """The header of a race page, with `facts` in the language of the page.

    `starts_soon` holds in the half hour before the start, `has_started` from then on.
    """

    race_id: str
    name: str
    race_number: int | None
    grade: str | None
    track: str
    race_date: date | None
    off_at: datetime | None
    facts: tuple[str, ...]
    prizes: str
    has_started: bool
    starts_soon: bool


def card_header(card: Card, t: Locale, now: datetime) -> RaceHeader:
    return _race_header(card.race.value, card.race_date, card.off_at, t, now)


def result_header(result: RaceResult, t: Locale, now: datetime) -> RaceHeader:
    day = result.race_date or ids.date_of(result.race_id)
    return _race_header(result, day, start_time(day, result.post_time), t, now)


def _race_header(
    race: RaceCard | RaceResult,
    day: date | None,
    off_at: datetime | None,
    t: Locale,
    now: datetime,
) -> RaceHeader:
    track = ids.track_of(race.race_id)
    return RaceHeader(
        race_id=race.race_id,
        name=race.race_name,
        race_number=race.race_number or ids.number_of(race.race_id),
        grade=race.grade,
        track=t.either(track.english if track else None, race.track_name),
        race_date=day,
        off_at=off_at,
        facts=tuple(filter(None, _race_facts(race, t))),
        prizes=", ".join(t.money(prize) for prize in race.prize_money),
        has_started=off_at is not None and off_at <= now,
        starts_soon=off_at is not None and now < off_at <= now + timedelta(minutes=30),
    )


def _race_facts(race: RaceCard | RaceResult, t: Locale) -> Iterator[str]:
    """Yield distance, direction, going, weather and conditions; unknown facts are empty."""
    distance = "" if race.distance is None else f"{format_number(race.distance)} m"
    yield f"{t.term('surface', race.track_type)} {distance}".strip()
    yield t.term("direction", race.direction)
    yield race.course or ""
    going = t.term("going", race.going)
    yield f"{t.w['going']}: {going}" if going else ""
    yield t.term("weather", race.weather)
    conditions = (race.ages, race.race_class, race.weight_rule)
    yield from (t.term("condition", condition) for condition in conditions)
    count = race.runner_count or (len(race.horses) if isinstance(race, RaceCard) else None)
    yield "" if count is None else f"{count}{'' if t.japanese else ' '}{t.w['runner_count']}"


def chances_chart(card: Card, t: Locale) -> Chart:
    """Return our win probabilities and those implied by the odds, by horse number."""
    runners = sorted(
        (each for each in card.ranking if each.ranked is not None),
        key=lambda each: each.runner.horse_number or 0,
    )
    names = tuple(str(each.runner.horse_number or each.runner.horse_name) for each in runners)
    ranked = [each.ranked for each in runners if each.ranked is not None]
    ours = tuple((at, each.win * 100) for at, each in enumerate(ranked))
    market = tuple(
        (at, each.market * 100) for at, each in enumerate(ranked) if each.market is not None
    )
    plots = [Plot(t.w["ours"], "bar", ours, "4")]
    if market:
        plots.append(Plot(t.w["market"], "scatter", market, "2"))
    return Chart(
        title=t.w["chances"] if market else t.w["chances_alone"],
        note=t.w["chances_note"] if market else "",
        x=Axis(t.w["number"], "name", names=names),
        y=Axis(t.w["win"], unit="%", digits=1),
        plots=tuple(plots),
        height=240,
    )


def runner_table(card: Card, t: Locale, *, finished: bool = True) -> DataTable:
    """Return the runners, sortable by any column.

    Incomplete runners are marked once fetching has `finished`.
    """
    w = t.w
    columns = (
        Column("number", w["number"], "number"),
        Column("horse", w["horse"]),
        Column("sex", w["sex_age"], rank=2),
        Column("carried", w["carried"], "number", rank=2),
        Column("jockey", w["jockey"], rank=2),
        Column("trainer", w["trainer"], rank=2),
        Column("body", w["body"], "number", rank=2),
        Column("form", w["form"]),
        Column("rest", w["rest"], "number", rank=2),
        Column("sire", w["sire"], rank=2),
        Column("win", w["win"], "number"),
        Column("odds", w["odds"], "number"),
        Column("popularity", w["popularity"], "number", rank=2),
        Column("choose", w["choose"], sorts=False),
    )
    rows = tuple(
        _runner_row(each, t, marked=finished and is_partial(each)) for each in card.runners
    )
    return DataTable("runners", w["runners"], columns, rows)


def is_partial(each: CardRunner) -> bool:
    """Whether a starter's data is incomplete."""
    runner = each.runner
    missing = each.form is None or each.parents is None
    no_jockey = each.jockey is None and runner.jockey_id is not None
    return not runner.scratched and (missing or no_jockey or bool(each.warnings))


def _runner_row(each: CardRunner, t: Locale, *, marked: bool) -> Row:
    runner, ranked = each.runner, each.ranked
    runs = () if each.form is None else each.form.value.recent_results
    rest = None if each.figures is None else each.figures.days_since_last_run
    sire = None if each.parents is None else each.parents.value.sire
    odds = ranked.odds if ranked is not None and ranked.odds is not None else runner.win_odds
    popularity = runner.popularity if ranked is None else ranked.popularity or runner.popularity
    form = render_form_strip(runs, t) if each.form is not None else Markup(EMPTY)  # noqa: S704
    return Row(
        runner.horse_id,
        (
            Cell(number_badge(runner.horse_number, runner.frame_number), runner.horse_number),
            _horse_cell(runner, t, marked=marked),
            Cell(format_sex_age(runner, t)),
            Cell(format_number(runner.carried_weight), runner.carried_weight),
            _link_cell("jockeys", runner.jockey_id, runner.jockey_name),
            Cell(japanese_text(runner.trainer_name)),
            Cell(format_body_weight(runner), runner.body_weight),
            Cell(form, _mean_finish(runs)),
            Cell(format_number(rest), rest),
            _link_cell("horses", sire.id, sire.name) if sire else Cell(EMPTY),
            Cell(format_percent(ranked.win) if ranked else EMPTY, ranked.win if ranked else None),
            Cell(format_win_odds(odds), odds),
            Cell(format_number(popularity), popularity),
            _compare_cell(runner, t),
        ),
    )


def _horse_cell(runner: Runner, t: Locale, *, marked: bool) -> Cell:
    """Return the horse's name, marked if it is scratched or its data is incomplete."""
    note = t.w["scratched"] if runner.scratched else t.w["in_part"] if marked else ""
    name = japanese_text(runner.horse_name)
    text = Markup("{} <small>{}</small>").format(name, note) if note else name
    href = f"/keiba/horses/{runner.horse_id}"
    return Cell(text, runner.horse_name, href=href, tone="quiet" if runner.scratched else "")


def _link_cell(section: str, key: str | None, name: str | None) -> Cell:
    href = f"/keiba/{section}/{key}" if key and name else ""
    return Cell(japanese_text(name), name, href=href)


def _compare_cell(runner: Runner, t: Locale) -> Cell:
    if runner.scratched:
        return Cell("")
    box = Markup('<input type="checkbox" name="horse" value="{}" form="compare" aria-label="{}">')
    return Cell(box.format(runner.horse_id, f"{t.w['choose']}: {runner.horse_name}"))


def _mean_finish(runs: Sequence[PastRun]) -> float | None:
    places = [run.position for run in runs[:STRIP_RUNS] if run.position is not None]
    return sum(places) / len(places) if places else None


MAX_COMPARED: Final = 6
_DEFAULT_COMPARED: Final = 4


@dataclass(frozen=True, slots=True)
class ComparisonRow:
    """One compared value: its label, the text of each runner, and which are best."""

    label: str
    texts: tuple[str, ...]
    best: frozenset[int] = frozenset()


def select_runners(card: Card, horse_ids: Sequence[str]) -> tuple[CardRunner, ...]:
    """Return the requested runners, at most MAX_COMPARED; the top of the ranking if none."""
    selected = [each for each in card.runners if each.runner.horse_id in set(horse_ids)]
    return (
        tuple(selected[:MAX_COMPARED])
        or card.ranking[:_DEFAULT_COMPARED]
        or card.runners[:_DEFAULT_COMPARED]
    )


def comparison_rows(runners: Sequence[CardRunner], t: Locale) -> tuple[ComparisonRow, ...]:
    """Return everything known about some runners, row by row."""
    w = t.w
    first = (
        _text_row(w["sex_age"], runners, lambda each: format_sex_age(each.runner, t)),
        _text_row(
            w["form"],
            runners,
            lambda each: (
                render_form_strip(each.form.value.recent_results, t) if each.form else EMPTY
            ),
        ),
        _share_row(w["win"], runners, lambda ranked: ranked.win),
        _share_row(w["top2"], runners, lambda ranked: ranked.top2),
        _share_row(w["top3"], runners, lambda ranked: ranked.top3),
        _text_row(
            w["fair"],
            runners,
            lambda each: format_win_odds(each.ranked.fair_odds if each.ranked else None),
        ),
        _text_row(w["odds"], runners, _current_odds),
        _text_row(w["carried"], runners, lambda each: format_number(each.runner.carried_weight)),
        _text_row(w["body"], runners, lambda each: format_body_weight(each.runner)),
    )
    return (
        *first,
        *_insight_rows(runners, t),
        *_connection_rows(runners, t),
        *_factor_rows(runners, t),
    )


def speed_chart(runners: Sequence[CardRunner], t: Locale) -> Chart:
    """Return the speed figures of the runners' past runs over time."""
    return Chart(
        title="Speed figures" if not t.japanese else "スピード指数",
        note="Points above the standard of the course."
        if not t.japanese
        else "コース基準からの差(点)。",
        x=Axis(t.w["date"], "time"),
        y=Axis(t.w["score"], digits=1),
        plots=tuple(_speed_plot(each) for each in runners if each.figures is not None),
        height=300,
    )


def _speed_plot(each: CardRunner) -> Plot:
    speeds = () if each.figures is None else each.figures.speeds
    rows = sorted(
        (epoch(datetime.combine(speed.run.run_on, time(), UTC)), speed.points) for speed in speeds
    )
    return Plot(each.runner.horse_name, "line", tuple(rows))


def _text_row(
    label: str, runners: Sequence[CardRunner], of: Callable[[CardRunner], str]
) -> ComparisonRow:
    return ComparisonRow(label, tuple(of(each) for each in runners))


def _share_row(
    label: str,
    runners: Sequence[CardRunner],
    of: Callable[[RankedRunner], float],
) -> ComparisonRow:
    values = [None if each.ranked is None else of(each.ranked) for each in runners]
    return ComparisonRow(
        label, tuple(format_percent(value) for value in values), _best_columns(values)
    )


def _best_columns(values: Sequence[float | None]) -> frozenset[int]:
    """Return the positions of the highest values; empty if all are equal or unknown."""
    known = [value for value in values if value is not None]
    if not known or min(known) == max(known):
        return frozenset()
    return frozenset(at for at, value in enumerate(values) if value == max(known))


def _current_odds(each: CardRunner) -> str:
    ranked = each.ranked
    return format_win_odds(each.runner.win_odds if ranked is None else ranked.odds)


def _insight_rows(runners: Sequence[CardRunner], t: Locale) -> tuple[ComparisonRow, ...]:
    labels: dict[str, str] = {}
    for each in runners:
        for insight in each.insights:
            labels.setdefault(insight.name, t.either(insight.label, insight.label_ja))
    return tuple(_insight_row(name, label, runners) for name, label in labels.items())


def _insight_row(name: str, label: str, runners: Sequence[CardRunner]) -> ComparisonRow:
    insights = [
        next((insight for insight in each.insights if insight.name == name), None)
        for each in runners
    ]
    records = [None if insight is None else insight.record for insight in insights]
    texts = tuple(
        EMPTY
        if insight is None
        else insight.record.placings
        if insight.record is not None
        else format_number(insight.days)
        for insight in insights
    )
    return ComparisonRow(
        label,
        texts,
        _best_columns([None if record is None else record.top3_rate for record in records]),
    )


def _connection_rows(runners: Sequence[CardRunner], t: Locale) -> tuple[ComparisonRow, ...]:
    w = t.w
    rates = [
        None if each.jockey is None else each.jockey.value.overall_stats.place_rate
        for each in runners
    ]
    shares = [None if rate is None else float(rate) / 100 for rate in rates]
    return (
        _text_row(w["jockey"], runners, lambda each: each.runner.jockey_name or EMPTY),
        ComparisonRow(
            f"{w['jockey']}: {w['top3']}",
            tuple(format_percent(share) for share in shares),
            _best_columns(shares),
        ),
        _text_row(w["sire"], runners, lambda each: _parent_name(each, "sire")),
        _text_row(w["dam"], runners, lambda each: _parent_name(each, "dam")),
    )


def _parent_name(each: CardRunner, which: str) -> str:
    if each.parents is None:
        return EMPTY
    known = each.parents.value
    return (known.sire if which == "sire" else known.dam).name or EMPTY


def _factor_rows(runners: Sequence[CardRunner], t: Locale) -> tuple[ComparisonRow, ...]:
    """Return a row for each ranking factor that counts for any of the runners."""
    rows = [
        {} if each.ranked is None else {reason.factor: reason for reason in each.ranked.reasons}
        for each in runners
    ]
    known = {factor: reason for row in reversed(rows) for factor, reason in row.items()}
    factor_rows = []
    for factor, reason in known.items():
        points = [row[factor].points if factor in row else None for row in rows]
        if any(points):
            texts = tuple(EMPTY if each is None else format_points(each) for each in points)
            label = f"{t.either(reason.label, reason.label_ja)} ({t.w['points']})"
            factor_rows.append(ComparisonRow(label, texts, _best_columns(points)))
    return tuple(factor_rows)


_MAX_ROWS: Final = 100


class CardPages(KeibaPage):
    """A race card, its progress, and the comparison of runners."""

    @page("/races/{race_id}")
    async def card(self, request: Request, race_id: RaceId) -> Response:
        """A card as far as it is cached; missing pages are fetched in the background.

        Parts that failed are retried only on request, because this page reloads itself on every
        progress message.
        """
        card = await self._keiba.cards.cached(race_id)
        progress = self._keiba.background.progress(race_id)
        if _should_start(card, progress):
            progress = self._keiba.background.start(race_id)
        if card is not None:
            race_date = card.race_date if card.progress.finished else None
            meeting_races = await self._meeting_races(race_date, race_id)
            return self._card(request, card, progress, meeting_races)
        t = locale_of(request)
        return self._render(
            request,
            "loading",
            t=t,
            here="races",
            race_id=race_id,
            title=_race_title(race_id, t),
            progress=progress,
        )

    @page("/races/{race_id}/load", method="POST")
    async def load(self, race_id: RaceId) -> Response:
        """Fetch the missing pages of a card."""
        self._keiba.background.start(race_id)
        return redirect_to(f"/keiba/races/{race_id}")

    @page("/races/{race_id}/refresh", method="POST")
    async def refresh_race(self, request: Request, race_id: RaceId) -> Response:
        """Fetch the card itself again: scratchings and body weights are published late."""
        fetched = self._keiba.pages.race(race_id, refresh=True)
        return await self._refresh(request, fetched, f"/keiba/races/{race_id}")

    @page("/races/{race_id}/odds", method="POST")
    async def odds(self, request: Request, race_id: RaceId) -> Response:
        """Fetch the odds unless they are recent."""
        fetched = self._keiba.pages.odds(race_id)
        return await self._refresh(request, fetched, f"/keiba/races/{race_id}#odds")

    @page("/races/{race_id}/compare")
    async def compare(self, request: Request, race_id: RaceId) -> Response:
        """The selected runners side by side; by default the top of the ranking."""
        card = await self._keiba.cards.cached(race_id)
        if card is None:
            return redirect_to(f"/keiba/races/{race_id}")
        t = locale_of(request)
        runners = select_runners(card, request.query_params.getlist("horse"))
        return self._render(
            request,
            "compare",
            t=t,
            here="races",
            tab="compare",
            card=card,
            header=card_header(card, t, now_to_second(self._keiba.clock)),
            runners=runners,
            rows=comparison_rows(runners, t),
            speeds=speed_chart(runners, t),
            sources=distinct_origins(
                *_card_origins(card),
                *(
                    part.origin
                    for each in runners
                    for part in (each.form, each.parents, each.jockey)
                    if part is not None
                ),
            ),
        )

    def _card(
        self,
        request: Request,
        card: Card,
        progress: Progress | None,
        meeting_races: tuple[DayRace, ...],
    ) -> Response:
        t, odds = locale_of(request), None if card.odds is None else card.odds.value
        table = runner_table(card, t, finished=progress is None or progress.finished)
        return self._render(
            request,
            "race",
            t=t,
            here="races",
            tab="card",
            card=card,
            meeting_races=meeting_races,
            header=card_header(card, t, now_to_second(self._keiba.clock)),
            progress=progress,
            table=table.view(request.query_params, page_rows=_MAX_ROWS),
            max_win=max((each.ranked.win for each in card.ranking if each.ranked), default=1.0),
            max_points=_max_points(card),
            place_odds={} if odds is None else {each.horse_number: each for each in odds.place},
            chances=chances_chart(card, t),
            sources=distinct_origins(*_card_origins(card)),
        )


def _should_start(card: Card | None, progress: Progress | None) -> bool:
    """Whether to start assembling a card without being asked."""
    if card is not None and card.progress.finished:
        return False
    if progress is None:
        return True
    return progress.finished and not progress.failed and progress.error is None


def _race_title(race_id: str, t: Locale) -> str:
    """Return track and number of a race, from its id alone."""
    track = ids.track_of(race_id)
    name = race_id[:4] if track is None else t.either(track.english, track.name)
    return f"{name} {ids.number_of(race_id) or ''}R"


def _max_points(card: Card) -> float:
    """Return the largest contribution of any factor, the scale of all bars."""
    ranked = [each.ranked for each in card.ranking if each.ranked is not None]
    points = (abs(reason.points) for runner in ranked for reason in runner.reasons)
    return max(points, default=0.0) or 1.0


def _card_origins(card: Card) -> list[Origin | None]:
    return [card.race.origin, None if card.odds is None else card.odds.origin]


class ResultPages(KeibaPage):
    """Results and payouts."""

    @page("/races/{race_id}/result")
    async def result(self, request: Request, race_id: RaceId) -> Response:
        """A result, confirmed or not."""
        try:
            result = await self._keiba.pages.result(race_id)
        except SITE_ERRORS as error:
            return self._unavailable(request, error)
        t, card = locale_of(request), await self._keiba.cards.cached(race_id)
        ranks = _ranks_by_horse(card)
        header = result_header(result.value, t, now_to_second(self._keiba.clock))
        return self._render(
            request,
            "result",
            t=t,
            here="races",
            tab="result",
            result=result.value,
            origin=result.origin,
            header=header,
            meeting_races=await self._meeting_races(header.race_date, race_id),
            table=result_table(result.value, ranks, t).view(
                request.query_params, page_rows=_MAX_ROWS
            ),
            top_pick=next(
                (each for each in result.value.finishers if ranks.get(each.horse_id) == 1), None
            ),
        )

    @page("/races/{race_id}/result/refresh", method="POST")
    async def refresh_result(self, request: Request, race_id: RaceId) -> Response:
        """Fetch a result again."""
        fetched = self._keiba.pages.result(race_id, refresh=True)
        return await self._refresh(request, fetched, f"/keiba/races/{race_id}/result")


def result_table(result: RaceResult, ranks: Mapping[str, int], t: Locale) -> DataTable:
    """Return the finishers in order, with our rank if the card is cached."""
    w = t.w
    columns = (
        Column("finish", w["finish"], "number"),
        Column("number", w["number"], "number"),
        Column("horse", w["horse"]),
        Column("jockey", w["jockey"], rank=2),
        Column("time", w["time"], "number"),
        Column("margin", w["margin"], rank=2),
        Column("last_3f", w["last_3f"], "number", rank=2),
        Column("passing", w["passing"], rank=2),
        Column("odds", w["odds"], "number"),
        Column("popularity", w["popularity"], "number", rank=2),
        Column("rank", w["our_rank"], "number"),
    )[: None if ranks else -1]
    rows = tuple(_result_row(finisher, ranks, t) for finisher in result.finishers)
    return DataTable("finishers", w["results"], columns, rows)


def _result_row(finisher: Finisher, ranks: Mapping[str, int], t: Locale) -> Row:
    rank = ranks.get(finisher.horse_id)
    return Row(
        finisher.horse_id,
        (
            Cell(_finish_text(finisher, t), finisher.position),
            Cell(number_badge(finisher.horse_number, finisher.frame_number), finisher.horse_number),
            _link_cell("horses", finisher.horse_id, finisher.horse_name),
            _link_cell("jockeys", finisher.jockey_id, finisher.jockey_name),
            Cell(finisher.time or EMPTY, finisher.time_seconds),
            Cell(japanese_text(finisher.margin)),
            Cell(format_number(finisher.last_3f, 1), finisher.last_3f),
            Cell("-".join(map(str, finisher.passing)) or EMPTY),
            Cell(format_win_odds(finisher.win_odds), finisher.win_odds),
            Cell(format_number(finisher.popularity), finisher.popularity),
            Cell(format_number(rank), rank),
        )[: None if ranks else -1],
    )


def _finish_text(finisher: Finisher, t: Locale) -> str:
    if finisher.position is None:
        return t.term("outcome", finisher.outcome)
    notes = [t.w["dead_heat"]] * finisher.dead_heat + [t.w["demoted"]] * finisher.demoted
    return " ".join([str(finisher.position), *notes])


def _ranks_by_horse(card: Card | None) -> Mapping[str, int]:
    if card is None:
        return {}
    return {
        each.runner.horse_id: each.ranked.rank for each in card.ranking if each.ranked is not None
    }


class PreviewPages(KeibaPage):
    """Written previews."""

    @page("/races/{race_id}/preview")
    async def preview(self, request: Request, race_id: RaceId) -> Response:
        """The form to request a preview."""
        card = await self._keiba.cards.cached(race_id)
        if card is None:
            return redirect_to(f"/keiba/races/{race_id}")
        return self._preview(request, card, locale_of(request))

    @page("/races/{race_id}/preview", method="POST")
    async def write(self, request: Request, race_id: RaceId) -> Response:
        """A preview in the language of the page; the same request gives the same preview."""
        t, fields = locale_of(request), await form_fields(request)
        card = await self._keiba.cards.cached(race_id)
        if card is None or not self._is_ready(card):
            return redirect_to(f"/keiba/races/{race_id}")
        focus = fields.get("focus", "").strip()
        try:
            preview = await self._keiba.previews.write(race_id, focus, t.language)
        except PreviewRejected as error:
            return self._preview(request, card, t, focus=focus, error=error)
        except SITE_ERRORS as error:
            return self._unavailable(request, error)
        return self._preview(request, card, t, focus=focus, preview=preview)

    def _is_ready(self, card: Card) -> bool:
        """Whether there are ranked runners and no page is still being fetched."""
        progress = self._keiba.background.progress(card.race.value.race_id)
        finished = progress is not None and progress.finished
        return bool(card.ranking) and (card.progress.finished or finished)

    def _preview(
        self,
        request: Request,
        card: Card,
        t: Locale,
        *,
        focus: str = "",
        preview: Preview | None = None,
        error: PreviewRejected | None = None,
    ) -> Response:
        frames = {each.runner.horse_id: each.runner.frame_number for each in card.runners}
        return self._render(
            request,
            "preview",
            t=t,
            status=200 if error is None else error.status,
            here="races",
            tab="preview",
            header=card_header(card, t, now_to_second(self._keiba.clock)),
            is_ready=self._is_ready(card),
            focus=focus,
            preview=preview,
            error="" if error is None else str(error),
            badge_of=lambda each: number_badge(each.horse_number, frames.get(each.horse_id)),
            sources=distinct_origins(card.race.origin),
        )


_NEARBY_DAYS: Final = 4


@dataclass(frozen=True, slots=True)
class NextRace:
    """The race of a day that starts next."""

    meeting: Meeting
    race: DayRace
    off_at: datetime


class DayPages(KeibaPage):
    """The races of a day by track; the next racing day by default."""

    @page("")
    async def day(self, request: Request) -> Response:
        """The day given as `date`, else the next racing day in Japan."""
        query = request.query_params
        circuit = next((each for each in CIRCUITS if each == query.get("circuit")), None)
        today = today_in_japan(self._keiba.clock)
        try:
            race_date = (
                _parse_date(query.get("date", ""))
                or await self._keiba.days.next_meeting(circuit)
                or today
            )
            day = await self._keiba.days.day(race_date, circuit)
        except SITE_ERRORS as error:
            return self._unavailable(request, error)
        days = await self._racing_days(race_date, circuit or main_circuit(day))
        now = now_to_second(self._keiba.clock)
        return self._render(
            request,
            "day",
            here="races",
            day=day,
            circuit=circuit,
            days=_nearby_days(days, race_date),
            previous_day=max((each for each in days if each < race_date), default=None),
            next_day=min((each for each in days if each > race_date), default=None),
            next_race=next_race(day, now),
            has_started=lambda race: race.off_at is not None and race.off_at < now,
            today=today,
        )

    @page("/days/{race_date}/refresh", method="POST")
    async def refresh_day(self, request: Request, race_date: Annotated[date, Path()]) -> Response:
        """Fetch a day's lists again."""
        fetched = self._keiba.days.day(race_date, refresh=True)
        return await self._refresh(request, fetched, f"/keiba?date={race_date}")

    @page("/language", method="POST")
    async def set_language(self, request: Request) -> Response:
        """Set the language of the labels."""
        fields = await form_fields(request)
        response = redirect_to(safe_return(fields.get("back")))
        if fields.get("language") in LANGUAGES:
            response.set_cookie(
                LANGUAGE_COOKIE,
                fields["language"],
                max_age=365 * 24 * 3600,
                path="/keiba",
                samesite="lax",
                httponly=True,
            )
        return response

    async def _racing_days(self, day: date, circuit: Circuit) -> tuple[date, ...]:
        """Return the racing days around a day; empty if the site is unavailable."""
        try:
            return (await self._keiba.days.meeting_days(day, circuit)).value
        except SITE_ERRORS:
            return ()


def next_race(day: Day, now: datetime) -> NextRace | None:
    """Return the first race of a day that has not started."""
    upcoming = [
        NextRace(meeting, race, race.off_at)
        for meeting in day.meetings
        for race in meeting.races
        if race.off_at is not None and race.off_at >= now
    ]
    return min(upcoming, key=lambda race: race.off_at, default=None)


def main_circuit(day: Day) -> Circuit:
    """Return the circuit whose racing days are offered: JRA if it races on this day."""
    return day.meetings[0].circuit if day.meetings else "jra"


def _nearby_days(days: Iterable[date], day: date) -> tuple[date, ...]:
    """Return a few racing days before and after a day, and the day itself."""
    known = sorted({*days, day})
    at = known.index(day)
    return tuple(known[max(at - _NEARBY_DAYS, 0) : at + _NEARBY_DAYS + 1])


def _parse_date(text: str) -> date | None:
    """Return the date of a link or form; None if it is invalid or centuries away."""
    try:
        day = date.fromisoformat(text)
    except ValueError:
        return None
    return day if abs(day - date(2000, 1, 1)) < timedelta(days=73_000) else None
