"""Coordinates of other libraries. Their models are played by objects with the same members; if a
library is installed, its own forward dynamics is compared."""
from types import SimpleNamespace

import numpy as np
import pytest

import catena
from conftest import MODELS, random_state, relative


@pytest.fixture
def quadruped():
    return catena.load(MODELS / "quadruped.yaml")


def parts(mechanism):
    free = next(h for h in mechanism.hinges if h.type == catena.HingeType.free)
    others = [h for h in mechanism.hinges if h.node >= 0 and h.name != free.name]
    return free, others


def test_free_base_by_the_table(quadruped):
    free, others = parts(quadruped)
    state = random_state(quadruped)
    w, x, y, z, *p = state[free.name]
    angular, linear = state["v." + free.name][:3], state["v." + free.name][3:]
    r = catena.Transform(rotation=[w, x, y, z]).rotation
    names = [free.name] + [h.name for h in others]
    q, v = catena.adapt.mujoco(quadruped, names).to_peer(state)
    np.testing.assert_array_equal(q[:7], [*p, w, x, y, z])
    np.testing.assert_allclose(v[:6], [*(r @ linear), *angular], atol=1e-15)
    q, v = catena.adapt.drake(quadruped, names).to_peer(state)
    np.testing.assert_array_equal(q[:7], [w, x, y, z, *p])
    np.testing.assert_allclose(v[:6], [*(r @ angular), *(r @ linear)], atol=1e-15)
    q, v = catena.adapt.pinocchio(quadruped, names).to_peer(state)
    np.testing.assert_array_equal(q[:7], [*p, x, y, z, w])
    np.testing.assert_array_equal(v[:6], [*linear, *angular])
    np.testing.assert_array_equal(v[6:], [state["v." + h.name] for h in others])


@pytest.mark.parametrize("library", ["pinocchio", "drake", "mujoco"])
def test_there_and_back_and_power(quadruped, library):
    peer = getattr(catena.adapt, library)(quadruped)
    state = random_state(quadruped)
    back = peer.from_peer(*peer.to_peer(state))
    np.testing.assert_allclose(catena.difference(quadruped, state, back), 0, atol=1e-14)
    np.testing.assert_allclose(back.v, state.v, atol=1e-14)
    effort = catena.random_vector(quadruped.freedoms, 7)
    theirs = peer.effort_to_peer(state, effort)
    assert theirs @ peer.velocity_to_peer(state, state.v) == pytest.approx(effort @ state.v)
    np.testing.assert_allclose(peer.effort_from_peer(state, theirs), effort, atol=1e-14)
    # v̇ there is the rate of v there, along the motion.
    a = catena.forward_dynamics(quadruped, state)
    h = 1e-6
    rate = [
        peer.velocity_to_peer(
            catena.integrate(quadruped, state, s * h * state.v + 0.5 * h * h * a), state.v + s * h * a
        )
        for s in (1, -1)
    ]
    expected = (rate[0] - rate[1]) / (2 * h)
    np.testing.assert_allclose(
        peer.acceleration_to_peer(state, a), expected, atol=1e-7 * np.max(np.abs(a))
    )


def test_many_states(quadruped):
    peer = catena.adapt.mujoco(quadruped)
    states = [random_state(quadruped, seed) for seed in (1, 5, 9)]
    q, v = peer.batch_to_peer([s.q for s in states], [s.v for s in states])
    for i, s in enumerate(states):
        one_q, one_v = peer.to_peer(s)
        np.testing.assert_array_equal(q[i], one_q)
        np.testing.assert_array_equal(v[i], one_v)
    back_q, back_v = peer.batch_from_peer(q, v)
    np.testing.assert_allclose(back_q, [s.q for s in states], atol=1e-14)
    np.testing.assert_allclose(back_v, [s.v for s in states], atol=1e-14)
    with pytest.raises(ValueError, match="one for each state"):
        peer.batch_to_peer(q[:2], v)


def test_models_of_the_libraries_are_read(quadruped):
    """Other places than ours: the joints in reverse order, the base at the end."""
    free, others = parts(quadruped)
    names = [h.name for h in reversed(others)]
    n = len(names)
    state = random_state(quadruped)
    pinocchio = SimpleNamespace(
        names=["universe"] + names + ["root_joint"],
        nqs=[0] + [1] * n + [7], nvs=[0] + [1] * n + [6],
        idx_qs=[0] + list(range(n + 1)), idx_vs=[0] + list(range(n + 1)),
    )  # fmt: skip
    mujoco = SimpleNamespace(
        njnt=n + 1, jnt_qposadr=list(range(n + 1)), jnt_dofadr=list(range(n + 1)), jnt_type=[3] * n + [0],
        joint=lambda i: SimpleNamespace(name=(names + [""])[i]),
    )  # fmt: skip

    def joint(i):
        return SimpleNamespace(
            name=lambda: (names + ["$world_base"])[i], num_velocities=lambda: 1 if i < n else 6,
            position_start=lambda: i, velocity_start=lambda: i,
        )  # fmt: skip

    drake = SimpleNamespace(GetJointIndices=lambda: range(n + 1), get_joint=joint)
    for adapter, model in (("pinocchio", pinocchio), ("mujoco", mujoco), ("drake", drake)):
        peer = getattr(catena.adapt, adapter)(quadruped, model)
        q, v = peer.to_peer(state)
        assert (len(q), len(v)) == (n + 7, n + 6)
        np.testing.assert_array_equal(q[:n], [state[name] for name in names])
        np.testing.assert_array_equal(v[:n], [state["v." + name] for name in names])
        np.testing.assert_allclose(peer.from_peer(q, v).v, state.v, atol=1e-14)


