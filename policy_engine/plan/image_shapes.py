"""Whether images have the shape that a policy says, where the header of their file has it."""

from pathlib import Path

from policy_engine.data.array_shapes import array_shape
from policy_engine.data.table_files import ARRAY_FORMATS
from policy_engine.methods.randomisers.private_pixelation import PrivatePixelation
from policy_engine.plan.inputs import Read
from policy_engine.plan.randomisation import Randomisation


def check_image_shapes(randomisation: Randomisation, read: Read) -> None:
    """Raise DataError (C009) for images of an array's file that have another shape than their
    randomiser: one shape for all, of which a header tells nothing about any of them.

    The only array of a .npy file is of images that are not flat.
    """
    if read.format not in ARRAY_FORMATS or not read.location:
        return
    is_archive = read.format == "npz"
    for one in randomisation.columns:
        if not isinstance(one, PrivatePixelation):
            continue
        shape = array_shape(Path(read.location), one.name)
        problem = shape and one.shape_problem(shape[1:], read.location, is_flat_allowed=is_archive)
        if problem:
            raise problem
