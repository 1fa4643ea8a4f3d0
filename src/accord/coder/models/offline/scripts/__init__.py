"""Scripts: how each kind of request is carried out."""
