"""Servers on loopback for tests: Qdrant's and OpenSearch's protocols, and answers that are none of theirs."""

import json
import math
import threading
import time
from collections import Counter
from contextlib import suppress
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from urllib.parse import urlsplit

import numpy as np

JSON = "application/json"


class Server:
    """Answers each request by `answer`, after what `instead` holds.

    `instead` holds replies as (status, kind, body), or seconds to wait.
    """

    def __init__(self):
        self.requests, self.instead, self.lock = [], [], threading.Lock()
        server = self

        class Handler(BaseHTTPRequestHandler):
            protocol_version = "HTTP/1.1"

            def handle_any(self):
                body = self.rfile.read(int(self.headers.get("Content-Length") or 0))
                with server.lock:
                    server.requests.append((self.command, self.path, dict(self.headers), body))
                    reply = server.instead.pop(0) if server.instead else None
                if isinstance(reply, (int, float)):
                    time.sleep(reply)
                    reply = None
                with server.lock:
                    status, kind, text = reply or server.reply(self.command, urlsplit(self.path).path, body)
                self.send_response(status)
                self.send_header("Content-Type", kind)
                self.send_header("Content-Length", str(len(text.encode())))
                self.end_headers()
                self.wfile.write(text.encode())

            def __getattr__(self, name):
                if name.startswith("do_"):
                    return self.handle_any
                raise AttributeError(name)

            def log_message(self, *_):
                pass

            def handle(self):
                with suppress(OSError):  # a client that did not wait
                    super().handle()

        self.http = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self.http.daemon_threads = True
        self.host = f"127.0.0.1:{self.http.server_address[1]}"
        threading.Thread(target=self.http.serve_forever, kwargs={"poll_interval": 0.01}, daemon=True).start()

    def reply(self, method, path, body):
        status, answer = self.answer(method, path, body)
        return status, JSON, json.dumps(answer)

    def close(self):
        self.http.shutdown()
        self.http.server_close()


class QdrantServer(Server):
    """Qdrant's REST protocol, answered by the local mode of its client."""

    def __init__(self):
        from qdrant_client import QdrantClient

        self.local = QdrantClient(":memory:")
        super().__init__()

    def answer(self, method, path, body):
        from qdrant_client import models

        _, _, name, *rest = path.split("/")
        asked, done = json.loads(body or b"{}"), {"operation_id": 0, "status": "completed"}
        match (method, *rest):
            case ("GET", "exists"):
                result = {"exists": self.local.collection_exists(name)}
            case ("GET",):
                result = self.local.get_collection(name).model_dump(mode="json")
            case ("PUT",):
                vectors = models.VectorParams(**asked["vectors"])
                result = self.local.create_collection(name, vectors, metadata=asked["metadata"])
            case ("PATCH",):
                result = self.local.update_collection(name, metadata=asked["metadata"])
            case ("PUT", "index"):
                result = done
            case ("PUT", "points"):
                self.local.upsert(name, [models.PointStruct(**point) for point in asked["points"]])
                result = done
            case ("POST", "points"):
                found = self.local.retrieve(name, asked["ids"], with_payload=asked["with_payload"])
                result = [point.model_dump(mode="json") for point in found]
            case ("POST", "points", "count"):
                result = {"count": self.local.count(name, _filter(asked)).count}
            case ("POST", "points", "query"):
                found = self.local.query_points(
                    name,
                    query=asked["query"]["nearest"],
                    query_filter=_filter(asked),
                    limit=asked["limit"],
                    with_payload=asked["with_payload"],
                )
                result = {"points": [point.model_dump(mode="json") for point in found.points]}
        return 200, {"result": result, "status": "ok", "time": 0.0}

    def close(self):
        super().close()
        self.local.close()


def _filter(asked):
    from qdrant_client import models

    return models.Filter(**asked["filter"]) if asked.get("filter") else None


