"""Simulation: against closed forms; functions of the user, events, Ctrl-C, runs and pictures."""
import json
import os
import signal
import threading
import time

import numpy as np
import pytest

import catena
from conftest import MODELS, four_bar, pendulum


def agm(a, b):
    while abs(a - b) > 1e-15 * a:
        a, b = 0.5 * (a + b), np.sqrt(a * b)
    return a


def period(angle):
    """Of conftest.pendulum from rest at this angle: Gauss' arithmetic-geometric mean."""
    length = (0.3 + 2.0 * 0.75**2) / (2.0 * 0.75)
    return 2 * np.pi * np.sqrt(length / 9.81) / agm(1.0, np.cos(angle / 2))


def test_a_period_of_the_pendulum():
    mechanism = pendulum()
    state = mechanism.default_state()
    state["pivot"] = 2.0
    run = catena.simulate(mechanism, state, duration=period(2.0), relative_tolerance=1e-11)
    last = run.state()
    # The error of the integrator: some thousand times its tolerance.
    assert last["pivot"] == pytest.approx(2.0, abs=1e-8)
    assert last["v.pivot"] == pytest.approx(0.0, abs=1e-7)
    assert run.audit.energy_drift < 1e-9
    assert run.complete and run.result.state == last
    assert run.time[0] == 0.0 and run["q.pivot"][0] == 2.0
    assert run.units["q.pivot"] == "rad"
    assert state["pivot"] == 2.0  # untouched


def test_inputs_by_expression_number_and_function_are_the_same():
    mechanism = pendulum()
    seen = []

    def effort(t, state):
        seen.append(t)
        return 2.0 * np.sin(3.0 * t) - 0.5 * state["v.pivot"]

    by_text = catena.simulate(mechanism, duration=2, inputs={"pivot": "2*sin(3*t) - 0.5*v.pivot"})
    by_code = catena.simulate(mechanism, duration=2, inputs={"pivot": effort})
    assert len(seen) > 100
    np.testing.assert_allclose(by_code["q.pivot"], by_text["q.pivot"], atol=1e-12)
    held = catena.simulate(
        mechanism, catena.State(mechanism, [0.6]), duration=1,
        inputs={"pivot": 2.0 * 9.81 * 0.75 * np.sin(0.6)},
    )  # fmt: skip
    np.testing.assert_allclose(held["q.pivot"], 0.6, atol=1e-9)


def test_controller_motion_and_table(tmp_path):
    mechanism = pendulum()
    run = catena.simulate(
        mechanism, duration=40,
        controllers={"pivot": {"kp": 40, "kd": 8, "ki": 15, "target": "2*step(t - 1)"}},
    )  # fmt: skip
    assert run["q.pivot"][-1] == pytest.approx(2.0, abs=1e-6)
    assert run["effort.pivot"][-1] == pytest.approx(2.0 * 9.81 * 0.75 * np.sin(2.0), rel=1e-5)
    moved = catena.simulate(mechanism, duration=1, motions={"pivot": "0.5*t^2"})
    np.testing.assert_allclose(moved["q.pivot"], 0.5 * moved.time**2, atol=1e-12)
    inertia = 0.3 + 2.0 * 0.75**2
    expected = inertia + 2.0 * 9.81 * 0.75 * np.sin(moved["q.pivot"])
    np.testing.assert_allclose(moved["effort.pivot"], expected, rtol=1e-10)
    (tmp_path / "force.csv").write_text("time,pivot\n0,0\n1,3\n")
    table = catena.simulate(
        mechanism, duration=1,
        inputs={"pivot": {"table": tmp_path / "force.csv", "interpolation": "linear"}},
    )  # fmt: skip
    np.testing.assert_allclose(table["effort.pivot"], 3 * table.time, atol=1e-12)


def test_events():
    mechanism = pendulum()
    state = catena.State(mechanism, [1.0])
    run = catena.simulate(mechanism, state, duration=3, events={"bottom": "q.pivot"})
    quarter = period(1.0) / 4
    times = [e.time for e in run.events if e.name == "bottom"]
    np.testing.assert_allclose(times, [quarter, 3 * quarter, 5 * quarter][: len(times)], atol=1e-7)
    assert len(times) >= 2
    stopped = catena.simulate(
        mechanism, state, duration=3,
        events={"bottom": {"when": lambda t, s: s["pivot"], "action": "stop"}},
    )  # fmt: skip
    assert stopped.result.simulated_time == pytest.approx(quarter, abs=1e-7)
    assert stopped.complete and "bottom" in stopped.result.end

    def reverse(t, s):
        s["v.pivot"] = -s["v.pivot"]

    bounced = catena.simulate(
        mechanism, state, duration=2 * quarter,
        events={"wall": {"when": "q.pivot - 0.5", "direction": -1, "respond": reverse}},
    )  # fmt: skip
    assert bounced["q.pivot"].min() > 0.5 - 1e-6


