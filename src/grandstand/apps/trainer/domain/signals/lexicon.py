"""English words, stems, and the phrases that count as signs of reasoning."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from functools import lru_cache
from typing import Final, NamedTuple, TypeAlias

_TOKEN: Final = re.compile(r"[^\W\d_]+(?:['’][^\W\d_]+)*|[$£€¥]?\d+(?:[.,:]\d+)*%?")
_STEM_CACHE_SIZE: Final = 1 << 15
_MIN_STEM_CHARS: Final = 3
# Stems are cached by word, so the length of a word is bounded.
_MAX_WORD_CHARS: Final = 64


def word_set(words: str) -> frozenset[str]:
    return frozenset(words.split())


FUNCTION_WORDS: Final = word_set(
    """
    a an the this that these those such i me my we us our you your he him his she her it its they
    them their who whom whose which what where when why how there here one ones and or but nor so
    if then than because as while although though since unless until whether of in on at by for
    with without within from to into onto over under about against between among through during
    before after above below up down out off per via is are was were be been being am do does did
    doing done have has had having can could may might must shall should will would ought not no
    never neither either both each every all any some many much more most few less least several
    other others another same own only just also too very even still yet again ever once rather
    quite almost don't doesn't didn't isn't aren't wasn't weren't can't couldn't won't wouldn't
    shouldn't hasn't haven't it's that's there's i'm i'd i've we'd they're let however therefore
    thus hence instead perhaps
    """
)

# Words of reasoning and of conversation in general, which name no subject.
GENERIC_WORDS: Final = word_set(
    """
    thing things stuff good bad nice great big small really think believe feel know say says said
    tell make makes made get gets got go goes going come take takes use used using want need needs
    people person someone everyone anyone something anything everything way ways lot lots kind sort
    time times year years month months day days week weeks today new old first second third last
    next point points part case question answer reason reasons fact facts idea example important
    different possible likely able well better best worse right wrong true false sure certain maybe
    probably might always definitely obviously clearly simply basically like look looks see seen
    seems show shows mean means give gives given put long high low large work works happen happens
    change find found number numbers two three four five ten start end keep let try help problem
    problems situation issue issues important matter matters world life merely rarely
    remember forget
    """
)

_SUFFIXES: Final = (
    ("ationally", ""),
    ("ations", ""),
    ("ation", ""),
    ("ities", ""),
    ("ments", ""),
    ("ment", ""),
    ("ness", ""),
    ("ions", ""),
    ("ion", ""),
    ("ings", ""),
    ("ing", ""),
    ("edly", ""),
    ("ies", "y"),
    ("ied", "y"),
    ("ity", ""),
    ("ers", ""),
    ("ed", ""),
    ("er", ""),
    ("es", ""),
    ("ly", ""),
    ("s", ""),
    ("e", ""),
)


class Token(NamedTuple):
    """A lower-case word and its position in the text."""

    # A tuple is created three times as fast as a dataclass, and an answer has hundreds.

    word: str
    start: int
    end: int


def tokenize(text: str) -> list[Token]:
    """Return the words and numbers of a text in order, each cut to 64 characters."""
    lowered = text.lower().replace("’", "'")
    if len(lowered) != len(text):
        # A few capitals, such as the Turkish I, become two letters.
        lowered = "".join(char if len(char.lower()) > 1 else char.lower() for char in text)
    return [Token(match[0][:_MAX_WORD_CHARS], *match.span()) for match in _TOKEN.finditer(lowered)]


@lru_cache(_STEM_CACHE_SIZE)
def stem(word: str) -> str:
    """Return the word without its ending, the same for most of its forms."""
    word = word.removesuffix("'s")
    for suffix, replacement in _SUFFIXES:
        if word.endswith(suffix) and len(word) - len(suffix) >= _MIN_STEM_CHARS:
            if suffix == "s" and word.endswith("ss"):
                return word
            word = word[: -len(suffix)] + replacement
            break
    return word[:-1] if len(word) > _MIN_STEM_CHARS and word[-1] == word[-2] else word


@lru_cache(_STEM_CACHE_SIZE)
def content_stem(word: str) -> str | None:
    """Return the stem of a content word; None for other words."""
    if word in FUNCTION_WORDS or word in GENERIC_WORDS or len(word) < _MIN_STEM_CHARS:
        return None
    if word[0].isdigit() or word[0] in "$£€¥":
        return None
    word_stem = stem(word)
    return None if word_stem in _GENERIC_STEMS else word_stem


_GENERIC_STEMS: Final = frozenset(stem(word) for word in GENERIC_WORDS)


def content_stems(text: str) -> frozenset[str]:
    """Return the stems of a text's content words."""
    return frozenset(
        found for token in tokenize(text) if (found := content_stem(token.word)) is not None
    )


