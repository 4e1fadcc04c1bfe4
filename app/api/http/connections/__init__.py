"""Limits of connections: what a client may send or leave unread, before and after its key is known.

uvicorn's httptools protocol has none of these limits, and a request's head comes before any key. So
one connection with an endless header, or a thousand silent connections, would stop the server for
everybody.
"""
