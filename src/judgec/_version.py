"""The version of judgec; pyproject.toml reads it from here."""

__version__ = "0.10.0"
