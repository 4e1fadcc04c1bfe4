"""The holder of a key, in the calls of Kaggle's clients."""

from __future__ import annotations

from typing import Any

from app.api.dependencies import Anyone, Ctx
from app.errors import RunArchived, Unauthorized
from app.kaggle_api.deps import name_of
from app.kaggle_api.fields import Body
from app.kaggle_api.route import kaggle_router, rpc
from app.services.auth import identify

router = kaggle_router()


@rpc(router, "security.OAuthService", "IntrospectToken")
def introspect(context: Ctx, fields: Body) -> dict[str, Any]:
    """Whether a key is valid. An invalid one gets 200: on 401 the clients fail."""
    try:
        caller = identify(context, fields.text("token"))
    except (Unauthorized, RunArchived):
        return {"active": False}
    return {"active": True, "username": name_of(caller)}


@rpc(router, "api.v1.DiagnosticsService", "Hello")
def hello(caller: Anyone) -> dict[str, Any]:
    """The user name for kagglehub's `whoami`."""
    return {"userName": name_of(caller)}
