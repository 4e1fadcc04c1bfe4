"""Alembic's entry: runs migrations on the connection given by `app.storage.database.migrations`.

By hand: `alembic -x url=sqlite:///podium.db ...`.
"""

from __future__ import annotations

from alembic import context
from sqlalchemy import Connection

from app.storage.database.engine import make_engine
from app.storage.database.migrations import is_ours
from app.storage.database.models import Base


def run(connection: Connection) -> None:
    """Run the migrations that were asked for in the connection's transaction."""
    context.configure(
        connection=connection,
        target_metadata=Base.metadata,
        compare_type=True,
        compare_server_default=True,
        include_name=is_ours,
        render_as_batch=connection.dialect.name == "sqlite",
    )
    with context.begin_transaction():
        context.run_migrations()


given = context.config.attributes.get("connection")
if given is not None:
    run(given)
else:
    url = context.get_x_argument(as_dictionary=True).get("url")
    if url is None:
        raise SystemExit("say which database: alembic -x url=sqlite:////path/podium.db ...")
    engine = make_engine(url, connections=1, writes=True, foreign_keys=False)
    with engine.begin() as connection:
        run(connection)
    engine.dispose()
