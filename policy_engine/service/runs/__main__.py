"""The program of the supervisor, which the service starts."""

import sys

from policy_engine.service.runs.dataset_files import dataset_paths
from policy_engine.service.runs.supervising import supervise
from policy_engine.service.settings import ServiceSettings


def main() -> None:
    """Have runs carried out by the settings that come as the first line of the standard input."""
    settings = ServiceSettings.model_validate_json(sys.stdin.buffer.readline())
    supervise(settings, dataset_paths)


if __name__ == "__main__":
    main()
