import json

import pytest
from building import anonymize, modules_loaded_by, permission, policy, refinement
from places import POLICIES

from policy_engine.errors import PlanError
from policy_engine.methods.audits.classifier import Estimator, Layer, Network
from policy_engine.methods.audits.membership_inference import AttackBound, MembershipInference
from policy_engine.plan.making import make_plan
from policy_engine.plan.products import check_plannable, products
from policy_engine.plan.training import Audit, Modelling, Training, audit_parameters
from policy_engine.policy import load_policy, read_policy

SHIPPED = POLICIES / "model-release.jsonld"
PEOPLE, TABLE, MODEL = (f"http://x.org/{name}" for name in ("People", "anonPeople", "model"))
SANITISED = {
    "action": anonymize(
        method="k-anonymity",
        k=2,
        identifier=["name"],
        quasi=["age", "city"],
        sensitive=["disease"],
        pseudonymize=["patient"],
    ),
    "output": TABLE,
}
LABEL = refinement("pe:label", f"{PEOPLE}/disease")
AUC = {"leftOperand": "pe:auc", "operator": "lteq", "rightOperand": 0.6}


def refined(name, *refinements):
    return {"rdf:value": {"@id": name}, "refinement": list(refinements)}


def trained(*refinements, **parts):
    action = refined("pe:train", *(refinements or (LABEL,)))
    return permission(
        uid="http://x.org/train", **{"target": TABLE, "output": MODEL, **parts}, action=action
    )


def used(*refinements, target=MODEL, name="pe:membershipInference"):
    duty = {"uid": "http://x.org/audit", "action": refined(name, *(refinements or (AUC,)))}
    return permission(uid="http://x.org/use", target=target, action="use", duty=duty)


def read(*rules):
    return read_policy(policy([permission(**SANITISED), *rules]))


def problems(*rules, sanitised=True):
    first = [permission(**SANITISED)] if sanitised else []
    with pytest.raises(PlanError) as caught:
        check_plannable(read_policy(policy([*first, *rules])))
    return [(one.code, one.place.pointer) for one in caught.value.problems]


def modelling(asked):
    """Return the permission to train, the model and the audits of the one output of a policy."""
    [made] = products(asked)
    return made.trainer, made.training, made.audits


# -- what is asked for ----------------------------------------------------------------------------


def test_the_shipped_policy_is_read_field_by_field():
    rule, training, audits = modelling(load_policy(SHIPPED))
    features = ("age", "workclass", "education", "marital-status", "occupation", "race", "sex")
    how = {
        "asset": "http://example.com/trainingAdult",
        "label": "income",
        "features": (*features, "native-country"),
        "architecture": Estimator(name="RandomForestClassifier"),
        "share": 0.25,
    }
    assert rule.uid == "http://example.com/policy/model-release/train"
    assert training == Training(**how, output="http://example.com/incomeModel")
    bounds = [("precision", 0.65, None), ("auc", 0.6, None), ("tprAtFpr", 0.08, 0.01)]
    method = MembershipInference(
        bounds=tuple(AttackBound(measure=m, asked=a, fpr=f) for m, a, f in bounds),
        attacks=("shokri", "loss", "lira-offline"),
        shadow_models=4,
    )
    assert audits == (
        Audit(
            duty="http://example.com/policy/model-release/audit",
            asset="http://example.com/incomeModel",
            method=method,
            modelling=Modelling(**how),
        ),
    )


def test_what_is_not_said_has_its_defaults():
    _, training, [audit] = modelling(read(trained(), used()))
    assert training.features == ("age", "city")
    assert training.architecture == Network()
    assert audit.method == MembershipInference(bounds=(AttackBound(measure="auc", asked=0.6),))
    told = {one.name: one.default for one in audit_parameters("membership-inference")}
    assert told["pe:shadowModels"] == str(audit.method.shadow_models)
    assert told["pe:attack"] == ", ".join(audit.method.attacks)
    assert told["pe:trainingShare"] == str(training.share)
    assert told["pe:model"] == training.architecture.kind


def test_the_share_of_others_has_its_default_too():
    tpr = {"leftOperand": "pe:tprAtFpr", "operator": "lt", "rightOperand": 0.02}
    _, _, [audit] = modelling(read(trained(), used(tpr)))
    [bound] = audit.method.bounds
    assert bound == AttackBound(measure="tprAtFpr", asked=0.02, sense="below", fpr=0.001)
    assert {one.name: one.default for one in audit_parameters("membership-inference")}[
        "pe:fpr"
    ] == "0.001"


