"""Kept here: a cache over any entity: expiry, single flight, large payloads, and no failure."""

from grandstand.storage.tables.cache.cache import AsyncCache, Cache
from grandstand.storage.tables.cache.counting import Counts, Statistics
from grandstand.storage.tables.cache.form import CacheForm, CacheKey, Limits, Marks
from grandstand.storage.tables.cache.work import Cached, CacheSettings, Notice

__all__ = [
    "AsyncCache",
    "Cache",
    "CacheForm",
    "CacheKey",
    "CacheSettings",
    "Cached",
    "Counts",
    "Limits",
    "Marks",
    "Notice",
    "Statistics",
]