_PHRASES: Final[Mapping[str, str]] = {
    "reason": """
        because | due to | owing to | given that | the reason | reason is | that is why
        | which is why | for this reason | as a result of | since the | since it | since they
        | since we | since a | driven by | caused by | explained by | comes from | stems from
        | on the grounds | because of
    """,
    "consequence": """
        therefore | thus | hence | consequently | as a result | which means | this means
        | that means | it follows | so the | so it | so we | so i | so a | so there | so this
        | so that | so even | implies | implying | would mean | leads to | lead to | leaving
        | suggests that | suggest that | in that case | would then | follows that | which makes
        | which would | would imply | so any | so an | so my | so they | which leaves
        | that leaves | so most | so some | so at | so no | so you | so if | then the | then it
        | then we
    """,
    "condition": """
        if | unless | provided | as long as | only if | even if | depends on | depend on
        | whether | in case | only when | so long as | had the | were the | in any case
        | given that | as soon as | until
    """,
    "contrast": """
        however | but | although | though | whereas | while | yet | on the other hand
        | by contrast | nevertheless | despite | in spite of | even so | rather than
        | instead of | does not mean | doesn't mean | does not show | doesn't show
        | does not prove | doesn't prove | not the same | does not follow | doesn't follow
        | on its own | by itself | tells us nothing | says nothing | cannot tell | can't tell
        | cannot show | says little | tells us little | is not evidence | not necessarily
        | alone does | alone do | alone cannot | do not show | do not prove | wouldn't have
        | would not have | wasn't the | was not the | isn't the | is not the | doesn't fit
        | does not fit | can't be | cannot be | not because | no proof | not proof
        | not the cause | tells nothing | too optimistic | exaggerates | overstates
        | understates | hides | misleading
    """,
    "care": """
        correlation | causation | causal | confounder | confounders | confounding | confounded
        | selection bias | selection effect | self selected | self select | survivorship
        | regression to the mean | regress | reverse causation | coincidence | by chance | noise
        | placebo | seasonal | seasonality | base rate | base rates | hindsight | cherry picked
        | cherry picking | counterfactual | double counting | sunk cost | weakest link
        | weakest step | weakest part | non sequitur | circular | fallacy | bad luck | good luck
        | wobble | wobbles | random | sampling error | self selection | worst of | survivors
        | peeking | cherry | by accident | outlier | outliers | lottery | chance alone
    """,
    "absolute": """
        always | never ever | everyone knows | everybody knows | obviously | clearly
        | definitely | no doubt | without a doubt | certainly | undoubtedly | proves | proven
        | guaranteed | of course | totally | absolutely | impossible | common sense
        | no question | there is no way | completely | just bad | just good | for sure | 100%
        | all of them are | any sane | stupid | ridiculous | no brainer | obvious | everybody
        | nothing to fear | at once | in my experience | nothing at all | not at all
        | cannot be a coincidence | can't be a coincidence | the future | must know
        | only logical | frankly | nobody ever | practically zero | paramount | holistic
        | holistically | nothing is wrong | nothing wrong | everyone who | there you see
        | immediately | as we all know | we all know | it is a fact | the truth is
        | needless to say | without question | you can never | end of story | experts agree
        | experts recommend | experts say | they say | trained for | far too | make up
        | no reason to | honestly
    """,
    "vague": """
        things | stuff | somehow | kind of | sort of | a lot | lots | something | whatever
        | really | very | basically | etc | nice | pretty | many factors | various | and so on
        | in some way | some people | a bit | good | bad | better | great | big | interesting
    """,
    "definition": """
        i mean | by which i mean | defined as | that is | in other words | meaning | namely
        | specifically | in particular | refers to | i take | i read | here means | means that
        | to be precise | more precisely | what counts as | counted as | count as | counts as
        | i define | in the sense | exactly | i use | strictly
    """,
    "position": """
        i would | i'd | i think | i believe | my view | my answer | i recommend | should
        | the main | the key | the strongest | the central | the crux | the claim | overall
        | in short | my conclusion | i conclude | the biggest | the most important
        | the argument | the weakest | the largest | i expect | i estimate | i doubt | i do not
        | i don't | on balance | the core | the headline | not enough | no the | yes but | i put
        | my estimate | my forecast | first | the decisive | the figure | the plan
    """,
    "support": """
        according to | for example | for instance | such as | data | study | studies | trial
        | survey | report | reported | reports | figures | records | record | sample | evidence
        | shows | showed | found | measured | published | audit | experiment | results | log
        | logs | statistics | interviews | history | test | tests | tested | document
        | documents | testimony | measurements | track record | observed | told us | we are told
        | the case | states
    """,
    "scrutiny": """
        sample size | small sample | control group | controls | randomised | randomized
        | self reported | anecdote | anecdotal | anecdotes | biased | bias | peer reviewed
        | independent | independently | replicate | replicated | replication | reliable
        | unreliable | quality of | conflict of interest | vested interest | interest in
        | unverified | verify | verified | representative | blind | blinded | missing | not told
        | no data | not given | not reported | not say | doesn't say | would want to see
        | would need to see | i would want | i would ask | i'd ask | i'd want | lacks
        | no comparison | comparison group | only one | single | hearsay | second hand
        | unsourced | press release | too small | too few | no control | weak evidence | weak
        | strong evidence | stronger evidence | thin | raw data | funded | paid by | incentive
        | incentives | stands to gain | we do not know | we don't know | not been | credible
        | limits | limited | cannot see | omits | left out | self report | self reports
        | not tested | untested | not checked | nobody has | nobody knows | no one knows
        | not separately | asked once | by hand | own words | has an interest | paid for by
        | to gain | admits
    """,
    "assumption": """
        assume | assumes | assumed | assuming | assumption | assumptions | presume | presumes
        | presumed | presuming | presuppose | presupposes | presumption | taken for granted
        | takes for granted | take for granted | taking for granted | takes it that | relies on
        | rely on | relying on | rests on | rest on | resting on | hinges on | must be true
        | would have to be | has to be true | have to be true | only works if | only holds if
        | works only if | holds only if | implicit | implicitly | hidden | premise | premises
        | supposes | supposing | treats | treat the | unstated | depends on | depends entirely
        | that requires | takes as given | presupposed | supposed | quietly | silently
        | counts on | counting on | hangs on | hang on | taken as given | would have to hold
        | presumably | needs the | needs two | for this to work | has to hold | must hold
        | bets on | banks on
    """,
    "probe": """
        fails | fail | failed | breaks | break | would collapse | collapses | could test
        | test this | to test | test whether | a test | check | checking | checked | verify
        | would need | would fall | no longer | would not hold | falls apart | if this is false
        | if that is | if this is | if it is | if not | if they are | if they were | if the
        | if it does | if they | measure | compare | comparing | ask for | ask whether | pilot
        | would break | would be wrong | falls | disappears | vanishes | would vanish
        | evaporates | is wrong | wrong then | would show | look at | see whether | if even
        | were false | is false | turns out | would reverse | would shrink | would flip
        | least certain | most fragile | carries most | matters most | if i'm | if i am
        | untested | checkable | would tell | would know | need to know | split off | holds
        | hold | does not hold | doesn't hold
    """,
    "alternative": """
        alternative | alternatives | alternatively | another explanation | another possibility
        | other explanation | other explanations | other reason | other reasons | another reason
        | other causes | another cause | another option | could also | may also | might also
        | could instead | may instead | might instead | could equally | could just as
        | may simply | might simply | could simply | other option | other options
        | second option | third option | one option | option | options | on the other hand
        | could argue | would argue | might argue | argue that | critics | opponents
        | supporters | defenders | rival | rivals | counter | counterargument | the opposite
        | otherwise | rather than | instead | or perhaps | it could be | it may be | it might be
        | could be | may have | might have | might be | may be | a third | a second | another
        | one possibility | a different | other ways | the other side | equally | possibility
        | possibilities | explanation | explanations | middle way | compromise | the case for
        | the case against | in favour | in favor | or that | could have | may reflect
        | might reflect | could reflect | readings | two sides | both sides | three options
        | two options | or else | either | on one hand | competing | an exception
        | middle ground | neither | against it | for it | whether it was | better would be
        | would be better | i would rather | what else | other side | one could
        | at the same time
    """,
    "weighing": """
        more likely | less likely | most likely | compared with | compared to | versus
        | stronger | weaker | better than | worse than | tell apart | distinguish | would decide
        | decides | decide between | rule out | rules out | ruled out | tell us which
        | strongest | best case | trade off | trade offs | tradeoff | outweigh | outweighs
        | against that | more plausible | less plausible | plausible | costs less | cheaper
        | fits better | would separate | separate | separates | fits | in its favour
        | its strength | its weakness | at its best | drawback | advantage | disadvantage
        | downside | upside | at the cost | the price | would predict | predicts | would expect
        | discriminate | best version | fair point | is right that | costs | the cost of
        | price of | weighs more | weighs less | in return | keeps both | worth more
        | worth less | cheapest | smallest | fairer | the better | wins
    """,
    "hedge": """
        may | might | could | perhaps | possibly | probably | likely | unlikely | seems | seem
        | appears | appear | suggests | roughly | approximately | tentatively | in part | partly
        | uncertain | unclear | unsure | not sure | not certain | i doubt | plausibly
        | i suspect | maybe | i guess | around | about
    """,
    "grading": """
        fairly confident | fairly sure | quite sure | reasonably confident | reasonably sure
        | moderately confident | moderate confidence | low confidence | high confidence
        | less confident | more confident | not confident | confident | confidence | probability
        | chance of | a chance | percent chance | i would put | i'd put | i put | odds
        | less sure | more sure | hard to know | cannot know | can't know | do not know
        | don't know | cannot tell | can't tell | cannot say | can't say | margin of error
        | error bars | confidence interval | uncertainty | uncertain | wide range
        | somewhere between | my estimate | at most | at least | lower bound | upper bound
        | not established | remains open | leave open | open question | tentative | tentatively
        | provisional | best guess | i am sure | surer | unknown | unknowns | my range
        | plus or minus | not certain | not sure | i would not bet | would bet | i'm at
        | i am at | i'm sure | i give | i'd give | unsure | rule out | can't rule out
        | coin flip | not proven | doesn't prove | does not prove | soft part | shaky | i lean
        | nobody knows | in doubt | a guess | i'd guess | i guess | would guess | one in six
        | hard to say | i trust | least sure | trust least | hardly know
    """,
    "revision": """
        change my mind | change my view | change my answer | change this view | would convince
        | convince me | would persuade | persuade me | revise | i would update | update
        | if it turned out | i could be wrong | i may be wrong | i might be wrong
        | would move me | would lower | would raise | until we | until i | reconsider
        | would overturn | would make me | would shift | would strengthen | would weaken
        | would settle | prove me wrong | i would drop | would alter | would push
        | would be enough | move my | moves my | shift my | raise my | lower my | i may be
        | i might be | would reverse | would switch | would tell | would settle it
        | would decide it | if i'm wrong | if i am wrong | seriously if | would show it
        | than i think | would need to know | need to know | want to know | would have to see
        | find out | would prove | turn me round | change course | until then
        | would be different | if that changed
    """,
    "measure": """
        base rate | base rates | baseline | denominator | out of | per | rate | rates
        | percentage | percent | average | mean | median | ratio | fraction | proportion
        | relative | absolute | sample size | expected | expected value | in every | for every
        | of every | share | percentage points | confidence interval | margin of error
        | standard deviation | false positives | false positive | positive predictive | variance
        | distribution
    """,
    "comparison": """
        more than | less than | fewer than | higher than | lower than | greater than
        | larger than | smaller than | times | double | doubled | half | twice | triple
        | compared with | compared to | versus | difference | from | as many | as much | only
        | at most | at least | exceeds | equals | equal to | which is | comes to | works out
        | leaves | leaving | gives | amounts to | against | instead of | nearly | drop | rise
        | fell | rose | increase
    """,
    "estimate": """
        roughly | approximately | about | around | estimate | estimated | order of magnitude
        | suppose | say | between | at most | at least | upper bound | lower bound
        | back of the envelope | assume | up to | no more than | range | nearly | almost
        | works out | comes to
    """,
    "opening": """
        therefore | thus | hence | consequently | however | moreover | furthermore | even so
        | otherwise | by contrast | as a result | that said | for this reason | in that case
        | nevertheless | on the other hand | likewise | similarly | nor
    """,
}


