"""How editors are told to start an agent: what each wants to read, and where it keeps it."""
