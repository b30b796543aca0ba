import subprocess
import sys
import zipfile

import pytest
from places import ROOT

from policy_engine import terms


@pytest.fixture(scope="module")
def wheel(tmp_path_factory):
    folder = tmp_path_factory.mktemp("wheel")
    command = [sys.executable, "-m", "build", "--wheel", "--no-isolation", "--outdir", str(folder)]
    subprocess.run(command, cwd=ROOT, check=True, capture_output=True)
    [path] = folder.glob("*.whl")
    return path


def test_a_checkout_finds_its_vocabulary():
    assert len(terms.privacy_models()) >= 2


def test_a_wheel_holds_the_whole_vocabulary_and_no_tests(wheel):
    with zipfile.ZipFile(wheel) as archive:
        names = archive.namelist()
    for path in (ROOT / "vocab").rglob("*.jsonld"):
        assert f"policy_engine/vocab/{path.relative_to(ROOT / 'vocab').as_posix()}" in names
    assert not [name for name in names if name.startswith("tests/")]


def test_a_wheel_holds_what_its_pages_are_made_of(wheel):
    with zipfile.ZipFile(wheel) as archive:
        names = archive.namelist()
    templates = [*(ROOT / "policy_engine").rglob("templates/*")]
    assert len(templates) >= 5
    for path in templates:
        assert path.relative_to(ROOT).as_posix() in names


def test_a_wheel_validates_a_policy_far_from_the_checkout(wheel, tmp_path):
    target = tmp_path / "installed"
    with zipfile.ZipFile(wheel) as archive:
        archive.extractall(target)
    policy = str(ROOT / "policies" / "customer.jsonld")
    code = (
        f"import sys; sys.path.insert(0, {str(target)!r})\n"
        "import policy_engine; print(policy_engine.__file__)\n"
        f"sys.argv = ['policy-engine', 'validate', {policy!r}]\n"
        "from policy_engine.__main__ import main; main()\n"
    )
    result = subprocess.run(
        [sys.executable, "-c", code], cwd=tmp_path, check=False, capture_output=True, text=True
    )
    assert result.returncode == 0, result.stderr
    assert str(target) in result.stdout
    assert "valid" in result.stdout


def test_a_wheel_says_that_it_is_typed(wheel):
    with zipfile.ZipFile(wheel) as archive:
        assert "policy_engine/py.typed" in archive.namelist()


@pytest.mark.nightly
def test_an_audit_of_a_forest_loads_neither_tensorflow_nor_numba_nor_what_draws():
    heavy = ("tensorflow", "keras", "numba", "matplotlib", "pyspark")
    code = (
        "import numpy as np, sys\n"
        "from policy_engine import audit_membership\n"
        "from policy_engine.methods.audits.classifier import Estimator\n"
        "from policy_engine.audits.membership.settings import Settings\n"
        "data = np.random.default_rng(0).normal(size=(60, 3)), np.arange(60) % 2\n"
        "model = Estimator(name='DecisionTreeClassifier')\n"
        "audit_membership(data, model=model, settings=Settings(('lira', 'rmia'), shadows=4))\n"
        f"print([one for one in {heavy} if one in sys.modules])"
    )
    told = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert told.stdout.strip() == "[]"
