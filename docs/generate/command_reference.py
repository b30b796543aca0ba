"""The page of commands: `python docs/generate/command_reference.py > docs/commands.md`."""

import sys
from collections import Counter
from collections.abc import Iterator
from enum import Enum
from typing import Any

import typer
from command_examples import EXAMPLES, FILES, CommandExample

from policy_engine.cli.commands import make_app

_SHARED_BY = 8
"""From how many commands on an option is told once for all of them."""

_INTRODUCTION = """\
# Commands

Every command with its options and an example. This page is made of what `--help` prints;
[The command line](command-line.md) says more about each. The exit status is 0 for yes, 1 for no (a
problem, a bound that does not hold, a denial), and 2 if a command could not run; an example that
ends otherwise than with 0 says so.

The examples run one after the other in an empty folder, with the files
[at the end](#files-of-the-examples) in it. Those that need more than the package itself name the
extra to install.
"""


def page() -> str:
    """Return the page on all commands."""
    commands = dict(_commands(typer.main.get_command(make_app()), ()))
    shared = _shared(commands)
    parts = [_INTRODUCTION, _contents(commands)]
    parts += [_section(name, command, shared) for name, command in commands.items()]
    return "\n".join([*parts, _shared_section(shared), _files()])


def command_names() -> list[str]:
    """Return the names of all commands, those of a group behind its own."""
    return [name for name, _ in _commands(typer.main.get_command(make_app()), ())]


def _commands(command: Any, path: tuple[str, ...]) -> Iterator[tuple[str, Any]]:
    members = getattr(command, "commands", None)
    if members is None:
        yield " ".join(path), command
    for name, member in (members or {}).items():
        yield from _commands(member, (*path, name))


def _shared(commands: dict[str, Any]) -> dict[str, str]:
    """Return what is said of each option that many commands have in the same words."""
    told = Counter(
        (one.opts[0], _said(one))
        for command in commands.values()
        for one in command.params
        if one.param_type_name == "option" and not one.required
    )
    return {name: text for (name, text), number in sorted(told.items()) if number >= _SHARED_BY}


def _contents(commands: dict[str, Any]) -> str:
    rows = [
        f"| [`{name}`](#{name.replace(' ', '-')}) | {_cell(_sentence(command))} |"
        for name, command in commands.items()
    ]
    return "\n".join(["| command | what it does |", "|---|---|", *rows, ""])


def _sentence(command: Any) -> str:
    return command.help.split("\n")[0]


def _section(name: str, command: Any, shared: dict[str, str]) -> str:
    parts = [f"## {name}\n", f"{_escaped(command.help)}\n", _usage(name, command)]
    own = [one for one in command.params if not _is_shared(one, shared)]
    if own:
        rows = [f"| {_name(one)} | {_cell(_said(one))} |" for one in own]
        parts.append("\n".join(["| argument or option | what it is |", "|---|---|", *rows, ""]))
    others = [f"`{one.opts[0]}`" for one in command.params if _is_shared(one, shared)]
    if others:
        parts.append(f"Also [shared](#options-that-many-commands-share): {', '.join(others)}.\n")
    return "\n".join([*parts, _example(EXAMPLES[name])])


def _is_shared(parameter: Any, shared: dict[str, str]) -> bool:
    if parameter.param_type_name != "option" or parameter.required:
        return False
    return shared.get(parameter.opts[0]) == _said(parameter)


def _usage(name: str, command: Any) -> str:
    needed = [one for one in command.params if one.required and one.param_type_name == "option"]
    options = [f"{one.opts[0]} {_value(one)}" for one in needed]
    arguments = [
        _value(one) if one.required else f"[{_value(one)}]"
        for one in command.params
        if one.param_type_name == "argument"
    ]
    words = ["policy-engine", name, *arguments, *options, "[OPTIONS]"]
    return f"```text\n{' '.join(words)}\n```\n"


def _name(parameter: Any) -> str:
    if parameter.param_type_name == "argument":
        return f"`{_value(parameter)}`"
    value = "" if parameter.is_flag else f" {_value(parameter)}"
    return f"`{parameter.opts[0]}{value}`"


def _value(parameter: Any) -> str:
    """Return the word that stands for a value: its choices, or what it is."""
    annotation = parameter.type_descriptor.annotation
    if isinstance(annotation, type) and issubclass(annotation, Enum):
        return "/".join(str(one.value) for one in annotation)
    return parameter.metavar or {int: "N", float: "NUMBER"}.get(annotation, "TEXT")


def _said(parameter: Any) -> str:
    """Return the help of a parameter, with its default where it has one to tell."""
    default = getattr(parameter.default, "value", parameter.default)
    text = parameter.help or ""
    if default in (None, "", []) or isinstance(default, bool | tuple | list) or callable(default):
        return text
    return f"{text} Default: {default}."


def _example(example: CommandExample) -> str:
    install = f"pip install 'policy-engine[{example.extra}]'"
    lines = [f"$ {one}" for one in ([install] if example.extra else []) + [*example.before]]
    lines.append(f"$ {example.line}")
    status = f"Here it exits with {example.status}.\n" if example.status else ""
    return "\n".join(["```console", *map(_folded, lines), "```\n", status]).rstrip() + "\n"


def _folded(line: str) -> str:
    """Return a command over as many lines as it takes to keep each short."""
    if len(line) <= 100:
        return line
    folded, rest = [], line
    while len(rest) > 100:
        place = rest.rfind(" --", 8, 98)
        if place < 0:
            break
        folded.append(f"{rest[:place]} \\")
        rest = f"    {rest[place + 1 :]}"
    return "\n".join([*folded, rest])


def _shared_section(shared: dict[str, str]) -> str:
    rows = [f"| `{name}` | {_cell(text)} |" for name, text in shared.items()]
    heading = "## Options that many commands share\n"
    return "\n".join([heading, "| option | what it is |", "|---|---|", *rows, ""])


def _files() -> str:
    parts = ["## Files of the examples\n"]
    for name, text in FILES.items():
        language = {"yaml": "yaml", "ttl": "turtle", "jsonl": "json"}.get(
            name.rsplit(".", 1)[1], "text"
        )
        parts.append(f"`{name}`:\n\n```{language} file={name}\n{text}```\n")
    return "\n".join(parts)


def _cell(text: str) -> str:
    return _escaped(text).replace("|", "\\|")


def _escaped(text: str) -> str:
    return text.replace("<", "&lt;").replace("*", "\\*").replace("[", "\\[")


if __name__ == "__main__":
    sys.stdout.write(page())
