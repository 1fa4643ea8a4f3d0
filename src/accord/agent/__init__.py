"""Writing an agent: the base class, and the handles it is given. One class speaks both versions."""
