"""Alembic's migrations, made in code: there is no file of settings that a user would have to find."""
