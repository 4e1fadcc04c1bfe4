"""Who a key belongs to, asked the ways Kaggle's clients ask."""

from __future__ import annotations

from typing import Any

from app.api.dependencies import Anyone, Ctx
from app.errors import Unauthorized
from app.kaggle_api.deps import name_of
from app.kaggle_api.fields import Body
from app.kaggle_api.route import kaggle_router, rpc
from app.services.auth import authenticate

router = kaggle_router()


@rpc(router, "security.OAuthService", "IntrospectToken")
def introspect(context: Ctx, fields: Body) -> dict[str, Any]:
    """Whether a key is good. A bad one is an ordinary answer: on 401 the clients break down."""
    try:
        with context.database.read() as session:
            caller = authenticate(session, fields.text("token"))
    except Unauthorized:
        return {"active": False}
    return {"active": True, "username": name_of(caller)}


@rpc(router, "api.v1.DiagnosticsService", "Hello")
def hello(caller: Anyone) -> dict[str, Any]:
    """What kagglehub's `whoami` asks."""
    return {"userName": name_of(caller)}
