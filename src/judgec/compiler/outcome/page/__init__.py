"""What a compile found out, gathered for the judge's page."""
