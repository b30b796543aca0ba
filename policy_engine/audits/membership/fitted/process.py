"""A fitted model in a process of its own, which may crash, hang or print what it likes."""

import os
import queue
import signal
import subprocess
import sys
import threading
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from typing import IO, Any, Literal

import numpy as np
from numpy.typing import NDArray

from policy_engine.audits.membership.fitted.blocks import Block, arrays_of, pack, unpack
from policy_engine.audits.membership.fitted.child import LENGTH
from policy_engine.audits.membership.fitted.kinds import FittedFile
from policy_engine.audits.membership.fitted.library_calls import first_line
from policy_engine.audits.membership.fitted.loading import (
    OpeningOptions,
    check_opening,
    resolve_class_path,
)
from policy_engine.audits.membership.fitted.model import Answer, ModelDescription
from policy_engine.errors import AuditError, DataError, PolicyEngineError, Problem

_MODULE = "policy_engine.audits.membership.fitted.child"
_ENVIRONMENT = (
    *("PATH", "HOME", "LANG", "LC_ALL", "TMPDIR", "TEMP", "TMP", "SYSTEMROOT", "LD_LIBRARY_PATH"),
    *("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS", "KERAS_BACKEND", "KERAS_HOME"),
    *("CUDA_VISIBLE_DEVICES", "TF_CPP_MIN_LOG_LEVEL"),
)
"""What of the environment a model may know: no key, no token."""
_PRINTED_BYTES = 8192
"""How many bytes of what a model prints are kept, to say what it died of."""
_GRACE = 2.0
_LONGEST = 1 << 32
"""How many bytes an answer may have: thousands of records by a hundred thousand classes."""
_UNREADABLE = "The model's process returned no readable answer."


@dataclass(frozen=True, eq=False)
class ModelProcess:
    """A process with an open model, which is asked block by block."""

    description: ModelDescription
    channel: "_Channel"
    model: Literal["target", "like"] = "target"
    has_own_code: bool = False

    @property
    def is_reproducible(self) -> bool:
        """Whether all code that has run up to now is installed, and none is of the user's own."""
        return self.channel.is_reproducible and not self.has_own_code

    def ask(self, block: Block) -> Answer:
        """Return the model's answers about some records.

        Raises AuditError where it refuses them (A009), crashes or takes too long (A016), or
        needs more memory than there is (A008).
        """
        header = {"do": "ask", "model": self.model}
        return self.channel.exchange(pack(header, arrays_of(block)))[1]

    def refit(self, block: Block, labels: NDArray[np.int64], seed: int) -> "ModelProcess":
        """Return the same kind of model, retrained on some records; it replaces the one before.

        Raises AuditError where that cannot be done (A009, A014), and as `ask`.
        """
        arrays = {**arrays_of(block), "labels": labels}
        header, _ = self.channel.exchange(pack({"do": "fit", "seed": seed}, arrays))
        return ModelProcess(_read_description(header), self.channel, "like", self.has_own_code)


@contextmanager
def open_process(
    file: FittedFile, opening: OpeningOptions, seconds: float
) -> Iterator[ModelProcess]:
    """Open a file in a process of its own, which ends with the block.

    `seconds` is how long opening it, and each answer, may take. Raises as `check_opening`, and
    AuditError where it cannot be opened (A014, A015) or its process fails (A008, A016).
    """
    check_opening(file, opening)
    opening = resolve_class_path(opening)
    with _process() as process:
        line = _Channel(process, seconds)
        first = {
            "path": str(file.path),
            "kind": file.kind,
            "digest": file.digest,
            "trust_pickle": opening.trust_pickle,
            "model_class": opening.model_class,
        }
        header, _ = line.exchange(pack(first, {}), str(file.path))
        has_own_code = bool(opening.model_class)
        yield ModelProcess(_read_description(header), line, has_own_code=has_own_code)


def _read_description(header: Mapping[str, Any]) -> ModelDescription:
    try:
        facts = header["about"]
        lists = {name: tuple(map(str, facts[name])) for name in ("classes", "features", "notes")}
        return ModelDescription(**facts | lists)
    except (KeyError, TypeError):
        raise AuditError.of("A016", _UNREADABLE) from None


@contextmanager
def _process() -> Iterator["subprocess.Popen[bytes]"]:
    environment = {name: os.environ[name] for name in _ENVIRONMENT if name in os.environ}
    paths = [os.path.abspath(one) for one in sys.path if one]  # noqa: PTH100 (some do not exist)
    environment["PYTHONPATH"] = os.pathsep.join(paths)
    process = subprocess.Popen(  # noqa: S603 (our own module)
        [sys.executable, "-P", "-m", _MODULE],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        env=environment,
        start_new_session=True,
    )
    try:
        yield process
    finally:
        _end(process)


