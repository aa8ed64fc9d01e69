"""The JSON report: valid by its published schema, finite, complete, and the schema in step with the code."""

import io
import json
from pathlib import Path
from typing import Any

import jsonschema
import pytest

from benchconsole.console.reports import ReportOptions, render
from benchconsole.console.reports.content import SessionDetails
from benchconsole.console.reports.document_json import SCHEMA, make_number, make_text
from benchconsole.console.view.run_view import RunView, State
from benchconsole.console.view.totals import compute_totals
from benchconsole.probes.model.detectable_loss import DetectableLoss, Fault
from benchconsole.probes.model.judgement import Confidence, Level, Suspect, Yardstick
from benchconsole.probes.model.measuring import FailedAt
from benchconsole.topology.copying import replace
from benchconsole.topology.units import Unit
from tests.console.reports import fixture
from tests.console.reports.hard import STOPPED, TOLD

SCHEMA_FILE = Path(__file__).parents[3] / "docs" / "reference" / "report.schema.json"
Document = dict[str, Any]


def document(view: RunView, details: SessionDetails = SessionDetails()) -> Document:  # noqa: B008 - frozen
    """A view as the report says it, refusing what JSON has no word for."""
    out = io.StringIO()
    render("json", view, out, ReportOptions(operator="R. Example", version="1.0.0", details=details))
    assert out.getvalue().isascii()
    found: Document = json.loads(out.getvalue(), parse_constant=lambda word: pytest.fail(f"{word} is no JSON"))
    return found


@pytest.fixture(scope="module")
def schema() -> Document:
    found: Document = json.loads(SCHEMA_FILE.read_text(encoding="utf-8"))
    return found


@pytest.mark.parametrize("name", fixture.EDGES)
def test_valid_by_the_schema(name: str, schema: Document) -> None:
    jsonschema.Draft202012Validator(schema).validate(document(fixture.EDGES[name]()))


@pytest.mark.fault("F36")
def test_hostile_text_is_valid_too(schema: Document) -> None:
    found = document(fixture.poisoned(fixture.HOSTILE), fixture.poisoned_told(fixture.HOSTILE))
    jsonschema.Draft202012Validator(schema).validate(found)


def test_the_smallest_loss_that_was_to_be_seen_is_there_for_each_kind(schema: Document) -> None:
    losses = tuple(DetectableLoss(fault, 4, 2, 0.25, 2) for fault in Fault)
    found = document(fixture.hard(), SessionDetails(losses=(*losses, DetectableLoss(Fault.NIC, 2, 0, None))))
    jsonschema.Draft202012Validator(schema).validate(found)
    first, *_, last = found["detectable"]["losses"]
    assert first == {"fault": "NIC one way", "elements": 4, "seen": 2, "loss": 0.25, "widest": 2}
    assert last["loss"] is None
    assert len(found["detectable"]["sentences"]) == len(Fault) + 1


def test_how_the_session_was_run_and_what_was_left_is_all_there(schema: Document) -> None:
    found = document(fixture.hard(), TOLD)
    jsonschema.Draft202012Validator(schema).validate(found)
    assert set(found["conduct"]) == set(schema["$defs"]["conduct"]["properties"])
    assert found["conduct"]["options"]["allow_untested"] == 1
    assert found["conduct"]["stopped"] == [{"round": 4, "because": STOPPED[4]}]
    assert [each["kind"] for each in found["conduct"]["notes"]] == ["override", "held"]
    proofs = {each["node"]: each for each in found["proofs"]}
    assert len(proofs) == len(fixture.hard().fabric.nodes)
    assert (proofs["n12"]["asked"], proofs["n12"]["clean"]) == (False, False)
    assert proofs["st1"] == {"node": "st1", "asked": True, "clean": True, "left": [], "ended": 2, "detail": ""}
    assert document(fixture.empty())["proofs"] == []


def test_the_schema_is_sound_and_in_step(schema: Document) -> None:
    jsonschema.Draft202012Validator.check_schema(schema)
    known = schema["$defs"]
    assert schema["properties"]["schema"]["const"] == SCHEMA
    for name, words in {
        "level": Level,
        "state": State,
        "unit": Unit,
        "suspect": Suspect,
        "confidence": Confidence,
        "failed_at": FailedAt,
    }.items():
        assert set(known[name]["enum"]) == {str(word) for word in words}, name
    assert set(known["expected_from"]["enum"]) == {str(kind) for kind in Yardstick}


def test_the_schema_names_every_key(schema: Document) -> None:
    found = document(fixture.hard())
    assert set(found) == set(schema["properties"]) == set(schema["required"])
    for name, kind in (
        ("verdicts", "verdict"),
        ("findings", "finding"),
        ("measurements", "measurement"),
        ("facts", "fact"),
        ("proofs", "proof"),
    ):
        described = schema["$defs"][kind]
        for record in found[name]:
            assert set(record) == set(described["properties"]) == set(described["required"])


def test_every_verdict_is_there_with_its_evidence() -> None:
    view = fixture.hard()
    found = document(view)
    assert len(found["verdicts"]) == sum(map(len, view.verdicts.values()))
    measured = {item["id"] for item in found["measurements"]}
    assert {item for verdict in found["verdicts"] for item in verdict["evidence"]} <= measured
    (slow,) = (verdict for verdict in found["verdicts"] if verdict["subject"] == "n09>n10")
    assert (slow["value"], slow["unit"]) == (2.97 * fixture.GBIT, "B/s")
    assert (slow["expected_from"], slow["limiting"], slow["level"]) == ("capacity", "n09 out", "fail")
    (low,) = (verdict for verdict in found["verdicts"] if verdict["subject"] == "n01>n05")
    assert (low["level"], low["state"], low["affected_by"]) == ("fail", "affected", "leaf1 to sp1")


def test_coverage_adds_up() -> None:
    view = fixture.hard()
    found = document(view)["coverage"]
    parts = ("tested", "failed_to_run", "unreachable", "skipped", "not_run")
    assert sum(found[part] for part in parts) == found["planned"] == compute_totals(view).covered.planned


def test_failures_carry_their_commands() -> None:
    failures = {item["test"]: item for item in document(fixture.hard())["failures"]}
    assert failures["t2-n07"]["commands"][0]["exit_status"] == 127
    assert failures["t2-n07"]["commands"][0]["argv"] == ["stream", "-n", "80000000"]
    assert failures["t2-n12"]["stage"] == "unreachable"


def test_no_data_is_null_and_zero_is_zero() -> None:
    (verdict,) = document(fixture.single())["verdicts"]
    assert (verdict["value"], verdict["expected"], verdict["share"]) == (0.0, 0.0, None)
    assert document(fixture.empty())["session"]["started"] is None


def test_a_number_that_is_none_never_reaches_the_file() -> None:
    assert [make_number(value) for value in (float("nan"), float("inf"), 0.0)] == [None, None, 0.0]
    view = fixture.all_passed()
    name = next(iter(view.verdicts))
    broken = {**view.verdicts, name: tuple(item._replace(value=float("nan")) for item in view.verdicts[name])}
    assert document(replace(view, verdicts=broken))["verdicts"][0]["value"] is None


def test_text_is_kept_save_lone_surrogates() -> None:
    assert make_text("a\x1b\u202eé") == "a\x1b\u202eé"
    assert make_text("\ud800x") == "\\u{d800}x"
