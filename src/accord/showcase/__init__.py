"""An agent without a model that shows the protocol's features on request, for client authors to test against."""
