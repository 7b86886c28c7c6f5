"""`medfaith serve`: the checker behind HTTP, and a page to try answers on."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Annotated, Any

import typer

from pytest_medfaith.commands.parts import LlmOption, RootOption, RulesOffOption, llm_mode, say

TOKEN = "MEDFAITH_SERVE_TOKEN"  # noqa: S105 - the name of a variable
_LOOPBACK = ("127.0.0.1", "localhost", "[::1]")
_STOPPING = 30  # seconds in which open requests may end

SliceOption = Annotated[
    str,
    typer.Option("--slice", help="The slice whose corpus, retriever, checker and k serve; none by default."),
]
ServedCheckerOption = Annotated[
    str, typer.Option("--checker", help="A checker in place of the slice's; default where there is none.")
]
HostOption = Annotated[str, typer.Option(help="The address to bind; by default this machine alone.")]
PortOption = Annotated[int, typer.Option(min=0, max=65535, help="The port; 0 takes a free one.")]
NameOption = Annotated[
    list[str] | None,
    typer.Option(
        "--name", help="A host name that requests may use, beside the bound address; again for more."
    ),
]
WaitingOption = Annotated[
    int, typer.Option(min=1, help="Requests that may wait; more are refused with status 429.")
]
SecondsOption = Annotated[float, typer.Option(min=0.1, help="Seconds in which an answer must be judged.")]
BodyOption = Annotated[int, typer.Option("--body-bytes", min=1, help="The largest request, in bytes.")]
ClaimsOption = Annotated[int, typer.Option(min=1, help="The most claims of an answer.")]
PassagesOption = Annotated[int, typer.Option("--contexts", min=1, help="The most passages of a request.")]


def serve(
    slice_name: SliceOption = "",
    checker: ServedCheckerOption = "",
    host: HostOption = "127.0.0.1",
    port: PortOption = 8765,
    name: NameOption = None,
    waiting: WaitingOption = 16,
    seconds: SecondsOption = 120.0,
    body_bytes: BodyOption = 1_000_000,
    claims: ClaimsOption = 200,
    contexts: PassagesOption = 100,
    rules_off: RulesOffOption = None,
    llm: LlmOption = None,
    root: RootOption = Path(),
) -> None:
    """Serve the checker over HTTP, with a page to try answers on.

    Example: medfaith serve --slice samples

    Where the environment variable MEDFAITH_SERVE_TOKEN is set, requests must bring it as a bearer token.
    Texts of requests are never logged. Ctrl-C ends the server when open requests are answered.
    """
    from pytest_medfaith.run.options import Options

    needs_extra()
    from pytest_medfaith.serve.limits import Limits
    from pytest_medfaith.serve.service import Service

    limits = Limits(body_bytes=body_bytes, claims=claims, contexts=contexts, waiting=waiting, seconds=seconds)
    options = Options(rules_off=tuple(rules_off or ()), llm=llm_mode(llm))
    service = Service(root.resolve(), slice_name, checker, limits, options)
    service.load()
    _run(service, host=host, port=port, names=tuple(name or ()), token=os.environ.get(TOKEN, ""))


def needs_extra() -> None:
    """Raises MissingExtra where the server's packages are not installed."""
    from pytest_medfaith.errors import MissingExtra

    try:
        import fastapi  # noqa: F401
        import jinja2  # noqa: F401
        import prometheus_client  # noqa: F401
        import uvicorn  # noqa: F401
    except ImportError as error:
        raise MissingExtra("medfaith serve", "serve") from error


def _run(service: Any, *, host: str, port: int, names: tuple[str, ...], token: str) -> None:
    import uvicorn

    from pytest_medfaith.serve.app import make_app

    is_local = host in ("127.0.0.1", "localhost", "::1")
    known = (*names, *(_LOOPBACK if is_local else ()))
    if not is_local and not token:
        say(
            f"WARNING: {host} can be reached from other machines, and no token is asked for; set {TOKEN}",
            err=True,
        )

    class Server(uvicorn.Server):
        """Says where it listens, once it does: the port may have been chosen by the system."""

        async def startup(self, sockets: Any = None) -> None:
            await super().startup(sockets)
            if self.started:
                bound = self.servers[0].sockets[0].getsockname()[1]
                shown = f"[{host}]" if ":" in host else host
                checker = service.checker.name
                say(f"Serving on http://{shown}:{bound}/ (checker {checker}); Ctrl-C ends it")

    app = make_app(service, token=token, hosts=known if is_local or names else ())
    config = uvicorn.Config(
        app,
        host=host,
        port=port,
        access_log=False,  # Prometheus counts requests; a log of them would say who asked
        log_level="warning",
        server_header=False,
        timeout_graceful_shutdown=_STOPPING,
    )
    server = Server(config)
    server.run()
    if not server.started:
        raise typer.Exit(2)
