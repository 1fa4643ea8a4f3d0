"""Where the user types: the editor, its completions and its history."""
