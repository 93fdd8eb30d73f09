"""Kept here: the page of a race's card: gathered before one's eyes, ranked, and side by side."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from starlette.requests import Request
from starlette.responses import Response

from grandstand.apps.keiba.model import ids
from grandstand.apps.keiba.pages.comparing import chosen, comparison, speed_chart
from grandstand.apps.keiba.pages.heads import head_of_card
from grandstand.apps.keiba.pages.part import AWAY, PagesPart, RaceId, origins
from grandstand.apps.keiba.pages.plots import chances_chart
from grandstand.apps.keiba.pages.runners import runner_table
from grandstand.apps.keiba.pages.tongue import Tongue, tongue_of
from grandstand.apps.keiba.service import Card, CardRunner, DayRace, Origin, Progress
from grandstand.kit.pages.forms import lead_to
from grandstand.kit.routes import page

_ALL_RUNNERS: Final = 100


class CardPages(PagesPart):
    """A card, how far it is gathered, and its runners compared."""

    @page("/races/{race_id}")
    async def card(self, request: Request, race_id: RaceId) -> Response:
        """A card as far as it is gathered; raises IdInvalid.

        What is missing is asked for once. What failed is asked for again only by the button, for
        this page is fetched anew whenever there is news.
        """
        kept = await self._keiba.kept_card(race_id)
        progress = self._keiba.card_progress(race_id)
        if _to_be_begun(kept, progress):
            progress = self._keiba.begin_card(race_id)
        if kept is not None:
            day = kept.race_date if kept.counts.finished else None
            siblings = await self._siblings(day, race_id)
            return self._card(request, kept, progress, siblings)
        t = tongue_of(request)
        return self._render(
            request,
            "gathering",
            t=t,
            here="races",
            race_id=race_id,
            title=_title(race_id, t),
            progress=progress,
        )

    @page("/races/{race_id}/gather", method="POST")
    async def gather(self, race_id: RaceId) -> Response:
        """Ask again for what is missing of a card, and lead back; raises IdInvalid."""
        self._keiba.begin_card(race_id)
        return lead_to(f"/keiba/races/{race_id}")

    @page("/races/{race_id}/odds", method="POST")
    async def odds(self, request: Request, race_id: RaceId) -> Response:
        """Ask for the odds, unless they are new enough, and lead back; raises IdInvalid."""
        try:
            await self._keiba.odds(race_id)
        except AWAY as error:
            return self._away(request, error)
        return lead_to(f"/keiba/races/{race_id}#odds")

    @page("/races/{race_id}/compare")
    async def compare(self, request: Request, race_id: RaceId) -> Response:
        """The chosen runners side by side, else the first of the ranking; raises IdInvalid."""
        kept = await self._keiba.kept_card(race_id)
        if kept is None:
            return lead_to(f"/keiba/races/{race_id}")
        t = tongue_of(request)
        runners = chosen(kept, request.query_params.getlist("horse"))
        return self._render(
            request,
            "compare",
            t=t,
            here="races",
            tab="compare",
            card=kept,
            head=head_of_card(kept, t, self._keiba.now()),
            runners=runners,
            lines=comparison(runners, t),
            speeds=speed_chart(runners, t),
            held=origins(*_origins(kept), *_origins_of(runners)),
        )

    def _card(
        self,
        request: Request,
        kept: Card,
        progress: Progress | None,
        siblings: tuple[DayRace, ...],
    ) -> Response:
        t, odds = tongue_of(request), None if kept.odds is None else kept.odds.value
        table = runner_table(kept, t, ended=progress is None or progress.finished)
        return self._render(
            request,
            "race",
            t=t,
            here="races",
            tab="card",
            card=kept,
            siblings=siblings,
            head=head_of_card(kept, t, self._keiba.now()),
            progress=progress,
            table=table.view(request.query_params, page_rows=_ALL_RUNNERS),
            best=max((each.ranked.win for each in kept.ranking if each.ranked), default=1.0),
            most=_most_points(kept),
            places={} if odds is None else {one.horse_number: one for one in odds.place},
            chances=chances_chart(kept, t),
            held=origins(*_origins(kept)),
        )


def _to_be_begun(kept: Card | None, progress: Progress | None) -> bool:
    """Whether a card is to be gathered now, without anybody pressing a button."""
    if kept is not None and kept.counts.finished:
        return False
    if progress is None:
        return True
    return progress.finished and not progress.failed and progress.error is None


def _title(race_id: str, t: Tongue) -> str:
    """What a race is called by its id alone: its track and number."""
    track = ids.track_of(race_id)
    name = race_id[:4] if track is None else t.either(track.english, track.name)
    return f"{name} {ids.number_of(race_id) or ''}R"


def _most_points(card: Card) -> float:
    """The largest contribution of any factor, which the bars of all are measured by."""
    ranked = [each.ranked for each in card.ranking if each.ranked is not None]
    return max((abs(why.points) for one in ranked for why in one.reasons), default=0.0) or 1.0


def _origins_of(runners: Sequence[CardRunner]) -> list[Origin | None]:
    held = [one for each in runners for one in (each.form, each.parents, each.jockey)]
    return [None if one is None else one.origin for one in held]


def _origins(card: Card) -> list[Origin | None]:
    """The pages behind the card itself; those of its runners stand with them."""
    return [card.race.origin, None if card.odds is None else card.odds.origin]
