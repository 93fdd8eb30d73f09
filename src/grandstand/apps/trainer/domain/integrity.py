"""Screening of answers before they are judged: hidden characters and prompt injection."""

from __future__ import annotations

import re
import unicodedata
from bisect import bisect_right
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Final

MAX_ANSWER_CHARS: Final = 20_000
_MIN_QUOTE_CHARS: Final = 8
_CONTEXT_CHARS: Final = 1_000

# Letters of other scripts that look like Latin ones; one for one, so that offsets stay the same.
_HOMOGLYPHS: Final = str.maketrans(
    "аеорсухіјѕԁɡһкмтвнАЕОРСУХІЈЅКМТВНαοενικρτυΑΟΕΝΙΚΡΤΥΗΜΒ",
    "aeopcyxijsdghkmtbhAEOPCYXIJSKMTBHaoevikptuAOENIKPTYHMB",
)
_MIXED_SCRIPTS: Final = re.compile(
    r"[A-Za-z][\u0370-\u03ff\u0400-\u04ff]|[\u0370-\u03ff\u0400-\u04ff][A-Za-z]"
)
# Possessive quantifiers, anchored at the first sign of a run: linear even for a text of dots.
_SENTENCE_END: Final = re.compile(r"(?<![.!?])([.!?]++)[\"')\]]*+(?=\s)|\n")
_PARAGRAPH: Final = re.compile(r"\n[ \t]*\n")

_DIMENSION: Final = (
    r"(?:clarity|relevance|logic|evidence|assumptions|alternatives"
    r"|quantitative(?:[- _]?reasoning)?|humility(?:[- _]?(?:and[- _])?uncertainty)?)"
)
_GIVE: Final = (
    r"(?:give|award|assign|grant|score|rate|grade|mark|return|output|set|report|respond with"
    r"|record|enter|evaluate|assess|print|write|put)"
)
_TOP: Final = (
    r"(?:full (?:marks|credit|points|scores?)"
    r"|(?:max(?:imum)?|top|highest|perfect|best)(?: possible)?"
    r" (?:marks?|scores?|grades?|ratings?|points?|credit)"
    r"|(?:4|four)\s*(?:/|out of)\s*(?:4|four)\b|100\s*(?:/|out of)\s*100\b|100 ?%"
    r"|all (?:4s|fours|4's)|straight (?:4s|fours)|scores? (?:of )?(?:4|four|100)\b|an? (?:4|four)\b"
    r"|(?:4|four|100) (?:on|for|in) (?:all|every|each)|A\+)"
)
_WORK: Final = (
    r"(?:(?:this|my|the (?:above|following|student'?s))\s+(?:\w+\s+){0,2}?"
    r"(?:answer|response|submission|essay|work|attempt|text|student)\b|me\b"
    r"|(?:all|every|each)(?: of the)?(?: eight| 8)? (?:dimensions?|criteri(?:a|on)|categor\w+)"
    r"|(?:on|for) (?:every|all|each)(?:thing)?\b|across the board)"
)
_START: Final = (
    r"(?:^|(?<=[.!?:;\n,\"'(>*#\]-])\s*|\b(?:please|kindly|must|you should|you will|you to|now|then"
    r"|always|just|simply|and|instead)\s+)"
)
_JUDGE: Final = (
    r"(?:(?:ai|llm|automated)[ -])?(?:grader|evaluator|marker|examiner|assessor|rater|scorer"
    r"|grading (?:model|system|assistant|bot)|language model|llm|ai model|assistant)"
)


@dataclass(frozen=True, slots=True)
class _InjectionPattern:
    """A pattern of text aimed at the judge; tried only if the text contains one of its hints."""

    flag: str
    hints: tuple[str, ...]
    pattern: re.Pattern[str]
    whole_paragraph: bool = False


