"""Kept here: what every group of the trainer's pages is made with."""

from __future__ import annotations

from typing import Annotated

from fastapi import Path

from grandstand.apps.trainer.service import Trainer
from grandstand.kit.pages.part import AppPages
from grandstand.kit.pages.rendering import Pages

Id = Annotated[str, Path(min_length=1, max_length=128)]


class PagesPart(AppPages):
    """Some pages: what they show comes from the trainer, how it looks from the templates."""

    def __init__(self, trainer: Trainer, pages: Pages) -> None:
        super().__init__(pages, "trainer", {})
        self._trainer = trainer
