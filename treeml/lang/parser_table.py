"""The grammar -> a parser, loaded from a stored table.

Computing the LALR table takes longer than checking a specification, so it is stored beside this module in
`parser_table.json` and used if this version of Lark made it from this grammar; otherwise it is computed again, which
only costs time. Lark's own cache is a pickle in the temporary folder: another user of the machine could plant one, and
the first run in every fresh container would pay for it. After a change of the grammar run
`python -m treeml.lang.parser_table`; a test fails until that is done.
"""

from __future__ import annotations

import json
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Any

from treeml.lang.node_builder import Builder

if TYPE_CHECKING:
    from lark import Lark
    from lark.lexer import TerminalDef

TABLE = Path(__file__).resolve().with_name("parser_table.json")
SHIFT = 0  # what Lark writes for "read this token and go to that state"; any other action is a rule
START_AND_END = ("start_states", "end_states")


@cache
def grammar() -> str:
    """The grammar: in `grammar/` in a checkout, beside this module when installed."""
    here = Path(__file__).resolve()
    # The checkout comes first: an editable install leaves a copy that does not follow later changes.
    checkout = here.parents[2] / "grammar" / "treeml.lark"
    path = checkout if checkout.exists() else here.with_name("treeml.lark")
    return path.read_text(encoding="utf-8")


@cache
def parser() -> Lark:
    return ready_parser() or new_parser()


def ready_parser() -> Lark | None:
    """The parser from the stored table; None if the table does not fit the grammar or the version of Lark."""
    import lark

    try:
        found = json.loads(TABLE.read_text(encoding="utf-8"), object_hook=_numbered)
        if found["lark"] != lark.__version__ or found["grammar"] != grammar():
            return None
    except (OSError, ValueError, KeyError, TypeError):
        return None
    maker: Any = lark.Lark
    parser: Lark = maker._load_from_dict(found["data"], found["memo"], transformer=Builder())
    return parser


def new_parser() -> Lark:
    """The parser computed from the grammar."""
    from lark import Lark

    builder: Any = Builder()
    return Lark(
        grammar(),
        parser="lalr",
        keep_all_tokens=True,
        maybe_placeholders=False,
        edit_terminals=_whole_words,
        transformer=builder,
    )


def write_table(path: Path = TABLE) -> None:
    import lark
    from lark.grammar import Rule
    from lark.lexer import TerminalDef

    data, memo = new_parser().memo_serialize([TerminalDef, Rule])  # type: ignore[no-untyped-call]
    data["options"] = {
        name: value for name, value in data["options"].items() if isinstance(value, str | int | list | None)
    }
    data["parser"]["parser"] = _in_order(data["parser"]["parser"])
    table = {"lark": lark.__version__, "grammar": grammar(), "data": data, "memo": memo}
    path.write_text(json.dumps(table, separators=(",", ":")) + "\n", encoding="utf-8")


def _in_order(automaton: dict[str, Any]) -> dict[str, Any]:
    """The same automaton, its tokens numbered by name and its states in the order in which they are reached.

    Lark numbers both in the order of a set, which differs from run to run, and the file would be another every time.
    """
    names = automaton["tokens"]
    by_name = sorted(names, key=lambda token: names[token])
    token_number = {old: new for new, old in enumerate(by_name)}
    reached = sorted(set(automaton["start_states"].values()))
    for state in reached:  # grows while it is read
        actions = automaton["states"][state]
        for token in sorted(actions, key=token_number.__getitem__):
            kind, target = actions[token]
            if kind == SHIFT and target not in reached:
                reached.append(target)
    state_number = {old: new for new, old in enumerate(reached)}

    def actions_of(state: int) -> dict[int, Any]:
        actions = automaton["states"][state].items()
        return {
            token_number[token]: (kind, state_number[target] if kind == SHIFT else target)
            for token, (kind, target) in sorted(actions, key=lambda action: token_number[action[0]])
        }

    return {
        **automaton,
        "tokens": {token_number[token]: names[token] for token in by_name},
        "states": {state_number[state]: actions_of(state) for state in reached},
        **{ends: {name: state_number[state] for name, state in automaton[ends].items()} for ends in START_AND_END},
    }


def _whole_words(terminal: TerminalDef) -> None:
    """Keep `require` from matching the beginning of `requires`, and prefer a keyword to a name if both are allowed."""
    from lark.lexer import PatternRE, PatternStr

    if isinstance(terminal.pattern, PatternStr) and terminal.pattern.value.isalpha():
        terminal.pattern = PatternRE(terminal.pattern.value + r"\b")
        terminal.priority = 1


def _numbered(found: dict[str, Any]) -> dict[Any, Any]:
    """Turn the keys of a JSON object back into the integers that number states and terminals."""
    if not any(map(str.isdigit, found)):
        return found
    return {int(key) if key.isdigit() else key: item for key, item in found.items()}


if __name__ == "__main__":
    write_table()
