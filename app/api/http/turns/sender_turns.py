"""Let senders take turns, so that thousands of requests of one sender do not delay others.

Without turns one pass of the event loop would begin all requests that have arrived, and a request
that needs ten passes and a thread would wait ten times for a thousand others. So in each pass one
request of each key or login begins. All strangers are one sender: their requests are processed one
at a time, and their addresses take turns. A request is a stranger's if its key or login was not
found valid a short time ago. Strangers on this machine are another sender, because a health check
must not wait for requests from the network.
"""

from __future__ import annotations

import asyncio
from collections import deque
from collections.abc import Callable

from cachetools import TTLCache
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from app.api.http.turns.request_turns import has_body

TURN_SECONDS = 0.05  # after this time the next request begins, while this one continues
KNOWN_SECONDS = 3600  # since a key or login was found valid; then it waits once more
MOST_KNOWN = 10_000
MANY = 16  # requests of one sender that wait
PAUSE_SECONDS = 0.001  # between two of them, if more wait
STRANGERS_TURNS = 20  # then there is such a pause too
LOCAL = frozenset({"127.0.0.1", "::/64"})  # 127.0.0.1 and ::1, as connections are counted
PEER = "podium.peer"  # of a request's scope: the address its connection is counted by
WAITING = "podium.waiting_turn"  # of a request's scope: set to False when its client goes

SenderOf = Callable[[Scope], str | None]  # identifies a key or login; None without one
HasValidKey = Callable[[Scope], bool]  # whether the key of a request was looked up and is valid


class SenderTurns:
    """ASGI middleware: a request waits for the turns of its sender's earlier requests."""

    def __init__(self, app: ASGIApp, sender_of: SenderOf, has_valid_key: HasValidKey) -> None:
        self._app = app
        self._sender_of = sender_of
        self._has_valid_key = has_valid_key
        self._known: TTLCache[str, None] = TTLCache(MOST_KNOWN, KNOWN_SECONDS)
        self._strangers = {is_local: _Queue(pauses=True) for is_local in (True, False)}
        self._queues: dict[str, _Queue] = {}  # of known senders

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Serve one request."""
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        sender = self._sender_of(scope)
        if sender is None or sender not in self._known:
            try:
                await self._serve_stranger(sender, scope, receive, send)
            finally:
                self._note(sender, scope)
        elif await self._may_begin(sender, scope):
            await self._app(scope, receive, send)

    def _note(self, sender: str | None, scope: Scope) -> None:
        if sender is not None and self._has_valid_key(scope):
            self._known[sender] = None

    async def _may_begin(self, sender: str, scope: Scope) -> bool:
        """Wait for this request's pass of the event loop; False if the client disconnects first."""
        queue = self._queues.get(sender)
        if queue is None:
            queue = self._queues[sender] = _Queue(lambda: self._queues.pop(sender))
        if not await queue.take(scope):
            return False
        queue.give_back()
        return True

    async def _serve_stranger(
        self, sender: str | None, scope: Scope, receive: Receive, send: Send
    ) -> None:
        address = scope.get(PEER, "")
        turn = _Turn(self._strangers[address in LOCAL], scope, address)

        async def send_after_turn(message: Message) -> None:
            turn.end()
            self._note(sender, scope)  # not only at the end: an event stream may last for hours
            await send(message)

        async def receive_between_turns() -> Message:
            turn.give_back()
            message = await receive()
            is_gone = message["type"] == "http.disconnect"
            # A key that was found valid before the body need not wait for turns.
            if is_gone or self._has_valid_key(scope) or await turn.take():
                return message
            return {"type": "http.disconnect"}

        received = receive_between_turns if has_body(scope) else receive
        try:
            if await turn.take():
                await self._app(scope, received, send_after_turn)
        finally:
            turn.end()


class _Queue:
    """The requests that wait for the only turn, which addresses get one after the other.

    Requests of an address get it in the order in which they arrived. `on_idle` is called when no
    request has or awaits the turn. With `pauses` there is a pause after some requests even if few
    wait, because clients that read slowly, and send a new request whenever they are disconnected,
    have few waiting requests.
    """

    def __init__(
        self, on_idle: Callable[[], object] = lambda: None, *, pauses: bool = False
    ) -> None:
        self._on_idle = on_idle
        self._pauses = pauses
        self._turns = 0
        self._is_taken = False
        self._waiting: dict[str, deque[asyncio.Future[bool]]] = {}  # by address, the next one first
        self._number = 0  # the waiting requests of all addresses

    async def take(self, scope: Scope, address: str = "") -> bool:
        """Wait for the turn; False if the client disconnects before."""
        if not self._is_taken:
            self._is_taken = True
            return True
        mine: asyncio.Future[bool] = asyncio.get_running_loop().create_future()
        self._waiting.setdefault(address, deque()).append(mine)
        self._number += 1
        scope[WAITING] = mine
        try:
            return await mine
        except asyncio.CancelledError:
            if mine.done() and not mine.cancelled() and mine.result():
                self.give_back()
            raise
        finally:
            del scope[WAITING]

    def give_back(self) -> None:
        """Let the next request begin, in the event loop's next pass or later.

        It does not begin at once: otherwise all waiting requests would begin in this pass. While
        many wait, the loop pauses, because a loop that is never idle leaves threads little of the
        interpreter.
        """
        loop = asyncio.get_running_loop()
        self._turns += 1
        is_due = self._pauses and self._turns % STRANGERS_TURNS == 0
        if is_due or self._number > MANY:
            loop.call_later(PAUSE_SECONDS, self._begin_next)
        else:
            loop.call_soon(self._begin_next)

    def _begin_next(self) -> None:
        while self._waiting:
            address = next(iter(self._waiting))
            of_address = self._waiting.pop(address)
            first = of_address.popleft()
            self._number -= 1
            if of_address:
                self._waiting[address] = of_address  # after the other addresses
            if not first.done():
                first.set_result(True)
                return
        self._is_taken = False
        self._on_idle()


class _Turn:
    """The turn of one request, which it may release and take again until it ends."""

    def __init__(self, queue: _Queue, scope: Scope, address: str) -> None:
        self._queue = queue
        self._scope = scope
        self._address = address
        self._timer: asyncio.TimerHandle | None = None  # while the request has the turn
        self._has_ended = False

    async def take(self) -> bool:
        """Wait for the turn, unless it has ended; False if the client disconnects before."""
        if self._has_ended or self._timer is not None:
            return True
        if not await self._queue.take(self._scope, self._address):
            return False
        loop = asyncio.get_running_loop()
        self._timer = loop.call_later(TURN_SECONDS, self.give_back)
        return True

    def give_back(self) -> None:
        """Let the next request begin; further calls do nothing."""
        if self._timer is not None:
            self._timer.cancel()
            self._timer = None
            self._queue.give_back()

    def end(self) -> None:
        """Release the turn permanently."""
        self.give_back()
        self._has_ended = True
