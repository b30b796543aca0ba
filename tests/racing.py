"""Processes that publish into one folder at once: python racing.py RELEASE OUT TRIALS RUNS HOW.

HOW is `told`, `overwrite` or `wait`. Printed is, in JSON, for each trial what became of its runs,
the text of the output that lies there, whether its certificate speaks of it, and all names.
"""

import json
import os
import shutil
import sys
from pathlib import Path

from policy_engine.certificate.beside import load_certificate
from policy_engine.certificate.publication import Publication
from policy_engine.data import storage
from policy_engine.errors import PolicyEngineError
from policy_engine.release import locking


def publish(folder, certificate, text, how):
    """Publish a text; return 0, or 1 where it was refused as another run was there."""
    try:
        file = folder / "a.csv"
        with Publication(file, overwrite=how != "told", wait=how == "wait") as place:
            place.staged.write_text(text)
            facts = {"file": "a.csv", "output_digest": storage.digest(place.staged)}
            place.publish(certificate.model_copy(update=facts))
    except PolicyEngineError as error:
        return 1 if error.problems[0].code == "O001" else 2
    return 0


def trial(folder, certificate, runs, how):
    shutil.rmtree(folder, ignore_errors=True)
    ready, start = os.pipe()
    children = []
    for number in range(runs):
        children.append(os.fork())
        if children[-1] == 0:
            os.close(start)
            os.read(ready, 1)  # ends for all at once
            os._exit(publish(folder, certificate, f"{number}", how))
    os.close(ready)
    os.close(start)
    codes = [os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) for child in children]
    load_certificate(folder)
    names = sorted(path.name for path in folder.iterdir())
    return [codes, int((folder / "a.csv").read_text()), names]


if __name__ == "__main__":
    release, out, trials, runs, how = sys.argv[1:]
    locking._PAUSE = 0.005
    found = load_certificate(Path(release))
    sys.stdout.write(
        json.dumps([trial(Path(out), found, int(runs), how) for _ in range(int(trials))])
    )