def test_mistakes_are_named(quadruped):
    free, others = parts(quadruped)
    names = [free.name] + [h.name for h in others]
    with pytest.raises(catena.UnknownNameError, match=others[-1].name):
        catena.adapt.drake(quadruped, names[:-1])
    with pytest.raises(catena.UnknownNameError, match="did you mean"):
        catena.adapt.drake(quadruped, names[:-1] + [names[-1] + "x"])
    with pytest.raises(catena.NumericalError, match="3 entries"):
        catena.adapt.drake(quadruped).position_from_peer([1, 2, 3])


URDF = """<robot name="arm"><link name="base"><inertial><origin xyz="0 0.05 0"/><mass value="3"/>
<inertia ixx="0.2" iyy="0.3" izz="0.25" ixy="0" ixz="0" iyz="0"/></inertial></link>
<link name="a"><inertial><origin xyz="0.1 0 0.3"/><mass value="2"/>
<inertia ixx="0.1" iyy="0.1" izz="0.05" ixy="0" ixz="0" iyz="0"/></inertial></link>
<link name="b"><inertial><origin xyz="0 0.1 0.2"/><mass value="1"/>
<inertia ixx="0.05" iyy="0.06" izz="0.03" ixy="0" ixz="0" iyz="0"/></inertial></link>
<joint name="spin" type="continuous"><parent link="base"/><child link="a"/><axis xyz="0 1 0"/></joint>
<joint name="bend" type="revolute"><parent link="a"/><child link="b"/><origin xyz="0 0 0.6"/>
<axis xyz="1 0 0"/><limit lower="-2" upper="2" effort="1" velocity="1"/></joint></robot>"""


def test_against_pinocchio(tmp_path):
    pinocchio = pytest.importorskip("pinocchio")
    path = tmp_path / "arm.urdf"
    path.write_text(URDF)
    for base in ("fixed", "free"):
        mechanism = catena.load(path, base=base)
        args = (pinocchio.JointModelFreeFlyer(),) if base == "free" else ()
        model = pinocchio.buildModelFromUrdf(str(path), *args)
        peer = catena.adapt.pinocchio(mechanism, model)
        state = random_state(mechanism)
        effort = catena.random_vector(mechanism.freedoms, 5)
        q, v = peer.to_peer(state)
        theirs = pinocchio.aba(model, model.createData(), q, v, peer.effort_to_peer(state, effort))
        ours = catena.forward_dynamics(mechanism, state, effort)
        assert relative(peer.acceleration_from_peer(state, theirs), ours) < 1e-10


def test_against_mujoco(tmp_path):
    mujoco = pytest.importorskip("mujoco")
    path = tmp_path / "arm.urdf"
    path.write_text(URDF)
    model = mujoco.MjModel.from_xml_path(str(path))
    model.opt.disableflags |= mujoco.mjtDisableBit.mjDSBL_CONTACT | mujoco.mjtDisableBit.mjDSBL_LIMIT
    mechanism = catena.load(path)
    peer = catena.adapt.mujoco(mechanism, model)
    state = random_state(mechanism)
    data = mujoco.MjData(model)
    data.qpos[:], data.qvel[:] = peer.to_peer(state)
    mujoco.mj_forward(model, data)
    ours = catena.forward_dynamics(mechanism, state)
    assert relative(peer.acceleration_from_peer(state, np.array(data.qacc)), ours) < 1e-9


# A free trunk with a ball, a slider and a revolute joint, in another order than ours.
MJCF = """<mujoco><option><flag contact="disable" limit="disable"/></option><worldbody>
<body name="trunk"><freejoint name="root"/><inertial pos="0.02 0.01 -0.03" mass="5" diaginertia="0.2 0.3 0.4"/>
 <body name="mast" pos="0.1 0.2 0.3"><joint name="lift" type="slide" axis="0 0.6 0.8"/>
  <inertial pos="0 0.1 0" mass="1.5" diaginertia="0.02 0.03 0.04"/></body>
 <body name="arm" pos="-0.3 0 0.1"><joint name="shoulder" type="ball"/>
  <inertial pos="0.2 0 0.1" mass="2" diaginertia="0.05 0.06 0.07"/>
  <body name="hand" pos="0.4 0 0"><joint name="wrist" type="hinge" axis="0 1 0"/>
   <inertial pos="0.1 0.05 0" mass="0.7" diaginertia="0.01 0.02 0.015"/></body></body>
</body></worldbody></mujoco>"""


