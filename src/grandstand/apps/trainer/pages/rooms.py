"""Kept here: all pages of the trainer, put together from their parts."""

from __future__ import annotations

from grandstand.apps.trainer.pages.history import HistoryPages
from grandstand.apps.trainer.pages.instructor import InstructorPages
from grandstand.apps.trainer.pages.practice import PracticePages
from grandstand.apps.trainer.pages.results import ResultPages
from grandstand.apps.trainer.pages.standing import StandingPages


class TrainerPages(InstructorPages, HistoryPages, StandingPages, ResultPages, PracticePages):
    """Scenarios, writing, results, profile, history, and what instructors see."""
