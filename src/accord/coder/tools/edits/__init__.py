"""Passages and their replacement, as `edit_file` uses them."""
