"""English as every room needs it, written once.

* `sentences`: where sentences end, in evidence, in pages and in answers.
* `words`, `stems`, `letters`: the words of a text, what their forms share, and one spelling for letters.
* `phrases`, `verbs`, `grammar`, `conjugation`: words with their places, verbs, and the subject of a clause.
* `lexicon`, `opposites`: the word classes, the stop list, the verbs, and words that contradict each other.
"""
