"""The tools the model can call, one module per tool; `project/` and `web/` hold shared helpers."""