class CueMatch(NamedTuple):
    """A phrase found in a text: its family, and the tokens it covers."""

    family: str
    first: int
    length: int


Phrase: TypeAlias = tuple[tuple[str, ...], tuple[str, ...]]


def _by_phrase() -> Mapping[tuple[str, ...], tuple[str, ...]]:
    """Return the families of every phrase."""
    families: dict[tuple[str, ...], tuple[str, ...]] = {}
    for family, phrases in _PHRASES.items():
        for phrase in phrases.split("|"):
            words = tuple(phrase.split())
            families[words] = (*families.get(words, ()), family)
    return families


def _by_pair() -> Mapping[tuple[str, ...], tuple[Phrase, ...]]:
    """Return the phrases of two or more words by their first two, longest first."""
    by_pair: dict[tuple[str, ...], list[Phrase]] = {}
    for words, families in _by_phrase().items():
        if len(words) > 1:
            by_pair.setdefault(words[:2], []).append((words, families))
    return {
        pair: tuple(sorted(phrases, key=lambda phrase: -len(phrase[0])))
        for pair, phrases in by_pair.items()
    }


# A sentence of reasoning words alone has no subject.
_SUBJECTLESS: Final = (
    "reason consequence condition contrast assumption alternative weighing hedge grading revision"
    " absolute vague"
)
REASONING_STEMS: Final = frozenset(
    stem(words[0])
    for words, families in _by_phrase().items()
    if len(words) == 1 and not set(families).isdisjoint(word_set(_SUBJECTLESS))
)
_SINGLE: Final = {words[0]: families for words, families in _by_phrase().items() if len(words) == 1}
_PAIRS: Final = _by_pair()


def find_cues(tokens: Sequence[Token]) -> Iterator[CueMatch]:
    words_in_text = tuple(token.word for token in tokens)
    for at, word in enumerate(words_in_text):
        for words, families in _PAIRS.get(words_in_text[at : at + 2], ()):
            if words == words_in_text[at : at + len(words)]:
                for family in families:
                    yield CueMatch(family, at, len(words))
        for family in _SINGLE.get(word, ()):
            yield CueMatch(family, at, 1)
