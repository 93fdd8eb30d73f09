"""Playing again what was recorded."""

from grandstand.apps.gatherer.service.replaying.ordering import Step
from grandstand.apps.gatherer.service.replaying.replaying import (
    Listing,
    Playing,
    Replaying,
    ReplayServer,
    Stretch,
)

__all__ = ["Listing", "Playing", "ReplayServer", "Replaying", "Step", "Stretch"]
