"""A push service one can run: Apple's protocol, browsers' push, and the phones that are reached."""

from grandstand.simulators.push.activities import Activity, Lock
from grandstand.simulators.push.behaviour import Behaviour
from grandstand.simulators.push.phones import Phone, Wall
from grandstand.simulators.push.service import Addresses, PushService
from grandstand.simulators.push.tokens import SigningKey
from grandstand.simulators.push.wall import wall_application

__all__ = [
    "Activity",
    "Addresses",
    "Behaviour",
    "Lock",
    "Phone",
    "PushService",
    "SigningKey",
    "Wall",
    "wall_application",
]
