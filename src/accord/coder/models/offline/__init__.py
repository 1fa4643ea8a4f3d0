"""The offline model: no language model at all, but a grammar of plain English and the very same tools.

A prompt is understood (`words`, `steps`, `reading`, `grammar`, whose rules are in `looking`, `tracing`, `changing`,
`doing` and `talking`: text to `requests`), and carried out (`brain`, `conductor` and the `scripts`: requests to tool
calls, and what the tools said to sentences)."""
