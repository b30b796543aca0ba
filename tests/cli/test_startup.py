"""What `validate` of a plain policy loads: start-up is most of its time."""

import subprocess
import sys
from pathlib import Path

POLICY = Path(__file__).parents[2] / "policies" / "customer.jsonld"
RUN = """
import atexit, sys
atexit.register(lambda: print(*sys.modules))
from policy_engine.__main__ import main
main()
"""
NEEDLESS = {
    "policy_engine.api",
    "policy_engine.authoring.data_columns",
    "policy_engine.authoring.ownership",
    "policy_engine.data.catalog",
    "policy_engine.data.table_files",
    "policy_engine.engines",
    "policy_engine.plan.plan",
    "policy_engine.plan.spelling",
    "policy_engine.policy.owners",
    "policy_engine.policy.syntax.rdf",
    "importlib.metadata",
    *("numpy", "pandas", "pyarrow", "rdflib", "rich"),
}


def test_validating_a_policy_loads_only_what_it_needs():
    command = [sys.executable, "-c", RUN, "validate", str(POLICY)]
    done = subprocess.run(command, capture_output=True, text=True, check=True)
    verdict, modules = done.stdout.splitlines()
    assert verdict.endswith("valid")
    loaded = modules.split()
    assert "policy_engine.methods.privacy_models.l_diversity" in loaded
    assert NEEDLESS.isdisjoint(loaded)
    assert [one for one in loaded if one.startswith("policy_engine.methods.maskings.")] == []


def test_pydantic_still_gets_what_else_its_loader_of_plugins_has():
    code = """
import sys
from policy_engine.cli import _LOADER, _NoPlugins
sys.modules[_LOADER] = stand_in = _NoPlugins(_LOADER)
from pydantic.plugin._loader import get_plugins
assert get_plugins() == () and sys.modules[_LOADER] is stand_in
from pydantic.plugin._loader import PYDANTIC_ENTRY_POINT_GROUP
assert PYDANTIC_ENTRY_POINT_GROUP == "pydantic" and sys.modules[_LOADER] is not stand_in
"""
    subprocess.run([sys.executable, "-c", code], check=True)