def test_a_table_is_audited_by_a_model_that_its_audit_trains():
    share, feature = refinement("pe:trainingShare", 0.1), refinement("pe:feature", [f"{TABLE}/age"])
    rule, training, [audit] = modelling(read(used(AUC, LABEL, share, feature, target=TABLE)))
    assert rule is training is None
    assert audit.asset == TABLE
    assert audit.modelling == Modelling(asset=TABLE, label="disease", features=("age",), share=0.1)


def test_a_model_of_raw_data_has_its_features_by_name_and_an_audit():
    feature = refinement("pe:feature", [f"{PEOPLE}/age", f"{PEOPLE}/city"])
    asked = read_policy(policy([trained(LABEL, feature, target=PEOPLE), used()]))
    _, training, audits = modelling(asked)
    assert (training.asset, training.features) == (PEOPLE, ("age", "city"))
    assert len(audits) == 1
    assert make_plan(asked).anonymize is None


def test_an_audit_is_named_by_its_action_or_by_its_method():
    by_method = refinement("mosaicrown:method", "membership-inference")
    by_iri = refinement("mosaicrown:method", {"@id": "pe:membership-inference"})
    found = [
        modelling(read(trained(), used(AUC, one, name="pe:audit"))) for one in (by_method, by_iri)
    ]
    assert found[0][2] == found[1][2] == modelling(read(trained(), used()))[2]


def test_attacks_are_named_by_notation_or_by_iri():
    attacks = refinement("pe:attack", ["rmia", {"@id": "pe:lira-online-attack"}])
    _, _, [audit] = modelling(read(trained(), used(AUC, attacks)))
    assert audit.method.attacks == ("rmia", "lira-online")


@pytest.mark.parametrize("name", ["lira", "lirra"])
def test_an_attack_of_several_kinds_is_told_them(name):
    with pytest.raises(PlanError, match=r"M013 .* Did you mean 'lira-.*' or 'lira-.*'\?"):
        modelling(read(trained(), used(AUC, refinement("pe:attack", [name]))))


@pytest.mark.parametrize("where", ["text", "file"])
def test_a_model_is_described_in_json_here_or_beside_the_policy(where, tmp_path):
    text = json.dumps({"layers": [{"units": 8}], "epochs": 3})
    (tmp_path / "model.json").write_text(text)
    model = refinement("pe:model", text if where == "text" else "model.json")
    rules = [permission(**SANITISED), trained(LABEL, model), used()]
    (tmp_path / "policy.jsonld").write_text(policy(rules))
    _, training, _ = modelling(load_policy(tmp_path / "policy.jsonld"))
    assert training.architecture == Network(layers=(Layer(units=8),), epochs=3)


def test_ways_to_train_can_be_told_apart_by_their_hash():
    _, _, [audit] = modelling(load_policy(SHIPPED))
    same = Modelling.model_validate_json(audit.modelling.model_dump_json())
    assert len({audit.modelling, same, same.model_copy(update={"label": "sex"})}) == 2


def test_a_bound_that_none_breaks_is_no_audit_of_raw_data():
    feature = refinement("pe:feature", [f"{PEOPLE}/age", f"{PEOPLE}/city"])
    for bound in ({**AUC, "rightOperand": 1}, {**AUC, "operator": "lt", "rightOperand": 1}):
        rules = [trained(LABEL, feature, target=PEOPLE), used(bound)]
        assert problems(*rules, sanitised=False) == [
            ("M011", "/permission/1/duty/action/refinement/0")
        ]


# -- what is wrong --------------------------------------------------------------------------------

