"""Starts, supervises and ends every child process."""
