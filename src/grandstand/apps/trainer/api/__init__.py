"""The HTTP routes of the trainer."""

from grandstand.apps.trainer.api.routes import TrainerApi

__all__ = ["TrainerApi"]
