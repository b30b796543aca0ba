"""Private pixelation: every block of an image is its mean, with noise."""

from collections.abc import Iterator, Mapping
from fractions import Fraction
from typing import TYPE_CHECKING, Annotated, Any, ClassVar, Literal

from pydantic import Field, model_validator

from policy_engine.errors import DataError, PolicyEngineError
from policy_engine.methods.findings import Finding
from policy_engine.methods.masking import Size, Threshold
from policy_engine.methods.randomiser import Randomiser, exact, grid_conflicts

if TYPE_CHECKING:
    from policy_engine.kernels.local_privacy.noisy_blocks import NoisyBlocks

_Length = Field(ge=1, le=2**20, strict=True)


class PrivatePixelation(Randomiser):
    """Every block of `block_size` times `block_size` pixels is its mean in each channel, with noise
    of the discrete Laplace distribution.

    Two images that differ in up to `pixels_changed` pixels, in all their channels, are alike by
    epsilon. Pixels are numbers from `lower` to `upper` on a `grid`; what a block lacks at the
    border counts as `padding`, and so do a missing pixel, and every one of a missing image. Fan:
    Image Pixelization with Differential Privacy, DBSec 2018.
    """

    notation: ClassVar[str] = "private-pixelation"

    randomiser: Literal["private-pixelation"] = "private-pixelation"
    block_size: Annotated[int, Field(alias="blockSize", ge=1, le=4096, strict=True)]
    pixels_changed: Annotated[int, Field(alias="pixelsChanged", ge=1, le=2**40, strict=True)]
    height: Annotated[int, _Length]
    width: Annotated[int, _Length]
    channels: Annotated[int, Field(ge=1, le=64, strict=True)] = 1
    lower: Threshold = 0.0
    upper: Threshold = 255.0
    grid: Size = 1.0
    padding: Threshold | None = None

    @classmethod
    def conflicts(cls, values: Mapping[str, Any]) -> Iterator[Finding]:
        """Yield what is larger than the image, or not between its bounds (M003)."""
        yield from grid_conflicts({"lower": 0, "upper": 255, **values})
        height, width, size = (values.get(name) for name in ("height", "width", "blockSize"))
        if isinstance(height, int) and isinstance(width, int):
            if isinstance(size, int) and size > min(height, width):
                message = f"blockSize is {size}. The images are {height} high and {width} wide."
                yield Finding("M003", "blockSize", message)
            changed = values.get("pixelsChanged")
            if isinstance(changed, int) and changed > height * width:
                message = f"pixelsChanged is {changed}. The images have {height * width} pixels."
                yield Finding("M003", "pixelsChanged", message)
        lower, upper, padding = (values.get(name) for name in ("lower", "upper", "padding"))
        lower, upper = 0 if lower is None else lower, 255 if upper is None else upper
        if isinstance(padding, int | float) and not lower <= padding <= upper:
            message = f"padding is {padding}. Allowed is a number from {lower} to {upper}."
            yield Finding("M003", "padding", message)

    @model_validator(mode="after")
    def _fits_the_image(self) -> "PrivatePixelation":
        if any(self.conflicts(self.model_dump(by_alias=True))):
            raise ValueError("the blocks do not fit the image")
        return self

    @property
    def is_repeatable(self) -> bool:
        """Its noise is drawn anew each time."""
        return False

    @property
    def scale(self) -> tuple[str, ...]:
        """What its answers are on: the grid from the lower to the upper bound."""
        return tuple(str(exact(one)) for one in (self.lower, self.upper, self.grid))

    @property
    def shape(self) -> tuple[int, int, int]:
        """The height, the width and the channels of every image."""
        return self.height, self.width, self.channels

    @property
    def lengths(self) -> tuple[tuple[int, ...], ...]:
        """The lengths that the lists of an image may have, from the outer one inwards."""
        flat = (self.height * self.width * self.channels,)
        return (flat, self.shape) if self.channels > 1 else (flat, self.shape[:2], self.shape)

    def shape_problem(
        self, lengths: tuple[int, ...], place: str, *, is_flat_allowed: bool = True
    ) -> PolicyEngineError | None:
        """Return what is wrong with images of these lengths (C009), if anything is: a file or a
        type has them for all of its images, so that nothing of a single one is told."""
        allowed = self.lengths if is_flat_allowed else self.lengths[1:]
        if lengths in allowed:
            return None
        message = f"The images of {self.name!r} have the shape {lengths}. Its randomiser has "
        message += f"{' or '.join(map(str, allowed))}."
        hint = "Change pe:height, pe:width or pe:channels, or the images."
        return DataError.of("C009", message, hint, place)

    @property
    def levels(self) -> int:
        """How many steps of the grid the upper bound is above the lower one."""
        return int((exact(self.upper) - exact(self.lower)) / exact(self.grid))

    @property
    def padding_level(self) -> int:
        """The level that counts for pixels that are not there."""
        if self.padding is None:
            return 0
        return round((exact(self.padding) - exact(self.lower)) / exact(self.grid))

    def mechanism(self, epsilon: Fraction) -> "NoisyBlocks":
        """Return how its noise is drawn with an epsilon."""
        from policy_engine.kernels.local_privacy.noisy_blocks import NoisyBlocks  # noqa: PLC0415

        return NoisyBlocks(
            self.block_size, self.levels, self.pixels_changed, self.channels, epsilon
        )

    def check(self, epsilon: Fraction) -> None:
        """Raise ValueError where the noise would be larger than it can be drawn."""
        if self.mechanism(epsilon).scale > MOST_SCALE:
            raise ValueError(f"With an epsilon of {epsilon}, the noise is too large to be drawn.")

    def figures(self, epsilon: Fraction) -> Mapping[str, float]:
        """Return the scale of the noise of a block's mean, in the units of pixels, and the variance
        of that mean, before it is rounded and cut off."""
        unit = exact(self.grid)
        scale = float(self.mechanism(epsilon).scale_of_means * unit)
        return {"scale": scale, "largestVariance": 2 * scale**2}


MOST_SCALE = 2**60
