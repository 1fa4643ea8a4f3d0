"""Language models of all providers, through pydantic-ai: our requests in its terms, its stream events in ours."""
