"""The servers of the API's tests, for tests that look at the service as a whole."""

from tests.api.conftest import good, podium, server
from tests.api.conftest import own_tiny as tiny

__all__ = ["good", "podium", "server", "tiny"]
