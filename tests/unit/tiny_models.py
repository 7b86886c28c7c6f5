"""Models of a few thousand weights, random and of a fixed seed, for the tests of training and export."""

from __future__ import annotations

from pathlib import Path

from pytest_medfaith.models.shipped import MINILM_TOKENIZER


def tiny_bert(folder: Path, *, labels: int = 3) -> Path:
    """Writes a random BERT of two layers with a head of `labels`, and the shipped tokenizer, to `folder`."""
    import torch
    import transformers

    torch.manual_seed(0)
    config = transformers.BertConfig(
        hidden_size=32, num_hidden_layers=2, num_attention_heads=2, intermediate_size=64, num_labels=labels
    )
    transformers.BertForSequenceClassification(config).save_pretrained(folder)
    transformers.PreTrainedTokenizerFast(tokenizer_file=str(MINILM_TOKENIZER)).save_pretrained(folder)
    return folder
