"""judgec: the compiler for LLM judges."""

from judgec._version import __version__

__all__ = ["__version__"]
