"""``{...}`` in a topology file: whole-number arithmetic over named values, and padding; no other expressions."""

import ast
import operator
import re
from collections.abc import Callable, Mapping
from functools import lru_cache

from benchconsole.topology.errors import find_near

Value = int | str
MAX_RESULT = 10**9
_MAX_TEXT = 200
_BRACES = re.compile(r"\{\{|\}\}|\{([^{}]*)\}|[{}]")
_PADDED = re.compile(r"(?P<body>.*):(?P<pad>0?\d{1,2})", re.DOTALL)


class ExpressionError(Exception):
    """``{...}`` that has no value; carries ``found``, ``expected`` and a near match."""

    def __init__(self, found: str, expected: str, near_match: str | None = None) -> None:
        self.found = found
        self.expected = expected
        self.near = near_match
        super().__init__(f"{found}, expected {expected}")


def _divide(left: int, right: int) -> int:
    if right == 0:
        raise ExpressionError(f"{left} / 0", "a divisor that is not zero")
    if left % right:
        raise ExpressionError(f"{left} / {right}, which is not a whole number", "a division that comes out even")
    return left // right


def _modulo(left: int, right: int) -> int:
    if right == 0:
        raise ExpressionError(f"{left} % 0", "a divisor that is not zero")
    return left % right


_OPERATORS: Mapping[type[ast.operator], Callable[[int, int], int]] = {
    ast.Add: operator.add, ast.Sub: operator.sub, ast.Mult: operator.mul, ast.Div: _divide, ast.Mod: _modulo,
}  # fmt: skip


def _evaluate_node(node: ast.expr, known: Mapping[str, Value]) -> Value:
    if isinstance(node, ast.Constant) and type(node.value) is int:
        return node.value
    if isinstance(node, ast.Name):
        if node.id not in known:
            expected = f"one of {', '.join(known)}" if known else "a parameter of this file"
            raise ExpressionError(f"unknown name {node.id!r}", expected, find_near(node.id, known))
        return known[node.id]
    if isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.USub):
        return -_number(node.operand, known)
    if isinstance(node, ast.BinOp) and type(node.op) in _OPERATORS:
        found = _OPERATORS[type(node.op)](_number(node.left, known), _number(node.right, known))
        if abs(found) > MAX_RESULT:
            raise ExpressionError(f"a result of {found:.3g}", f"numbers up to {MAX_RESULT:,}")
        return found
    raise ExpressionError(f"{ast.unparse(node)!r}", "whole numbers, names, + - * / % and parentheses")


def _number(node: ast.expr, known: Mapping[str, Value]) -> int:
    found = _evaluate_node(node, known)
    if isinstance(found, str):
        raise ExpressionError(f"the word {found!r} in arithmetic", "a whole number")
    return found


def evaluate(text: str, known: Mapping[str, Value]) -> Value:
    """The value of one expression, without its braces. Raises ExpressionError."""
    return _evaluate_node(_parse(text).body, known)


@lru_cache(maxsize=1024)
def _parse(text: str) -> ast.Expression:
    """A template writes the same expression out for each of its values."""
    if len(text) > _MAX_TEXT:
        raise ExpressionError(f"an expression of {len(text)} letters", f"at most {_MAX_TEXT}")
    try:
        return ast.parse(text.strip(), mode="eval")
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        raise ExpressionError(f"{{{text}}}", "an expression such as {n}, {n:02} or {(r-1)*k+1}") from None


def _format_result(text: str, known: Mapping[str, Value]) -> str:
    padded = _PADDED.fullmatch(text)
    if padded is None:
        return str(evaluate(text, known))
    found = evaluate(padded["body"], known)
    if isinstance(found, str):
        raise ExpressionError(f"the word {found!r} padded as {padded['pad']!r}", "a whole number")
    return f"{found:{padded['pad']}d}"


def fill(text: str, known: Mapping[str, Value]) -> Value:
    """``text`` with every ``{...}`` replaced; a number when the text is one expression and nothing else."""
    if "{" not in text and "}" not in text:
        return text
    alone = _BRACES.fullmatch(text.strip())
    if alone is not None and alone[1] is not None and not _PADDED.fullmatch(alone[1]):
        return evaluate(alone[1], known)

    def replace(match: re.Match[str]) -> str:
        if match[0] in ("{{", "}}"):
            return match[0][0]
        if match[1] is None:
            raise ExpressionError(f"a single {match[0]!r} in {text!r}", "{{ or }} for a brace")
        return _format_result(match[1], known)

    return _BRACES.sub(replace, text)
