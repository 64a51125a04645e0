"""The version of judgec; pyproject.toml reads it from here."""

__version__ = "0.9.0"
