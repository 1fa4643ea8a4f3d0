"""Moves whole messages between two peers without reading them."""
