"""How long the start of an agent may take before the user is told so, and before Esc ends it."""

from __future__ import annotations

HASTY = 1.0
"""Seconds before which Esc does not end a start: nobody has waited by then, and half of a terminal's answer to a
question of ours may look like it."""
SLOW = 3.0
"""Seconds after which it is said for how long an agent has been starting, and which keys help."""
