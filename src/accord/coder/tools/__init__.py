"""Tools: what the model can do in the project, each shown to the user while it happens."""