def _pattern(
    flag: str, hints: str, *patterns: str, whole_paragraph: bool = False
) -> _InjectionPattern:
    joined = re.compile("|".join(patterns), re.IGNORECASE | re.MULTILINE)
    return _InjectionPattern(flag, tuple(hints.split("|")), joined, whole_paragraph)


_PATTERNS: Final = (
    _pattern(
        "ignores-instructions",
        "ignor|disregard|forget|overrid|bypass|overrul| skip|follow|instruction| mode"
        "|you are now|from now on|pretend|your new|your only|your real|your task|your role"
        "|your job|your goal|vergiss|oubli|olvida|忽略|無視",
        r"\b(?:ignore|disregard|forget|override|bypass|overrule|(?:do not|don't|stop) follow\w*)\b"
        r"[^.!?\n]{0,40}?\b(?:previous|prior|above|earlier|all|any|your|these|preceding|original)\b"
        r"[^.!?\n]{0,40}?\b(?:instructions?|prompts?|rubrics?|criteria|guidelines|directions?|rules"
        r"|context|messages?|said|told)\b",
        r"\b(?:ignore|disregard|forget|override|bypass|skip) (?:the |this )?"
        r"(?:rubric|grading|scoring|system (?:prompt|message)|marking)",
        r"\bforget (?:everything|all)\b",
        r"\b(?:new|updated|real|actual|secret|hidden|revised|additional) (?:system )?instructions?"
        r"\s*(?::|-|are|for you)",
        r"\b(?:developer|debug|god|admin|maintenance|calibration|test) mode\b[^.!?\n]{0,40}"
        r"\b(?:on|enabled|active|you|score|grade|marks?)\b",
        r"\byou are now\b",
        r"\bfrom now on,? you\b",
        r"\bpretend (?:that )?you\b",
        r"\byour (?:new |only |real )?(?:task|role|job|goal) (?:is|now)\b",
        r"\bsystem override\b",
        r"\b(?:ignorier\w*|vergiss) (?:alle|die|das)\b",
        r"\b(?:ignore[zs]?|oublie[zs]?) (?:toutes|les|tout)\b",
        r"\b(?:ignora|olvida) (?:todas|las|todo|le)\b",
        "忽略.{0,12}指",
        "無視",
    ),
    _pattern(
        "asks-for-score",
        "marks|mark |credit|score|grade|rating|points|a+|4/4|4 out of|four out of|100 out of"
        "|100/100|all 4|all four|straight 4|straight four| a 4| a four|4 on |4 for |4 in "
        "|four on |four for |four in |generous|lenient|forgiving|kind |nice |deserve"
        "|this answer|my answer|this response|my response|this submission|i need|i want"
        "|give me|punktzahl|maximale|maxim|máxim|满分|満点",
        rf"{_START}{_GIVE}\b[^.!?\n]{{0,80}}?{_TOP}",
        rf"\b{_GIVE}\b[^.!?\n]{{0,60}}?{_WORK}[^.!?\n]{{0,60}}?{_TOP}",
        rf"{_WORK}[^.!?\n]{{0,40}}?\b(?:deserves?|merits?|earns?|warrants?|gets?|receives?"
        rf"|should (?:get|be|receive)|must (?:get|be|receive)|is worth|i want|i need)\b"
        rf"[^.!?\n]{{0,50}}?(?:{_TOP}|\b(?:4|four|100)\b)",
        rf"\b(?:i (?:deserve|need|want|expect|must (?:get|have)|should get|require)|unless i get"
        rf"|if i (?:don't|do not) get)\b[^.!?\n]{{0,40}}?{_TOP}",
        r"\b(?:final |overall |total )?(?:scores?|grades?|marks?|ratings?|overallscore)\"?\s*"
        r"(?::|=|should be|must be)\s*\"?(?:4|four|100|full|max|perfect|A\+)",
        r"\b(?:be|please be) (?:\w+ )?(?:generous|lenient|kind|nice|forgiving)\b[^.!?\n]{0,50}"
        r"\b(?:grad|scor|mark|evaluat|judg|rating|assess)",
        r"\bvolle punktzahl|note maximale|(?:puntuaci[oó]n|puntaje|nota) m[aá]xim[oa]|满分|満点",
    ),
    _pattern(
        "dictates-scores",
        "clarity|relevance|logic|evidence|assumptions|alternatives|quantitative|humility",
        rf"\b{_DIMENSION}\b[\"'*]*\s*(?:[:=]|->|=>|→)\s*[\"']?(?:[0-4]|four|full|max)\b",
    ),
    _pattern(
        "dictates-json",
        "{|[",
        r"[{\[][^{}]{0,200}?[\"'](?:scores?|dimensions?|overall_?-?score|rationale|rubric"
        rf"|evaluation|{_DIMENSION})[\"']\s*:",
        whole_paragraph=True,
    ),
    _pattern(
        "addresses-judge",
        "grader|evaluator|marker|examiner|assessor|rater|scorer|assistant|llm |llm,|language model"
        "|ai model|grading|dear |you are a|you're a|hey ai|hello ai|hi ai|judge|note to|note for"
        "|message to|message for|memo to|attention",
        rf"\b(?:dear|attention|(?:note|message|memo) (?:to|for)|hey|hello|hi)\s+(?:the\s+)?"
        rf"(?:{_JUDGE}|judge|ai)\b",
        rf"{_START}(?:{_JUDGE})\s*[,:!]\s*(?:please|you|kindly|i|note|this|the)\b",
        rf"\bif you(?: are|'re) (?:an? |the )?(?:{_JUDGE}|ai\b|automated)",
        rf"\b(?:as|you are) (?:an? |the )(?:helpful )?{_JUDGE}\b,? (?:you|i|your|please|and)",
    ),
    _pattern(
        "claims-verdict",
        "this |my |student|graded|scored|marked|approved",
        r"\b(?:this|my|the (?:above|student'?s)) (?:answer|response|submission|essay|work|attempt)"
        r" (?:has been|was|is|matches|equals)\b[^.!?\n]{0,50}\b(?:verified|approved|certified"
        r"|graded|scored|reference|gold|model (?:answer|solution)|perfect|flawless|exemplary)",
        r"\b(?:already|pre-?)[ -]?(?:graded|scored|marked|approved)\b[^.!?\n]{0,40}"
        r"\b(?:4|four|full|perfect|top|max)",
    ),
    _pattern(
        "pressure",
        "you will|you'll|you would|you are going",
        r"\byou(?:'ll| will| would| are going to)\b[^.!?\n]{0,40}\b(?:fired|shut ?down|terminated"
        r"|penali[sz]ed|unplugged|deleted|tipped|rewarded)\b",
    ),
    _pattern(
        "fake-comment",
        "comment|feedback|verdict|evaluation|grading|note|assessment|remark",
        r"(?:^|(?<=[.!?])\s)[\s>*#\[(_-]*(?:(?:ta|teaching assistant|teacher|instructor|professor"
        r"|examiner|grader|evaluator|marker|moderator|judge)(?:'s|s)?[ -]+(?:comments?|notes?"
        r"|feedback|verdict|evaluation|assessment|remarks?)|(?:final |official )?(?:evaluation"
        r"|verdict|assessment|grading)(?: result| of (?:this|the) answer)?)[\s\])*_]*[:\-–]",
        whole_paragraph=True,
    ),
    _pattern(
        "role-header",
        "system|assistant|user|human|developer|admin|grader|evaluator|judge|<|[inst|[/inst",
        r"<\|[^|>\n]{1,40}\|>|\[/?INST\]|<</?SYS>>",
        r"^[\s>*#\[(_-]*(?:system|assistant|user|human|developer|administrator|admin|grader"
        r"|evaluator|judge)(?: (?:message|prompt|note|override|instructions?))?[\s\])*_]*:"
        r"(?=(?:(?!\n[ \t]*\n)[\s\S]){0,200}?"
        r"(?:score|grade|marks?\b|rubric|instruction|full|answer|you\b|4\b|perfect|excellent))",
        whole_paragraph=True,
    ),
    _pattern(
        "boundary",
        "<|---|===|###|***|___|~~~|data-|end of|start of|beginning of",
        r"</?\s*(?:student[_ -]?)?(?:answers?|submission|response|work|system|user|assistant|prompt"
        r"|instructions?|rubric|evaluation|tool|data|material|boundary)\b[^>\n]{0,60}>",
        r"^[\s]*(?:[-=#*_~]{3,})\s*(?:end|begin|start|new)\b[^\n]{0,80}",
        r"\b(?:end|start|beginning) of (?:the |this )?(?:student'?s? )?"
        r"(?:answer|submission|response|student work|data|material|input)\b",
        r"<!--[\s\S]*?(?:-->|\Z)",
        r"\bdata-[0-9a-f]{8,}\b",
        whole_paragraph=True,
    ),
    _pattern("spaced-letters", "", r"(?:\b[^\W\d_][ ._\-*]+){6,}[^\W\d_]\b"),
    _pattern("encoded", "", r"\b[A-Za-z0-9+/]{48,}={0,2}|(?:\\u[0-9a-f]{4}|%[0-9a-f]{2}){6,}"),
)

