"""Kept here: a file of one's own bets: looked at first, and recorded when one agrees."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

from starlette.requests import Request
from starlette.responses import Response

from grandstand.apps.bets.pages.part import PagesPart, content_of
from grandstand.apps.bets.service import WagerDraft, WagersImported
from grandstand.apps.bets.service.money.wager_files import COLUMNS, OPTIONAL, drafts_of
from grandstand.base.errors import InvalidInput
from grandstand.kit.pages.forms import form_of, texts_in
from grandstand.kit.routes import Who, page

_SHOWN: Final = 50


@dataclass(frozen=True, slots=True)
class Preview:
    """What a file holds: lines that can be read, and those that cannot with the reason."""

    readable: tuple[tuple[int, WagerDraft], ...]
    refused: tuple[tuple[int, str], ...]


class ImportPages(PagesPart):
    """Bets by the file."""

    @page("/mine/import")
    async def before_import(self, request: Request, who: Who) -> Response:
        """Where a file is chosen, and what it must look like."""
        del who
        return self._import(request)

    @page("/mine/import", method="POST")
    async def take_file(self, request: Request, who: Who) -> Response:
        """Show what a file holds, or record it."""
        texts = texts_in(await form_of(request))
        content = texts.get("file") or texts.get("content", "")
        try:
            if texts.get("action") == "record":
                done = await self._bets.import_wagers(who, content_of(content))
                return self._import(request, done=done)
            return self._import(request, content=content, preview=preview_of(content))
        except InvalidInput as refused:
            return self._import(request, content=content, error=str(refused))

    def _import(
        self,
        request: Request,
        *,
        content: str = "",
        preview: Preview | None = None,
        done: WagersImported | None = None,
        error: str = "",
    ) -> Response:
        return self._render(
            request,
            "import",
            status=400 if error else 200,
            here="mine",
            content=content.encode("utf-8", "replace").decode(),
            preview=preview,
            shown=_SHOWN,
            done=done,
            error=error,
            columns=COLUMNS,
            optional=OPTIONAL,
        )


def preview_of(content: str) -> Preview:
    """Answer what a file holds, without recording anything; raise FileRefused."""
    held = list(drafts_of(content_of(content)))
    return Preview(
        tuple((at, one) for at, one in held if not isinstance(one, str)),
        tuple((at, one) for at, one in held if isinstance(one, str)),
    )
