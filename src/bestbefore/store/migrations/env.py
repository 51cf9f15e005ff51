"""Alembic runs this with a connection that `bestbefore.store.migrate` hands in."""

from alembic import context

from bestbefore.store.schema import VERSION_TABLE, tables

context.configure(
    connection=context.config.attributes["connection"], target_metadata=tables, version_table=VERSION_TABLE
)
with context.begin_transaction():
    context.run_migrations()
