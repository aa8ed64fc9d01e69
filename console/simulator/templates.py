"""The texts of the simulator as Jinja templates: outputs of tools, and the topology file of the generated cluster."""

from collections.abc import Mapping
from functools import cache
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from jinja2 import Environment


@cache
def _make_environment() -> "Environment":
    # Jinja2 takes 50 ms to import, and the console lists scenarios without a template.
    from jinja2 import Environment, PackageLoader, StrictUndefined

    return Environment(
        loader=PackageLoader("benchconsole.console.simulator", "templates"),
        autoescape=False,  # noqa: S701  plain text and YAML, from the description of a cluster that does not exist
        undefined=StrictUndefined,
        auto_reload=False,
        trim_blocks=True,
        lstrip_blocks=True,
        keep_trailing_newline=True,
    )


def render_template(name: str, values: Mapping[str, object]) -> str:
    """The text of the template ``name`` with ``values`` filled in."""
    return _make_environment().get_template(name).render(values)
