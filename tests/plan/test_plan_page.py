from building import DATASET, anonymize, column, permission, policy

from policy_engine import plan_policy


def test_a_notebook_shows_what_becomes_of_each_column():
    zips = column("ZIP", generalization="prefix")
    action = anonymize(method="k-anonymity", k=5, quasi=[zips, "age"], sensitive=["disease"])
    page = plan_policy(policy([permission(action=action, output="http://x.org/out")]))._repr_html_()
    assert "<caption>Plan for http://x.org/out</caption>" in page
    for name, how in (
        (f"read {DATASET}", "not bound to data"),
        ("ZIP", "generalised: prefix"),
        ("age", "generalised"),
        ("disease", "kept exact"),
        ("k", "at least 5"),
        ("purposes", "mosaicrown:marketing"),
    ):
        assert f'<th scope="row">{name}</th><td>{how}</td>' in page
