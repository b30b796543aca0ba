import os
import subprocess
import sys

import pytest
from places import ROOT

_MAIN = "import sys; sys.argv[0] = 'policy-engine'; from policy_engine.__main__ import main; main()"


@pytest.mark.one_in(3)
@pytest.mark.parametrize(
    ("words", "completed"),
    [
        ("policy-engine batch", ["batch-decide"]),
        ("policy-engine decide --bundle-", ["--bundle-digest"]),
        ("policy-engine check tri", ["triage"]),
    ],
)
def test_bash_completes_commands_and_options(words, completed):
    asked = {"COMP_WORDS": words, "COMP_CWORD": str(len(words.split()) - 1)}
    env = {**os.environ, **asked, "_POLICY_ENGINE_COMPLETE": "complete_bash"}
    done = subprocess.run(
        [sys.executable, "-c", _MAIN], env=env, cwd=ROOT, capture_output=True, text=True, check=True
    )
    assert done.stdout.split() == completed
