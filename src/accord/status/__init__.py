"""What the sessions of all agents on this machine are doing, published by each client for all others."""
