"""Images and PDF documents, as `read_file` gives them to models."""
