"""From rows of cells to items and labels."""
