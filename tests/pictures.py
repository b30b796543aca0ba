"""Small images as columns of tables."""

import numpy as np
import pyarrow as pa


def image_array(images):
    """Return images, (images, ...), as an array of fixed-size lists, nested as they are."""
    array = pa.array(images.reshape(-1))
    for length in images.shape[:0:-1]:
        array = pa.FixedSizeListArray.from_arrays(array, length)
    return array


def faces(rows=12, height=5, width=6):
    """Return rows with an image each, of which two are equal and one is missing.

    `face` is nested, `flat` is the same image as one list.
    """
    random = np.random.default_rng(9)
    images = random.integers(0, 256, (rows, height, width), dtype=np.uint8)
    images[1] = images[0]
    missing = np.arange(rows) == rows - 1
    places = pa.array(np.arange(rows), mask=missing)
    return pa.table(
        {
            "id": np.arange(rows),
            "age": random.integers(20, 60, rows),
            "face": image_array(images).take(places),
            "flat": image_array(images.reshape(rows, -1)).take(places),
            "light": image_array(images.astype(np.float32) / 255).take(places),
        }
    )
