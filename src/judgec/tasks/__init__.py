"""Names that packages with tasks of their own import; the tasks themselves are in ``judgec.records.tasks``."""
