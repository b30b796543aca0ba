"""Data, a policy about them and runs of it, by calls of the API in the name of who is signed in."""

import time

API = "/api/v1"
PEOPLE = "name,age,city,disease\n" + "".join(
    f"p{i},{30 + i % 4},{'Ams' if i < 4 else 'Brx'},{'flu' if i % 2 else 'cold'}\n"
    for i in range(8)
)


class Calling:
    """Calls of somebody who is signed in in a browser's context."""

    def __init__(self, context):
        self.request = context.request
        self.token = self.call("GET", "/me")["csrf_token"]

    def call(self, method, path, body=None, **headers):
        """Return what is answered. Whatever is refused fails the test."""
        token = getattr(self, "token", "")
        headers = {"X-CSRF-Token": token, "Content-Type": "application/json", **headers}
        answer = self.request.fetch(f"{API}{path}", method=method, data=body, headers=headers)
        assert answer.ok, answer.text()
        return answer.json()

    def publish(self, name, text):
        """Return the identifier of a policy in force."""
        policy = self.call("POST", "/policies", {"name": name, "text": text})
        tag = {"If-Match": f'"{policy["revision"]}"'}
        self.call("POST", f"/policies/{policy['id']}:publish", **tag)
        return policy["id"]

    def upload(self, name, iri, text):
        """Return the identifier of a dataset whose file has arrived."""
        dataset = self.call("POST", "/datasets", {"name": name, "iri": iri})["id"]
        file = {"name": "table.csv", "size": len(text)}
        upload = self.call("POST", f"/datasets/{dataset}/uploads", file)["id"]
        piece = {"Content-Type": "application/offset+octet-stream", "Upload-Offset": "0"}
        self.call("PATCH", f"/uploads/{upload}", text.encode(), **piece)
        self.call("POST", f"/uploads/{upload}:complete", {})
        return dataset

    def sanitise(self, policy, iri, dataset, seconds=60):
        """Return a run of a policy that has succeeded."""
        return self.run("sanitise", policy, iri, dataset, {}, seconds)

    def run(self, kind, policy, iri, dataset, settings, seconds=60):
        """Return a run of a kind that has succeeded."""
        datasets = {iri: dataset}
        wanted = {"kind": kind, "policy": policy, "datasets": datasets, "settings": settings}
        run = self.call("POST", "/runs", wanted)
        deadline = time.monotonic() + seconds
        while run["state"] in ("queued", "running") and time.monotonic() < deadline:
            time.sleep(0.2)
            run = self.call("GET", f"/runs/{run['id']}")
        assert run["state"] == "succeeded", run["problems"]
        return run
