"""Images seen several ways: as they are, mirrored, and shifted a little."""

from collections.abc import Iterator, Sequence

import numpy as np
from numpy.typing import NDArray

from policy_engine.audits.membership.fitted.blocks import Block
from policy_engine.errors import AuditError

Logits = NDArray[np.float32]

MOST_VIEWS = 18
_LEAST = -1000.0
_SHIFTS = (0, -1, 1)


def views_of(block: Block, views: int) -> Iterator[Block]:
    """Yield images (n, height, width) or (n, height, width, channels) in so many views.

    The first is as they are; then mirrored from left to right, then both of them shifted by a
    pixel in each direction, with the edge repeated (Carlini et al., IEEE S&P 2022, section VI-C).
    Raises AuditError (A003) where several are asked of records that are no images, or too many.
    """
    yield block
    if views == 1:
        return
    if not isinstance(block, np.ndarray) or block.ndim not in (3, 4):
        message = "Only images are seen several ways: arrays (n, height, width[, channels])."
        raise AuditError.of("A003", message)
    if not 1 <= views <= MOST_VIEWS:
        message = f"There are 1 to {MOST_VIEWS} views of an image. Given: {views}."
        raise AuditError.of("A003", message)
    moves = [(down, right) for down in _SHIFTS for right in _SHIFTS]
    every = [(flip, *move) for move in moves for flip in (False, True)]
    for flip, down, right in every[1:views]:
        yield _shifted(block[:, :, ::-1] if flip else block, down, right)


def _shifted(images: NDArray[np.generic], down: int, right: int) -> NDArray[np.generic]:
    """Return images shifted by a pixel or none in each direction, with the edge repeated."""
    rest = [(0, 0)] * (images.ndim - 3)
    wide = np.pad(images, [(0, 0), (1, 1), (1, 1), *rest], mode="edge")
    height, width = images.shape[1:3]
    return np.ascontiguousarray(
        wide[:, 1 - down : 1 - down + height, 1 - right : 1 - right + width]
    )


def averaged(logits: Sequence[Logits]) -> Logits:
    """Return the mean of what a model says of several views, (n, C), as log-probabilities.

    All attacks gain from a mean over views, whose noise is less than that of one. A single view
    is left as it is. A probability of 0 counts as one of e to the power of -1000.
    """
    if len(logits) == 1:
        return logits[0]
    whole = np.mean([_log_probabilities(one) for one in logits], axis=0)
    return np.asarray(whole, dtype=np.float32)


def _log_probabilities(logits: Logits) -> NDArray[np.float64]:
    below = logits.astype(np.float64) - logits.max(axis=1, keepdims=True)
    summed = np.log(np.exp(below).sum(axis=1, keepdims=True))
    return np.asarray(np.maximum(below - summed, _LEAST), dtype=np.float64)
