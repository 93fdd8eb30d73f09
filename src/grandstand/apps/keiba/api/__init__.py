"""The HTTP routes of keiba."""

from grandstand.apps.keiba.api.routes import KeibaApi

__all__ = ["KeibaApi"]
