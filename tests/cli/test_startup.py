"""What commands load: start-up is most of the time of `validate`, and half of a small `apply`."""

import gc
import subprocess
import sys
from pathlib import Path

import pytest

from policy_engine import cli

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


NEEDLESS_TO_APPLY = {
    "policy_engine.audits.disclosure.files",
    "policy_engine.data.places.web_files",
    "policy_engine.data.taxonomy.turtle",
    "policy_engine.engines.masking.whole_tables",
    "policy_engine.kernels.full_domain.node_search",
    "policy_engine.kernels.local_suppression",
    "policy_engine.kernels.polish",
    *("pandas", "pyarrow.parquet", "scipy.linalg"),
}


@pytest.mark.nightly
def test_applying_a_policy_that_forms_classes_loads_what_classes_take(tmp_path):
    data, output = tmp_path / "people.csv", tmp_path / "out" / "people.csv"
    names = "CustomerID,FirstName,LastName,ZIP,BirthDate,TransactionTime,Amount,StoreCategory"
    rows = (
        f"{n},A,B,1000{n % 9},1980-01-0{n % 7 + 1},0{n % 5}:30,{n}.5,c{n % 4}" for n in range(60)
    )
    data.write_text("\n".join([names, *rows]))
    asked = [str(POLICY), "--data", f"http://example.com/Customer={data}", "--output", str(output)]
    done = subprocess.run(
        [sys.executable, "-c", RUN, "apply", *asked], capture_output=True, text=True, check=True
    )
    loaded = done.stdout.splitlines()[-1].split()
    assert output.exists()
    assert "policy_engine.kernels.mondrian" in loaded
    assert NEEDLESS_TO_APPLY & {*loaded} == set()


@pytest.mark.parametrize(("library", "frozen"), [("", 1), ("duckdb", 0)])
def test_what_was_loaded_is_searched_at_the_end_where_a_library_counts_on_it(
    monkeypatch, library, frozen
):
    calls = []
    monkeypatch.setattr(gc, "freeze", lambda: calls.append(1))
    monkeypatch.setattr(sys, "modules", {"numpy": None, library: None})
    cli._leave_unsearched()
    monkeypatch.undo()
    assert len(calls) == frozen
