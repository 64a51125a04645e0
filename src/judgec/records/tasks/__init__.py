"""One file a task: what it reads, what experts are asked, its usual scale, its evidence and where its prompt is."""
