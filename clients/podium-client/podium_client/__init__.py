"""A client of Podium, a grading service for agents that do machine-learning engineering."""

from podium_client.asynchronous import AsyncPodium
from podium_client.errors import PodiumAway, PodiumError, PodiumRefused
from podium_client.events import Event
from podium_client.synchronous import Podium

__all__ = ["AsyncPodium", "Event", "Podium", "PodiumAway", "PodiumError", "PodiumRefused"]
