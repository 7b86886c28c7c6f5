"""How known families of encoders are to be read, from what their authors declare.

Example: MedCPT has one model for questions and one for articles (its two towers). Both give the vector of the
first token (CLS). The article model reads title and abstract as a pair, and vectors are compared by inner
product as they are. Another pooling, or the wrong tower, gives numbers too, only worse ones.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

from pytest_medfaith.errors import DataError

Pooling = Literal["cls", "mean"]
Metric = Literal["ip", "l2"]
Titles = Literal["text", "pair", "separator"]


@dataclass(frozen=True, kw_only=True)
class KnownEncoder:
    """How the model of a family is read.

    Attributes:
        name: what users call it.
        models: Hugging Face names: one model, or the model for questions and the model for documents. () for
            a mere way of reading, such as "mean", whose model the user names.
        pooling: what becomes of the last layer's vectors: the first token's is taken (cls), or their mean.
        titles: how a document's title is read: as the beginning of its text (text), as the first text of a
            pair (pair), or before the separator token (separator).
        query_prefix: put before each question.
        document_prefix: put before each document.
        normalised: whether vectors are scaled to length 1.
        metric: how vectors are compared: by inner product (ip), or by Euclidean distance (l2).
        query_tokens: tokens of a question that the model reads; the rest is cut.
        document_tokens: tokens of a document that the model reads; the rest is cut.
        source: where the authors declare these values.
    """

    name: str
    models: tuple[str, ...] = ()
    pooling: Pooling
    titles: Titles = "text"
    query_prefix: str = ""
    document_prefix: str = ""
    normalised: bool = True
    metric: Metric = "ip"
    query_tokens: int = 512
    document_tokens: int = 512
    source: str

    @property
    def reading(self) -> str:
        """The values in words: "cls pooling, title and text as a pair, inner product, 64 and 512 tokens".

        Signatures hold this text: if its wording changes, every index is built anew.
        """
        titles = {"text": "", "pair": "title and text as a pair", "separator": "title before the separator"}
        prefixes = [repr(text) for text in (self.query_prefix, self.document_prefix) if text]
        similarity = "cosine" if self.normalised else {"ip": "inner product", "l2": "distance"}[self.metric]
        parts = (
            f"{self.pooling} pooling",
            titles[self.titles],
            f"prefix {' and '.join(prefixes)}" if prefixes else "",
            similarity,
            f"{self.query_tokens} and {self.document_tokens} tokens"
            if self.query_tokens != self.document_tokens
            else f"{self.query_tokens} tokens",
        )
        return ", ".join(filter(None, parts))


_BGE_QUERY = "Represent this sentence for searching relevant passages: "


def _sizes(name: str, model: str, sizes: str, **values: object) -> list[KnownEncoder]:
    """Returns a record for each size of a family: "e5-small" reads "intfloat/e5-small-v2", and so on."""
    return [
        KnownEncoder(name=f"{name}-{size}", models=(model.format(size),), **values)  # type: ignore[arg-type]
        for size in sizes.split()
    ]


_RECORDS = (
    KnownEncoder(
        name="specter", models=("allenai/specter",), pooling="cls", titles="separator", normalised=False,
        metric="l2", source="Cohan et al. 2020, ACL; model card of allenai/specter",
    ),
    KnownEncoder(
        name="contriever", models=("facebook/contriever",), pooling="mean", normalised=False,
        source="Izacard et al. 2022, TMLR; model card of facebook/contriever",
    ),
    KnownEncoder(
        name="contriever-msmarco", models=("facebook/contriever-msmarco",), pooling="mean", normalised=False,
        source="Izacard et al. 2022, TMLR; model card of facebook/contriever-msmarco",
    ),
    KnownEncoder(
        name="medcpt", models=("ncbi/MedCPT-Query-Encoder", "ncbi/MedCPT-Article-Encoder"), pooling="cls",
        titles="pair", normalised=False, query_tokens=64,
        source="Jin et al. 2023, Bioinformatics; model cards of ncbi/MedCPT",
    ),
    KnownEncoder(
        name="biolinkbert", models=("michiyasunaga/BioLinkBERT-base",), pooling="cls",
        source="Yasunaga et al. 2022, ACL, which take the CLS vector; not trained for search",
    ),
    KnownEncoder(
        name="tas-b", models=("sentence-transformers/msmarco-distilbert-base-tas-b",), pooling="cls",
        normalised=False, source="Hofstätter et al. 2021, SIGIR; the model's modules.json",
    ),
    *_sizes(
        "e5", "intfloat/e5-{}-v2", "small base large", pooling="mean", query_prefix="query: ",
        document_prefix="passage: ", source="Wang et al. 2022, arXiv:2212.03533; model cards",
    ),
    *_sizes(
        "multilingual-e5", "intfloat/multilingual-e5-{}", "small base large", pooling="mean",
        query_prefix="query: ", document_prefix="passage: ",
        source="Wang et al. 2024, arXiv:2402.05672; model cards",
    ),
    *_sizes(
        "bge", "BAAI/bge-{}-en-v1.5", "small base large", pooling="cls", query_prefix=_BGE_QUERY,
        source="Xiao et al. 2024, SIGIR; model cards",
    ),
    KnownEncoder(
        name="bge-m3", models=("BAAI/bge-m3",), pooling="cls", query_tokens=8192, document_tokens=8192,
        source="Chen et al. 2024, ACL Findings; model card",
    ),
    *_sizes("gte", "thenlper/gte-{}", "small base large", pooling="mean",
            source="Li et al. 2023, arXiv:2308.03281; model cards"),
    KnownEncoder(
        name="gte-modernbert", models=("Alibaba-NLP/gte-modernbert-base",), pooling="cls", query_tokens=8192,
        document_tokens=8192, source="model card of Alibaba-NLP/gte-modernbert-base",
    ),
    KnownEncoder(name="cls", pooling="cls", source="a plain model: the vector of its first token"),
    KnownEncoder(name="mean", pooling="mean", source="a plain model: the mean of its last layer"),
)  # fmt: skip
KNOWN_ENCODERS: Mapping[str, KnownEncoder] = {record.name: record for record in _RECORDS}


def known_as(name: str) -> KnownEncoder | None:
    """Returns how the encoder called `name` is read; None where it is not known.

    A name is "e5-base", or the model's name on Hugging Face, "intfloat/e5-base-v2".

    Raises:
        DataError: `name` is a single one of a family's two models; alone it would read questions and
            documents alike.
    """
    if name in KNOWN_ENCODERS:
        return KNOWN_ENCODERS[name]
    for record in KNOWN_ENCODERS.values():
        if (name,) == record.models:
            return record
        if name in record.models:
            raise DataError(f"the encoder {name!r} is {_tower(record, name)}; expected {record.name!r}")
    return None


def check_towers(record: KnownEncoder, models: tuple[str, ...], *, origins: tuple[str, ...]) -> None:
    """Refuses models that are known to be in the wrong place, such as MedCPT's article model for questions.

    Args:
        record: how the models are to be read.
        models: names or folders from the user: of the model for questions, and of the model for documents.
        origins: what each model's files call it, as in "ncbi/MedCPT-Article-Encoder"; "" where unknown.

    Raises:
        DataError: a model in the wrong place, or not as many models as the family has.
    """
    for place, (model, origin) in enumerate(zip(models, origins, strict=True)):
        for known in KNOWN_ENCODERS.values():
            if len(known.models) < 2:
                continue
            # A download keeps the last part of the name: models/MedCPT-Article-Encoder.
            names = [tower.rpartition("/")[2] for tower in known.models]
            said = {origin.rpartition("/")[2], Path(model).name}
            found = [number for number, tower in enumerate(names) if tower in said]
            if found and (len(models) < 2 or place not in found):
                raise DataError(
                    f"the encoder {model!r} is {_tower(known, known.models[found[0]])}, and was given "
                    f"{'alone' if len(models) < 2 else f'for {_READS[place]}'}; expected "
                    f"{known.name}=QUERY_MODEL,ARTICLE_MODEL"
                )
    wanted = (len(record.models),) if record.models else (1, 2)
    if len(models) not in wanted:
        raise DataError(
            f"the encoder {record.name!r} was given {len(models)} model(s), {', '.join(models)}; expected "
            f"{' or '.join(map(str, wanted))}"
        )


_READS = ("questions", "documents")


def _tower(record: KnownEncoder, model: str) -> str:
    """Returns "the tower of 'medcpt' that reads questions only" for a model of a family with two models."""
    return f"the tower of {record.name!r} that reads {_READS[record.models.index(model)]} only"
