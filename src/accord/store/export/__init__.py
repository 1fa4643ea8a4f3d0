"""A kept session as a document: plain text for a terminal, Markdown, JSON, or one page of HTML."""