class OpenSearchServer(Server):
    """The part of OpenSearch's protocol that the store speaks; a refresh makes written documents findable."""

    def __init__(self):
        self.bodies, self.written, self.seen = {}, {}, {}
        super().__init__()

    def answer(self, method, path, body):  # noqa: C901, PLR0911 - a line for each request
        name, *rest = path.strip("/").split("/")
        if (method, rest) == ("PUT", []):
            return self.create(name, json.loads(body))
        if name not in self.bodies:
            return 404, {
                "error": {"type": "index_not_found_exception", "reason": "no such index"},
                "status": 404,
            }
        asked = json.loads(body) if body and rest != ["_bulk"] else {}
        shards = {"total": 2, "successful": 2, "failed": 0}
        match (method, *rest):
            case ("GET", "_mapping"):
                return 200, {name: {"mappings": self.bodies[name]["mappings"]}}
            case ("PUT", "_mapping"):
                self.bodies[name]["mappings"] |= asked
                return 200, {"acknowledged": True}
            case ("POST", "_bulk"):
                return 200, self.bulk(name, body)
            case ("POST", "_mget"):
                rows = self.written[name]
                docs = [
                    {"_id": key, "found": key in rows, "_source": {"digest": rows[key]["digest"]}}
                    if key in rows
                    else {"_id": key, "found": False}
                    for key in asked["ids"]
                ]
                return 200, {"docs": docs}
            case ("POST", "_refresh"):
                self.seen[name] = dict(self.written[name])
                return 200, {"_shards": shards}
            case ("POST", "_count"):
                return 200, {"count": len(self.kept(name, asked["query"])), "_shards": shards}
            case ("POST", "_search"):
                found = self.search(name, asked)
                return 200, {"timed_out": False, "_shards": shards, "hits": {"hits": found}}
            case ("GET", "_stats", "store"):
                return 200, {"_all": {"primaries": {"store": {"size_in_bytes": 4096}}}}
        return 400, {"error": {"type": "illegal_argument_exception"}, "status": 400}

    def create(self, name, body):
        if name in self.bodies:
            return 400, {"error": {"type": "resource_already_exists_exception"}, "status": 400}
        self.bodies[name], self.written[name], self.seen[name] = body, {}, {}
        return 200, {"acknowledged": True}

    def bulk(self, name, body):
        lines = [json.loads(line) for line in body.splitlines() if line]
        items = []
        for action, row in zip(lines[::2], lines[1::2], strict=True):
            self.written[name][action["index"]["_id"]] = row
            items.append({"index": {"_id": action["index"]["_id"], "status": 201}})
        return {"errors": False, "items": items}

    def kept(self, name, query):
        conditions = query["bool"]["filter"]
        return [row for row in self.seen[name].values() if all(_holds(one, row) for one in conditions)]

    def search(self, name, asked):
        query = asked["query"]
        if "knn" in query:
            near = query["knn"]["vector"]
            rows = self.kept(name, near.get("filter", {"bool": {"filter": []}}))
            space = self.bodies[name]["mappings"]["properties"]["vector"]["method"]["space_type"]
            scores = [_near(row["vector"], near["vector"], space) for row in rows]
        else:
            rows = self.kept(name, query)
            scores = self.bm25(name, rows, query["bool"]["must"][0]["match"]["words"]["query"])
        order = sorted(zip(scores, range(len(rows)), strict=True), key=lambda pair: -pair[0])[: asked["size"]]
        return [
            {"_score": score, "_source": {key: rows[i][key] for key in asked["_source"]}}
            for score, i in order
            if score > 0
        ]

    def bm25(self, name, rows, query):
        """Lucene's BM25, lengths not rounded to a byte, over the word counts of the whole index."""
        similarity = self.bodies[name]["settings"]["index"]["similarity"]["default"]
        everything = [row["words"].split() for row in self.seen[name].values()]
        average = sum(map(len, everything)) / len(everything)
        containing = Counter(word for words in everything for word in set(words))
        scores = []
        for row in rows:
            words = row["words"].split()
            counts, score = Counter(words), 0.0
            length = 1 - similarity["b"] + similarity["b"] * len(words) / average
            for word in query.split():
                held = containing[word]
                idf = math.log(1 + (len(everything) - held + 0.5) / (held + 0.5))
                score += idf * counts[word] / (counts[word] + similarity["k1"] * length)
            scores.append(score)
        return scores


def _near(vector, query, space):
    """The score that OpenSearch documents for a space."""
    if space == "l2":
        return 1 / (1 + float(np.sum((np.array(vector) - query) ** 2)))
    product = float(np.dot(vector, query))
    return product + 1 if product >= 0 else 1 / (1 - product)


def _holds(condition, row):
    if "terms" in condition:
        return row["source"] in condition["terms"]["source"]
    bounds, year = condition["range"]["year"], row["year"]
    return year is not None and bounds.get("gte", 0) <= year <= bounds.get("lte", 9999)