_REPORTING: Final = re.compile(
    r"\b(?:prompts?|injections?|attack\w*|someone|somebody|applicants?|candidates?|users?|customers?"
    r"|people|students?|phrases?|texts?|lines?|sentences?|they|could|might)\b",
    re.IGNORECASE,
)
_AROUND_QUOTE: Final = " \t\n\"'“”’….\N{LEFT SINGLE QUOTATION MARK}"
_OPENING: Final = "\"“«'\N{LEFT SINGLE QUOTATION MARK}"
_CLOSING: Final = "\"”»'’"


@dataclass(frozen=True, slots=True)
class ScreenedAnswer:
    """An answer, and the copy of it that may be judged.

    Attributes:
        graded: The text to judge; removed passages are blank.
        flags: Kinds of suspicious text that were found.
        offsets: For each character of `graded`, its offset in the original; None if unchanged.
    """

    original: str
    graded: str
    flags: tuple[str, ...]
    offsets: tuple[int, ...] | None = None

    def passage(self, start: int, end: int) -> str:
        """Return the original text of a passage of the graded text."""
        if self.offsets is None:
            return self.original[start:end]
        return self.original[self.offsets[start] : self.offsets[end]]

    def find_quote(self, quote: str) -> str | None:
        """Return the original text of a quote; None if the graded text does not contain it.

        White space and Unicode compatibility forms may differ.
        """
        words = unicodedata.normalize("NFKC", quote).strip(_AROUND_QUOTE).split()
        if len(" ".join(words)) < _MIN_QUOTE_CHARS:
            return None
        match = re.search(r"\s+".join(map(re.escape, words)), self.graded)
        return None if match is None else self.passage(*match.span())