def test_closed_mechanisms_are_assembled():
    mechanism = four_bar()
    state = mechanism.default_state()
    state["A"] = -0.8
    run = catena.simulate(mechanism, state, duration=1)
    assert run["q.A"][0] == -0.8
    assert run.audit.closure_residual < 1e-9 and run.audit.energy_drift < 1e-6


def test_an_error_in_a_function_is_raised_as_it_is():
    def broken(t, state):
        if t > 0.5:
            raise ZeroDivisionError("the motor burnt")
        return 0.0

    for method in ("dop853", "rk4", "adams"):
        with pytest.raises(ZeroDivisionError, match="burnt") as caught:
            catena.simulate(pendulum(), duration=2, inputs={"pivot": broken}, method=method)
        assert 0.3 < caught.value.run.time[-1] <= 0.6
    with pytest.raises(TypeError, match="'pivot' gave 'strong'"):
        catena.simulate(pendulum(), duration=2, inputs={"pivot": lambda t, s: "strong"})


def test_mistakes_are_named():
    mechanism = pendulum()
    cases = [
        ({"inputs": {"pivto": "1"}}, catena.UnknownNameError, "'pivot'"),
        ({"inputs": {"pivot": "sinn(t)"}}, catena.Error, "sin"),
        ({"inputs": ["pivot"]}, TypeError, "by name"),
        ({"method": "dop583"}, catena.UnknownNameError, "dop853"),
        ({"controllers": {"pivot": {"kpp": 1}}}, TypeError, "'kp'"),
        ({"duration": -1}, catena.Error, "positive"),
        ({"outputs": ["q.pivvot"]}, catena.UnknownNameError, "q.pivot"),
    ]
    for settings, error, said in cases:
        with pytest.raises(error, match=said):
            catena.simulate(mechanism, **settings)
    run = catena.simulate(mechanism, duration=1)
    with pytest.raises(catena.UnknownNameError, match="'q.pivot'"):
        run["q.pivt"]
    with pytest.raises(TypeError):
        catena.simulate(mechanism, durration=1)


def test_progress_ends_a_run():
    times = []

    def progress(t):
        times.append(t)
        return len(times) < 3

    run = catena.simulate(pendulum(), catena.State(pendulum(), [1.0]), duration=1e7, progress=progress)
    assert not run.complete and len(times) == 3 and "interrupted" in run.result.end


def test_ctrl_c(tmp_path):
    mechanism = pendulum()
    path = tmp_path / "run.h5"
    timer = threading.Timer(0.7, lambda: os.kill(os.getpid(), signal.SIGINT))
    timer.start()
    start = time.monotonic()
    with pytest.raises(KeyboardInterrupt) as caught:
        catena.simulate(mechanism, catena.State(mechanism, [1.0]), duration=1e7, output=path,
                        output_interval=1.0)  # fmt: skip
    assert time.monotonic() - start < 10
    # What was computed is in the file, which is in order.
    run = catena.open_run(path)
    assert not run.complete and run.rows > 10
    assert caught.value.run.rows == run.rows


def test_other_threads_run_meanwhile():
    counted = [0]
    done = threading.Event()

    def count():
        while not done.is_set():
            counted[0] += 1
            time.sleep(0.001)

    thread = threading.Thread(target=count)
    thread.start()
    mechanism = pendulum()
    try:
        catena.simulate(mechanism, catena.State(mechanism, [1.0]), duration=1e9,
                        progress=lambda t: counted[0] < 50)  # fmt: skip
    finally:
        done.set()
        thread.join()
    assert counted[0] >= 50


def test_files_resume_and_compare(tmp_path):
    mechanism = catena.load(MODELS / "double_pendulum.yaml")
    whole = catena.simulate(mechanism, duration=4, output=tmp_path / "whole.h5")
    assert whole.path == str(tmp_path / "whole.h5") and whole.complete
    half = catena.simulate(
        mechanism, duration=4, output=tmp_path / "half.h5", events={"end": {"when": "t - 2.1", "action": "stop"}}
    )
    assert half.time[-1] < 2.2
    shorter = tmp_path / "short.h5"
    catena.simulate(mechanism, duration=2, output=shorter, output_interval=0.002, checkpoint_interval=0.4)
    resumed = catena.resume_simulation(shorter, duration=4)
    assert resumed.complete and resumed.time[-1] == 4.0
    comparison = catena.compare_runs(whole, resumed)
    assert comparison.same_model and comparison.agree(0.0)
    other = catena.simulate(mechanism, duration=4, relative_tolerance=1e-5)
    difference = catena.compare_runs(whole, other)
    assert not difference.agree(1e-12)
    assert max(c.relative for c in difference.columns if c.name.startswith("q.")) < 1e-2
    with pytest.raises(catena.Error, match="exists"):
        catena.simulate(mechanism, duration=1, output=tmp_path / "whole.h5")
    again = catena.open_run(tmp_path / "whole.h5")
    np.testing.assert_array_equal(again.values, whole.values)
    assert again.settings["duration"] == 4
    assert catena.write_yaml(again.mechanism) == catena.write_yaml(mechanism)
    assert again.audit["energy_drift"] == whole.audit.energy_drift


