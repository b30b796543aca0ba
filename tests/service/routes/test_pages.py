"""The pages as the service finds them, whenever they are built."""

import os

from served import browser

from policy_engine.service.routes import pages


def build(folder, name):
    """Build pages as the tool does: what there was is gone, and files have new names."""
    assets = folder / "assets"
    assets.mkdir(parents=True, exist_ok=True)
    for one in assets.iterdir():
        one.unlink()
    (assets / f"{name}.js").write_text(name)
    (folder / "index.html").write_text(f"<script src=/assets/{name}.js nonce=__CSP_NONCE__>")
    for moment, one in enumerate((assets, folder / "index.html"), len(name)):
        os.utime(one, (moment, moment))


def test_pages_that_are_built_while_the_service_runs_are_shown(services, tmp_path, monkeypatch):
    monkeypatch.setattr(pages, "FOLDER", tmp_path / "pages")
    client = browser(services)
    assert "are not built here" in client.get("/").text
    assert client.get("/assets/a.js").status_code == 404
    for name in ("a", "later"):
        build(tmp_path / "pages", name)
        assert f"/assets/{name}.js" in client.get("/runs").text
        assert client.get(f"/assets/{name}.js").text == name
    assert client.get("/assets/a.js").status_code == 404
    (tmp_path / "pages" / "index.html").unlink()
    assert "are not built here" in client.get("/").text
