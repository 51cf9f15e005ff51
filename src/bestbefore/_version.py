"""The version: the one place that says it.  The project's metadata are made from it."""

__version__ = "0.1.0"
