"""Language models behind one interface: the catalog of known models, their providers, and models on this machine."""
