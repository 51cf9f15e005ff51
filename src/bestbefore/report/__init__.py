"""Figures: tables in, pictures out."""
