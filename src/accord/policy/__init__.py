"""Permission rules: parse them, decide by them, remember the user's answers, and log every decision.

The code that carries something out for an agent describes it as an `Action` and asks a `Policy`. What an agent says
about itself (the kind and the title of a tool call) can make a decision stricter, but never more lenient."""
