"""Reports as self-contained HTML: the skeleton that every page shares, and the page of a judge."""
