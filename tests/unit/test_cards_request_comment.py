"""The comment on a pull or merge request, against a service on the loopback address."""

import json
import threading
from http.server import BaseHTTPRequestHandler, HTTPServer

import pytest

from pytest_medfaith.cards.request_comment import comment_body, request_of, upsert
from pytest_medfaith.errors import DataError

BOT = {"type": "Bot", "login": "github-actions[bot]"}


class Service(BaseHTTPRequestHandler):
    status = 200

    def log_message(self, *_):
        pass

    def _answer(self, value, status=200):
        type(self).calls.append(
            (self.command, self.path, self.headers.get("Authorization") or self.headers.get("PRIVATE-TOKEN"))
        )
        self.send_response(self.status if self.status != 200 else status)
        if self.status == 302:
            self.send_header("Location", "http://example.org/elsewhere")
        self.end_headers()
        self.wfile.write(json.dumps(value).encode())

    def _body(self):
        return json.loads(self.rfile.read(int(self.headers["Content-Length"])))["body"]

    def do_GET(self):
        page = int(self.path.rpartition("page=")[2])
        self._answer(self.comments[100 * (page - 1) : 100 * page])

    def do_POST(self):
        body = self._body()
        if self.status == 200:
            self.comments.append({"id": 900 + len(self.comments), "body": body, "user": BOT})
        self._answer({}, 201)

    def do_PATCH(self):
        number, body = int(self.path.rpartition("/")[2]), self._body()
        next(one for one in self.comments if one["id"] == number)["body"] = body
        self._answer({})

    do_PUT = do_PATCH  # noqa: N815 - as the server asks for it


@pytest.fixture
def service():
    class Fresh(Service):
        comments, calls = [], []

    server = HTTPServer(("127.0.0.1", 0), Fresh)
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01})
    thread.start()
    Fresh.address = f"http://127.0.0.1:{server.server_port}"
    yield Fresh
    server.shutdown()
    thread.join()
    server.server_close()


def github(service, **more):
    told = {"GITHUB_ACTIONS": "true", "GITHUB_REF": "refs/pull/12/merge", "GITHUB_TOKEN": "secret"}
    return {**told, "GITHUB_REPOSITORY": "a/b", "GITHUB_API_URL": service.address, **more}


def gitlab(service):
    told = {"GITLAB_CI": "true", "CI_MERGE_REQUEST_IID": "7", "MEDFAITH_GITLAB_TOKEN": "secret"}
    return {**told, "CI_API_V4_URL": service.address, "CI_PROJECT_ID": "5"}


@pytest.fixture
def run(tmp_path):
    (tmp_path / "card.md").write_text("### medfaith: 1 slice\n\nAsk @someone.\n", encoding="utf-8")
    return tmp_path


@pytest.mark.parametrize("environ", [github, gitlab])
def test_there_is_a_single_comment_and_it_is_changed(service, run, environ):
    request = request_of(environ(service))
    service.comments += [{"id": number, "body": "hello", "user": BOT} for number in range(150)]  # two pages
    assert upsert(request, comment_body(run, name="medfaith"), name="medfaith") == "comment written"
    (run / "card.md").write_text("### medfaith: another\n")
    assert upsert(request, comment_body(run, name="medfaith"), name="medfaith") == "comment changed"
    ours = [one["body"] for one in service.comments if "medfaith comment: medfaith" in one["body"]]
    assert ours == ["<!-- medfaith comment: medfaith -->\n### medfaith: another\n"]
    assert {call[2] for call in service.calls} <= {"Bearer secret", "secret"}


def test_two_suites_have_two_comments(service, run):
    request = request_of(github(service))
    for name in ("one", "two", "one"):
        upsert(request, comment_body(run, name=name), name=name)
    assert len(service.comments) == 2


def test_a_stranger_s_comment_with_the_mark_is_not_taken_for_ours(service, run):
    body = comment_body(run, name="medfaith")
    service.comments.append({"id": 1, "body": body, "user": {"type": "User"}, "author_association": "NONE"})
    assert upsert(request_of(github(service)), body, name="medfaith") == "comment written"


def test_a_run_without_a_card_takes_an_earlier_green_comment_back(service, run):
    request = request_of(github(service))
    upsert(request, comment_body(run, name="medfaith"), name="medfaith")
    upsert(request, comment_body(run / "nothing", name="medfaith"), name="medfaith")
    (comment,) = service.comments
    assert "NO RESULT" in comment["body"]


@pytest.mark.parametrize("status", [401, 403, 404])
def test_a_token_that_may_not_comment_is_no_failure(service, run, status):
    service.status = status
    said = upsert(request_of(github(service)), comment_body(run, name="m"), name="m")
    assert said.startswith(f"no comment: the token may not comment here (status {status})")


@pytest.mark.parametrize("status", [302, 422, 500])
def test_any_other_answer_is_an_error_and_no_redirect_is_followed(service, run, status):
    service.status = status
    with pytest.raises(DataError, match=f"answered with status {status}"):
        upsert(request_of(github(service)), comment_body(run, name="m"), name="m")
    assert len(service.calls) == 1


def test_a_service_that_is_not_there_is_an_error(run):
    environ = {**github(type("S", (), {"address": "http://127.0.0.1:9"}))}
    with pytest.raises(DataError, match="cannot be reached or read"):
        upsert(request_of(environ), comment_body(run, name="m"), name="m")


@pytest.mark.parametrize(
    ("environ", "why"),
    [
        ({}, "this is no job of GitHub Actions or GitLab CI"),
        ({"GITHUB_ACTIONS": "true", "GITHUB_REF": "refs/heads/main"}, "no pull request"),
        ({"GITHUB_ACTIONS": "true", "GITHUB_REF": "refs/pull/1/merge"}, "GITHUB_TOKEN is not set"),
        ({"GITLAB_CI": "true"}, "no merge request"),
        ({"GITLAB_CI": "true", "CI_MERGE_REQUEST_IID": "1"}, "MEDFAITH_GITLAB_TOKEN is not set"),
    ],
)
def test_where_no_comment_can_be_there_is_a_reason(environ, why):
    assert why in request_of(environ)


def test_a_token_is_sent_to_no_plain_address(service):
    with pytest.raises(DataError, match="expected https, since a token is sent there"):
        request_of(github(service, GITHUB_API_URL="http://example.org"))


def test_a_long_card_is_cut_and_nobody_is_called(run):
    assert "@someone" not in comment_body(run, name="m")
    (run / "card.md").write_text("a line of the card\n" * 20_000)
    body = comment_body(run, name="m")
    assert len(body) < 65_536
    assert body.endswith("… cut here: the whole card is card.md of the run folder.\n")
    with pytest.raises(DataError, match="expected letters, digits, dots and dashes"):
        comment_body(run, name="a --> b")
