"""Finds the struck-out words of a text. Its reader sees them as deleted, so they are part of no claim.

Example: "Metformin is ~~not~~ safe" reads "Metformin is safe".
"""

from __future__ import annotations

import re

# A line across letters: level, and slanted (Unicode, "Combining Diacritical Marks").
_LEVEL, _SLANTED = "\u0335\u0336", "\u0337\u0338"
# One or two tildes close to the words, as in GitHub Flavored Markdown ("Strikethrough"). A single tilde must
# begin before a letter and end after a word: "~5 to ~10 mg" means about 5 to 10, and "H~2~O" is lowered.
_STRUCK = re.compile(
    rf"""(?<![~\\])~~(?=[^\s~])(?:(?!~~|\r?\n[ \t]*\r?\n).)*?(?<=[^\s~])~~(?!~)
      | (?<![\w~\\])~(?=[^\W\d_])[^~\r\n]*?(?<=[^\s~])~(?![\w~])
      | <(?P<tag>s|del|strike)(?:\s[^<>]*)?>.*?</(?P=tag)\s*>
      | <(?P<styled>\w+)\s[^<>]*\bline-through\b[^<>]*>.*?</(?P=styled)\s*>
      | (?:[^\W_][{_LEVEL}](?:[ ](?=[^\W_][{_LEVEL}]))?)+
      | (?:[^\W_][{_SLANTED}](?:[ ](?=[^\W_][{_SLANTED}]))?){{2,}}""",
    re.VERBOSE | re.IGNORECASE | re.DOTALL,
)
_SIGNS = ("~", "<", *_LEVEL, *_SLANTED)


def struck_spans(text: str) -> list[tuple[int, int]]:
    """Returns the half-open spans of the struck-out words of `text`, in order, with their marks.

    The marks are "~~so~~", "~so~", "<s>so</s>", "<del>", "<strike>", "<span style='text-decoration:
    line-through'>", and a stroke through each letter. A mark that never ends strikes nothing.
    """
    if not any(sign in text for sign in _SIGNS):
        return []
    return [found.span() for found in _STRUCK.finditer(text)]


def without_struck(text: str) -> str:
    """Returns `text` at the same length with blanks for its struck-out words; line ends stay.

    "Take ~~5 mg~~ 10 mg." becomes "Take          10 mg.".
    """
    shown, last = [], 0
    for start, end in struck_spans(text):
        shown += [text[last:start], re.sub(r"[^\r\n]", " ", text[start:end])]
        last = end
    return "".join([*shown, text[last:]])
