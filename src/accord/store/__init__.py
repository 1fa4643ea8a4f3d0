"""Sessions that outlive a connection, or a process."""
