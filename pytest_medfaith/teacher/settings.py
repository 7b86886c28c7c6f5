"""The table `[tool.medfaith.llm]`: which LLM is asked, where, how often, for how much, and whether at all."""

from __future__ import annotations

import hashlib
import os
import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Literal

from pytest_medfaith import defaults
from pytest_medfaith.errors import DataError
from pytest_medfaith.models.endpoint import KEY_VARIABLE, RETRIES, SECONDS, endpoint_address

Mode = Literal["off", "replay", "record", "live"]
MODES: tuple[Mode, ...] = ("off", "replay", "record", "live")
TEACHER = "teacher"  # what the LLM is called as a checker, as an extractor and as a reranker
# Inclusive ends of the numbers; `config` checks them.
RANGES: Mapping[str, tuple[float, float]] = {
    "temperature": (0.0, 2.0),
    "samples": (1, 25),
    "reply_tokens": (16, 1_000_000),
    "timeout": (0.01, 3600.0),
    "retries": (0, 20),
    "concurrency": (1, 256),
    "requests_per_minute": (0.1, 1_000_000.0),
    "token_budget": (1, float("inf")),
    "money_budget": (0.000001, float("inf")),
    "price_in": (0.0, float("inf")),
    "price_out": (0.0, float("inf")),
}
_VARIABLE = re.compile(r"[A-Za-z_][A-Za-z0-9_]*")


@dataclass(frozen=True, kw_only=True)
class LlmSettings:
    """How the teacher, an LLM, is asked.

    Attributes:
        model: its name at the endpoint; "" where there is no teacher.
        base_url: address of the endpoint; "" takes OPENAI_BASE_URL, else OpenAI's.
        key_env: name of the environment variable that holds the key; no setting holds the key itself.
        mode: off, replay (from the cassette), record (into it) or live; None is decided by `mode_of`. The
            option `--medfaith-llm` beats it.
        cassette: the file of recorded requests and answers.
        temperature: of each request, 0 to 2.
        seed: of the first sample; each further sample has the next number.
        samples: how often each item is judged; the spread is shown.
        reply_tokens: tokens of a reply, at most.
        timeout: seconds after which a request without an answer has failed.
        retries: how often a failed request is sent again.
        concurrency: how many requests are sent at a time.
        requests_per_minute: at most so many; None sets no limit.
        token_budget: tokens of a run at most, prompts and replies together; None sets no limit.
        money_budget: cost of a run at most, in `currency`; None sets no limit.
        price_in: of a million tokens of prompts; None where it is not known.
        price_out: of a million tokens of replies; None where it is not known.
        currency: of prices and budget.
        allow_same_family: True gives no warning where the judge is of the same family as the model that
            answered.
    """

    model: str = ""
    base_url: str = field(default="", repr=False)  # it may hold a password
    key_env: str = KEY_VARIABLE
    mode: Mode | None = None
    cassette: Path = Path(defaults.CASSETTE)
    temperature: float = defaults.LLM_TEMPERATURE
    seed: int = defaults.SEED
    samples: int = defaults.LLM_SAMPLES
    reply_tokens: int = defaults.LLM_REPLY_TOKENS
    timeout: float = SECONDS
    retries: int = RETRIES
    concurrency: int = defaults.LLM_CONCURRENCY
    requests_per_minute: float | None = None
    token_budget: int | None = None
    money_budget: float | None = None
    price_in: float | None = None
    price_out: float | None = None
    currency: str = defaults.LLM_CURRENCY
    allow_same_family: bool = False

    @property
    def has_prices(self) -> bool:
        """Whether both prices are set, so that the cost of a request is known."""
        return self.price_in is not None and self.price_out is not None


def check_settings(settings: LlmSettings) -> None:
    """Refuses settings with which no LLM can be asked. Messages do not repeat a value that may be a key.

    Raises:
        DataError: `key_env` is no name of a variable, `base_url` no address, or a money budget is set without
            prices.
    """
    if not _VARIABLE.fullmatch(settings.key_env):
        raise DataError(
            "[tool.medfaith.llm] key_env is no name of an environment variable; expected the name of the "
            f'variable that holds the key, such as key_env = "{KEY_VARIABLE}", and never the key itself'
        )
    if not endpoint_address(settings.base_url):
        raise DataError(
            "[tool.medfaith.llm] base_url (or OPENAI_BASE_URL) is no address of http or https; expected for "
            'example base_url = "http://localhost:11434/v1"'
        )
    if settings.money_budget is not None and not settings.has_prices:
        raise DataError(
            f"[tool.medfaith.llm] money_budget is {settings.money_budget!r}, and no prices are set, so "
            "nothing would be counted; set price_in and price_out, each for a million tokens"
        )


def asking_signature(settings: LlmSettings, prompt: str) -> str:
    """Returns what decides an LLM's replies: "teacher|MODEL|DIGEST|temperature=0|seed=0|samples=1".

    The digest is the prompt's. The address is not in it: a model is the same behind a proxy.
    """
    digest = hashlib.sha256(prompt.encode()).hexdigest()[:12]
    return (
        f"{TEACHER}|{settings.model}|{digest}|temperature={settings.temperature:g}|seed={settings.seed}"
        f"|samples={settings.samples}"
    )


def mode_of(settings: LlmSettings, environ: Mapping[str, str] = os.environ) -> Mode:
    """Returns whether requests are replayed, recorded, sent or refused: the mode of the settings, if set.

    Otherwise "replay" if the cassette exists. Without a cassette it is "off" in CI and "live" elsewhere.
    """
    if settings.mode is not None:
        return settings.mode
    if settings.cassette.is_file():
        return "replay"
    in_ci = environ.get("CI", "").lower() not in ("", "0", "false") or environ.get("GITHUB_ACTIONS") == "true"
    return "off" if in_ci else "live"
