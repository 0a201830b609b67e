"""Where and how a parse failed -> the message for the user.

Typical typing mistakes and habits of other languages are recognized first; otherwise the message lists what was
expected, in words.
"""

from __future__ import annotations

import re
from dataclasses import dataclass

from treeml.lang.diagnostic import Diagnostic, Fix, Label
from treeml.lang.measures import MEASURES
from treeml.lang.nesting import MAXIMUM_DEPTH
from treeml.lang.node_builder import Word
from treeml.lang.source import Source, Span
from treeml.lang.suggest import HABITS, suggest
from treeml.lang.words import GROUPS, INNER_WORDS, MAXIMUM_DIGITS, PHRASES, UNITS, USAGE, VERBS, read_quoted, spell_name


@dataclass(frozen=True, slots=True)
class Failure:
    """A statement that does not parse."""

    source: Source
    offset: int  # of the first token that does not fit; the end of the text if it ends too early
    opened: int  # where the statement began
    end: int  # the end of the text that was parsed
    accepted: frozenset[str]  # terminals that were expected at the offset
    previous: Word | None = None
    parentheses: tuple[Word, ...] = ()  # that are still open
    because: Diagnostic | None = None  # the mistake, if it is known already

    @property
    def rest(self) -> str:
        return self.source.text[self.offset : min(self.end, self.offset + 300)]

    @property
    def starts_line(self) -> bool:
        line_start = self.source.text.rfind("\n", 0, self.offset) + 1
        return not self.source.text[line_start : self.offset].strip(" \t\ufeff")

    def span(self, length: int, before: int = 0) -> Span:
        return Span(self.source, self.offset - before, self.offset + length)


def explain(failure: Failure) -> Diagnostic:
    if failure.because is not None:
        return failure.because
    for recognize in (
        _borrowed,
        _spaced_measure,
        _spaced_name,
        _habit,
        _quoted_column,
        _quote,
        _bare_path,
        _bound_in_goal,
        _number,
        _unit,
        _stray_then,
        _unknown_statement,
        _open_parenthesis,
        _character,
    ):
        diagnostic = recognize(failure)
        if diagnostic is not None:
            return diagnostic
    return _unexpected(failure)


def next_statement(source: Source, after: int) -> int:
    """The start of the next line that begins, or seems to begin, a statement; else the end of the text."""
    line = source.text.find("\n", after) + 1
    for match in _OPENING.finditer(source.text, line) if line else ():
        before = source.text[max(after, match.start() - 200) : match.start()].split()
        word = match[0].strip(" \t\ufeff")
        if word in INNER_WORDS or (before and (before[-1], word) in _CONTINUED):
            continue
        return match.end() - len(word)
    return len(source.text)


# A verb, or an unindented word that is not followed by an operator, or is given a value as in other tools.
_OPENING = re.compile(
    rf"^[ \t\ufeff]*(?:{'|'.join(VERBS)})\b"
    r"|^[^\W\d]\w*(?=[ \t]+[\"`\w]|[ \t]*[:=][ \t]*[\"'`\w]|[ \t]*\r?$)",
    re.MULTILINE,
)
_CONTINUED = {("cost", "predict"), ("gain", "predict"), ("by", "column"), ("then", "minimize"), ("then", "maximize")}
_WORD = re.compile(r"[^\W\d]\w*")

COLUMN_MEASURES = frozenset(
    name for name, measure in MEASURES.items() if any(each.kind.startswith("column") for each in measure.parameters)
)
_TWO_REQUIREMENTS = "write two `require` statements; all requirements hold together"

