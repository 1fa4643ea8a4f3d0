"""Transports: move whole messages between two peers without reading them.

`base` defines the interface. `stdio`, `subprocess` and `memory` implement it; the first two share `fd`, which reads
through a `source` and writes through a `sink`."""
