"""What agents and people mean, whichever version says it: the nouns of the neutral API, as plain data."""