# Text at the failure (or from one character before it) -> code, title, label, replacement, help.
_HABITS: tuple[tuple[str, str, str, str, str | None, str], ...] = (
    (r"={2,}", "S104", "a comparison is written `=`, not `{0}`", "write `=`", "=", ""),
    (r":=", "S104", "a value is given with `=`, not `{0}`", "write `=`", "=", ""),
    (r"at\s+least\b", "S111", "at least is written `>=`", "write `>=`", ">=", ""),
    (r"at\s+most\b", "S111", "at most is written `<=`", "write `<=`", "<=", ""),
    (r"=>|≥|⩾", "S111", "at least is written `>=`, not `{0}`", "write `>=`", ">=", ""),
    (r"=<|≤|⩽", "S111", "at most is written `<=`, not `{0}`", "write `<=`", "<=", ""),
    (r"!=|<>|≠|~=", "S111", "`{0}` is not a comparison", "a bound is `<=`, `>=` or `=`", None,
     "on whole numbers, `<` and `>` are understood too"),
    (r"&&?|(?i:and)\b", "S111", "conditions are not joined by `{0}`", "ends the first condition", None,
     _TWO_REQUIREMENTS),
    (r"\|\|?|(?i:or)\b", "S111", "conditions are not joined by `{0}`", "ends the first condition", None,
     "a specification is a list of requirements that all hold; it has no alternatives"),
    (r"\*\*|\^", "S111", "a formula has no powers", "not an operator here", None,
     "formulas are built with `+`, `-`, `*` and `/`"),
    (r";", "S111", "a statement ends without `{0}`", "write nothing here", "", ""),
    (r"//|/\*|--", "S111", "a comment starts with `#`, not `{0}`", "write `#`", None, ""),
    (r"[−–—]", "S111", "a minus sign is written `-`, not `{0}`", "write `-`", "-", ""),
    (r"[×·]", "S111", "a product is written `*`, not `{0}`", "write `*`", "*", ""),
    (r"…|\.\.\.", "S111", "a range is written `..`, not `{0}`", "write `..`", "..", ""),
    (r"[\[\]]", "S111", "`{0}` is not used in this language", "not a bracket here", None,
     "a domain is a range `0 .. 1` or a set `{{a, b}}`"),
    (r"%", "S113", "`%` follows a number", "no number stands before it", None, "write `5%`, or `0.05`"),
)  # fmt: skip


def _borrowed(failure: Failure) -> Diagnostic | None:
    """A line, from the beginning of its statement or from the failure, in the words of another tool."""
    from treeml.lang.borrowed_words import translated  # imported here: start-up time

    text, place = failure.source.text, failure.offset
    if failure.previous is not None and not failure.rest.strip():
        place = failure.previous.span.end  # the statement breaks off
    end = text.find("\n", place)
    end = len(text) if end < 0 else end
    line_start = text.rfind("\n", 0, place) + 1
    # Where a line holds several statements, the last of them that fails is meant.
    for start in dict.fromkeys((max(failure.opened, line_start), place, line_start)):
        line = text[start:end].partition("#")[0].rstrip()
        stripped = line.lstrip(" \t\ufeff")
        found = translated(stripped)
        if found is None:
            continue
        begin = start + len(line) - len(stripped)
        if place > begin + len(stripped):
            continue
        span = Span(failure.source, begin, begin + len(stripped))
        written = " and ".join(f"`{each}`" for each in found.lines)
        return Diagnostic(
            "S120",
            found.title,
            (Label(span, f"write {written}" if found.exact else "not a statement here"),),
            notes=(found.note,) if found.note else (),
            helps=() if found.exact else (f"write, for example, {written}",),
            fix=(Fix(span, "\n".join(found.lines)),) if found.exact else (),
        )
    return None


