"""Messages outside the protocol, under names that begin with an underscore. They hold whatever their authors agreed."""

from __future__ import annotations

from typing import Any

ExtRequest = Any
ExtResponse = Any
ExtNotification = Any
