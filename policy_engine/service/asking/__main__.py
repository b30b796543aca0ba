"""The program of a process that answers queries, which the service starts."""

import os
import shutil
import sys
from contextlib import closing

from policy_engine.service.asking.query_answers import QueryAnswers, limit_memory
from policy_engine.service.services import Services
from policy_engine.service.settings import ServiceSettings


def main() -> None:
    """Answer what comes by the standard input, a line for each, until it ends.

    The first line has the settings. The arguments are how many bytes answers may need, and the
    folder for temporary files. All else that is printed goes where errors go.
    """
    answers = os.fdopen(os.dup(1), "wb")
    os.dup2(2, 1)
    settings = ServiceSettings.model_validate_json(sys.stdin.buffer.readline())
    with closing(Services.open(settings)) as services:
        limit = limit_memory(int(sys.argv[1]))

        def forget() -> None:
            shutil.rmtree(sys.argv[2], ignore_errors=True)
            services.uploads.files.forget_readings(os.getpid())

        QueryAnswers(services, limit, forget).answer_all(sys.stdin.buffer, answers)


if __name__ == "__main__":
    main()