def _spaced_name(failure: Failure) -> Diagnostic | None:
    """`features body weight (kg)`, `parity_gap(marital status)`: a column name without its backquotes."""
    from treeml.lang.borrowed_words import spaced_names  # imported here: start-up time

    text = failure.source.text
    line_start = text.rfind("\n", 0, failure.offset) + 1
    end = text.find("\n", failure.offset)
    line = text[line_start : len(text) if end < 0 else end]
    places = [(line_start + start, line_start + stop) for start, stop in spaced_names(line)]
    if failure.parentheses:
        opening = failure.parentheses[-1].span
        name = re.compile(r"\s*([^\W\d]\w*(?:[ :/.-]+\w+)+)\s*[,)]").match(text, opening.end)
        called = re.search(r"(?<!\w)(\w+)\s*$", text[: opening.start])
        if name is not None and called is not None and HABITS.get(called[1], called[1]) in COLUMN_MEASURES:
            places.append(name.span(1))
    for start, stop in places:
        span = Span(failure.source, start, stop)
        fails_inside = span.start < failure.offset and not text[span.end : failure.offset].strip()
        if not fails_inside or _holds_a_statement(span.text, failure):
            continue
        return Diagnostic(
            "S121",
            "a column name with spaces or signs stands in backquotes",
            (Label(span, f"write `{span.text}`, with the backquotes"),),
            fix=(Fix(span, f"`{span.text}`"),),
        )
    return None


def _spaced_measure(failure: Failure) -> Diagnostic | None:
    """`maximize balanced accuracy`: the words of a measure are joined by underscores."""
    if failure.previous is None or failure.starts_line:
        return None
    following = re.match(r"\w+(?:[ \t]+\w+)?", failure.rest)
    words = following[0].split() if following is not None else []
    for length in range(len(words), 0, -1):
        name = "_".join((failure.previous.text, *words[:length])).casefold()
        name = HABITS.get(name, name)
        if name in MEASURES:
            end = failure.offset + (following.end() if following and length == len(words) else len(words[0]))
            span = Span(failure.source, failure.previous.span.start, end)
            label = Label(span, f"write `{name}`")
            return Diagnostic("S102", "the words of a measure are joined by `_`", (label,), fix=(Fix(span, name),))
    return None


def _holds_a_statement(text: str, failure: Failure) -> bool:
    """Does another statement follow on the same line? A verb that breaks off at once is part of a name."""
    words = _WORD.findall(text)
    later = [word for word in words[1:] if word in VERBS]
    if "REQUIRE" not in failure.accepted and (failure.previous is None or failure.previous.text not in VERBS):
        return False  # the statement is not complete, so no other can follow
    if later and (failure.previous is None or failure.previous.text != later[-1]):
        return True
    guess = suggest(words[1], VERBS) if len(words) > 1 and words[1] not in VERBS else None
    return guess is not None and guess[:3] == words[1].lower()[:3]  # a verb with a typing mistake


def _habit(failure: Failure) -> Diagnostic | None:
    for pattern, code, title, label, replacement, help in _HABITS:
        # A two-character operator such as `==` fails at its second character, after the parser accepted the first.
        for before in (1, 0):
            match = re.compile(pattern).match(failure.source.text, failure.offset - before, failure.end)
            if (
                match is None
                or match.end() <= failure.offset
                or failure.offset < before
                or (before and match[0].isalpha())
            ):
                continue
            span = Span(failure.source, match.start(), match.end())
            return Diagnostic(
                code,
                title.format(match[0]),
                (Label(span, label),),
                helps=(help.format(),) if help else (),
                fix=() if replacement is None else (Fix(span, replacement),),
            )
    return None


def _quoted_column(failure: Failure) -> Diagnostic | None:
    """`predict "disease"`: texts are values, and columns are names."""
    match = re.match(r'"((?:\\.|[^"\\\n])+)"', failure.rest)
    if match is None or "QUOTED" not in failure.accepted or "STRING" in failure.accepted:
        return None
    name = spell_name(read_quoted(match[0]))
    span = failure.span(len(match[0]))
    title = "a column is named without quotes, or in backquotes"
    return Diagnostic("S105", title, (Label(span, f"write {name}"),), fix=(Fix(span, name),))


