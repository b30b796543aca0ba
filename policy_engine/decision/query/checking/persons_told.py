"""Of how many persons a secret decides whether they count, where persons have several rows.

A person counts once, whichever rows are in a cell: so who counts by a row that is known counts
whatever the others are. A person's profile is whether any row counts, for each secret that all of
the rows may have.
"""

from collections.abc import Sequence
from dataclasses import dataclass

from sqlglot import exp

from policy_engine.decision.query.checking.owned_rows import OWNER
from policy_engine.decision.query.grammar import to_sql


@dataclass(frozen=True)
class PersonProfiles:
    """What the profiles of persons follow from.

    `known` and `secrets` are queries of what may be known of rows, with the columns `names`, and of
    what their secrets may be. A row `holds` by columns of both, where these `fit`. Of the rows of
    the table `part`, those count that are `inside`, if they are `asked` about at all.
    """

    known: exp.Select
    names: Sequence[str]
    secrets: exp.Query
    holds: exp.Expr
    fit: exp.Expr
    part: str
    inside: str
    asked: str

    def query(self) -> str:
        """Return the query of how many persons of each "cell" the secret decides about: "inside"
        those that count, and "outside" the others."""
        same = [f'p."{name}" IS NOT DISTINCT FROM known."{name}"' for name in self.names]
        nodes = {"secrets": self.secrets, "holds": self.holds, "fit": self.fit}
        return _QUERY.format(
            known=to_sql(self.known, "duckdb"),
            same=" AND ".join(same) or "TRUE",
            **{name: to_sql(one, "duckdb") for name, one in nodes.items()},
            part=self.part,
            inside=self.inside,
            asked=self.asked,
            owner=OWNER,
        )


_QUERY = """
WITH known AS (SELECT *, ROW_NUMBER() OVER () AS i FROM ({known})),
secret AS (SELECT *, ROW_NUMBER() OVER () AS j FROM ({secrets})),
pairs AS (SELECT i, j, {holds} AS h FROM known CROSS JOIN secret WHERE {fit}),
persons AS (
    SELECT cell, LIST_SORT(LIST(DISTINCT i)) AS kinds, BOOL_OR(p."{inside}") AS is_in
    FROM "{part}" AS p JOIN known ON {same} WHERE p."{asked}" GROUP BY cell, p."{owner}"
),
alike AS (SELECT cell, kinds, is_in, COUNT(*) AS n FROM persons GROUP BY ALL),
kinds_of AS (SELECT DISTINCT kinds, UNNEST(kinds) AS i FROM alike),
profiles AS (SELECT kinds, j, BOOL_OR(h) AS h FROM kinds_of JOIN pairs USING (i) GROUP BY ALL),
varying AS (SELECT kinds FROM profiles GROUP BY kinds HAVING BOOL_OR(h) <> BOOL_AND(h))
SELECT cell, CAST(SUM(CASE WHEN is_in THEN n ELSE 0 END) AS BIGINT) AS inside,
    CAST(SUM(CASE WHEN is_in THEN 0 ELSE n END) AS BIGINT) AS outside
FROM alike JOIN varying USING (kinds) GROUP BY cell
"""
