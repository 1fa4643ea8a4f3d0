"""Blocks: each renders one item of the timeline (a message, a tool call, a notice, …) as terminal lines."""
