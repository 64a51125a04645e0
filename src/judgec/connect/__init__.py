"""Labels, verdicts and traces from and to other tools; MLflow."""
