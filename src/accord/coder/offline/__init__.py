"""The offline model: no language model at all, but a grammar of plain English and the same tools.

`parser` turns a prompt into `requests`, with the grammar in `rules`. `runner` turns requests into tool calls and
replies, with a script per kind of request in `actions`. `model` puts both behind the interface of a language model."""
