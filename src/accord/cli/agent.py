"""accord agent: the built-in coding agent on standard input and output, for editors to start."""

from __future__ import annotations

import click


@click.group(invoke_without_command=True, context_settings={"help_option_names": ["-h", "--help"]})
@click.option("--model", metavar="MODEL", help="The model of new sessions: PROVIDER:NAME, or offline.")
@click.option("--allow", "allow", multiple=True, metavar="RULE", help="Allow without asking, as in accord run.")
@click.option("--ask", "ask", multiple=True, metavar="RULE", help="Always ask.")
@click.option("--deny", "deny", multiple=True, metavar="RULE", help="Never allow.")
@click.option("--memory", is_flag=True, help="Keep sessions in memory only: they end with the process.")
@click.pass_context
def agent(
    ctx: click.Context,
    model: str | None,
    allow: tuple[str, ...],
    ask: tuple[str, ...],
    deny: tuple[str, ...],
    memory: bool,
) -> None:
    """The built-in coding agent, on standard input and output.

    Put this command into your editor's settings (accord editors shows how). Without a key it works on the offline
    model, which understands a small set of requests; accord agent login stores a key for a language model."""
    if ctx.invoked_subcommand is not None:
        return
    from accord.agent.run import run
    from accord.coder.coder import Coder
    from accord.coder.equipment import Equipment

    rules = []
    if allow or ask or deny:
        from accord.policy.settings import flags

        rules = flags(allow, ask, deny)
    store = None
    if not memory:
        from accord.store.sqlite import SqliteStore

        store = SqliteStore()
    run(Coder(store=store, equipment=Equipment(model=model, rules=rules)))
