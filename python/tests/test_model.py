"""Models: built, read, changed, pickled; every mistake named."""
import copy
import pickle

import numpy as np
import pytest

import catena
from conftest import MODELS, four_bar, pendulum, random_state


def test_builder_reads_back_what_was_said():
    builder = catena.MechanismBuilder("two")
    builder.set_gravity([0, 0, -1.6]).add_body("a", mass=1.0, inertia=np.diag([1, 2, 2.5]))
    builder.add_hinge(
        "h", "world", "a", type="screw", pitch=0.1, frame_on_parent=catena.Transform([1, 2, 3]),
        freedoms=[catena.FreedomSettings(damping=0.5, friction={"sliding": 2.0})],
        drive={"rotor_inertia": 1e-3, "gear_ratio": 50},
    )  # fmt: skip
    builder.add_frame("tip", "a", [0, 0, 1])
    description = builder.description
    assert description.name == "two" and description.gravity[2] == -1.6
    hinge = description.hinges[0]
    assert hinge.type == catena.HingeType.screw and hinge.pitch == 0.1
    assert hinge.freedoms[0].damping == 0.5 and hinge.freedoms[0].friction.sliding == 2.0
    assert hinge.drive.gear_ratio == 50 and hinge.drive.rotor_axis is None
    np.testing.assert_array_equal(hinge.frame_on_parent.translation, [1, 2, 3])
    np.testing.assert_array_equal(description.bodies[0].inertia, np.diag([1, 2, 2.5]))
    assert builder.finish().frames[0].name == "tip"


def test_changes():
    builder = pendulum().edit()
    assert builder.body("link", mass=3.0).mass == 3.0
    assert builder.freedom("pivot", damping=0.2).damping == 0.2
    builder.hinge("pivot", initial_position=[0.4])
    changed = builder.finish()
    assert changed.total_mass == 3.0
    assert changed.freedom_settings[0].damping == 0.2
    assert changed.default_state()["pivot"] == 0.4
    assert builder.lock("pivot", 0.3).finish().freedoms == 0
    assert builder.unlock("pivot").finish().freedoms == 1


def test_values_are_not_changed_in_place():
    settings = catena.FreedomSettings(damping=1.0)
    with pytest.raises(AttributeError, match="replace"):
        settings.damping = 2.0
    other = settings.replace(damping=2.0)
    assert settings.damping == 1.0 and other.damping == 2.0


def test_attach():
    builder = pendulum().edit().attach(pendulum().description, "second_", "link", [0, 0, -1.5])
    double = builder.finish()
    assert double.velocity_names == ["pivot", "second_pivot"]


@pytest.mark.parametrize(
    "mistake, error, said",
    [
        (lambda: catena.load("nowhere.urdf"), catena.ModelError, "nowhere.urdf"),
        (lambda: catena.load(MODELS / "arm6.yaml", base="fre"), catena.UnknownNameError, "free"),
        (lambda: pendulum().edit().body("lnik"), catena.UnknownNameError, "'link'"),
        (lambda: pendulum().edit().add_body("x", mas=1.0), TypeError, "'mass'"),
        (lambda: pendulum().edit().add_body("x", mass="heavy"), TypeError, "BodySettings.mass"),
        (lambda: pendulum().edit().add_body("x", center_of_mass=[1, 2]), TypeError, r"\(3,\)"),
        (
            lambda: pendulum().edit().add_hinge("x", "world", "link", type="revolut"),
            catena.UnknownNameError,
            "'revolute'",
        ),
        (lambda: pendulum().edit().freedom("pivot", 1), catena.UnknownNameError, "1 freedoms"),
        (lambda: pendulum().hinge_index("pivto"), catena.UnknownNameError, "'pivot'"),
        (
            lambda: catena.BodySettings(inertia=[[1, 2, 0], [0, 1, 0], [0, 0, 1]]),
            catena.ModelError,
            "symmetric",
        ),
        (lambda: catena.Transform(rotation=np.ones((3, 3))), ValueError, "no rotation"),
    ],
)
def test_mistakes_are_named(mistake, error, said):
    with pytest.raises(error, match=said):
        mistake()


def test_an_inertia_turned_by_a_rotation_is_symmetric_but_for_rounding():
    turns = np.random.default_rng(3).normal(size=(50, 3, 3))
    principal = np.diag([0.3, 0.4, 0.5])
    for turn in np.linalg.qr(turns)[0]:
        inertia = turn @ principal @ turn.T
        found = np.asarray(catena.BodySettings(inertia=inertia).inertia)
        np.testing.assert_array_equal(found, found.T)
        np.testing.assert_allclose(found, inertia, rtol=0, atol=1e-15)


