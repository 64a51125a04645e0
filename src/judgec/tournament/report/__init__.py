"""Reports evaluations: JSON, tables, a page."""
