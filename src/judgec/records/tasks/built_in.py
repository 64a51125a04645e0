"""The names of the tasks that come with the package: one line a task, whose file has the same name."""

BUILT_IN = (  # the most specific first: inference takes the first that fits
    "trajectory_modes",
    "trajectory",
    "preference",
    "rejection",
    "reliability",
    "answer",
    "modes",
    "cited",
    "claims",
    "grade",
    "relevance",
)