def _quote(failure: Failure) -> Diagnostic | None:
    rest = failure.rest
    line = rest.split("\n", 1)[0].rstrip("\r")
    if rest[:1] in ("'", "‘", "“", "”", "«"):
        closing = {"'": "'", "‘": "’", "“": "”", "”": "”", "«": "»"}[rest[0]]
        end = line.find(closing, 1)
        inner = line[1:end]
        safe = end > 0 and '"' not in inner and "\\" not in inner
        return Diagnostic(
            "S105",
            f"a text stands in double quotes, not in `{rest[0]}`",
            (
                Label(
                    failure.span(end + 1 if end > 0 else 1), f'write "{inner}"' if safe else 'write `"` on both sides'
                ),
            ),
            fix=(Fix(failure.span(end + 1), f'"{inner}"'),) if safe else (),
        )
    if rest[:1] not in ('"', "`") or (_closed(rest) and rest[:2] != "``"):
        return None
    if line[:2] == "``":
        return Diagnostic(
            "S105",
            "a name in backquotes is empty",
            (Label(failure.span(2), "holds no name"),),
            helps=("write the name of a column between the backquotes",),
        )
    kind = 'text in "quotes"' if rest[0] == '"' else "name in backquotes"
    return Diagnostic(
        "S105",
        f"a {kind} is not closed",
        (
            Label(
                failure.span(len(line)),
                f"opens here, and no `{rest[0]}` follows on this line".replace("```", "closing backquote"),
            ),
        ),
        helps=("a text or a name ends on the line where it begins; write `\\n` for a line break inside",),
    )


def _closed(rest: str) -> bool:
    quote = rest[0]
    return re.match(rf"{quote}(\\.|[^{quote}\\\n])*{quote}", rest) is not None


def _bare_path(failure: Failure) -> Diagnostic | None:
    """`data heart.csv`: only the quotes are missing."""
    match = re.match(r"[^\s\"'`#]+", failure.rest)
    if failure.accepted != {"STRING"} or match is None or failure.starts_line:
        return None
    span = failure.span(len(match[0]))
    safe = "\\" not in match[0]
    return Diagnostic(
        "S105",
        'the name of a file stands in "quotes"',
        (Label(span, f'write "{match[0]}"' if safe else 'write `"` on both sides'),),
        fix=(Fix(span, f'"{match[0]}"'),) if safe else (),
    )


def _bound_in_goal(failure: Failure) -> Diagnostic | None:
    """`maximize accuracy > 0.9` mixes a goal with a requirement."""
    verb = _WORD.match(failure.source.text, failure.opened)
    match = re.match(r"[<>]=?|=", failure.rest)
    if verb is None or verb[0] not in ("minimize", "maximize") or match is None or "REQUIRE" not in failure.accepted:
        return None
    before = failure.source.text[verb.end() : failure.offset]
    after = failure.rest[len(match[0]) :].partition("\n")[0].partition("#")[0]
    sides = [" ".join(side.split()) for side in re.split(r"[<>]=?|=", f"{before}{match[0]}{after}")]
    measured = next((side for side in sides if side and not re.match(r"[-\d.]", side)), "")
    label = "compares, where the goal is complete"
    if not measured:
        return Diagnostic("S111", "a goal has no bound", (Label(failure.span(len(match[0])), label),))
    closed = re.sub(r"([<>])(?!=)", r"\1=", " ".join(f"{before}{match[0]}{after}".split()))
    helps = (f"write the goal, `{verb[0]} {measured}`, and the bound on a line of its own: `require {closed}`",)
    return Diagnostic("S111", "a goal has no bound", (Label(failure.span(len(match[0])), label),), helps=helps)


def _number(failure: Failure) -> Diagnostic | None:
    previous = failure.previous
    follows_number = previous is not None and previous.type == "NUMBER" and previous.span.end == failure.offset
    if match := re.match(r"\.[0-9][0-9_]*", failure.rest):
        if follows_number:
            return Diagnostic(
                "S107", "a number has one decimal point", (Label(failure.span(len(match[0])), "a second one"),)
            )
        return Diagnostic(
            "S107",
            f"a number starts with a digit, not with `{match[0][0]}`",
            (Label(failure.span(len(match[0])), f"write `0{match[0]}`"),),
            fix=(Fix(failure.span(len(match[0])), f"0{match[0]}"),),
        )
    if follows_number and re.match(r"\.(?!\.)", failure.rest):
        return Diagnostic(
            "S107",
            "a number ends with a digit, not with `.`",
            (Label(failure.span(1), "no digits follow"),),
            fix=(Fix(failure.span(1), ""),),
        )
    if previous is not None and follows_number and (match := re.match(r"(,[0-9]{3})+(?![0-9])", failure.rest)):
        span = Span(failure.source, previous.span.start, failure.offset + len(match[0]))
        plain = span.text.replace(",", "_")
        return Diagnostic(
            "S107",
            "thousands are set apart with `_`, not with `,`",
            (Label(span, f"write `{plain}`"),),
            fix=(Fix(span, plain),),
        )
    return None


