"""Flexible bodies from Python: beams, bodies by matrices and by constants, in mechanisms."""
import pickle

import numpy as np
import pytest

import catena

ROOT = 1.8751040687119611  # first zero of cos(x) cosh(x) + 1


def beam(modes=4, **more):
    settings = dict(
        length=10.0,
        section={"values": {"bending_z": 1.4e4, "mass_per_length": 1.2}},
        attachments=[{"name": "tip", "station": 10.0}],
        modes={"set": "clamped_free", "count": modes},
    )
    settings.update(more)
    return catena.make_beam(**settings)


def rotor(body, name="boom"):
    b = catena.MechanismBuilder("rotor")
    b.set_gravity([0, 0, 0])
    b.add_flexible_body(name, body)
    b.add_hinge("spin", "world", name, axes="z")
    return b.finish()


def test_a_beam_has_its_frequencies():
    body = beam()
    assert body.modes == 4
    assert body.frequencies[0] == pytest.approx(ROOT**2 * np.sqrt(1.4e4 / 1.2) / 100, rel=1e-10)
    assert body.mass == pytest.approx(12.0)
    assert body.modal_mass == pytest.approx(12.0 * np.eye(4))
    assert body.attachments[0].shape[1, :2] == pytest.approx([2, -2], rel=1e-8)  # tip values of clamped-free modes
    assert body.mass_moment_2.shape == (3, 4, 4)
    assert body.beam.length == 10.0
    report = catena.report_modes(body)
    assert report.frequencies == pytest.approx(body.frequencies)
    assert report.mass_condition > 1
    sets = catena.compare_mode_sets(body.beam)
    assert catena.ModeSet.clamped_free in [s.set for s in sets]


def test_names_and_places():
    m = rotor(beam())
    assert m.position_names == ["spin", "boom.mode1", "boom.mode2", "boom.mode3", "boom.mode4"]
    assert m.has_body("boom.tip")
    (place,) = m.flexible_bodies
    assert place.name == "boom" and place.coordinates == m.position_names[1:]
    assert m.bodies[place.attachments[0]].name == "boom.tip"
    assert m.has_flexible_bodies
    state = m.default_state()
    state["boom.mode1"] = 0.1
    assert catena.body_pose(m, state, "boom.tip").translation[1] == pytest.approx(0.2, rel=1e-8)


def test_one_body_added_twice_is_stored_once():
    body = beam()
    b = catena.MechanismBuilder("pair")
    for name in ("a", "b"):
        b.add_flexible_body(name, body)
        b.add_hinge(name, "world", name, axes="z")
    m = b.finish()
    assert m.flexible_bodies[0].constants is m.flexible_bodies[1].constants


@pytest.mark.parametrize("model, ratio", [("consistent", 1.0864311), ("ruthless", 1.0), ("inconsistent", 0.0)])
def test_frequency_at_a_spin_of_the_first_frequency(model, ratio):
    body = beam(model=model)
    m = rotor(body)
    state = m.default_state()
    first = body.frequencies[0]
    state["v.spin"] = first
    d = catena.inverse_dynamics_derivatives(m, state, np.zeros(5))
    squares = np.linalg.eigvals(np.linalg.solve(d.da[1:, 1:], d.dq[1:, 1:])).real
    assert squares.min() / first**2 == pytest.approx(ratio**2, abs=1e-7)


def test_dynamics_round_trip():
    m = rotor(beam(damping={"ratios": [0.01]}))
    state = m.default_state()
    state.q[:] = [0.3, 0.1, -0.02, 0.01, 0.0]
    state.v[:] = [1.0, 0.2, 0.1, -0.1, 0.05]
    a = np.array([0.5, -0.3, 0.2, 0.1, 0.4])
    effort = catena.inverse_dynamics(m, state, a)
    assert catena.forward_dynamics(m, state, effort) == pytest.approx(a, rel=1e-9, abs=1e-9)
    body = m.flexible_bodies[0].constants
    q = state.q[1:]
    assert catena.energy(m, state).elastic == pytest.approx(0.5 * q @ body.stiffness @ q, rel=1e-12)


def test_matrices():
    """A mass on springs beside the frame: three frequencies."""
    k, mass = [100.0, 400.0, 900.0], 4.0
    body = catena.make_matrices_body(
        nodes=[[0, 0, 0], [1, 0, 0]],
        freedoms_per_node=3,
        mass=np.diag([0, 0, 0, mass, mass, mass]),
        stiffness=np.block([[np.diag(k), -np.diag(k)], [-np.diag(k), np.diag(k)]]),
        clamped_nodes=[0],
        modes={"set": "clamped_free", "count": 3},
        model="inconsistent",
    )
    assert body.frequencies == pytest.approx([5, 10, 15])
    assert body.mass == pytest.approx(mass)
    assert body.mass_moment == pytest.approx([mass, 0, 0])
    assert catena.FlexibleBody is type(body)


