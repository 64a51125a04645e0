"""The name by which a package with a task of its own imports ``TaskSpec``, as CONTRIBUTING.md tells its author."""

from judgec.records.tasks.spec import TaskSpec

__all__ = ["TaskSpec"]
