"""The scores of each record by each attack: a list that discloses who was trained on."""

import csv
import io
from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray


@dataclass(frozen=True, eq=False)
class RecordScores:
    """The scores of n audited records by each attack, and who was called a member, (n,) each.

    `rows` are the records' numbers in the data, from 0; `exposed_by` is the attack by whose
    scores they are ranked, the strongest.
    """

    rows: NDArray[np.int64]
    is_member: NDArray[np.bool_]
    scores: Mapping[str, NDArray[np.float64]]
    called: Mapping[str, NDArray[np.bool_]]
    exposed_by: str

    def as_csv(self) -> str:
        """Return a line for each record, the most exposed member first, non-members last.

        Members with a high score are exposed; non-members have nothing to disclose, and are listed
        for comparison. The columns are `row`, `member`, and, for
        each attack, its score and whether it calls the record a member.
        """
        names = [self.exposed_by, *(name for name in self.scores if name != self.exposed_by)]
        order = np.lexsort((self.rows, -self.scores[self.exposed_by], ~self.is_member))
        text = io.StringIO()
        lines = csv.writer(text, lineterminator="\n")
        lines.writerow(
            ["row", "member", *(f"{one}{end}" for one in names for end in ("", " calls"))]
        )
        for place in order.tolist():
            cells = [
                cell
                for name in names
                for cell in (repr(float(self.scores[name][place])), int(self.called[name][place]))
            ]
            lines.writerow([int(self.rows[place]), int(self.is_member[place]), *cells])
        return text.getvalue()
