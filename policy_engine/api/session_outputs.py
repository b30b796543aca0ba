"""An output as a session, or a check of finished tables, shows it."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from policy_engine.errors import RequestError
from policy_engine.release.output_folder.prepared import PreparedOutput

if TYPE_CHECKING:
    import pandas as pd
    import pyarrow as pa


@dataclass(frozen=True)
class SessionOutput:
    """An output as a session shows it: what may leave, and what is said of the rest."""

    _output: PreparedOutput
    is_provisional: bool = False
    """Whether `finalise` has still to check it against a ledger, and may withhold more."""

    @property
    def name(self) -> str:
        """Its name."""
        return self._output.name

    @property
    def status(self) -> str:
        """What the rules say: `released` (in part, if cells are blank), `suppressed`, `refused`, or
        `review` for what a person has to decide."""
        return self._output.status.value

    @property
    def is_whole(self) -> bool:
        """Whether all of it may leave by the rules."""
        return self._output.is_whole

    @property
    def reasons(self) -> dict[str, str]:
        """Why cells are not released, a sentence for each code."""
        return dict(self._output.public()["reasons"])

    @property
    def suppressed(self) -> list[dict[str, Any]]:
        """The cells that are not released, with their codes and without any figure."""
        return list(self._output.public().get("suppressed", []))

    @property
    def table(self) -> "pa.Table":
        """What may leave as an Arrow table: missing cells are not released.

        Raises RequestError (K025) if nothing of it may.
        """
        for _, page in self._output.shown():
            return page.to_arrow()
        message = f"Nothing of the output {self.name!r} may leave by the rules: {self.status}."
        raise RequestError.of("K025", message, " ".join(self.reasons.values()))

    def to_pandas(self) -> "pd.DataFrame":
        """Return what may leave as a pandas frame, with its keys as the index."""
        from policy_engine.api.verified_release import require_package  # noqa: PLC0415

        require_package("pandas")
        left = next((page.left for _, page in self._output.shown()), 0)
        frame: pd.DataFrame = self.table.to_pandas()
        return frame.set_index(list(frame.columns[:left])) if left else frame

    def __repr__(self) -> str:
        more_checks = ", until finalise checks it against the ledger" * self.is_provisional
        lines = [f"{self.name}: {self.status}{more_checks}"]
        for more, page in self._output.shown():
            lines += [more.strip()] * bool(more)
            lines += _text_lines(page.head, page.rows)
        lines += [f"{code} {sentence}" for code, sentence in self.reasons.items()]
        return "\n".join(lines)


def _text_lines(head: Sequence[str], rows: Sequence[Sequence[Any]]) -> Iterator[str]:
    """Yield the lines of a table as text."""
    cells = [[str(one) for one in head], *([_text(one) for one in row] for row in rows)]
    widths = [max(len(row[place]) for row in cells) for place in range(len(head))]
    for row in cells:
        yield "  ".join(f"{one:>{width}}" for one, width in zip(row, widths, strict=True)).rstrip()


def _text(cell: Any) -> str:
    if cell is None:
        return "."
    return f"{cell:.6g}" if isinstance(cell, float) else str(cell)
