"""Options of the verbs: one frozen dataclass each, from which command line and Python function are derived."""
