"""Permission rules as data: read them, decide by them, remember what people chose, and write every decision down.

Whoever lets an agent do something makes an `Action` of it and asks a `Policy`. What an agent says about itself (the
kind and the title of a tool call) can make a decision stricter and never more lenient."""