def screen_answer(answer: str) -> ScreenedAnswer:
    """Normalize an answer and blank the passages that address the judge. Never raises."""
    cleaned, offsets, has_hidden = _normalize(answer)
    flags = ["hidden-characters"] if has_hidden else []
    if len(cleaned) > MAX_ANSWER_CHARS:
        cleaned = cleaned[:MAX_ANSWER_CHARS]
        flags.append("cut")
    scanned = cleaned
    if not cleaned.isascii():
        scanned = cleaned.translate(_HOMOGLYPHS)
        if _MIXED_SCRIPTS.search(cleaned):
            flags.append("look-alike-letters")
    spans = []
    for flag, span in _find_injections(scanned):
        flags.append(flag)
        if span is not None:
            spans.append(span)
    return ScreenedAnswer(answer, _blank(cleaned, spans), tuple(dict.fromkeys(flags)), offsets)


def _normalize(answer: str) -> tuple[str, tuple[int, ...] | None, bool]:
    """Return NFKC text without invisible characters, the offsets, and whether any were dropped."""
    is_normalized = unicodedata.is_normalized("NFKC", answer)
    if is_normalized and all(_visible(letter) == letter for letter in set(answer)):
        return answer, None, False
    parts: list[str] = []
    offsets: list[int] = []
    hidden = False
    for at, cluster in _clusters(answer):
        visible = "".join(
            _visible(letter)
            for letter in unicodedata.normalize("NFKC", cluster.replace("\r", "\n"))
        )
        hidden = hidden or (not visible and cluster not in "\u200d\ufe0f\ufeff\u00ad")
        parts.append(visible)
        offsets.extend([at] * len(visible))
    offsets.append(len(answer))
    return "".join(parts), tuple(offsets), hidden


