"""Images and PDF documents, as `read_file` returns them to models."""
