"""Codes of text that is not in the language."""

from __future__ import annotations

from treeml.lang.codes.entry import CodeEntry

SYNTAX = (
    CodeEntry(
        "S100",
        "more mistakes than are worth showing",
        "After fifty mistakes reading stops: the file is probably not a specification at all, or one early slip "
        "makes the "
        "rest look wrong.",
        "a log file, given by mistake: treeml check run.log",
        "Correct the first mistakes and check again.",
    ),
    CodeEntry(
        "S101",
        "no statement has this name",
        "Every statement opens with a verb: `data`, `predict`, `maximize`, `require` and their kin. Spelling is "
        "American.",
        "requires depth <= 3",
        "Write the verb that is suggested; `treeml check --fix` does it for you. If the line continues the statement "
        "before it, look there for what is missing.",
    ),
    CodeEntry(
        "S102",
        "something else was expected here",
        "The statement is understood up to the marked place, where something is missing or superfluous.",
        "require depth <=",
        "Complete the statement; the help shows how one of its kind reads.",
    ),
    CodeEntry(
        "S103",
        "a character has no meaning here",
        "The language uses letters, digits, `_`, quotes, backquotes, parentheses and a few signs. A file with NUL "
        "bytes is "
        "no text at all.",
        "require depth @ 3",
        "Remove the character. A column whose name holds it stands in backquotes, a class in double quotes.",
    ),
    CodeEntry(
        "S104",
        "`=` is written differently",
        "Comparisons and values are both written with a single `=`.",
        "require errors == 0",
        "Write `require errors = 0`.",
    ),
    CodeEntry(
        "S105",
        "a quote is wrong or never closed",
        "Texts stand in double quotes and names of columns in backquotes; both end on the line where they begin.",
        'data "heart.csv',
        'Close the quote: `data "heart.csv"`.',
    ),
    CodeEntry(
        "S106",
        "an expression is nested too deep",
        "No formula that a person wrote has hundreds of levels; the limit keeps a damaged file from exhausting memory.",
        "minimize ((((((((( ... errors ... )))))))))",
        "Remove parentheses, or state several requirements.",
    ),
    CodeEntry(
        "S107",
        "a number is written in another way",
        "Numbers are digits with at most one decimal point: `3`, `0.05`, `2_000_000`, `1e-3`.",
        "require support >= 1,000 rows",
        "Write `1000` or `1_000`, and `0.5` rather than `.5`.",
    ),
    CodeEntry(
        "S108",
        "the file is not text in UTF-8",
        "A specification is plain text in UTF-8. Some editors save as UTF-16 or in an older encoding.",
        "a .tml file saved as UTF-16",
        "Save the file again and choose UTF-8.",
    ),
    CodeEntry(
        "S109",
        "the file cannot be read",
        "There is no such file, or it is a folder, or reading it is not permitted.",
        "treeml check nowhere.tml",
        "Check the path, which is relative to the current folder.",
    ),
    CodeEntry(
        "S110",
        "`then` follows no goal",
        "`then` joins a further goal to the one before it, to decide between trees that are equally good in the first.",
        "require depth <= 3\nthen minimize leaves",
        "Put it right after the goal: `minimize errors then minimize leaves`.",
    ),
    CodeEntry(
        "S111",
        "a sign or word of another language",
        "Other languages write `>=` as `≥`, end statements with `;` or join conditions with `and`; this one does not.",
        "require depth ≥ 3;",
        "Write what the label says. Two conditions are two `require` statements: all requirements hold together.",
    ),
    CodeEntry(
        "S112",
        "a backslash means nothing here",
        "Inside quotes a backslash begins an escape. The common reason is a path of Windows.",
        'data "C:\\data\\heart.csv"',
        'Write slashes, which work everywhere: `data "C:/data/heart.csv"`.',
    ),
    CodeEntry(
        "S113",
        "no unit has this name",
        "The units are `%`, `rows`, `ms`, `s`, `min` and `h`, each right after its number.",
        "solve within 5 minutes",
        "Write `within 5 min`.",
    ),
    CodeEntry(
        "S114",
        "a parenthesis is not closed",
        "Every `(` needs its `)` within the same statement.",
        'require recall("ill" >= 40%',
        'Write `require recall("ill") >= 40%`.',
    ),
    CodeEntry(
        "S115",
        "there is no such version of the language",
        "`treeml 1` names the version a file is written in; there is only version 1.",
        "treeml 2",
        "Write `treeml 1`, or leave the line out.",
    ),
    CodeEntry(
        "S116",
        "the version is not the first statement",
        "The version says how to read what follows, so it comes first, and once.",
        'data "heart.csv"\ntreeml 1',
        "Move `treeml 1` to the first line.",
    ),
    CodeEntry(
        "S117",
        "no type has this name",
        "Types are `binary`, `number`, `integer`, `category`, `ordered` and `text`. A column may also be declared "
        "without one, `column sex : sensitive`; then the type is inferred.",
        "column sex : categorical",
        "Write `column sex : category`.",
    ),
    CodeEntry(
        "S118",
        "a limit is given twice",
        "Within one `solve` statement, `within`, `gap`, `seed` and `threads` stand once each.",
        "solve within 5 s within 10 s",
        "Keep one of the two.",
    ),
    CodeEntry(
        "S119",
        "the file is too long for a specification",
        "A specification has a few lines, rarely thousands; millions of characters are data.",
        "treeml check heart.csv",
        'Name the data inside a specification: `data "heart.csv"`.',
    ),
    CodeEntry(
        "S120",
        "a line is written as in another tool",
        "Options of other packages and statements of other languages have counterparts here, which the message names.",
        "predict disease\nmaximize accuracy\nsubject to depth <= 3",
        "Write what the message shows: `require depth <= 3`. `treeml check --fix` does it if the meaning is the same.",
    ),
    CodeEntry(
        "S121",
        "a column name needs backquotes",
        "A name with spaces, hyphens or other signs stands in backquotes, so that its end is clear.",
        "predict blood pressure",
        "Write `` predict `blood pressure` ``.",
    ),
    CodeEntry(
        "S150",
        "an option of the command line cannot be read",
        "`--with`, `--within`, `--gap`, `--seed` and `--threads` take what stands in a `solve` statement.",
        "treeml solve spec.tml --within soon",
        "Write what the help shows: `--within 60s`, `--gap 1%`, `--with cpsat`.",
    ),
    CodeEntry(
        "S151",
        "a sweep has no values to go through",
        "`treeml sweep` takes for each param a range or a list of values, once.",
        "treeml sweep fair.tml --set tolerance=20%..0",
        "Write `--set tolerance=0..20%`, `--set depth=1..4` or `--set price=0.1,0.2`.",
    ),
)
