"""Vectors of texts for tests whose checker is scripted: the encoder would read a thousand texts in vain."""

import zlib

import numpy as np


def embed_texts(texts, **_):
    """Returns the unit vectors of the words of `texts`: float32 (n, 384)."""
    bags = np.zeros((len(texts), 384), dtype=np.float32)
    for bag, text in zip(bags, texts, strict=True):
        for word in text.lower().split():
            bag[zlib.crc32(word.encode()) % 384] += 1
    return bags / np.maximum(np.linalg.norm(bags, axis=1, keepdims=True), 1)
