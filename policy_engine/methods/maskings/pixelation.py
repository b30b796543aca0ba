"""Pixelation: every block of an image is its mean."""

from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING, Annotated, Any, ClassVar, Literal

from pydantic import Field

from policy_engine.methods.findings import Finding
from policy_engine.methods.masking import ImageMasking, Threshold

if TYPE_CHECKING:
    from numpy.typing import NDArray


class Pixelation(ImageMasking):
    """Every block of `block_size` times `block_size` pixels is its mean, in each channel.

    Blocks that do not divide the image count `padding` where they lack pixels; the published image
    has the shape of the original one. Hill et al.: On the (In)effectiveness of Mosaicing and
    Blurring as Tools for Document Redaction, PoPETs 2016(4) (mosaicing). It is not a guarantee:
    McPherson, Shokri and Shmatikov: Defeating Image Obfuscation with Deep Learning, 2016.
    """

    notation: ClassVar[str] = "pixelation"

    masking: Literal["pixelation"] = "pixelation"
    block_size: Annotated[int, Field(alias="blockSize", ge=2, le=4096, strict=True)]
    padding: Threshold = 0.0

    @classmethod
    def conflicts(cls, values: Mapping[str, Any]) -> Iterator[Finding]:
        """Yield that a part of the shape is missing (M002), or smaller than a block (M003)."""
        shape = {name: values[name] for name in ("height", "width", "channels") if name in values}
        for name in ("height", "width"):
            if shape and name not in shape:
                message = f"The shape of images has no {name}. Given: {', '.join(shape)}."
                yield Finding("M002", next(iter(shape)), message)
            length, size = values.get(name), values.get("blockSize")
            if isinstance(length, int) and isinstance(size, int) and length < size:
                message = f"blockSize is {size}, larger than the {name}, which is {length}."
                yield Finding("M003", "blockSize", message)

    @property
    def constants(self) -> Mapping[str, float]:
        """The padding."""
        return {"padding": self.padding}

    @property
    def smallest(self) -> int:
        """The least height and width of an image that it can mask: a block's."""
        return self.block_size

    def mask(self, images: "NDArray[Any]") -> "NDArray[Any]":
        """Return the images with every block as its mean."""
        from policy_engine.kernels.pixelation import pixelate  # noqa: PLC0415 (imports numpy)

        return pixelate(images, self.block_size, self.padding)

    def count_broken(self, images: "NDArray[Any]") -> int:
        """Return how many images have a block of several values."""
        from policy_engine.kernels.pixelation import count_uneven  # noqa: PLC0415 (imports numpy)

        return count_uneven(images, self.block_size)

    def count_unlike(self, before: "NDArray[Any]", after: "NDArray[Any]") -> int:
        """Return how many images have a block that is not the mean of the one before."""
        from policy_engine.kernels.pixelation import count_other_means  # noqa: PLC0415

        return count_other_means(before, after, self.block_size, self.padding)