def floating_robot():
    builder = catena.MechanismBuilder("robot")
    builder.add_body("trunk", mass=5, center_of_mass=[0.02, 0.01, -0.03], inertia=[0.2, 0.3, 0.4])
    builder.add_body("arm", mass=2, center_of_mass=[0.2, 0, 0.1], inertia=[0.05, 0.06, 0.07])
    builder.add_body("hand", mass=0.7, center_of_mass=[0.1, 0.05, 0], inertia=[0.01, 0.02, 0.015])
    builder.add_body("mast", mass=1.5, center_of_mass=[0, 0.1, 0], inertia=[0.02, 0.03, 0.04])
    builder.add_hinge("base", "world", "trunk", type="free")
    builder.add_hinge("shoulder", "trunk", "arm", type="spherical", frame_on_parent=[-0.3, 0, 0.1])
    builder.add_hinge("wrist", "arm", "hand", axes=[[0, 1, 0]], frame_on_parent=[0.4, 0, 0])
    builder.add_hinge("lift", "trunk", "mast", type="prismatic", axes=[[0, 0.6, 0.8]], frame_on_parent=[0.1, 0.2, 0.3])
    return builder.finish()


def test_a_floating_robot_against_mujoco():
    mujoco = pytest.importorskip("mujoco")
    model = mujoco.MjModel.from_xml_string(MJCF)
    robot = floating_robot()
    peer = catena.adapt.mujoco(robot, model)
    for seed in range(1, 6):
        state = random_state(robot, seed)
        effort = catena.random_vector(robot.freedoms, seed + 50)
        data = mujoco.MjData(model)
        data.qpos[:], data.qvel[:] = peer.to_peer(state)
        data.qfrc_applied[:] = peer.effort_to_peer(state, effort)
        mujoco.mj_forward(model, data)
        ours = catena.forward_dynamics(robot, state, effort)
        assert relative(peer.acceleration_from_peer(state, np.array(data.qacc)), ours) < 1e-9
        assert relative(peer.acceleration_to_peer(state, ours), np.array(data.qacc)) < 1e-9


def test_against_drake(tmp_path):
    plants = pytest.importorskip("pydrake.multibody.plant")
    parsing = pytest.importorskip("pydrake.multibody.parsing")
    path = tmp_path / "arm.urdf"
    path.write_text(URDF)
    plant = plants.MultibodyPlant(0.0)
    parsing.Parser(plant).AddModels(str(path))
    plant.Finalize()  # the base floats
    mechanism = catena.load(path, base="free")
    peer = catena.adapt.drake(mechanism, plant)
    state = random_state(mechanism)
    effort = catena.random_vector(mechanism.freedoms, 5)
    q, v = peer.to_peer(state)
    context = plant.CreateDefaultContext()
    plant.SetPositions(context, q)
    plant.SetVelocities(context, v)
    plant.get_applied_generalized_force_input_port().FixValue(context, peer.effort_to_peer(state, effort))
    theirs = plant.EvalTimeDerivatives(context).CopyToVector()[plant.num_positions() :]
    ours = catena.forward_dynamics(mechanism, state, effort)
    assert relative(peer.acceleration_from_peer(state, theirs), ours) < 1e-10


@pytest.mark.parametrize("library", ["pinocchio", "mujoco", "drake"])
def test_quaternions_of_others_are_checked(library):
    quadruped = catena.load(MODELS / "quadruped.yaml")
    peer = getattr(catena.adapt, library)(quadruped)
    state = random_state(quadruped)
    q, v = peer.to_peer(state)
    base = next(h for h in quadruped.hinges if h.freedoms == 6)
    doubled = state.copy()
    doubled.q[base.q_index : base.q_index + 4] *= 2.0
    quaternion = np.flatnonzero(peer.position_to_peer(doubled) != q)
    assert quaternion.size == 4
    q2 = q.copy()
    q2[quaternion] *= 2.0
    back = peer.from_peer(q2, v)
    np.testing.assert_allclose(back.q, state.q, atol=1e-12)
    np.testing.assert_allclose(back.v, state.v, atol=1e-12)
    q2[quaternion] = 0.0
    with pytest.raises(catena.NumericalError, match="quaternion"):
        peer.from_peer(q2, v)
    with pytest.raises(catena.NumericalError, match="quaternion"):
        peer.batch_from_peer([q, q2], [v, v])
