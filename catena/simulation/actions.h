// SPDX-License-Identifier: BSD-3-Clause
// Settings of everything that acts on a mechanism in a simulation: efforts at joints, PID
// controllers, prescribed motions, wrenches on bodies, joint limits (stops) and friction, contacts
// and grips that are switched, and functions whose zero crossings are events.
//
//   ActionSettings actions{
//       .inputs = {{.freedom = "elbow", .signal = "2*sin(t)"}},   // N m
//       .controllers = {{.freedom = "shoulder", .kp = 200, .kd = 20, .target = "step(t - 1)"}}};
//
// A freedom is named by its joint, or "joint.x" of joints with several (Mechanism::velocity_names).
// An element with states of its own is a Component (component.h). The same in YAML:
// docs/simulation.md.
#pragma once

#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <variant>
#include <vector>

#include "catena/collision/collisions.h"
#include "catena/constraints/constraint_set.h"
#include "catena/dynamics/loads.h"
#include "catena/simulation/signals/signal_settings.h"

namespace catena {

class Component;

// An effort (N or N m) at a freedom. Several at one freedom add up.
struct InputSettings {
  std::string freedom;
  SignalSettings signal = {};
};

// effort = kp (target − q) + kd (d target/dt − v) + ki ∫ (target − q) dt, of a freedom with a
// coordinate. The target is a function of time alone.
struct ControllerSettings {
  std::string freedom;
  double kp = 0.0;
  double kd = 0.0;
  double ki = 0.0;
  SignalSettings target = "0";
};

// The coordinate of a freedom as a function of time alone; for a freedom without a coordinate of
// its own (rotations by quaternion, velocity of a free body) its velocity. Efforts follow.
struct MotionSettings {
  std::string freedom;
  SignalSettings signal = {};
};

// An event where the function passes through zero.
struct EventSettings {
  enum class Action { record, stop };
  std::string name;
  SignalSettings signal = {};
  int direction = 0;  // +1: only upward, −1: only downward
  Action action = Action::record;
  // Called at the event; may change the state (the velocities, usually).
  std::function<void(double t, State& state)> respond = {};
};

enum class FrictionLaw {
  set_valued,  // sticks at zero velocity until the breakaway level is reached: events
  smooth       // the regularized law of description.h
};

struct StopSettings {
  std::string freedom;
  double restitution = 0.0;  // velocity after / before an impact at its limits
};

// A servo constraint and, one for each of its rows, a function of time alone: the position of the
// point, or the angular velocity.
struct ServoMotion {
  ServoSettings servo = {};
  std::vector<SignalSettings> motions = {};
};

// A constraint that is switched on and off.
struct ConstraintSettings {
  std::variant<AttachmentSettings, LockSettings, ContactSettings, ServoMotion> constraint = {};
  bool active = false;  // from the start; contacts find out for themselves
  const std::string& name() const;
};

// Switches constraints on and off, either at a time or where a function passes through zero.
struct SwitchSettings {
  std::string name;
  std::optional<double> time = {};  // s
  std::optional<SignalSettings> when = {};
  int direction = 0;  // +1: only upward, −1: only downward
  std::vector<std::string> activate = {};
  std::vector<std::string> release = {};
};

// How closed loops are treated.
enum class LoopRoute {
  automatic,   // embedded, unless a loop is large (forward.h) or constraints are switched
  embedded,    // independent coordinates (closed_coordinates.h)
  multipliers  // all coordinates; multipliers and projection
};

// Makes a component for a mechanism, once in every simulation (component.h).
using ComponentMaker = std::function<std::unique_ptr<Component>(const Mechanism& mechanism)>;

// A controller designed elsewhere: a linear system in a file. Values that are set here override
// those of the file. connect_controllers() (catena/components/controller_file.h) reads the file and
// fills in `make`; simulate() throws an Error without it.
struct ControllerFile {
  std::string name = "controller";
  std::string file = {};                      // system file (YAML or HDF5), or
  std::string system = {};                    // its text, as a run keeps it
  std::optional<double> period = {};          // s; a continuous controller is discretized
  std::optional<double> delay = {};           // computation time of a sampled controller, s
  std::map<std::string, double> limits = {};  // by output: |u| is at most this, N or N m
  ComponentMaker make = {};
};

struct ActionSettings {
  std::vector<InputSettings> inputs = {};
  std::vector<ControllerSettings> controllers = {};
  std::vector<ControllerFile> controller_files = {};
  std::vector<ComponentMaker> components = {};  // others that act, with states of their own
  std::vector<MotionSettings> motions = {};
  std::vector<ExternalWrench> external = {};
  std::vector<EventSettings> events = {};

  bool stops = true;         // joint limits of the model are stops
  double restitution = 0.0;  // at stops that `stop_settings` does not name
  std::vector<StopSettings> stop_settings = {};
  FrictionLaw friction = FrictionLaw::set_valued;
  std::vector<ConstraintSettings> constraints = {};
  std::vector<SwitchSettings> switches = {};
  // Shapes against each other and against a height field; time-stepping only.
  std::optional<CollisionSettings> collisions = {};
  LoopRoute loops = LoopRoute::automatic;
  // Freedoms that stick, rest at a stop or have a prescribed motion by multipliers too, also in a
  // tree: the differential-algebraic form needs rows for them.
  bool hold_by_multipliers = false;
  // Contacts, stops and friction by time-stepping (Method::time_stepping sets it).
  bool steps_contacts = false;
  bool limit_efforts = false;  // inputs and controllers do not exceed the model's effort limits
};

}  // namespace catena