def test_memory_and_file_have_the_same_numbers(tmp_path):
    mechanism = catena.load(MODELS / "double_pendulum.yaml")
    memory = catena.simulate(mechanism, duration=2)
    file = catena.simulate(mechanism, duration=2, output=tmp_path / "run.h5")
    table = catena.simulate(mechanism, duration=2, output=tmp_path / "run.csv")
    np.testing.assert_array_equal(memory.values, file.values)
    np.testing.assert_array_equal(memory.values, table.values)
    memory.save(tmp_path / "saved.h5")
    assert catena.compare_runs(tmp_path / "saved.h5", file).agree(0.0)
    view = memory["q." + mechanism.position_names[0]]
    assert not view.flags.writeable and np.shares_memory(view, memory.values)


def test_settings_file(tmp_path):
    (tmp_path / "run.yaml").write_text("duration: 3\nmethod: rk4\nstate: {q: {pivot: 0.3}}\n")
    run = catena.simulate(pendulum(), settings=tmp_path / "run.yaml", duration=1)
    assert run.time[-1] == 1.0 and run["q.pivot"][0] == 0.3
    assert run.settings["method"] == "rk4"


def test_pictures(tmp_path, monkeypatch):
    run = catena.simulate(pendulum(), catena.State(pendulum(), [1.0]), duration=1)
    svg = run.svg("q.*", "v.*")
    assert svg.startswith("<svg") and "q.pivot" in svg and "rad/s" in svg
    page = run.report_html()
    assert page.lstrip().lower().startswith("<!doctype html") and "pendulum" in page
    assert run._repr_html_().startswith("<iframe") and "<script" not in run._repr_html_()
    assert (tmp_path / "r.html") == tmp_path / "r.html"
    assert os.path.getsize(run.report(tmp_path / "r.html")) > 1000
    opened = []
    monkeypatch.setattr("webbrowser.open", opened.append)
    path = run.view()
    assert opened == ["file://" + path]
    os.remove(path)
    path = catena.view(pendulum(), tmp_path / "model.html")
    assert len(opened) == 2 and os.path.getsize(path) > 1000


def test_plot():
    pytest.importorskip("matplotlib")
    run = catena.simulate(pendulum(), catena.State(pendulum(), [1.0]), duration=1)
    axes = run.plot("q.pivot", "v.pivot")
    lines = axes.get_lines()
    assert [line.get_label() for line in lines] == ["q.pivot", "v.pivot"]
    np.testing.assert_array_equal(lines[0].get_ydata(), run["q.pivot"])
    assert axes.get_xlabel() == "time, s"
    with pytest.raises(catena.UnknownNameError, match="q.pivot"):
        run.plot("q.pivo")


def test_settings_as_a_dictionary(tmp_path):
    """A lock that closes at 0.5 s: the energy of the pendulum is gone, and it stays."""
    robot = pendulum()
    state = robot.default_state()
    state["pivot"] = 1.0
    settings = {
        "duration": 1.0,
        "constraints": {"brake": {"type": "lock", "freedom": "pivot"}},
        "switches": {"close": {"at": 0.5, "activate": ["brake"]}},
    }
    run = catena.simulate(robot, state, settings=settings)
    file = tmp_path / "settings.yaml"
    file.write_text(json.dumps(settings))
    np.testing.assert_array_equal(run.values, catena.simulate(robot, state, settings=file).values)
    late = run.time > 0.5001
    assert np.max(np.abs(run["v.pivot"][late])) < 1e-12
    assert np.ptp(run["q.pivot"][late]) < 1e-12
    assert np.max(np.abs(run["v.pivot"][~late])) > 0.5
    with pytest.raises(catena.ModelError, match="durration"):
        catena.simulate(robot, settings={"durration": 1.0})


def test_a_table_is_not_overwritten_unasked(tmp_path):
    path = tmp_path / "x.csv"
    path.write_text("precious")
    with pytest.raises(catena.Error, match="exists already"):
        catena.simulate(pendulum(), duration=0.1, output=path)
    assert path.read_text() == "precious"
    catena.simulate(pendulum(), duration=0.1, output=path, overwrite=True)
    assert "q.pivot" in path.read_text()


