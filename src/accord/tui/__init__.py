"""The terminal client: a picture of a transcript, and a place to answer."""
