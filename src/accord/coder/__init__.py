"""The reference agent: a coding agent that works with any model, or with none."""
