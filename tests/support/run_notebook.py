"""Execute a notebook in a real kernel, and write it with its outputs: `python run_notebook.py NOTEBOOK OUTPUT`.

Kernels listen on TCP ports that another process may take first, so this one uses Unix sockets in a temporary
directory."""

from __future__ import annotations

import sys
import tempfile
from pathlib import Path

import nbformat
from jupyter_client.manager import AsyncKernelManager
from nbclient import NotebookClient

STARTUP_SECONDS = 300


def execute(source: Path, target: Path) -> None:
    notebook = nbformat.read(source, as_version=4)
    with tempfile.TemporaryDirectory(dir="/tmp") as sockets:  # the path of a socket must be short
        kernel = AsyncKernelManager(
            kernel_name="python3", transport="ipc", ip=f"{sockets}/kernel", connection_file=f"{sockets}/kernel.json"
        )
        NotebookClient(
            notebook,
            km=kernel,
            timeout=None,
            startup_timeout=STARTUP_SECONDS,
            record_timing=False,
            coalesce_streams=True,  # the kernel sends what is printed in pieces, which depend on the time
        ).execute()
    notebook.metadata.language_info = {"name": "python"}  # without the version of this interpreter
    nbformat.write(notebook, target)


if __name__ == "__main__":
    execute(Path(sys.argv[1]), Path(sys.argv[2]))
