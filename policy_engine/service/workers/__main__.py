"""The program of one more process that answers calls, which the service starts."""

import socket
import sys
import threading
from contextlib import closing

from policy_engine.service.files.folder import FileFolder
from policy_engine.service.services import Services
from policy_engine.service.settings import ServiceSettings
from policy_engine.service.workers.answering import CallServer
from policy_engine.service.workers.sharing import Shared


def main() -> None:
    """Answer calls by the settings that come as the first line of the standard input, until it
    ends. The arguments are the descriptors of the socket and of what the processes share."""
    settings = ServiceSettings.model_validate_json(sys.stdin.buffer.readline())
    listener, shared = map(int, sys.argv[1:])
    FileFolder(settings.folder).forget_ended()  # what the one left that this one follows
    with closing(Services.open(settings, Shared(shared), asks_processes=True)) as services:
        server = CallServer.of(services)
        threading.Thread(target=_end_with_input, args=(server,), daemon=True).start()
        with socket.socket(fileno=listener) as calls:
            server.run([calls])


def _end_with_input(server: CallServer) -> None:
    sys.stdin.buffer.read()
    server.end()


if __name__ == "__main__":
    main()
