"""The prompt: the editor, completion, mentions, history, drafts, and pasted files and images."""
