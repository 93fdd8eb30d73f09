"""The pages of keiba."""

from grandstand.apps.keiba.pages.rooms import KeibaPages

__all__ = ["KeibaPages"]
