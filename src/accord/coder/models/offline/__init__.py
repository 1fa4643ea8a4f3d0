"""The offline model: no language model at all, but a grammar of plain English and the very same tools.

A prompt is understood (`words`, `reading`, `grammar` and its rules `looking`, `changing`, `doing`: text to `requests`),
and carried out (`brain` and the `scripts`: requests to tool calls, and what the tools said to sentences)."""
