"""Reads OpenTelemetry traces of applications that call language models, as rows of a table."""
