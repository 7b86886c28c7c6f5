"""What the real packages give back is read; the unit tests use stand-ins with the same attributes."""

import pytest

from pytest_medfaith.answers.contexts import as_chunks
from pytest_medfaith.answers.responses import as_response, read_responses
from pytest_medfaith.datasets.registry import read_cases

pytestmark = pytest.mark.slow
IRON = "Iron tablets treat iron deficiency."


def package(name):
    return pytest.importorskip(name, reason=f"needs the package {name}", exc_type=ImportError)


def both(answer):
    response = as_response(answer, case_id="a")
    return response.answer, [chunk.text for chunk in response.contexts]


def test_langchain():
    documents, messages = package("langchain_core.documents"), package("langchain_core.messages")
    document = documents.Document(page_content=IRON, metadata={"title": "Iron"}, id="d")
    (chunk,) = as_chunks([document])
    assert (chunk.id, chunk.title) == ("d", "Iron")
    for content in (IRON, [{"type": "text", "text": IRON}]):
        assert both(
            {"input": "What?", "answer": messages.AIMessage(content=content), "context": [document]}
        ) == (IRON, [IRON])
    assert both((messages.AIMessage(content=IRON), [(document, 0.5)])) == (IRON, [IRON])


def test_llama_index():
    schema, response = package("llama_index.core.schema"), package("llama_index.core.base.response.schema")
    node = schema.TextNode(text=IRON, id_="n", metadata={"title": "Iron"})
    found = schema.NodeWithScore(node=node, score=0.5)
    assert [chunk.id for one in (node, found) for chunk in as_chunks([one])] == ["n", "n"]
    assert both(response.Response(response=IRON, source_nodes=[found])) == (IRON, [IRON])


def test_haystack():
    classes = package("haystack.dataclasses")
    document = classes.Document(content=IRON, id="h")
    assert both({"replies": [classes.ChatMessage.from_assistant(IRON)], "documents": [document]}) == (
        IRON,
        [IRON],
    )
    assert both(classes.GeneratedAnswer(data=IRON, query="What?", documents=[document])) == (IRON, [IRON])


def test_ragas():
    sample = package("ragas.dataset_schema").SingleTurnSample
    assert both(
        sample(user_input="What?", response=IRON, retrieved_contexts=[IRON], reference_contexts=["x"])
    ) == (IRON, [IRON])


def test_deepeval():
    case = package("deepeval.test_case").LLMTestCase
    assert both(case(input="What?", actual_output=IRON, retrieval_context=[IRON], context=["x"])) == (
        IRON,
        [IRON],
    )


def test_dspy():
    prediction = package("dspy").Prediction
    assert both(prediction(answer=IRON, context=[IRON])) == (IRON, [IRON])


def test_tables():
    rows = [{"id": "a", "text": IRON}, {"id": "b", "text": "Allopurinol lowers uric acid."}]
    tables = [
        package("pandas").DataFrame(rows),
        package("pyarrow").Table.from_pylist(rows),
        package("datasets").Dataset.from_list(rows),
    ]
    assert [[chunk.id for chunk in as_chunks(table)] for table in tables] == [["a", "b"]] * 3


def read_both(path):
    (case,) = read_cases(str(path))
    ((case_id, response),) = read_responses(path, []).items()
    assert case_id == case.id
    return case.question, case.reference_answer, response.answer, [chunk.text for chunk in response.contexts]


READ = ("What treats iron deficiency?", "Iron.", IRON, [IRON])


def test_ragas_files(tmp_path):
    schema = package("ragas.dataset_schema")
    question, reference, answer, contexts = READ
    sample = schema.SingleTurnSample(
        user_input=question, response=answer, retrieved_contexts=contexts, reference=reference
    )
    found = schema.EvaluationDataset(samples=[sample])
    found.to_jsonl(tmp_path / "ragas.jsonl")
    found.to_csv(tmp_path / "ragas.csv")
    assert [read_both(tmp_path / name) for name in ("ragas.jsonl", "ragas.csv")] == [READ] * 2


def test_deepeval_files(tmp_path):
    golden, dataset = package("deepeval.dataset").Golden, package("deepeval.dataset").EvaluationDataset
    question, reference, answer, contexts = READ
    found = dataset(
        goldens=[
            golden(
                input=question,
                expected_output=reference,
                actual_output=answer,
                retrieval_context=contexts,
                context=["x"],
            )
        ]
    )
    found.save_as(file_type="json", directory=str(tmp_path), file_name="goldens", include_test_cases=False)
    (path,) = tmp_path.glob("*.json")
    assert read_both(path) == READ


def test_rows_of_tables(tmp_path):
    rows = [
        {
            "question": READ[0],
            "reference_answer": READ[1],
            "answer": READ[2],
            "contexts": READ[3],
            "score": None,
            "year": 2024,
        }
    ]
    pandas = package("pandas")
    frame = pandas.DataFrame(rows)
    frame.to_parquet(tmp_path / "rows.parquet")
    frame.to_csv(tmp_path / "rows.csv", index=False)
    frame.to_csv(tmp_path / "rows.tsv", sep="\t", encoding="utf-16", index=False)
    assert [read_both(tmp_path / f"rows.{suffix}") for suffix in ("parquet", "csv", "tsv")] == [READ] * 3
    for table in (frame, package("pyarrow").Table.from_pylist(rows)):
        (response,) = read_responses(table, []).values()
        assert (response.answer, [chunk.text for chunk in response.contexts]) == (IRON, [IRON])


def test_rows_of_a_hugging_face_dataset():
    rows = [{"question": READ[0], "answer": READ[2], "contexts": READ[3]}]
    (response,) = read_responses(package("datasets").Dataset.from_list(rows), []).values()
    assert (response.answer, [chunk.text for chunk in response.contexts]) == (IRON, [IRON])
