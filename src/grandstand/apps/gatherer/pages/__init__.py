"""The pages of the gatherer."""

from grandstand.apps.gatherer.pages.rooms import GathererPages

__all__ = ["GathererPages"]
