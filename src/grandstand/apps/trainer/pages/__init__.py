"""Pages of the trainer."""

from __future__ import annotations

from grandstand.apps.trainer.pages.instructor import InstructorPages
from grandstand.apps.trainer.pages.practice import PracticePages
from grandstand.apps.trainer.pages.profile import ProfilePages


class TrainerPages(InstructorPages, ProfilePages, PracticePages):
    """All pages of the trainer."""