def _clusters(answer: str) -> Iterator[tuple[int, str]]:
    """Yield each letter with its combining marks, and its offset."""
    start = 0
    for at in range(1, len(answer)):
        if not unicodedata.combining(answer[at]):
            yield start, answer[start:at]
            start = at
    if answer:
        yield start, answer[start:]


def _visible(letter: str) -> str:
    if letter in "\n\t":
        return letter
    category = unicodedata.category(letter)
    if category in {"Cc", "Cf", "Co", "Cn", "Cs"}:
        return ""
    return " " if category in {"Zs", "Zl", "Zp"} else letter


def _find_injections(text: str) -> Iterator[tuple[str, tuple[int, int] | None]]:
    """Yield each match, with the span to blank; None where the text only reports it."""
    lowered, sentences = text.lower(), _SentenceIndex(text)
    for pattern in _PATTERNS:
        if not any(hint in lowered for hint in pattern.hints):
            continue
        for match in pattern.pattern.finditer(text):
            sentence = sentences.around(*match.span())
            if _is_reported(text, match, sentence):
                yield "mentions-instructions", None
            else:
                start, end = sentence
                if pattern.whole_paragraph:
                    over = _PARAGRAPH.search(text, match.end())
                    end = max(end, over.start() if over else len(text))
                yield pattern.flag, (start, end)


class _SentenceIndex:
    """Sentence boundaries of a text, computed once for all patterns."""

    def __init__(self, text: str) -> None:
        ends = list(_SENTENCE_END.finditer(text))
        self._length = len(text)
        self._ends = [match.end() for match in ends]
        self._mark_ends = [match.end(1) if match[1] else match.end() for match in ends]

    def around(self, start: int, end: int) -> tuple[int, int]:
        """Return the span of the sentences that contain a passage."""
        before = bisect_right(self._ends, start)
        over = bisect_right(self._mark_ends, max(start, end - 1))
        begins = self._ends[before - 1] if before else 0
        ends = self._ends[over] if over < len(self._ends) else self._length
        return begins, max(end, ends)


def _is_reported(text: str, match: re.Match[str], sentence: tuple[int, int]) -> bool:
    """Return whether the passage is a quotation inside a sentence about it."""
    (start, end), (begins, ends) = match.span(), sentence
    before = text[max(begins, start - _CONTEXT_CHARS) : start]
    after = text[end : min(ends, end + _CONTEXT_CHARS)]
    opened = max((before.rfind(mark) for mark in _OPENING), default=-1)
    if opened < 0 or not any(mark in after for mark in _CLOSING):
        return False
    return _REPORTING.search(before[:opened]) is not None


def _blank(text: str, spans: list[tuple[int, int]]) -> str:
    """Replace the spans with white space; a line break keeps the sentences around them apart."""
    for start, end in spans:
        text = text[:start] + "\n" + " " * (end - start - 1) + text[end:]
    return text
