"""The entry point: `policy-engine`, or `python -m policy_engine`."""

import gc
from typing import NoReturn


def main() -> NoReturn:
    """Run the command line, collecting garbage rarely: start-up makes objects that stay."""
    gc.set_threshold(100_000, 20, 20)
    from policy_engine.cli import main as run  # noqa: PLC0415

    run()


if __name__ == "__main__":
    main()
