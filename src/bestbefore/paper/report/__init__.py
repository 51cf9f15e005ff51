"""The report of a reproduction: a page with figures, verdicts and data."""