def test_short_names_of_settings_files():
    robot = pendulum()
    start = catena.State(robot, [1.0])
    long = catena.simulate(
        robot, start, duration=1.0, relative_tolerance=1e-6, absolute_tolerance=1e-7,
        output_interval=0.25, checkpoint_interval=0.5, maximum_step=0.1, friction="set_valued",
    )
    short = catena.simulate(
        robot, start, duration=1.0, rtol=1e-6, atol=1e-7, interval=0.25, checkpoint=0.5,
        max_step=0.1, friction="events",
    )
    assert short.settings == long.settings and np.array_equal(short.values, long.values)
    with pytest.raises(TypeError, match="relative_tolerance and rtol"):
        catena.simulate(robot, rtol=1e-6, relative_tolerance=1e-6)
    one = catena.simulate(robot, start, duration=0.1, outputs="q.*")
    assert one.columns == ["time", "q.pivot"]


def test_directions_of_events_in_words():
    robot = pendulum()
    start = catena.State(robot, [1.0])
    for word, sign in (("down", -1), ("up", 1), ("both", 0)):
        events = [
            catena.simulate(
                robot, start, duration=6.0, events={"z": {"when": "q.pivot", "direction": d}}
            ).events
            for d in (word, sign)
        ]
        assert [e.time for e in events[0]] == [e.time for e in events[1]]
        assert len(events[0]) > 0
    with pytest.raises(ValueError, match="up.*down.*both"):
        catena.simulate(robot, events={"z": {"when": "q.pivot", "direction": "sideways"}})


def test_states_of_functions_may_be_kept():
    robot = pendulum()
    kept = []

    def drive(t, state):
        kept.append((t, state, state.q.copy()))
        return 0.0

    catena.simulate(robot, catena.State(robot, [1.0]), duration=0.5, inputs={"pivot": drive})
    assert len(kept) > 20
    assert all(np.array_equal(state.q, q) for _, state, q in kept)
    assert len({state["pivot"] for _, state, _ in kept}) > 10


def test_extra_outputs():
    robot = pendulum()
    run = catena.simulate(
        robot, catena.State(robot, [1.0]), duration=0.5,
        extra_outputs={"height": (lambda t, s: -0.75 * np.cos(s["pivot"]), "m"), "twice": lambda t, s: 2 * t},
    )
    np.testing.assert_allclose(run["height"], -0.75 * np.cos(run["q.pivot"]), rtol=1e-14)
    assert run.units["height"] == "m" and np.array_equal(run["twice"], 2 * run.time)
    with pytest.raises(TypeError, match="extra output 'x'"):
        catena.simulate(robot, extra_outputs={"x": 3})


def test_functions_are_given_again_to_resume(tmp_path):
    robot = pendulum()
    start = catena.State(robot, [1.0])

    def drive(t, state):
        return 0.5 * np.sin(3 * t) - 0.1 * state["v.pivot"]

    def failing(t, state):
        if t > 0.35:
            raise RuntimeError("mine")
        return drive(t, state)

    settings = {"duration": 1.0, "interval": 0.05, "checkpoint": 0.1, "max_step": 0.01}
    whole = catena.simulate(robot, start, inputs={"pivot": drive}, **settings)
    path = tmp_path / "part.h5"
    with pytest.raises(RuntimeError, match="mine"):
        catena.simulate(robot, start, inputs={"pivot": failing}, output=path, **settings)
    with pytest.raises(catena.Error, match="inputs={'pivot': ...}"):
        catena.resume_simulation(path)
    with pytest.raises(catena.Error, match="no function motions.pivot"):
        catena.resume_simulation(path, inputs={"pivot": drive}, motions={"pivot": lambda t, s: 0})
    run = catena.resume_simulation(path, inputs={"pivot": drive})
    assert run.complete and np.array_equal(run.values, whole.values)


def test_linear_models_along_a_run():
    robot = pendulum()
    run = catena.simulate(
        robot, catena.State(robot, [1.0]), duration=0.5, inputs={"pivot": "2*sin(t)"}, interval=0.1
    )
    models = catena.linearize_along(robot, run)
    assert len(models) == run.rows
    for row in (0, 3):
        single = catena.linearize(robot, run.state(row), {"pivot": run["effort.pivot"][row]})
        np.testing.assert_allclose(models[row].A, single.A, rtol=1e-12)
        assert models[row].effort[0] == run["effort.pivot"][row]
    listed = catena.linearize_along(robot, [run.state(0), run.state(1)])
    assert len(listed) == 2
    with pytest.raises(TypeError, match="State"):
        catena.linearize_along(robot, [1, 2])
