"""The tools the model can call, one module per tool; `project/` and `web/` hold what several tools share."""
