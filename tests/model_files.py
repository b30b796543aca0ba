"""Files of models, and files that are none or hold code, as somebody may send them."""

import io
import json
import pickle
import zipfile

import numpy as np

DESCRIPTION = json.dumps({"name": "GaussianNB"}).encode()


class RunsCode:
    """An object that runs a command when it is unpickled."""

    def __reduce__(self):
        return print, ("code of the file was run",)


PICKLE = pickle.dumps(RunsCode())


def archive(**entries):
    """Return an archive of entries by name, in which __ is a dot."""
    file = io.BytesIO()
    with zipfile.ZipFile(file, "w", zipfile.ZIP_DEFLATED) as writer:
        for name, content in entries.items():
            writer.writestr(name.replace("__", "."), content)
    return file.getvalue()


def npz(**arrays):
    """Return arrays as numpy saves them, objects by pickle."""
    file = io.BytesIO()
    np.savez(file, **arrays)
    return file.getvalue()


def layer(name="Dense", module="keras.layers", **config):
    """Return a part of a configuration of Keras."""
    registered = config.pop("registered", None)
    return {
        "module": module,
        "class_name": name,
        "config": config.pop("function", {"units": 2, **config}),
        "registered_name": registered,
    }


def keras(*layers, weights=b"\x89HDF\r\n\x1a\n", **entries):
    """Return a file of Keras with layers."""
    config = layer("Sequential", "keras", layers=list(layers))
    parts = {"metadata__json": "{}", "config__json": json.dumps(config)}
    return archive(**parts, **entries, model__weights__h5=weights)


def skops(classifier):
    """Return a classifier as skops saves it."""
    import skops.io

    return skops.io.dumps(classifier)
