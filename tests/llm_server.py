"""An OpenAI-compatible server on loopback for tests of the teacher: it answers well, badly or not at all."""

import contextlib
import json
import threading
import time
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

KEY = "house-key-0123456789"  # in HOUSE_KEY, of nobody
# What would lead a request elsewhere, or make the run another: of the machine that runs the tests.
SURROUNDINGS = (
    "OPENAI_API_KEY",
    "OPENAI_BASE_URL",
    "http_proxy",
    "HTTP_PROXY",
    "all_proxy",
    "ALL_PROXY",
    "PYTEST_XDIST_WORKER_COUNT",
    "CI",
    "GITHUB_ACTIONS",
)
RETRY_AFTER = "0.01"
SLOW = 0.4  # seconds, above the timeout of the tests
FLAVOURS = ("openai", "ollama", "vllm")


def told(asked):
    """Returns what the user message holds, and the system message."""
    system, user = (message["content"] for message in asked["messages"][:2])
    return system, json.loads(user)


def judgement(asked):
    """Judges by words: a passage that holds the claim entails it, any passage contradicts "Moonlight"."""
    _, data = told(asked)
    claim = data["claim"].rstrip(".")
    for passage in data["passages"]:
        if claim.lower() in passage["text"].lower():
            return {
                "label": "entail",
                "evidence": [{"passage": passage["passage"], "stance": "entail", "quote": claim}],
            }
    if "Moonlight" in claim:
        return {
            "label": "contradict",
            "evidence": [{"passage": 1, "stance": "contradict", "quote": data["passages"][0]["text"]}],
        }
    return {"label": "neutral", "evidence": []}


def reply(asked):
    """Returns the text of a good reply to a request of any role."""
    system, data = told(asked)
    if "check a claim" in system:
        return json.dumps(judgement(asked))
    if "into its claims" in system:
        return json.dumps(
            {"claims": [part.strip() + "." for part in data["answer"].split(".") if part.strip()]}
        )
    if "grade passages" in system:
        words = set(data["question"].lower().strip("?").split())
        shared = [len(words & set(one["text"].lower().strip(".").split())) for one in data["passages"]]
        return json.dumps({"grades": [{"passage": i, "grade": min(10, n)} for i, n in enumerate(shared, 1)]})
    if "answer a medical question" in system:
        return f"{data['passages'][0]['text']} [1]"
    if "question was lost" in system:
        asked = [
            "What treats iron deficiency?",
            "What helps against iron deficiency?",
            "Why take iron tablets?",
        ]
        return json.dumps({"evasive": False, "questions": asked})
    return "This passage is about iron."


class LlmServer:
    """Answers as the server of `flavour` does.

    `faults` come first, a fault a request; with `always` the last fault comes to each request. `reply` makes
    the text of an answer from the request.
    """

    def __init__(self, flavour="openai"):
        self.flavour, self.requests, self.headers = flavour, [], []
        self.faults, self.always, self.reply = [], False, reply
        self.at_a_time = self.most = 0
        self._guard = threading.Lock()
        server = self

        class Handler(BaseHTTPRequestHandler):
            def do_POST(self):
                asked = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
                with server._guard:
                    server.requests.append(asked)
                    server.headers.append({name.lower(): value for name, value in self.headers.items()})
                    server.at_a_time += 1
                    server.most = max(server.most, server.at_a_time)
                    fault = server.next_fault()
                try:
                    with contextlib.suppress(OSError):
                        server.answer(self, asked, fault)
                finally:
                    with server._guard:
                        server.at_a_time -= 1

            def log_message(self, *_):
                pass

        self.http = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self.http.daemon_threads = True
        self.url = f"http://127.0.0.1:{self.http.server_address[1]}/v1"
        threading.Thread(target=self.http.serve_forever, kwargs={"poll_interval": 0.02}, daemon=True).start()

    def next_fault(self):
        if not self.faults:
            return ""
        return self.faults[0] if self.always and len(self.faults) == 1 else self.faults.pop(0)

    def close(self):
        self.http.shutdown()
        self.http.server_close()

    def answer(self, handler, asked, fault):
        if self.flavour == "ollama" and "response_format" in asked:
            send(handler, 400, {"error": {"message": "json: unknown field response_format"}})
        elif fault in ("400", "401", "404", "429", "500"):
            send(handler, int(fault), {"error": {"message": f"refused, {handler.headers['Authorization']}"}})
        elif fault == "html":
            send(handler, 200, "<html><body>Sign in</body></html>", kind="text/html")
        elif fault == "cut":
            send(handler, 200, self.body(asked, self.reply(asked)), missing=40)
        else:
            if fault == "slow":
                time.sleep(SLOW)
            send(handler, 200, self.body(asked, TEXTS.get(fault, self.reply)(asked)))

    def body(self, asked, text):
        """Returns a completion as the flavour words it."""
        message = {"role": "assistant", "content": text}
        usage = {"prompt_tokens": 100, "completion_tokens": 20, "total_tokens": 120}
        if self.flavour == "ollama":  # reasoning within the text, no usage
            message["content"] = f'<think>The claim... {{"label": "entail"}}</think>\n\n```json\n{text}\n```'
            usage = None
        if self.flavour == "vllm":  # reasoning beside the text
            message |= {"reasoning_content": 'I think {"label": "entail"}', "tool_calls": []}
        row = {
            "id": "x",
            "object": "chat.completion",
            "created": 1,
            "model": f"{asked['model']}-2026",
            "choices": [{"index": 0, "message": message, "finish_reason": "stop", "logprobs": None}],
        }
        return row | ({"usage": usage} if usage else {})


def send(handler, status, body, *, kind="application/json", missing=0):
    text = body.encode() if isinstance(body, str) else json.dumps(body).encode()
    handler.send_response(status)
    handler.send_header("Content-Type", kind)
    handler.send_header("Content-Length", str(len(text)))
    handler.send_header("Retry-After", RETRY_AFTER)
    handler.send_header("Connection", "close")
    handler.end_headers()
    handler.wfile.write(text[: len(text) - missing])
    handler.close_connection = True


# Faults whose completion is whole and whose text is none that can be used.
TEXTS = {
    "schema": lambda _: '{"verdict": "yes"}',
    "label": lambda _: '{"label": "certainly", "evidence": []}',
    "empty": lambda _: "",
    "unquoted": lambda _: (
        '{"label": "entail", "evidence": [{"passage": 1, "stance": "entail", "quote": "words that nobody '
        'wrote"}]}'
    ),
    "bare": lambda _: '{"label": "entail", "evidence": []}',
    "nan": lambda _: '{"label": "entail", "evidence": [], "score": NaN}',
    "prose": lambda _: "The claim is supported.",
    "two": lambda _: '{"label": "neutral", "evidence": []} {"label": "entail", "evidence": []}',
    "unfinished": lambda _: "<think>Let me see",
}
TRANSPORT = ("429", "500", "slow", "cut", "html", "400")
FAULTS = (*TRANSPORT, *TEXTS)
