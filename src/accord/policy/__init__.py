"""Permission rules: parse them, decide by them, remember the user's answers, and log every decision.

The code that acts for an agent describes what it will do as an `Action` and asks a `Policy`. Claims of the agent (the
kind and the title of a tool call) can make a decision stricter, but never more lenient."""
