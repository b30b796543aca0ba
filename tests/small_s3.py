"""So much of S3 as Arrow asks for, in memory, on this machine: what it answers is what S3 does."""

import hashlib
import re
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from threading import Thread
from urllib.parse import parse_qs, unquote, urlsplit
from xml.sax.saxutils import escape


class _Bucket(BaseHTTPRequestHandler):
    """Answers calls about the objects of the server, by their paths."""

    protocol_version = "HTTP/1.1"

    def _answer(self, status, body=b"", **headers):
        self.send_response(status)
        for name, value in headers.items():
            self.send_header(name.replace("_", "-"), value)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        if self.command != "HEAD":
            self.wfile.write(body)

    def _body(self):
        body = self.rfile.read(int(self.headers.get("Content-Length") or 0))
        if self.headers.get("Transfer-Encoding") == "chunked":
            body = b"".join(iter(self._chunk, b""))
        if "aws-chunked" in self.headers.get("Content-Encoding", ""):
            return b"".join(_chunks(body))
        return body

    def _chunk(self):
        size = int(self.rfile.readline().partition(b";")[0], 16)
        chunk = self.rfile.read(size)
        self.rfile.readline()
        return chunk

    @property
    def _path(self):
        return unquote(urlsplit(self.path).path)

    @property
    def _query(self):
        return parse_qs(urlsplit(self.path).query, keep_blank_values=True)

    def _missing(self):
        self._answer(404, b"<Error><Code>NoSuchKey</Code></Error>")

    def do_HEAD(self):
        content = self.server.objects.get(self._path)
        if content is None and self._path.count("/") > 1:
            return self._missing()
        return self._whole(content or b"")

    def do_GET(self):
        if "list-type" in self._query:
            return self._list()
        content = self.server.objects.get(self._path)
        return self._missing() if content is None else self._whole(content)

    def _whole(self, content):
        self.server.calls.append(self.headers.get("Authorization", ""))
        part = re.fullmatch(r"bytes=(\d+)-(\d+)", self.headers.get("Range", ""))
        tag = f'"{hashlib.md5(content).hexdigest()}"'
        if part is None or self.command == "HEAD":
            return self._sized(200, content, tag)
        first, last = int(part[1]), min(int(part[2]), len(content) - 1)
        extent = f"bytes {first}-{last}/{len(content)}"
        return self._answer(206, content[first : last + 1], Content_Range=extent, ETag=tag)

    def _sized(self, status, content, tag):
        if self.command != "HEAD":
            return self._answer(status, content, ETag=tag)
        self.send_response(status)
        self.send_header("Content-Length", str(len(content)))
        self.send_header("ETag", tag)
        self.end_headers()
        return None

    def _list(self):
        bucket = f"/{self._path.strip('/')}/"
        prefix = bucket + self._query.get("prefix", [""])[0]
        names = sorted(one for one in self.server.objects if one.startswith(prefix))
        entries = "".join(
            f"<Contents><Key>{escape(one.removeprefix(bucket))}</Key>"
            f"<Size>{len(self.server.objects[one])}</Size></Contents>"
            for one in names
        )
        count = f"<KeyCount>{len(names)}</KeyCount><IsTruncated>false</IsTruncated>"
        body = f"<ListBucketResult>{count}{entries}</ListBucketResult>"
        self._answer(200, body.encode())

    def do_PUT(self):
        source = self.headers.get("x-amz-copy-source")
        content, query = self._body(), self._query
        if "partNumber" in query:
            parts = self.server.parts.setdefault(query["uploadId"][0], {})
            parts[int(query["partNumber"][0])] = content
            return self._answer(200, ETag='"part"')
        if source:
            self.server.objects[self._path] = self.server.objects[f"/{unquote(source).lstrip('/')}"]
            return self._answer(200, _result("CopyObject", '<ETag>"x"</ETag>'))
        self.server.objects[self._path] = content
        return self._answer(200, ETag='"whole"')

    def do_POST(self):
        body, query = self._body(), self._query
        if "uploads" in query:
            upload = f"u{len(self.server.parts)}"
            self.server.parts[upload] = {}
            answer = f"<UploadId>{upload}</UploadId>"
            return self._answer(200, _result("InitiateMultipartUpload", answer))
        if "uploadId" in query:
            parts = self.server.parts.pop(query["uploadId"][0])
            self.server.objects[self._path] = b"".join(parts[one] for one in sorted(parts))
            return self._answer(200, _result("CompleteMultipartUpload", '<ETag>"x"</ETag>'))
        bucket = f"/{self._path.strip('/')}/"
        for name in re.findall(rb"<Key>([^<]*)</Key>", body):
            self.server.objects.pop(bucket + name.decode(), None)
        return self._answer(200, b"<DeleteResult></DeleteResult>")

    def do_DELETE(self):
        self.server.objects.pop(self._path, None)
        self._answer(204)

    def log_message(self, *_):
        """Say nothing."""


def _chunks(body):
    """Yield the parts of a body that is signed part by part."""
    while body:
        head, _, body = body.partition(b"\r\n")
        size = int(head.partition(b";")[0], 16)
        if not size:
            return
        yield body[:size]
        body = body[size + 2 :]


def _result(name, content):
    return f"<{name}Result>{content}</{name}Result>".encode()


@contextmanager
def small_s3():
    """Serve a bucket; its `objects` are by their paths, and its address is `server_address`."""
    with ThreadingHTTPServer(("127.0.0.1", 0), _Bucket) as server:
        server.objects, server.parts, server.calls = {}, {}, []
        Thread(target=server.serve_forever, daemon=True).start()
        yield server
        server.shutdown()
