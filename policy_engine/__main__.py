"""`python -m policy_engine`."""

from policy_engine.cli import main

main()
