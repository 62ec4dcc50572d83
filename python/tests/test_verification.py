"""The published cases from Python."""
import catena


def test_a_few_cases(source):
    report = catena.run_verification(source / "verification", filter="slider_crank")
    assert report.cases > 0 and not report.problems
    assert report.passed
    result = report.results[0]
    assert result.passed and result.value.shape == result.reference.shape
    assert result.source and result.error <= result.tolerance


def test_a_wrong_reference_fails(source, tmp_path):
    (tmp_path / "model.yaml").write_text((source / "models/pendulum.yaml").read_text())
    (tmp_path / "case.yaml").write_text(
        "title: t\nsource: s\norigin: o\nmodel: model.yaml\nquantity: kinetic_energy\n"
        "reference: 5.0\ntolerance: 1e-9\nreason: r\n"
    )
    report = catena.run_verification(tmp_path)
    assert not report.passed
