"""English grammar and words, as all parts of the package need them.

* `sentences`: where sentences end, in evidence, in pages and in answers.
* `words`, `stems`, `letters`: the words of a text, their stems, and one spelling for letters.
* `phrases`, `verbs`, `grammar`, `conjugation`: words with their places, verbs, and the subject of a clause.
* `lexicon`, `opposites`: word classes, the stop list, the verbs, and words that contradict each other.
* `conditions`, `struck`: clauses such as "unless ...", and struck-out words.
"""