def test_errors_are_pythons_own_kinds_too():
    assert issubclass(catena.UnknownNameError, LookupError)
    assert issubclass(catena.NumericalError, ArithmeticError)
    assert issubclass(catena.ModelError, ValueError)
    for error in (catena.UnknownNameError, catena.NumericalError, catena.ModelError):
        assert issubclass(error, catena.Error)


def test_all_problems_at_once():
    builder = catena.MechanismBuilder("wrong")
    builder.add_body("a", mass=-1.0).add_hinge("h", "world", "b")
    with pytest.raises(catena.ModelError) as caught:
        builder.finish()
    problems = caught.value.problems
    assert len(problems) >= 2
    assert all(isinstance(p, catena.Diagnostic) for p in problems)
    assert any("mass" in p.message for p in problems) and any("'b'" in p.message for p in problems)


def test_a_file_names_its_line(tmp_path):
    path = tmp_path / "robot.yaml"
    path.write_text("catena: 1\nbodies:\n  a: {mas: 1}\n")
    with pytest.raises(catena.ModelError, match=r"robot.yaml:3: .*mass"):
        catena.load(path)


@pytest.mark.parametrize("name", ["arm7.yaml", "four_bar.sdf", "quadruped.yaml", "geared_joint.yaml"])
def test_pickle(name):
    mechanism = catena.load(MODELS / name)
    again = pickle.loads(pickle.dumps(mechanism))
    assert catena.write_yaml(again) == catena.write_yaml(mechanism)
    state = random_state(mechanism)
    # Two states of one mechanism keep sharing it.
    first, second = pickle.loads(pickle.dumps((state, state.copy())))
    assert first == state and first.mechanism is second.mechanism
    if not mechanism.loops:
        np.testing.assert_array_equal(
            catena.forward_dynamics(first.mechanism, first),
            catena.forward_dynamics(mechanism, state),
        )


def test_copies():
    mechanism = pendulum()
    state = mechanism.default_state()
    other = copy.deepcopy(state)
    other["pivot"] = 1.0
    assert state["pivot"] == 0.0 and other.mechanism is mechanism
    transform = catena.Transform.from_rpy(0.1, 0.2, 0.3, [1, 2, 3])
    np.testing.assert_array_equal(
        pickle.loads(pickle.dumps(transform)).matrix(), transform.matrix()
    )


def test_yaml_there_and_back(tmp_path):
    mechanism = catena.load(MODELS / "arm6.yaml")
    catena.save_yaml(mechanism, tmp_path / "arm.yaml")
    assert catena.write_yaml(catena.load(tmp_path / "arm.yaml")) == catena.write_yaml(mechanism)
    description = catena.read_yaml_text(catena.write_yaml(mechanism))
    assert [b.name for b in description.bodies] == [b.name for b in mechanism.bodies]


class Slope:
    """A bead on the parabola z = x²/2: one coordinate x, in the plane y = 0, not turned."""

    freedoms = 1

    def transform(self, q):
        return [q[0], 0.0, 0.5 * q[0] ** 2]

    def motion_map(self, q):
        return np.array([[0, 0, 0, 1, 0, q[0]]]).T

    def motion_map_rate(self, q, v):
        return np.array([[0, 0, 0, 0, 0, v[0]]]).T


def test_custom_hinge():
    builder = catena.MechanismBuilder("bead")
    builder.add_body("bead", mass=2.0, inertia=[0.1, 0.1, 0.1])
    builder.add_hinge("wire", "world", "bead", custom=Slope())
    bead = builder.finish()
    state = catena.State(bead, [0.7], [1.3])
    # Lagrange: (1 + x²) ẍ + x ẋ² + g x = 0.
    expected = -(0.7 * 1.3**2 + 9.81 * 0.7) / (1 + 0.7**2)
    assert catena.forward_dynamics(bead, state)[0] == pytest.approx(expected, rel=1e-14)
    with pytest.raises(catena.ModelError, match="code"):
        pickle.dumps(bead)
    with pytest.raises(TypeError, match="motion_map"):
        builder.add_hinge("other", "world", "bead", custom=object())


def test_an_error_in_a_custom_hinge_is_raised_as_it_is():
    class Broken(Slope):
        def motion_map(self, q):
            if q[0] > 0.5:
                raise ZeroDivisionError("beyond the end of the wire")
            return super().motion_map(q)

    builder = catena.MechanismBuilder("bead")
    builder.add_body("bead", mass=2.0, inertia=[0.1, 0.1, 0.1])
    builder.add_hinge("wire", "world", "bead", custom=Broken())
    bead = builder.finish()
    with pytest.raises(ZeroDivisionError, match="end of the wire"):
        catena.forward_dynamics(bead, catena.State(bead, [0.7], [0.0]))


