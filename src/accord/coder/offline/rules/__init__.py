"""The grammar: one module of rules per kind of request, and `rule`, which defines what a rule is."""
