"""Start, supervise and end child processes.

A child runs under a supervisor (`supervision`, `supervisor`), which ends it and all its descendants when this process
ends, even after `kill -9`."""
