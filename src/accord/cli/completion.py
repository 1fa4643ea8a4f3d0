"""accord completion: print the completion script of a shell."""

from __future__ import annotations

import click


@click.command(context_settings={"help_option_names": ["-h", "--help"]})
@click.argument("shell", type=click.Choice(["bash", "zsh", "fish"]))
@click.pass_context
def completion(ctx: click.Context, shell: str) -> None:
    """Print the script that completes commands and options of accord in SHELL.

    \b
    Examples:
      echo 'eval "$(accord completion bash)"' >> ~/.bashrc
      echo 'eval "$(accord completion zsh)"' >> ~/.zshrc
      accord completion fish > ~/.config/fish/completions/accord.fish
    """
    from click.shell_completion import get_completion_class

    writer = get_completion_class(shell)
    assert writer is not None
    click.echo(writer(ctx.find_root().command, {}, "accord", "_ACCORD_COMPLETE").source())