def test_constants_of_ones_own():
    """A mass m on a slide across the arm with a spring, as a body with one mode."""
    one, none = np.zeros((3, 1)), np.zeros((1, 1))
    shape = one.copy()
    shape[1, 0] = 1.0
    zero3, zero6 = np.zeros((3, 1, 1)), np.zeros((6, 1, 1))
    moment, inertia_2 = 2.0 * shape, zero6.copy()
    inertia_2[0, 0, 0] = inertia_2[5, 0, 0] = 2.0 * 2.0
    coupling = one.copy()
    coupling[2, 0] = 2.0 * 0.5
    inertia_1 = np.zeros((6, 1))
    inertia_1[1, 0] = -2.0 * 0.5
    body = catena.FlexibleBody(
        mass=2.0, mass_moment=[1.0, 0, 0], mass_moment_1=moment, mass_moment_2=zero3, inertia=[0.1, 0, 0, 0.6, 0, 0.6],
        inertia_1=inertia_1, inertia_2=inertia_2, coupling_0=coupling, coupling_1=zero3, modal_mass=[[2.0]],
        stiffness=[[50.0]], damping=none, size=0.5,
        attachments=[dict(name="mass", position=[0.5, 0, 0], shape=shape, slope=one, second_shape=zero3, second_slope=zero3)],
    )  # fmt: skip
    assert catena.check_flexible_body(body) == []
    assert body.frequencies == pytest.approx([5.0])
    m = rotor(body)
    state = m.default_state()
    # The same with a slider as a joint; the frame has the inertia about its origin that the mass does not bring.
    b = catena.MechanismBuilder("slide")
    b.set_gravity([0, 0, 0])
    b.add_body("arm", mass=1e-9, inertia=[0.1, 0.1, 0.1])
    b.add_body("mass", mass=2.0)
    b.add_hinge("spin", "world", "arm", axes="z")
    b.add_hinge("slide", "arm", "mass", type="prismatic", axes="y", frame_on_parent=[0.5, 0, 0], freedoms=[{"stiffness": 50.0}])
    other = b.finish()
    x = other.default_state()
    x.q[:] = state.q[:] = [0.4, 0.05]
    x.v[:] = state.v[:] = [2.0, -0.3]
    a = [1.0, 0.7]
    assert catena.inverse_dynamics(m, state, a) == pytest.approx(catena.inverse_dynamics(other, x, a), abs=1e-8)


def test_combine_modes():
    body = beam()
    two = catena.combine_modes(body, np.eye(4)[:, :2])
    assert two.modes == 2
    assert two.frequencies == pytest.approx(body.frequencies[:2])
    assert two.beam is None
    with pytest.raises(catena.NumericalError, match="row for each"):
        catena.combine_modes(body, np.eye(3))


def test_values_do_not_change_in_place():
    body = beam()
    with pytest.raises(AttributeError, match="replace"):
        body.mass = 3.0
    assert body.replace(model="ruthless").model == catena.FlexibleModel.ruthless
    assert body.model == catena.FlexibleModel.consistent
    assert catena.beam_values({"shape": "circle", "radius": 0.1}, {"youngs_modulus": 2.0, "density": 1.0}).extension == (
        pytest.approx(2.0 * np.pi * 0.01)
    )


def test_mistakes_are_named():
    with pytest.raises(catena.ModelError, match="station 12"):
        beam(attachments=[{"name": "tip", "station": 12.0}])
    with pytest.raises((TypeError, catena.UnknownNameError), match="lenght"):
        catena.make_beam(lenght=1.0)
    with pytest.raises(catena.UnknownNameError, match="ruthless"):
        beam(model="ruthles")
    broken = beam().replace(stiffness=-np.eye(4))
    assert "definite" in catena.check_flexible_body(broken)[0].message
    with pytest.raises(catena.ModelError):
        rotor(broken)


def test_pickles():
    body = beam(damping={"ratios": [0.01, 0.02], "bands": [{"below": 100.0, "ratio": 0.001}]})
    again = pickle.loads(pickle.dumps(body))
    assert np.array_equal(again.stiffness, body.stiffness)
    assert np.array_equal(again.attachments[0].second_shape, body.attachments[0].second_shape)
    assert again.beam.damping.bands[0].below == 100.0
    m = rotor(body)
    other = pickle.loads(pickle.dumps(m))
    assert other.position_names == m.position_names
    assert np.array_equal(other.flexible_bodies[0].constants.stiffness, body.stiffness)
    with pytest.raises(catena.Error, match="made of constants"):
        pickle.dumps(rotor(catena.combine_modes(body, np.eye(4))))