@pytest.mark.parametrize("raised", [KeyboardInterrupt, SystemExit, ValueError])
def test_what_a_custom_hinge_raises_when_it_is_checked(raised):
    class Broken(Slope):
        def transform(self, q):
            raise raised("boom")

    builder = catena.MechanismBuilder("bead")
    builder.add_body("bead", mass=2.0, inertia=[0.1, 0.1, 0.1])
    builder.add_hinge("wire", "world", "bead", custom=Broken())
    if raised is not ValueError:
        with pytest.raises(raised, match="boom"):
            builder.finish()
        return
    with pytest.raises(catena.ModelError) as error:
        builder.finish()
    assert [p.message for p in error.value.problems] == [
        "hinge 'wire': its transform failed at q = 0.1: ValueError: boom"
    ]


def test_a_coupling_with_a_wrong_gradient():
    builder = catena.MechanismBuilder("gear")
    for name in "ab":
        builder.add_body(name, mass=1.0, inertia=[1, 1, 1])
        builder.add_hinge("pin_" + name, "world", name)
    builder.add_coupling(
        name="gear",
        terms=[{"hinge": "pin_a"}, {"hinge": "pin_b"}],
        function=lambda q: (q[0] - 2 * q[1], [1.0, 5.0], np.zeros((2, 2))),
    )
    with pytest.raises(catena.ModelError, match="by 'pin_b' is not its derivative"):
        builder.finish()


def test_coupling_by_a_function():
    """Two sliders on the unit circle: x² + y² = 1."""

    def circle(q):
        return q @ q - 1.0, 2.0 * q, 2.0 * np.eye(2)

    builder = catena.MechanismBuilder("circle")
    builder.set_gravity([0, 0, 0])
    for name, axis in (("x", [1, 0, 0]), ("y", [0, 1, 0])):
        builder.add_body(name, mass=1.0, inertia=[1, 1, 1])
        builder.add_hinge("slide_" + name, "world", name, type="prismatic", axes=[axis],
                          initial_position=[0.6 if name == "x" else 0.8])  # fmt: skip
    builder.add_coupling(
        name="circle", terms=[{"hinge": "slide_x"}, {"hinge": "slide_y"}], function=circle
    )
    mechanism = builder.finish()
    state = catena.assemble(mechanism, catena.State(mechanism, [0.6, 0.8], [0.8, -0.6]))
    # Uniform motion on a circle, speed one: the acceleration is -r.
    np.testing.assert_allclose(
        catena.forward_dynamics(mechanism, state), [-0.6, -0.8], atol=1e-12
    )


def test_mechanism_facts():
    mechanism = four_bar()
    assert len(mechanism.loops) == 1
    assert mechanism.hinges[3].role == catena.HingePlace.Role.cut
    assert mechanism.coordinates == mechanism.freedoms == 3
    assert "four_bar" in repr(mechanism)
    assert mechanism.description.hinges[3].cut == catena.Cut.always


def test_one_axis_and_one_coordinate():
    """A single axis, letters and numbers alone, as in model files."""
    builder = catena.MechanismBuilder("letters")
    for name in "abcde":
        builder.add_body(name, mass=1.0, inertia=[1, 1, 1])
    builder.add_hinge("a", "world", "a", axes=[0, 1, 0], initial_position=0.4, initial_velocity=2)
    builder.add_hinge("b", "a", "b", axes="-y", initial_position=np.float64(0.1))
    builder.add_hinge("c", "b", "c", axes=np.array([0.0, 0.0, 1.0]))
    builder.add_hinge("d", "c", "d", type="universal", axes=["z", [1, 0, 0]])
    builder.add_hinge("e", "d", "e", axes=np.eye(3)[:1], locked_at=0.3)
    robot = builder.finish()
    axes = {h.name: np.array(h.axes) for h in robot.description.hinges}
    np.testing.assert_array_equal(axes["a"], [[0, 1, 0]])
    np.testing.assert_array_equal(axes["b"], [[0, -1, 0]])
    np.testing.assert_array_equal(axes["c"], [[0, 0, 1]])
    np.testing.assert_array_equal(axes["d"], [[0, 0, 1], [1, 0, 0]])
    np.testing.assert_array_equal(axes["e"], [[1, 0, 0]])
    state = robot.default_state()
    assert state["a"] == 0.4 and state["v.a"] == 2 and state["b"] == 0.1
    assert robot.description.hinges[4].locked_at == [0.3]
    for wrong in ("w", ["x", "--y"], [1, 2], 7, [[0, 1]]):
        with pytest.raises((TypeError, ValueError)):
            builder.hinge("a", axes=wrong)
    assert robot.description.springs == [] and robot.description.hinges[0].source.line == 0
