"""Apple's push service: our states into its payloads, its answers into our words."""

from grandstand.apps.cricket.sources.apns.answers import (
    Delivered,
    Doubtful,
    Gone,
    Later,
    PushResult,
    Refused,
    Stopped,
)
from grandstand.apps.cricket.sources.apns.channels import ApnsChannels
from grandstand.apps.cricket.sources.apns.client import Apns, Letter
from grandstand.apps.cricket.sources.apns.parcels import (
    Parcel,
    alert_parcel,
    end_parcel,
    start_parcel,
    update_parcel,
)
from grandstand.apps.cricket.sources.apns.signing import ProviderToken

__all__ = [
    "Apns",
    "ApnsChannels",
    "Delivered",
    "Doubtful",
    "Gone",
    "Later",
    "Letter",
    "Parcel",
    "ProviderToken",
    "PushResult",
    "Refused",
    "Stopped",
    "alert_parcel",
    "end_parcel",
    "start_parcel",
    "update_parcel",
]
