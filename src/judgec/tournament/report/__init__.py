"""What an evaluation reports: JSON, tables, a page."""