def _end(process: "subprocess.Popen[bytes]") -> None:
    """End a process and all that it started."""
    with suppress(OSError):
        if process.stdin is not None:
            process.stdin.close()
    with suppress(OSError):
        os.killpg(process.pid, signal.SIGKILL) if hasattr(os, "killpg") else process.kill()
    try:
        process.wait(_GRACE)
    except subprocess.TimeoutExpired:
        # A process that waits for a disk ends when it is done; whoever asks need not wait for that.
        threading.Thread(target=process.wait, daemon=True).start()
    for stream in (process.stdout, process.stderr):
        if stream is not None:
            stream.close()


class _Channel:
    """The line to a process: one message there, one back, within a time."""

    def __init__(self, process: "subprocess.Popen[bytes]", seconds: float) -> None:
        self._process, self._seconds = process, seconds
        self._answers: queue.SimpleQueue[bytes | None] = queue.SimpleQueue()
        self._printed = bytearray()
        self.is_reproducible = True
        threads = [(self._read, process.stdout), (self._drain, process.stderr)]
        self._threads = [
            threading.Thread(target=one, args=(stream,), daemon=True) for one, stream in threads
        ]
        for thread in self._threads:
            thread.start()

    def exchange(self, message: bytes, source: str = "") -> tuple[dict[str, Any], Answer]:
        """Send a message and return the answer; raise what it says is wrong."""
        sending = threading.Thread(target=self._write, args=(message,), daemon=True)
        sending.start()
        try:
            answer = self._answers.get(timeout=self._seconds)
        except queue.Empty:
            message_ = f"The model gave no answer within {self._seconds:g} seconds."
            hint = "Allow more time: time_limit=SECONDS."
            raise AuditError.of("A016", message_, hint, source=source) from None
        if answer is None:
            raise self._death_error(source)
        try:
            header, arrays = unpack(answer)
            error = _error(header) if "problems" in header else None
            self.is_reproducible &= header.get("settled") is True
        except Exception:  # noqa: BLE001 (whatever a forged message makes of its reader)
            raise AuditError.of("A016", _UNREADABLE, source=source) from None
        if error is not None:
            raise error
        return header, arrays

    def _write(self, message: bytes) -> None:
        stream = self._process.stdin
        with suppress(OSError, ValueError):  # closed: the other side is gone, which reading tells
            if stream is not None:
                stream.write(LENGTH.pack(len(message)))
                stream.write(message)
                stream.flush()

    def _read(self, stream: IO[bytes]) -> None:
        try:
            while len(length := stream.read(LENGTH.size)) == LENGTH.size:
                (size,) = LENGTH.unpack(length)
                if size > _LONGEST:
                    self._answers.put(b"")
                    return
                answer = stream.read(size)
                if len(answer) < size:
                    break
                self._answers.put(answer)
        except MemoryError:
            self._answers.put(b"")
        except (OSError, ValueError):  # closed
            self._answers.put(None)
        else:
            self._answers.put(None)

    def _drain(self, stream: IO[bytes]) -> None:
        with suppress(OSError, ValueError):
            while chunk := stream.read1(_PRINTED_BYTES):  # type: ignore[attr-defined]
                self._printed += chunk
                del self._printed[:-_PRINTED_BYTES]

    def _death_error(self, source: str) -> PolicyEngineError:
        with suppress(subprocess.TimeoutExpired):
            self._process.wait(_GRACE)
        self._threads[1].join(_GRACE)
        code = self._process.returncode
        if code == -signal.SIGKILL:
            message = "The model's process was killed, probably because memory ran out."
            return AuditError.of("A008", message, "Give fewer records.", source=source)
        lines = self._printed.decode(errors="replace").strip().splitlines()
        status = f"by signal {-code}" if code is not None and code < 0 else f"with {code}"
        last = f", saying {first_line(lines[-1])}" if lines else "."
        return AuditError.of("A016", f"The model's process ended {status}{last}", source=source)


def _error(header: dict[str, Any]) -> PolicyEngineError:
    kind = {"DataError": DataError}.get(header["error"], AuditError)
    problems = [Problem(code, message, hint) for code, message, hint in header["problems"]]
    return kind(*problems, source=header["source"])