def _stray_then(failure: Failure) -> Diagnostic | None:
    match = re.match(r"then\b[ \t]*(\w*)", failure.rest)
    if match is None:
        return None
    if match[1] in ("minimize", "maximize", ""):
        return Diagnostic(
            "S110",
            "`then` does not follow a goal",
            (Label(failure.span(4), "continues nothing"),),
            helps=(
                "put it right after the goal before it: `minimize errors then minimize leaves`",
                *_among_listed(failure),
            ),
        )
    return None


def _among_listed(failure: Failure) -> tuple[str, ...]:
    """If the statement before lists trees: how one of them is chosen."""
    if not failure.source.text[: failure.offset].rstrip().rpartition("\n")[2].startswith("list"):
        return ()
    return ("among listed trees, choose by a measure: `treeml list spec.tml --by features_used`",)


def _unknown_statement(failure: Failure) -> Diagnostic | None:
    match = _WORD.match(failure.rest)
    if match is None or "REQUIRE" not in failure.accepted:
        return None
    word = match[0]
    guess = suggest(word, VERBS)
    # A typing mistake has a safe fix; a habit of another language may need more changes than the first word.
    slip = guess is not None and guess.startswith(word.lower()[:3])
    if word in VERBS or not (failure.starts_line or (slip and len(word) > 3)):
        return None
    span = failure.span(len(word))
    return Diagnostic(
        "S101",
        f"no statement is called `{word}`",
        (Label(span, f"did you mean `{guess}`?" if guess else "a statement opens with a verb such as `require`"),),
        helps=() if guess else ("verbs are " + ", ".join(VERBS[1:]),),
        fix=(Fix(span, guess),) if guess and slip else (),
    )


def _unit(failure: Failure) -> Diagnostic | None:
    match = _WORD.match(failure.rest)
    if match is None or failure.starts_line or "UNIT" not in failure.accepted or failure.previous is None:
        return None
    word, number = match[0], failure.previous.text
    guess = suggest(word, UNITS)
    label = f"did you mean `{number} {guess}`?" if guess and guess != "%" else "not a unit"
    if guess == "%":
        label = f"write `{number}%`"
    return Diagnostic(
        "S113",
        f"no unit is called `{word}`",
        (Label(failure.span(len(word)), label),),
        notes=("units are `%`, `rows`, `ms`, `s`, `min` and `h`",),
        helps=() if guess else (f"to multiply, write `{number} * {word}`",),
        fix=(Fix(failure.span(len(word)), guess),) if guess else (),
    )


def _open_parenthesis(failure: Failure) -> Diagnostic | None:
    if failure.rest[:1] == ")" and not failure.parentheses:
        return Diagnostic(
            "S114", "a parenthesis is closed that was not opened", (Label(failure.span(1), "nothing to close"),)
        )
    if not failure.parentheses or "RIGHT_PARENTHESIS" not in failure.accepted:
        return None
    if not (failure.starts_line or not failure.rest.strip()):
        return None
    opening = failure.parentheses[-1]
    return Diagnostic(
        "S114",
        "a parenthesis is not closed",
        (Label(opening.span, "opens here"), Label(_just_after(failure), "expected `)` by here")),
    )


