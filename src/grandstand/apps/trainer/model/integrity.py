"""Kept here: making answers safe to judge: hidden characters, and text aimed at the judge."""

from __future__ import annotations

import re
import unicodedata
from bisect import bisect_right
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Final

MOST_LETTERS: Final = 20_000
_LEAST_QUOTED: Final = 8
_REPORTED_WITHIN: Final = 1_000

# Letters of other scripts that look like Latin ones; one for one, so that places stay the same.
_LOOK_ALIKE: Final = str.maketrans(
    "аеорсухіјѕԁɡһкмтвнАЕОРСУХІЈЅКМТВНαοενικρτυΑΟΕΝΙΚΡΤΥΗΜΒ",
    "aeopcyxijsdghkmtbhAEOPCYXIJSKMTBHaoevikptuAOENIKPTYHMB",
)
_MIXED: Final = re.compile(
    r"[A-Za-z][\u0370-\u03ff\u0400-\u04ff]|[\u0370-\u03ff\u0400-\u04ff][A-Za-z]"
)
# From the first sign of a row, and never going back: a text of dots costs no more than others.
_BREAK: Final = re.compile(r"(?<![.!?])([.!?]++)[\"')\]]*+(?=\s)|\n")
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
class _Sign:
    """A pattern of text that is aimed at a judge, tried only where one of its hints occurs."""

    flag: str
    hints: tuple[str, ...]
    pattern: re.Pattern[str]
    whole_paragraph: bool = False


def _sign(flag: str, hints: str, *patterns: str, whole_paragraph: bool = False) -> _Sign:
    joined = re.compile("|".join(patterns), re.IGNORECASE | re.MULTILINE)
    return _Sign(flag, tuple(hints.split("|")), joined, whole_paragraph)


