"""Models of other makers, from a folder or a hub: their weights are read, their code never runs."""

from __future__ import annotations

import json
from collections.abc import Iterator
from contextlib import contextmanager
from logging import CRITICAL
from pathlib import Path
from typing import Any, Literal

from pytest_medfaith.errors import DataError, MissingExtra
from pytest_medfaith.models.pace import asked_threads

_LONGEST = 300  # characters of a library's message that are shown; some print whole tables
_OTHER_SIZES = "the weights have other sizes than config.json says, such as another number of labels"
_KNOWN_CODE = "sentence_transformers."


@contextmanager
def loading(what: str, expected: str) -> Iterator[None]:
    """Turns every error while a model is loaded into a DataError with a single message.

    Args:
        what: the model, as in "the checker 'name'".
        expected: what would have worked.

    Raises:
        DataError: loading failed. The libraries raise classes that have no common base but Exception.
    """
    try:
        with _quiet():
            yield
    except DataError:
        raise
    except Exception as error:
        if "trust_remote_code" in str(error):
            raise DataError(
                f"{what} needs code that comes with the model, which is never run; expected {expected}"
            ) from error
        said = " ".join(str(error).split()) or type(error).__name__
        if "use_safetensors" in said:  # a model on the hub
            raise DataError(_pickled(what, "weights that are not safetensors")) from error
        said = (
            _OTHER_SIZES if "ignore_mismatched_sizes" in said else said
        )  # the report that it names is not shown
        said = said if len(said) <= _LONGEST else said[: _LONGEST - 1] + "…"
        raise DataError(f"{what} cannot be loaded ({said}); expected {expected}") from error


def load_foreign(
    name: str,
    what: str,
    *,
    kind: Literal["AutoModel", "AutoModelForSequenceClassification", "AutoModelForSeq2SeqLM"],
    expected: str,
    gives: str,
    unused: str | None = None,
) -> tuple[Any, Any, Any]:
    """Returns (model, tokenizer, torch): the model of a folder or a Hugging Face name, ready to read.

    Args:
        name: a folder or a name on the hub.
        what: the model in messages, as in "the checker 'name'".
        kind: the class of transformers that reads it.
        expected: what would have worked.
        gives: what would be random with missing weights, as in "its vectors".
        unused: the beginning of names of weights that may be missing; None where all are needed.

    Raises:
        MissingExtra: the extra `models` is not installed.
        DataError: there is no such model, it needs code that comes with it, or weights are missing.
    """
    try:
        import torch
        import transformers
    except ImportError:
        raise MissingExtra(what, "models") from None
    if threads := asked_threads():
        torch.set_num_threads(threads)
    refuse_pickled_weights(Path(name), what, kind=kind)
    with loading(what, expected):
        model, info = getattr(transformers, kind).from_pretrained(
            name, use_safetensors=True, trust_remote_code=False, output_loading_info=True
        )
        absent = [key for key in sorted(info["missing_keys"]) if unused is None or not key.startswith(unused)]
        if absent:  # transformers would fill them with random numbers
            raise DataError(
                f"{what} lacks weights ({', '.join(absent[:3])}), so {gives} would be random; "
                f"expected {expected}"
            )
        tokenizer = transformers.AutoTokenizer.from_pretrained(name, trust_remote_code=False)
        return model.eval(), tokenizer, torch


def refuse_pickled_weights(folder: Path, what: str, *, kind: str) -> None:
    """Checks that a folder's weights are not only pickled: a pickle runs whatever code is in it.

    Args:
        folder: the model's folder; a name on the hub passes.
        what: the model in messages.
        kind: the class of transformers that reads it.

    Raises:
        DataError: the folder has `pytorch_model.bin` or the like, and no safetensors.
    """
    pickled = sorted(path.name for path in folder.glob("*.bin")) if folder.is_dir() else []
    if pickled and not any(folder.glob("*.safetensors")):
        raise DataError(_pickled(what, pickled[0], folder=str(folder), kind=kind))


def _pickled(what: str, found: str, *, folder: str = "FOLDER", kind: str = "AutoModel") -> str:
    """Returns the message on pickled weights, with the command that converts them."""
    return (
        f"{what} has {found} alone. Pickled weights can run code when they are read, so only safetensors are "
        'read. Where you trust who made the file, convert it once: python -c "from transformers import '
        f"{kind} as M; M.from_pretrained('{folder}').save_pretrained('{folder}')\""
    )


@contextmanager
def _quiet() -> Iterator[None]:
    """Keeps transformers from printing tables and bars while it loads; errors are raised all the same."""
    from transformers.utils import logging

    level, bars = logging.get_verbosity(), logging.is_progress_bar_enabled()
    logging.set_verbosity(CRITICAL)
    logging.disable_progress_bar()  # type: ignore[no-untyped-call]
    try:
        yield
    finally:
        logging.set_verbosity(level)
        if bars:
            logging.enable_progress_bar()  # type: ignore[no-untyped-call]


def refuse_foreign_modules(folder: Path, what: str) -> None:
    """Checks that a sentence-transformers folder has only known classes: older versions import any class.

    A folder without modules.json passes.

    Raises:
        DataError: modules.json names a class of another package, or cannot be read.
    """
    path = folder / "modules.json"
    if not path.is_file():
        return
    try:
        types = [str(row["type"]) for row in json.loads(path.read_text(encoding="utf-8"))]
    except (OSError, ValueError, TypeError, KeyError, RecursionError) as error:
        raise DataError(
            f"{what}: {path} cannot be read ({error!r}); expected a list of modules, each with a type"
        ) from error
    foreign = [name for name in types if not name.startswith(_KNOWN_CODE)]
    if foreign:
        raise DataError(
            f"{what} is built of {foreign[0]!r}, code from elsewhere, which is never run; "
            f"expected modules of {_KNOWN_CODE[:-1]}"
        )
