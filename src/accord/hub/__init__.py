"""Sessions shared by several clients: an event log with cursors, permission policies and budgets."""
