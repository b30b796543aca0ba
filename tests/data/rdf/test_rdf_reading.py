import subprocess
import sys

from places import ROOT

LIBRARIES = ("rdflib", "pyld", "jinja2", "pyparsing", "lxml")


def loaded_by(*arguments):
    code = (
        "import sys; from policy_engine.__main__ import main\n"
        f"sys.argv = ['policy-engine', *{arguments!r}]\n"
        "try: main()\nexcept SystemExit as end: assert not end.code, end\n"
        f"print([one for one in {LIBRARIES} if one in sys.modules])"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    return done.stdout.splitlines()[-1]


def test_a_policy_in_json_ld_is_validated_without_a_library_of_rdf():
    assert loaded_by("validate", str(ROOT / "policies" / "customer.jsonld")) == "[]"


def test_a_policy_in_turtle_is_read_by_rdflib(tmp_path):
    path = tmp_path / "policy.ttl"
    path.write_text(
        "@prefix odrl: <http://www.w3.org/ns/odrl/2/> . <http://e.x/p> a odrl:Set ; "
        "odrl:permission [ odrl:target <http://e.x/t> ; odrl:action odrl:read ] .",
        "utf-8",
    )
    assert "rdflib" in loaded_by("validate", str(path))
