"""Labels and items: reading them, splits and what was tested, the sheet and the page on which experts grade."""
