"""The pages of the trainer."""

from grandstand.apps.trainer.pages.rooms import TrainerPages

__all__ = ["TrainerPages"]
