"""Columns of images that are masked one by one."""

from dataclasses import dataclass

import pyarrow as pa

from policy_engine.engines.masking.columns import ColumnJudgement, SingleColumn, rounded
from policy_engine.engines.masking.images import (
    ImageEvidence,
    count_broken,
    image_mark,
    mask_images,
    see_images,
)
from policy_engine.engines.masking.parts import Look
from policy_engine.methods.masking import ImageMasking

_Marked = tuple[int, int]


@dataclass(frozen=True)
class ImageColumn(SingleColumn[ImageEvidence, _Marked]):
    """A column of images, marked under a key."""

    masking: ImageMasking
    key: bytes

    @property
    def name(self) -> str:
        """The name of the column."""
        return self.masking.name

    def mask(self, table: pa.Table) -> pa.ChunkedArray:
        """Return the column masked. Raises DataError as `mask_images` does."""
        return mask_images(table.column(self.name), self.masking)

    def compare(self, before: pa.ChunkedArray, after: pa.ChunkedArray) -> ImageEvidence:
        """Return what the same rows show before and after masking."""
        return see_images(before, after, self.masking, self.key)

    def merge(self, one: ImageEvidence, other: ImageEvidence) -> ImageEvidence:
        """Return what the rows of two parts of a table show.

        Raises DataError (R013) where the images of the one have another shape.
        """
        return one.merge(other)

    def output(self, kind: pa.DataType | None) -> Look[_Marked]:  # noqa: ARG002 (no texts)
        """Return how many images of an output are not what the masking publishes, and its mark."""

        def see(table: pa.Table) -> _Marked:
            column = table.column(self.name)
            return count_broken(column, self.masking), image_mark(column, self.key)

        def merge(one: _Marked, other: _Marked) -> _Marked:
            return one[0] + other[0], (one[1] + other[1]) % 2**64

        return Look((self.name,), see, merge)

    def judge(self, seen: _Marked, compared: ImageEvidence | None) -> ColumnJudgement:
        """Return what an output shows, as it was written.

        A column whose images are not those of the input, masked, counts as broken in every one.
        """
        broken, mark = seen
        if compared is None:
            return ColumnJudgement(self.masking, broken, {})
        if mark != compared.mark:
            broken = max(broken, compared.images, 1)
        unchanged = compared.unchanged / max(compared.pixels, 1)
        return ColumnJudgement(
            self.masking, broken + compared.unlike, rounded({"unchanged": unchanged})
        )