def _character(failure: Failure) -> Diagnostic | None:
    letter = failure.rest[:1]
    if not letter or letter.isalnum() or letter in '_"`:,<>={(-+.})/*# \t\r\n\f\v':
        return None
    shown = letter if letter.isprintable() else f"U+{ord(letter):04X}"
    return Diagnostic(
        "S103",
        f"the character `{shown}` has no meaning here",
        (Label(failure.span(1), "not part of the language"),),
        helps=('a name with such a character stands in backquotes, a text in "quotes"',),
    )


def _unexpected(failure: Failure) -> Diagnostic:
    verb = _WORD.match(failure.source.text, failure.opened)
    known = verb is not None and verb[0] in USAGE
    helps = (f"it reads like `{USAGE[verb[0]]}`",) if verb is not None and known else ()
    found = _token(failure)
    after = f" after `{failure.previous.text}`" if failure.previous is not None else ""
    wanted = phrase(failure.accepted)
    if not found:
        return Diagnostic(
            "S102",
            f"expected {wanted}{after}",
            (Label(_just_after(failure), "the statement breaks off here"),),
            helps=helps,
        )
    span = failure.span(len(found))
    if "REQUIRE" in failure.accepted:
        before = failure.previous.text if failure.previous is not None else ""
        title = (
            f"`{_short(found)}` cannot follow `{_short(before)}`" if before else f"`{_short(found)}` is not a statement"
        )
        label = "the statement is complete before this" if before else "a statement opens with a verb such as `require`"
        return Diagnostic("S102", title, (Label(span, label),), helps=helps)
    return Diagnostic("S102", f"expected {wanted}{after}", (Label(span, f"found `{_short(found)}`"),), helps=helps)


def phrase(terminals: frozenset[str]) -> str:
    """The expected terminals in words."""
    left = set(terminals) - {"$END"}
    parts = []
    for group, name in GROUPS:
        if group <= left:
            left -= group
            parts.append(name)
    parts = sorted({PHRASES[terminal] for terminal in left}) + parts
    return parts[0] if len(parts) == 1 else ", ".join(parts[:-1]) + " or " + parts[-1]


def too_many_digits(word: Word) -> Diagnostic:
    return Diagnostic(
        "S107",
        "this number has too many digits",
        (Label(word.span, f"more than {MAXIMUM_DIGITS} digits when written out"),),
    )


def bad_escape(word: Word, match: re.Match[str]) -> Diagnostic:
    start = word.span.start + match.start()
    span = Span(word.span.source, start, start + len(match[0]))
    return Diagnostic(
        "S112",
        f"`{match[0]}` means nothing inside quotes",
        (Label(span, f"write `\\{match[0]}` for a backslash"),),
        notes=('escapes are `\\"`, `\\\\`, `\\n`, `\\t`, `\\r` and `\\u{...}`; paths may use `/` everywhere',),
    )


def too_deep(span: Span) -> Diagnostic:
    return Diagnostic(
        "S106",
        f"this expression is nested more than {MAXIMUM_DEPTH} levels deep",
        (Label(span, "too deep here"),),
        helps=("write a shorter formula, or several requirements",),
    )


def too_long(span: Span, limit: int) -> Diagnostic:
    return Diagnostic(
        "S106",
        f"this expression has more than {limit:,} operators",
        (Label(span, "one too many"),),
        helps=("write a shorter formula, or several requirements",),
    )


def _token(failure: Failure) -> str:
    match = _TOKEN.match(failure.source.text, failure.offset, failure.end)
    return match[0] if match is not None else ""


_TOKEN = re.compile(r'"(?:\\.|[^"\\\n])*"|`(?:\\.|[^`\\\n])+`|[0-9][0-9_]*(?:\.[0-9]+)?|\w+|<=|>=|\.\.|\S')


def _short(text: str) -> str:
    return text if len(text) <= 40 else text[:37] + "..."


def _just_after(failure: Failure) -> Span:
    """The position after the last token, where something is missing."""
    end = failure.previous.span.end if failure.previous is not None else failure.offset
    return Span(failure.source, end, end)
