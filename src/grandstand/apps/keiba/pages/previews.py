"""Kept here: the page on which a preview of a race is asked for and read."""

from __future__ import annotations

from starlette.requests import Request
from starlette.responses import Response

from grandstand.apps.keiba.pages.heads import head_of_card
from grandstand.apps.keiba.pages.part import AWAY, PagesPart, RaceId, origins
from grandstand.apps.keiba.pages.runners import badge_of
from grandstand.apps.keiba.pages.tongue import Tongue, tongue_of
from grandstand.apps.keiba.service import Card, Preview, PreviewRefused
from grandstand.kit.pages.forms import lead_to, texts_of
from grandstand.kit.routes import page


class PreviewPages(PagesPart):
    """Previews."""

    @page("/races/{race_id}/preview")
    async def preview(self, request: Request, race_id: RaceId) -> Response:
        """The form that asks for a preview; raises IdInvalid."""
        kept = await self._keiba.kept_card(race_id)
        if kept is None:
            return lead_to(f"/keiba/races/{race_id}")
        return self._preview(request, kept, tongue_of(request))

    @page("/races/{race_id}/preview", method="POST")
    async def write(self, request: Request, race_id: RaceId) -> Response:
        """A preview in the page's language; sent again, it is the same one.

        Raises IdInvalid. What the writer is not given because a page is missing is left out.
        """
        t, texts = tongue_of(request), await texts_of(request)
        kept = await self._keiba.kept_card(race_id)
        if kept is None or not self._ready(kept):
            return lead_to(f"/keiba/races/{race_id}")
        words = texts.get("words", "").strip()
        try:
            written = await self._keiba.preview(race_id, words, t.language)
        except PreviewRefused as refused:
            return self._preview(request, kept, t, words=words, refused=refused)
        except AWAY as error:
            return self._away(request, error)
        return self._preview(request, kept, t, words=words, written=written)

    def _ready(self, card: Card) -> bool:
        """Whether there is something to write about, and nothing that would be waited for."""
        progress = self._keiba.card_progress(card.race.value.race_id)
        ended = progress is not None and progress.finished
        return bool(card.ranking) and (card.counts.finished or ended)

    def _preview(
        self,
        request: Request,
        card: Card,
        t: Tongue,
        *,
        words: str = "",
        written: Preview | None = None,
        refused: PreviewRefused | None = None,
    ) -> Response:
        frames = {each.runner.horse_id: each.runner.frame_number for each in card.runners}
        return self._render(
            request,
            "preview",
            t=t,
            status=200 if refused is None else refused.status,
            here="races",
            tab="preview",
            head=head_of_card(card, t, self._keiba.now()),
            ready=self._ready(card),
            words=words,
            preview=written,
            error="" if refused is None else str(refused),
            cap=lambda one: badge_of(one.horse_number, frames.get(one.horse_id)),
            held=origins(card.race.origin),
        )
