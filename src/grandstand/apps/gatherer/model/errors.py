"""Kept here: what can be wrong with what a market or an exchange says, as errors."""

from grandstand.base.errors import InvalidInput


class NumberRefused(InvalidInput):
    """A number cannot be kept exactly: finer than our scale, out of range, or no number."""


class OrderImpossible(InvalidInput):
    """An order that no market would take: of no size, or at no price."""