WRONG = {
    # The policies in tests/policies/bad have one mistake each; these have what is next to them.
    "label with a wrong operator": (
        [trained({**LABEL, "operator": "neq"}), used()],
        [("M013", "/permission/1/action/refinement/0")],
    ),
    "bound by reference": (
        [
            trained(),
            used(
                {
                    "leftOperand": "pe:auc",
                    "operator": "lteq",
                    "rightOperandReference": "http://x.org/bound",
                }
            ),
        ],
        [("M013", "/permission/2/duty/action/refinement/0")],
    ),
    "bound that is a name": (
        [trained(), used({**AUC, "rightOperand": {"@id": "http://x.org/low"}})],
        [("M013", "/permission/2/duty/action/refinement/0")],
    ),
    "pseudonymised feature": (
        [trained(LABEL, refinement("pe:feature", [f"{PEOPLE}/patient"])), used()],
        [("M012", "/permission/1/action/refinement/1")],
    ),
    "model nested too deep": (
        [trained(LABEL, refinement("pe:model", '{"a":' * 100_000)), used()],
        [("M012", "/permission/1/action/refinement/1")],
    ),
    "model in a file that is not there": (
        [trained(LABEL, refinement("pe:model", f"{'m' * 300}.json")), used()],
        [("M012", "/permission/1/action/refinement/1")],
    ),
    "target in part": (
        [
            trained(
                target={
                    "@type": "AssetCollection",
                    "source": TABLE,
                    "refinement": {"leftOperand": "version", "operator": "eq", "rightOperand": "1"},
                }
            ),
            used(),
        ],
        [("M010", "/permission/1/target")],
    ),
    "recall, whatever else is wrong": (
        [
            trained(),
            used(
                {"leftOperand": "pe:recall", "operator": "lt", "rightOperand": 1},
                {"leftOperand": "pe:tprAtFpr", "operator": "lteq", "rightOperand": 0.1},
                refinement("pe:attack", {"@id": "pe:label-only-attack"}),
            ),
        ],
        [
            ("M011", "/permission/2/duty/action/refinement/0"),
            ("M013", "/permission/2/duty/action/refinement/2"),
        ],
    ),
    "audit of the table that a model is made of": (
        [trained(), used(target=TABLE)],
        [("M013", "/permission/2/target")],
    ),
    "training and audit": (
        [
            trained(LABEL, refinement("pe:trainingShare", 0)),
            used({**AUC, "rightOperand": 2}, refinement("pe:shadowModels", 3)),
        ],
        [
            ("M012", "/permission/1/action/refinement/1"),
            ("M011", "/permission/2/duty/action/refinement/0"),
            ("M013", "/permission/2/duty/action/refinement/1"),
        ],
    ),
    "bounds and attacks": (
        [
            trained(),
            used(
                {**AUC, "rightOperand": 2},
                refinement("pe:shadowModels", 3),
                refinement("pe:attack", "los"),
            ),
        ],
        [
            ("M011", "/permission/2/duty/action/refinement/0"),
            ("M013", "/permission/2/duty/action/refinement/1"),
            ("M013", "/permission/2/duty/action/refinement/2/rightOperand"),
        ],
    ),
}


@pytest.mark.parametrize("name", ["pe:smallestLeaf", "pe:rareValues", "pe:attempts", "pe:auc"])
def test_number_too_large_for_a_float_is_refused(name):
    operator = {"pe:smallestLeaf": "gteq", "pe:attempts": "eq"}.get(name, "lteq")
    bound = {**refinement(name, 10**309), "operator": operator}
    audit = used(*([bound] if name == "pe:auc" else [AUC, bound]))
    assert [code for code, _ in problems(trained(), audit)] == ["M013"]


@pytest.mark.parametrize("name", WRONG)
def test_problems_are_told_where_they_are(name):
    rules, expected = WRONG[name]
    assert problems(*rules) == expected


def test_a_model_of_raw_data_is_held_against_nothing_that_is_released():
    feature = refinement("pe:feature", [f"{PEOPLE}/disease"])
    found = problems(trained(LABEL, feature, target=PEOPLE), used(), sanitised=False)
    assert found == [("M012", "/permission/0/action/refinement/1")]


def test_the_permission_to_train_governs_the_model_as_one_to_anonymize_does_its_table():
    assert read(trained()).hints == ()


def test_a_prohibition_of_the_training_is_lifted_where_permissions_win():
    rules = [permission(**SANITISED), trained(), used()]
    never = [{"target": TABLE, "action": "pe:train"}]
    with pytest.raises(PlanError, match="M008"):
        check_plannable(read_policy(policy(rules, never)))
    check_plannable(read_policy(policy(rules, never, conflict="perm")))


def test_reading_loads_no_heavy_library(tmp_path):
    (tmp_path / "policy.jsonld").write_text(SHIPPED.read_text())
    loaded = modules_loaded_by("validate", "policy.jsonld", cwd=tmp_path)
    assert "policy_engine.plan.training" in loaded
    assert not {"numpy", "pyarrow", "scipy", "sklearn", "tensorflow", "pandas"} & loaded
