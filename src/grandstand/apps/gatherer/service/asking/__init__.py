"""Everything that can be asked of what was recorded."""

from grandstand.apps.gatherer.service.asking.asking import Asking
from grandstand.apps.gatherer.service.asking.books import Books
from grandstand.apps.gatherer.service.asking.prices import Prices, TooManyPoints
from grandstand.apps.gatherer.service.asking.values import (
    BadLevel,
    BookAt,
    Candle,
    DepthPoint,
    FillAt,
    Volume,
)

__all__ = [
    "Asking",
    "BadLevel",
    "BookAt",
    "Books",
    "Candle",
    "DepthPoint",
    "FillAt",
    "Prices",
    "TooManyPoints",
    "Volume",
]
