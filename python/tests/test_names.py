"""Every function of the C++ library has its name in Python, or is listed here with the reason why not.

Free functions are read from the public headers of the rooms: declarations that begin at the margin. A new one makes
this test fail until it is bound or listed.
"""
import re

import pytest

import catena

ROOMS = ("lq model flexible io closure dynamics collision constraints sensitivity simulation trajectory optimal "
         "verification").split()

# Public headers of machinery: steps of algorithms that the functions of other headers use.
MACHINERY = {
    "constraints": ["servo.h"],
    "flexible": ["matrices_body.h"],  # make_matrices_body() is tested in test_flexible.py
    "sensitivity": ["workspace.h"],
    "simulation": ["coordinates/instant.h", "integrators/integrator.h", "recording/outputs.h", "signals/signal.h"],
    "trajectory": ["bspline.h"],
}
MACHINERY_OF_A_HEADER = {
    "model/configuration.h": "integrate_node node_position_rate normalize_quaternion",
    "model/description.h": "modes_name",
    "model/friction.h": "breakaway_level friction_by_sliding friction_force sliding_level",
    "closure/assembly.h": "all_columns close_from_around close_loop given_by_description within_limits",
    "closure/chart.h": "store_chart",
    "closure/mobility.h": "all_rows_count generic_rank",
    "dynamics/batch.h": "triangle_index triangle_size",
    "dynamics/forces.h": "hinge_complement interbody_force_after_forward split_force",
    "dynamics/given_acceleration.h": "check_given make_given_independent",
    "dynamics/kinematics.h": "check_matrix checked_twist for_each_motion_column motion_map_column",
    "dynamics/loads.h": "add_hinge_element_efforts check_vector prepare prepare_position",
    "dynamics/workspace.h": "pose_of twist_of",
    "constraints/contact_problem.h": "grown_impulse solve_from",
    "sensitivity/forward_derivatives.h": "prepared_input solve_hybrid",
    "sensitivity/inverse_derivatives.h": "compute_columns compute_tree_matrices copy_matrix flexible_inverse_derivatives tree_effort",
    "sensitivity/second_derivatives.h": "serves_dual_numbers",
    "simulation/simulate.h": "completed completed_for",
    "simulation/state_file.h": "close_loops default_input",
    "optimal/optimal_run.h": "replay_settings",
    "optimal/regulated_run.h": "disturbed disturbed_start",
    "optimal/regulator.h": "eigenvalues_of",
}
# What stands in its place in Python.
OTHERWISE = {
    "with_coordinates": "Mechanism.with_coordinates()",
    "to_string": "str() of an enumeration",
    "hinge_type_from": "HingeType",
    "inertia_completion_from": "InertiaCompletion",
    "hinge_type_names": "HingeType.__members__",
    "coordinates_of": "HingePlace.coordinates",
    "freedoms_of": "HingePlace.freedoms",
    "position_suffixes": "mechanism.position_names",
    "velocity_suffixes": "mechanism.velocity_names",
    "make_custom_hinge": "HingeSettings.custom",
    "flexible_model_from": "FlexibleModel",
    "mode_set_from": "ModeSet",
    "box_contacts": "shape: box of a contact in the settings of simulate()",
    "capsule_contacts": "shape: capsule of a contact in the settings of simulate()",
    "cylinder_contacts": "collisions: of a model, and ground: in the settings of simulate()",
    "hull_contacts": "collisions: of a model, and ground: in the settings of simulate()",
    "ground_contacts": "ground: in the settings of simulate()",
    "check": "an error of simulate() about a height field",
    "read_height_field": "height_field= of shape_contacts(), and ground: in the settings of simulate()",
    "least_gap": "a warning of simulate() about a ground far below",
    "has_error": "validate()",
    "read_urdf": "read_description()",
    "read_sdf": "read_description()",
    "read_yaml": "read_description()",
    "read_csv_text": "read_csv()",
    "round_ticks": "svg_plot()",
    "prefers_multipliers": "route=\"automatic\" of forward_dynamics()",
    "inverse_dynamics_given": "inverse_dynamics() with accelerations by name",
    "read_settings_file": "settings= of simulate()",
    "read_settings_text": "settings= of simulate()",
    "settings_json": "run.settings",
    "add_actions": "simulate()",
    "to_json": "SimulationResult.to_json()",
    "read_problem_file": "read_problem()",
    "solver_names": "Solver.__members__",
}
FUNCTION = re.compile(r"^(?!\s|class|struct|enum|using|template|namespace|#|\}|friend)[\w:<>,&* ]+?[ &*](\w+)\(", re.M)


def headers(source, room):
    text = (source / "catena" / room / "CMakeLists.txt").read_text(encoding="utf-8")
    listed = re.search(r"\bHEADERS(.*?)(?:SOURCES|INTERNAL_HEADERS|PRIVATE_HEADERS|DEPENDS|LINK|\))", text, re.S).group(1)
    return [h for h in listed.split() if h not in MACHINERY.get(room, ())]


def functions(source, room, header):
    text = (source / "catena" / room / header).read_text(encoding="utf-8")
    return set(FUNCTION.findall(re.sub(r"//[^\n]*", "", text)))


@pytest.mark.parametrize("room", ROOMS)
def test_every_function_of(room, source):
    missing = []
    for header in headers(source, room):
        known = set(MACHINERY_OF_A_HEADER.get(f"{room}/{header}", "").split()) | set(OTHERWISE)
        names = functions(source, room, header) - known
        missing += [f"{room}/{header}: {name}" for name in sorted(names) if not hasattr(catena, name)]
    assert missing == []


def test_the_lists_name_what_is_there(source):
    """So that they do not grow old."""
    for room, listed in MACHINERY.items():
        for header in listed:
            assert (source / "catena" / room / header).exists(), header
    for header, names in MACHINERY_OF_A_HEADER.items():
        room, _, name = header.partition("/")
        assert set(names.split()) <= functions(source, room, name), header
    everything = set().union(*(functions(source, room, h) for room in ROOMS for h in headers(source, room)))
    assert set(OTHERWISE) <= everything
    assert len(everything) > 150
