"""Keeps the card of a run as one comment on a pull request (GitHub) or merge request (GitLab).

This is the only module that talks to a CI service, and only `medfaith comment` calls it.
"""

from __future__ import annotations

import json
import re
import urllib.error
import urllib.request
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

from pytest_medfaith.errors import DataError
from pytest_medfaith.plain import plain_lines

_MOST_CHARACTERS = 60_000  # GitHub refuses a body above 65,536 characters
_CUT = "\n\n… cut here: the whole card is card.md of the run folder.\n"
_PULL = re.compile(r"refs/pull/(\d+)/")
_NAME = re.compile(r"[\w.-]+")
_REFUSED = {401, 403, 404}  # a token without the right, as on a fork, or none of this project
_PAGES = 30
_SECONDS = 20.0
_MEMBERS = {"OWNER", "MEMBER", "COLLABORATOR"}


@dataclass(frozen=True, kw_only=True)
class Request:
    """How to reach the comments of a pull request (GitHub) or a merge request (GitLab).

    Attributes:
        many: the URL that lists the comments, and to which a new comment is posted.
        one: the URL of a comment without its id: a comment is changed at `{one}/{id}`.
        headers: of every call; they hold the token.
        is_github: False for GitLab.
    """

    many: str
    one: str
    headers: Mapping[str, str]
    is_github: bool


class _Refused(Exception):
    """The token may not do this."""


class _NoRedirect(urllib.request.HTTPRedirectHandler):
    """Follows no redirect, which would take the token to another host."""

    def redirect_request(self, *_: Any) -> None:
        """Returns None: the redirect becomes an error."""


def request_of(environ: Mapping[str, str]) -> Request | str:
    """Returns how to reach the request that a CI job runs for, or as text why there is none.

    Raises:
        DataError: the address of the service is no https, so that others could read the token.
    """
    if environ.get("GITHUB_ACTIONS") == "true":
        return _on_github(environ)
    if environ.get("GITLAB_CI") == "true":
        return _on_gitlab(environ)
    return "this is no job of GitHub Actions or GitLab CI"


def _on_github(environ: Mapping[str, str]) -> Request | str:
    pull = _PULL.match(environ.get("GITHUB_REF", ""))
    token = environ.get("GITHUB_TOKEN", "")
    if pull is None:
        return "this job runs for no pull request"
    if not token:
        return "GITHUB_TOKEN is not set; expected a token with pull-requests: write"
    root = (
        f"{_safe(environ.get('GITHUB_API_URL', 'https://api.github.com'))}/repos/"
        f"{environ['GITHUB_REPOSITORY']}"
    )
    headers = {"Authorization": f"Bearer {token}", "Accept": "application/vnd.github+json"}
    many = f"{root}/issues/{pull[1]}/comments"
    return Request(many=many, one=f"{root}/issues/comments", headers=headers, is_github=True)


def _on_gitlab(environ: Mapping[str, str]) -> Request | str:
    number, token = environ.get("CI_MERGE_REQUEST_IID", ""), environ.get("MEDFAITH_GITLAB_TOKEN", "")
    if not number:
        return "this job runs for no merge request"
    if not token:
        return "MEDFAITH_GITLAB_TOKEN is not set; expected a token with the scope api"
    root = (
        f"{_safe(environ['CI_API_V4_URL'])}/projects/{environ['CI_PROJECT_ID']}/merge_requests/{number}/notes"
    )
    return Request(many=root, one=root, headers={"PRIVATE-TOKEN": token}, is_github=False)


def _safe(address: str) -> str:
    parts = urlsplit(address)
    if parts.scheme != "https" and parts.hostname not in ("127.0.0.1", "localhost", "::1"):
        raise DataError(
            f"the address of the service is {address!r}; expected https, since a token is sent there"
        )
    return address.rstrip("/")


def comment_body(folder: Path, *, name: str) -> str:
    """Returns the text of the comment on the run in `folder`, which may be that there is no result.

    Raises:
        DataError: a name with signs that could end the mark by which the comment is found again.
    """
    if not _NAME.fullmatch(name):
        raise DataError(f"--name is {name!r}; expected letters, digits, dots and dashes")
    try:
        card = (folder / "card.md").read_text(encoding="utf-8")
    except (OSError, ValueError):
        card = (
            f"### medfaith: NO RESULT\n\nThe run left no card in {folder.name}, so nothing says that it "
            f"passes.\n"
        )
    card = card.replace("@", "@\u200b")  # an answer that names @someone calls nobody
    if len(card) > _MOST_CHARACTERS:
        card = card[:_MOST_CHARACTERS].rpartition("\n")[0] + _CUT
    return f"{_mark(name)}\n{card}"


def _mark(name: str) -> str:
    return f"<!-- medfaith comment: {name} -->"


def upsert(request: Request, body: str, *, name: str) -> str:
    """Writes the comment, or changes that of an earlier run with the same `name`. Returns what was done.

    Where the token may not comment, it returns that instead.

    Raises:
        DataError: the service cannot be reached, or answers with something else.
    """
    try:
        known = next((one for one in _comments(request) if _is_ours(one, name, request)), None)
        if known is None:
            _call(request, request.many, {"body": body}, "POST")
            return "comment written"
        _call(
            request, f"{request.one}/{known['id']}", {"body": body}, "PATCH" if request.is_github else "PUT"
        )
    except _Refused as refused:
        return (
            f"no comment: the token may not comment here ({refused}); on GitHub it needs pull-requests: "
            "write, which a fork does not get. The card is in the summary of the step and in the run folder"
        )
    return "comment changed"


def _comments(request: Request) -> Iterator[dict[str, Any]]:
    for page in range(1, _PAGES + 1):
        found = _call(request, f"{request.many}?per_page=100&page={page}", None, "GET")
        if not isinstance(found, list):
            raise DataError(f"{request.many} gave {type(found).__name__}, expected a list of comments")
        yield from (one for one in found if isinstance(one, dict))
        if len(found) < 100:
            return


def _is_ours(comment: Mapping[str, Any], name: str, request: Request) -> bool:
    """Returns whether a comment is of an earlier run: it has the mark, and a bot or a member wrote it."""
    if not str(comment.get("body", "")).startswith(_mark(name)):
        return False
    is_bot = (comment.get("user") or {}).get("type") == "Bot"
    return not request.is_github or is_bot or comment.get("author_association") in _MEMBERS


def _call(request: Request, address: str, body: Mapping[str, str] | None, method: str) -> Any:
    data = None if body is None else json.dumps(body).encode()
    headers = {**request.headers, "Content-Type": "application/json", "User-Agent": "pytest-medfaith"}
    call = urllib.request.Request(  # noqa: S310 - see _safe
        address, data=data, headers=headers, method=method
    )
    try:
        with urllib.request.build_opener(_NoRedirect).open(call, timeout=_SECONDS) as answer:
            return json.loads(answer.read())
    except urllib.error.HTTPError as error:
        if error.code in _REFUSED:
            raise _Refused(f"status {error.code}") from None
        raise DataError(f"{address} answered with status {error.code}; run the step again") from None
    except (OSError, ValueError) as error:
        said = plain_lines(str(error))
        raise DataError(f"{address} cannot be reached or read ({said}); run the step again") from None
