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


def tiny_encoder(folder: Path, architecture: str = "bert", *, seed: int = 0, width: int = 16) -> Path:
    """Writes a random encoder without a head and a tokenizer with all its special tokens to `folder`.

    `architecture` is the type of a model of transformers: bert, distilbert, xlm-roberta, mpnet or modernbert.
    """
    import torch
    import transformers

    torch.manual_seed(seed)
    names = {
        "distilbert": {"dim": width, "n_layers": 2, "n_heads": 2, "hidden_dim": 32},
    }
    sizes = names.get(
        architecture,
        {"hidden_size": width, "num_hidden_layers": 2, "num_attention_heads": 2, "intermediate_size": 32},
    )
    positions = 514 if architecture in ("xlm-roberta", "mpnet") else 512
    config = transformers.AutoConfig.for_model(
        architecture, vocab_size=30_522, pad_token_id=0, max_position_embeddings=positions, **sizes
    )
    model = transformers.AutoModel.from_config(config)
    with torch.no_grad():  # random weights of so narrow a model hardly tell texts apart
        for weights in model.parameters():
            weights.mul_(4.0)
    model.save_pretrained(folder)
    specials = ("pad", "sep", "cls", "unk", "mask")
    read = ["input_ids", "attention_mask", *["token_type_ids"] * (architecture == "bert")]
    transformers.PreTrainedTokenizerFast(
        tokenizer_file=str(MINILM_TOKENIZER),
        model_max_length=512,
        model_input_names=read,
        **{f"{name}_token": f"[{name.upper()}]" for name in specials},
    ).save_pretrained(folder)
    return folder
