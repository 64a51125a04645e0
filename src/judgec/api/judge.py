"""The name by which copies of ``mlflow_model.py`` in a registry load their judge."""

from judgec.verbs.judge import load_folder

__all__ = ["load_folder"]
