"""Safe files and terminals, served to an agent or used by one."""
