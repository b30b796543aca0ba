"""A policy as a table of its rules, in HTML."""

from collections.abc import Iterator, Sequence

from policy_engine.markup import html_table
from policy_engine.policy.model import Policy, Rule, RulePart
from policy_engine.policy.wording import conditions_text, part_text, printable, short_name

_HEAD = ("rule", "who", "does", "with", "for", "if")


def policy_html(policy: Policy) -> str:
    """Return the rules of a policy, a row each: who may, or must not, do what, and under which
    conditions. Names are shown in short."""
    caption = printable(f"{policy.uid} ({short_name(policy.type)})")
    return html_table(caption, _HEAD, (_row(rule) for rule in policy.rules))


def _row(rule: Rule) -> tuple[str, ...]:
    assets = _joined(rule.targets) or "anything"
    made = f"\n→ {printable(short_name(rule.output))}" if rule.output else ""
    return (
        rule.kind,
        _joined(rule.assignees) or "anybody",
        _joined(rule.actions),
        f"{assets}{made}",
        ", ".join(map(short_name, rule.purposes)) or "any purpose",
        "\n".join(_conditions(rule)) or "-",
    )


def _joined(parts: Sequence[RulePart]) -> str:
    return ", ".join(part_text(one) for one in parts)  # type: ignore[arg-type]


def _conditions(rule: Rule) -> Iterator[str]:
    if rule.constraints:
        yield conditions_text(rule.constraints)
    yield from (f"duty: {_joined(duty.actions)}" for duty in rule.duties)
