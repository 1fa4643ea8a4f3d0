"""A fault of ours, told in two lines; where it happened is in a file, for those who look into it."""

from __future__ import annotations

import os
import sys
import time
import traceback
from contextlib import suppress

from rich.text import Text

from accord.config.folders import data_folder


def told() -> Text:
    """What to say about the exception that is being handled. ACCORD_DEBUG=1 shows where it happened, too."""
    from accord.config.mask import masked

    error = sys.exc_info()[1]
    where = traceback.format_exc()
    words = masked(f"Accord had to stop: {type(error).__name__}: {error}")
    path = data_folder() / "chat" / "faults.log"
    told = "What you typed is kept."
    with suppress(OSError):
        path.parent.mkdir(parents=True, exist_ok=True)
        with os.fdopen(os.open(path, os.O_WRONLY | os.O_APPEND | os.O_CREAT, 0o600), "a", encoding="utf-8") as file:
            file.write(f"{time.strftime('%Y-%m-%d %H:%M:%S')}\n{masked(where)}\n")
        told = f"What you typed is kept. Where it happened is in {path}"
    lines = [where] if os.environ.get("ACCORD_DEBUG") == "1" else []
    return Text("\n".join([*lines, words, told]))
