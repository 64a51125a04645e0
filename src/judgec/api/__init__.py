"""Code of registered judges: MLflow keeps copies of ``mlflow_model.py``, which import ``judge``; neither may move."""
