"""Export a stored session as a document: plain text for a terminal, Markdown, JSON, or a page of HTML."""