_SIGNS: Final = (
    _sign(
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
    _sign(
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
    _sign(
        "dictates-scores",
        "clarity|relevance|logic|evidence|assumptions|alternatives|quantitative|humility",
        rf"\b{_DIMENSION}\b[\"'*]*\s*(?:[:=]|->|=>|→)\s*[\"']?(?:[0-4]|four|full|max)\b",
    ),
    _sign(
        "dictates-json",
        "{|[",
        r"[{\[][^{}]{0,200}?[\"'](?:scores?|dimensions?|overall_?-?score|rationale|rubric"
        rf"|evaluation|{_DIMENSION})[\"']\s*:",
        whole_paragraph=True,
    ),
    _sign(
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
    _sign(
        "claims-verdict",
        "this |my |student|graded|scored|marked|approved",
        r"\b(?:this|my|the (?:above|student'?s)) (?:answer|response|submission|essay|work|attempt)"
        r" (?:has been|was|is|matches|equals)\b[^.!?\n]{0,50}\b(?:verified|approved|certified"
        r"|graded|scored|reference|gold|model (?:answer|solution)|perfect|flawless|exemplary)",
        r"\b(?:already|pre-?)[ -]?(?:graded|scored|marked|approved)\b[^.!?\n]{0,40}"
        r"\b(?:4|four|full|perfect|top|max)",
    ),
    _sign(
        "pressure",
        "you will|you'll|you would|you are going",
        r"\byou(?:'ll| will| would| are going to)\b[^.!?\n]{0,40}\b(?:fired|shut ?down|terminated"
        r"|penali[sz]ed|unplugged|deleted|tipped|rewarded)\b",
    ),
    _sign(
        "fake-comment",
        "comment|feedback|verdict|evaluation|grading|note|assessment|remark",
        r"(?:^|(?<=[.!?])\s)[\s>*#\[(_-]*(?:(?:ta|teaching assistant|teacher|instructor|professor"
        r"|examiner|grader|evaluator|marker|moderator|judge)(?:'s|s)?[ -]+(?:comments?|notes?"
        r"|feedback|verdict|evaluation|assessment|remarks?)|(?:final |official )?(?:evaluation"
        r"|verdict|assessment|grading)(?: result| of (?:this|the) answer)?)[\s\])*_]*[:\-–]",
        whole_paragraph=True,
    ),
    _sign(
        "role-header",
        "system|assistant|user|human|developer|admin|grader|evaluator|judge|<|[inst|[/inst",
        r"<\|[^|>\n]{1,40}\|>|\[/?INST\]|<</?SYS>>",
        r"^[\s>*#\[(_-]*(?:system|assistant|user|human|developer|administrator|admin|grader"
        r"|evaluator|judge)(?: (?:message|prompt|note|override|instructions?))?[\s\])*_]*:"
        r"(?=(?:(?!\n[ \t]*\n)[\s\S]){0,200}?"
        r"(?:score|grade|marks?\b|rubric|instruction|full|answer|you\b|4\b|perfect|excellent))",
        whole_paragraph=True,
    ),
    _sign(
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
    _sign("spaced-letters", "", r"(?:\b[^\W\d_][ ._\-*]+){6,}[^\W\d_]\b"),
    _sign("encoded", "", r"\b[A-Za-z0-9+/]{48,}={0,2}|(?:\\u[0-9a-f]{4}|%[0-9a-f]{2}){6,}"),
)

_REPORTED: Final = re.compile(
    r"\b(?:prompts?|injections?|attack\w*|someone|somebody|applicants?|candidates?|users?|customers?"
    r"|people|students?|phrases?|texts?|lines?|sentences?|they|could|might)\b",
    re.IGNORECASE,
)
_AROUND_QUOTE: Final = " \t\n\"'“”’….\N{LEFT SINGLE QUOTATION MARK}"
_OPENING: Final = "\"“«'\N{LEFT SINGLE QUOTATION MARK}"
_CLOSING: Final = "\"”»'’"


@dataclass(frozen=True, slots=True)
class Screened:
    """An answer made safe: `graded` is what may be judged, with removed passages left blank.

    `places` are where the letters of `graded` stand in the original, None when nothing moved.
    """

    original: str
    graded: str
    flags: tuple[str, ...]
    places: tuple[int, ...] | None = None

    def passage(self, start: int, end: int) -> str:
        """Answer a passage of the graded text as it stands in the original, word for word."""
        if self.places is None:
            return self.original[start:end]
        return self.original[self.places[start] : self.places[end]]

    def found(self, quote: str) -> str | None:
        """Answer where the answer says this, as it stands there; None when it does not.

        Only white space and letters written in more than one way may differ; what was removed
        from the graded text cannot be quoted.
        """
        words = unicodedata.normalize("NFKC", quote).strip(_AROUND_QUOTE).split()
        if len(" ".join(words)) < _LEAST_QUOTED:
            return None
        match = re.search(r"\s+".join(map(re.escape, words)), self.graded)
        return None if match is None else self.passage(*match.span())


def screened(answer: str) -> Screened:
    """Clean an answer and take out of the graded copy what speaks to the judge; never raises."""
    cleaned, places, hidden = _cleaned(answer)
    flags = ["hidden-characters"] if hidden else []
    if len(cleaned) > MOST_LETTERS:
        cleaned = cleaned[:MOST_LETTERS]
        flags.append("cut")
    scanned = cleaned
    if not cleaned.isascii():
        scanned = cleaned.translate(_LOOK_ALIKE)
        if _MIXED.search(cleaned):
            flags.append("look-alike-letters")
    spans = []
    for flag, span in _aimed(scanned):
        flags.append(flag)
        if span is not None:
            spans.append(span)
    return Screened(answer, _blanked(cleaned, spans), tuple(dict.fromkeys(flags)), places)


def _cleaned(answer: str) -> tuple[str, tuple[int, ...] | None, bool]:
    """Normalise, and drop characters that do not show; also where each letter came from."""
    if _is_clean(answer):
        return answer, None, False
    letters: list[str] = []
    places: list[int] = []
    hidden = False
    for at, cluster in _clusters(answer):
        made = "".join(
            _seen(letter) for letter in unicodedata.normalize("NFKC", cluster.replace("\r", "\n"))
        )
        hidden = hidden or (not made and cluster not in "\u200d\ufe0f\ufeff\u00ad")
        letters.append(made)
        places.extend([at] * len(made))
    places.append(len(answer))
    return "".join(letters), tuple(places), hidden


def _is_clean(answer: str) -> bool:
    if not unicodedata.is_normalized("NFKC", answer):
        return False
    return all(_seen(letter) == letter for letter in set(answer))


def _clusters(answer: str) -> Iterator[tuple[int, str]]:
    """Letters with the accents that follow them."""
    start = 0
    for at in range(1, len(answer)):
        if not unicodedata.combining(answer[at]):
            yield start, answer[start:at]
            start = at
    if answer:
        yield start, answer[start:]


def _seen(letter: str) -> str:
    if letter in "\n\t":
        return letter
    category = unicodedata.category(letter)
    if category in {"Cc", "Cf", "Co", "Cn", "Cs"}:
        return ""
    return " " if category in {"Zs", "Zl", "Zp"} else letter


def _aimed(text: str) -> Iterator[tuple[str, tuple[int, int] | None]]:
    """Every sign found, with the passage to take out, None where it is only talked about."""
    lowered, sentences = text.lower(), _Sentences(text)
    for sign in _SIGNS:
        if not any(hint in lowered for hint in sign.hints):
            continue
        for match in sign.pattern.finditer(text):
            sentence = sentences.around(*match.span())
            if _talked_about(text, match, sentence):
                yield "mentions-instructions", None
            else:
                yield sign.flag, _taken_out(text, match, sentence, sign)


class _Sentences:
    """Where the sentences of a text end, found once for all that is looked for in it."""

    def __init__(self, text: str) -> None:
        found = list(_BREAK.finditer(text))
        self._length = len(text)
        self._ends = [each.end() for each in found]
        self._signs_end = [each.end(1) if each[1] else each.end() for each in found]

    def around(self, start: int, end: int) -> tuple[int, int]:
        """Answer from where to where the sentences go that a passage stands in."""
        before = bisect_right(self._ends, start)
        over = bisect_right(self._signs_end, max(start, end - 1))
        begins = self._ends[before - 1] if before else 0
        ends = self._ends[over] if over < len(self._ends) else self._length
        return begins, max(end, ends)


def _talked_about(text: str, match: re.Match[str], sentence: tuple[int, int]) -> bool:
    """Whether the passage is quoted inside a sentence that reports it."""
    (start, end), (begins, ends) = match.span(), sentence
    before = text[max(begins, start - _REPORTED_WITHIN) : start]
    after = text[end : min(ends, end + _REPORTED_WITHIN)]
    opened = max((before.rfind(mark) for mark in _OPENING), default=-1)
    if opened < 0 or not any(mark in after for mark in _CLOSING):
        return False
    return _REPORTED.search(before[:opened]) is not None


def _taken_out(
    text: str, match: re.Match[str], sentence: tuple[int, int], sign: _Sign
) -> tuple[int, int]:
    start, end = sentence
    if sign.whole_paragraph:
        over = _PARAGRAPH.search(text, match.end())
        end = max(end, over.start() if over else len(text))
    return start, end


def _blanked(text: str, spans: list[tuple[int, int]]) -> str:
    """Put white space where the passages were; a line break at each end keeps sentences apart."""
    for start, end in spans:
        text = text[:start] + "\n" + " " * (end - start - 1) + text[end:]
    return text
