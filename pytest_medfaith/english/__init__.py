"""English as every reader here needs it: sentences, words, grammar, word lists."""
