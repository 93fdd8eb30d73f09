"""Manifest of the trainer app."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from grandstand.apps.trainer import store
from grandstand.kit.app import App

if TYPE_CHECKING:
    from grandstand.apps.trainer.services import Trainer

APP: Final[App[Trainer]] = App(
    name="trainer",
    title="Trainer",
    purpose="Practice scenarios, scored answers and a profile of your progress.",
    tables=store.TABLES,
    build="grandstand.apps.trainer.services:build",
    api="grandstand.apps.trainer.api:TrainerApi",
    pages="grandstand.apps.trainer.pages:TrainerPages",
    jobs="grandstand.apps.trainer.jobs:jobs",
    commands="grandstand.apps.trainer.cli:commands",
    json_names="camel",
)
