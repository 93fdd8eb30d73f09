"""The score feed: SportMonks' words about cricket into ours."""

from grandstand.apps.cricket.sources.sportmonks.client import HeardFixture, SportMonks
from grandstand.apps.cricket.sources.sportmonks.reading import Parsed

__all__ = ["HeardFixture", "Parsed", "SportMonks"]
