"""The methods and their parameters on a terminal."""

from rich.markup import escape
from rich.table import Table

from policy_engine import terms
from policy_engine.cli.tables.tables import new_table
from policy_engine.methods.reference import ONE_NEEDED, Parameter


def parameters_table(
    title: str,
    parameters: list[Parameter],
    *,
    with_engines: bool = True,
    of_method: bool = False,
) -> Table:
    """Return what can be given, a row each; `of_method`, which an engine has with all or not."""
    engines = ["engines"] if with_engines else []
    table = new_table(title, "parameter", "type", "default", *engines, "")
    table.columns[0].no_wrap = True
    for one in parameters:
        engine_names = ", ".join(one.engines) if of_method else _engines(one)
        has = [engine_names] if with_engines else []
        table.add_row(*map(escape, (one.name, one.type, one.default, *has, one.definition)))
    return table


def _engines(one: Parameter) -> str:
    """Return the engines that have a parameter, and a line for each that has its default alone."""
    others = [name for name in terms.engines() if name not in one.engines]
    alone = (
        []
        if one.default in ("required", ONE_NEEDED)
        else [f"{name}: default only" for name in others]
    )
    return "\n".join([", ".join(one.engines), *alone])
