"""An agent without a model that shows every feature of the protocol on request: what client authors test against."""
