"""The HTTP routes of the gatherer."""

from grandstand.apps.gatherer.api.routes import GathererApi

__all__ = ["GathererApi"]
