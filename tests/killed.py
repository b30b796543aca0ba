"""Publications killed at every step: python killed.py FOLDER KIND EARLIER AGAIN.

FOLDER holds some release in `release`, KIND is `here`, `store`, or
`failing` where the last step of all fails, and is undone; `both` and `store-both` publish two
outputs in one step, `second` one beside another that stays. EARLIER is `old` where a release
is replaced. Printed are, in JSON, what a reader saw after each kill, and the state once a next run,
which fails by itself, has ended. Another one comes before it unless AGAIN is 0, and is killed at a
step that AGAIN decides.
"""

import json
import os
import shutil
import signal
import sys
from contextlib import suppress
from pathlib import Path

from policy_engine.certificate.beside import (
    folder_certificates,
    load_certificate,
    load_certificates,
)
from policy_engine.certificate.publication import Publication
from policy_engine.data import storage
from policy_engine.errors import PolicyEngineError
from policy_engine.release.staging import CLAIM

NAME, OTHER = "a.csv", "b.csv"
WRITES = os.O_WRONLY | os.O_RDWR | os.O_CREAT
LATEST = 59
CHANGES = {"os.rename", "os.remove", "os.rmdir", "os.mkdir", "os.chmod", "fcntl.flock"}


class Clock:
    """Kills its process at a step; steps are counted while it is armed."""

    def __init__(self):
        self.left, self.is_armed = 0, False

    def tick(self):
        if self.is_armed:
            self.left -= 1
            if self.left == 0:
                os.kill(os.getpid(), signal.SIGKILL)

    def watch(self):
        """Count every step that changes something on the disk, and those between them."""
        opened = storage.open_private

        def watched(*given):
            file = opened(*given)
            self.tick()
            return file

        def flushed(_handle):  # a kill takes nothing from the disk's cache
            self.tick()

        def heard(event, given):
            if event in CHANGES or (event == "open" and (given[2] or 0) & WRITES):
                self.tick()

        storage.open_private, os.fsync = watched, flushed
        sys.addaudithook(heard)


class Store:
    """A store without renames and locks, in a folder."""

    def __init__(self, root, clock):
        from pyarrow.fs import LocalFileSystem, SubTreeFileSystem

        self._system, self._clock = SubTreeFileSystem(str(root), LocalFileSystem()), clock

    def __getattr__(self, name):
        found = getattr(self._system, name)
        if name in {"copy_file", "create_dir", "delete_file", "open_output_stream"}:
            self._clock.tick()
        return found

    def delete_dir(self, folder):
        from pyarrow.fs import FileSelector

        for info in self._system.get_file_info(FileSelector(folder, recursive=True)):
            if info.is_file:
                self.delete_file(info.path)
        self._system.delete_dir(folder)


def publish(out, text, certificate, names=(NAME,)):
    """Publish folders of two files, as Spark writes them, with their certificates."""
    files = [storage.join(out, name) for name in names]
    with Publication(*files, overwrite=True) as place:
        certified = []
        for file, name in zip(files, names, strict=True):
            storage.make_folder(place.staged_file(file))
            for part in ("part-0.csv", "part-1.csv"):
                written = storage.join(place.staged_file(file), part)
                storage.write_bytes(written, f"{text} {name}".encode())
            facts = {"file": name, "output_digest": storage.digest(place.staged_file(file))}
            certified.append(certificate.model_copy(update=facts))
        place.publish(*certified)


def fail(certificate, out):
    """Publish, but the output cannot be put in its place."""
    move = storage.move

    def broken(source, target):
        if target == storage.join(out, NAME):
            storage.move = move
            raise OSError(28, "No space left on device")
        move(source, target)

    storage.move = broken
    with suppress(PolicyEngineError):
        publish(out, "new", certificate)


def in_child(work, clock, step):
    """Do something in a child that is killed at a step; return whether it was."""
    child = os.fork()
    if child == 0:
        clock.left, clock.is_armed = step, True
        work()
        os._exit(0)
    _, status = os.waitpid(child, 0)
    return os.WIFSIGNALED(status)


def loaded(out):
    """Return what a reader gets: the digests that are certified, or the code of an error."""
    try:
        return [one.output_digest for one in load_certificates(out)]
    except PolicyEngineError as error:
        return error.problems[0].code


def state(out, folder):
    """Return all that lies there: names, the digests certified, and those of the outputs."""
    names = sorted(path.name for path in folder.iterdir()) if folder.exists() else []
    known = folder_certificates(out).values()
    digests = [storage.digest(storage.join(out, one.file)) for one in known]
    return [names, [one.output_digest for one in known], digests]


def run(root, kind, had_earlier, again):
    """Return the states before and after, and for every step what was left by a kill at it.

    With `again`, the next run is killed too, at that step, before another one ends.
    """
    certificate = load_certificate(root / "release")
    clock, base = Clock(), root / kind
    folder = base / "out"
    out = folder
    if kind.startswith("store"):
        store = Store(base, clock)
        storage._file_system = lambda place: (store, place.removeprefix("s3a://b").lstrip("/"))
        storage.can_rename = lambda _place: False
        out = "s3a://b/out"

    def ready():
        shutil.rmtree(base, ignore_errors=True)
        shutil.copytree(saved, base)

    def next_run():
        for claim in folder.glob(f"{CLAIM}*"):  # as a person would who knows that it is dead
            claim.unlink()
        with suppress(InterruptedError), Publication(storage.join(out, NAME), overwrite=True):
            raise InterruptedError

    names = (NAME, OTHER) if kind.endswith("both") else (NAME,)
    clock.watch()
    base.mkdir()
    earlier = [("stays", (OTHER,))] * (kind == "second") + [("old", names)] * had_earlier
    for text, those in earlier:
        publish(out, text, certificate, those)
    before, saved = state(out, folder), root / "saved"
    shutil.copytree(base, saved)
    publish(out, "new", certificate, names)
    after, found = state(out, folder), []
    step = 1

    def work():
        fail(certificate, out) if kind == "failing" else publish(out, "new", certificate, names)

    while True:
        ready()
        if not in_child(work, clock, step):
            break
        seen = loaded(out)
        if again:
            in_child(next_run, clock, 1 + again * step % LATEST)
        next_run()
        found.append([step, seen, state(out, folder)])
        step += 1
    return {"before": before, "after": after, "found": found}


if __name__ == "__main__":
    root, kind, earlier, again = sys.argv[1:]
    sys.stdout.write(json.dumps(run(Path(root), kind, earlier == "old", int(again))))
