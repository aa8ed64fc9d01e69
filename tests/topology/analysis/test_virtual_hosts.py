"""Hosts with unlike numbers of virtual machines are told, others are not."""

import pytest

from benchconsole.topology.analysis.virtual_hosts import list_findings
from benchconsole.topology.description.resolve import load_text


@pytest.mark.parametrize(
    ("machines", "text"),
    [
        (320, ""),
        (640, ""),
        (166, ""),
        (
            993,
            (
                "993 virtual machines of class vm on 320 hosts: 4 on each of 33 hosts (h[001-033]), 3 on each of 287 hosts"
                " (h[034-320])"
            ),
        ),
        (
            321,
            "321 virtual machines of class vm on 320 hosts: 2 on each of 1 host (h001), 1 on each of 319 hosts (h[002-320])",
        ),
    ],
)
def test_unlike_numbers_are_told(machines: int, text: str) -> None:
    fabric = load_text(
        f"""\
schema: 1
fabric: x
classes: {{vm: {{}}}}
nodes: {{"h[001-320]": {{}}, "v[001-{machines:03}]": {{class: vm, host: "h[001-320]"}}}}
""",
        "x.yaml",
    )
    assert [each.text for each in list_findings(fabric)] == ([text] if text else [])
