"""Helpers for tools that look at the project: paths, directory walks, ignore rules, search and symbols."""
