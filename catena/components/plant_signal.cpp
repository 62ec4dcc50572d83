// SPDX-License-Identifier: BSD-3-Clause
#include "catena/components/plant_signal.h"

#include <memory>
#include <optional>
#include <vector>

#include "catena/base/index.h"
#include "catena/base/text.h"
#include "catena/dynamics/kinematics.h"
#include "catena/dynamics/workspace.h"
#include "catena/model/configuration.h"
#include "catena/simulation/freedom_index.h"

namespace catena {
namespace {

constexpr const char* kAxisNames[3] = {".x", ".y", ".z"};

// A frame or the origin of a body.
struct Place {
  int body;
  Vec3d point;
};

std::optional<Place> find_place(const Mechanism& m, const std::string& name) {
  for (const FramePlace& frame : m.frames()) {
    if (frame.name != name || frame.body < 0) continue;
    const Transformd& body = at(m.bodies(), frame.body).X_node_body;
    return Place{frame.body, (body.inverse() * frame.X_node_frame).translation};
  }
  if (!m.has_body(name) || name == kWorld) return {};
  return Place{m.body_index(name), {}};
}

// Position or velocity of a place along an axis, less that at the operating point.
class PlaceDeviation {
 public:
  PlaceDeviation(const Mechanism& m, const Place& place, int axis, bool velocity,
                 const State& point)
      : mechanism_(&m),
        workspace_(std::make_shared<Workspace>(m)),
        place_(place),
        axis_(axis),
        velocity_(velocity) {
    point_ = value(point);
  }
  double operator()(double, const State& state) const { return value(state) - point_; }

 private:
  double value(const State& state) const {
    update_kinematics(*mechanism_, state.q, state.v, *workspace_);
    return (velocity_ ? point_velocity(*mechanism_, *workspace_, place_.body, place_.point)
                      : point_position(*mechanism_, *workspace_, place_.body, place_.point))[axis_];
  }
  const Mechanism* mechanism_;
  std::shared_ptr<Workspace> workspace_;  // scratch
  Place place_;
  int axis_;
  bool velocity_;
  double point_ = 0.0;
};

SignalSettings position_deviation(const Mechanism& m, int freedom, const State& point) {
  const int coordinate = at(m.coordinate_of_freedom(), freedom);
  if (coordinate >= 0) {
    const double q0 = point.q[coordinate];
    return [coordinate, q0](double, const State& state) { return state.q[coordinate] - q0; };
  }
  return [mechanism = &m, freedom, q0 = point.q](double, const State& state) {
    return difference(*mechanism, q0, state.q)[freedom];
  };
}

[[noreturn]] void throw_unknown_signal(const Mechanism& m, const std::string& name) {
  std::vector<std::string> names;
  for (const std::string& freedom : m.velocity_names())
    for (const char* kind : {"q.", "v."}) names.push_back(kind + freedom);
  const auto add = [&](const std::string& place) {
    for (const char* kind : {"position.", "velocity."})
      for (const char* axis : kAxisNames) names.push_back(kind + place + axis);
  };
  for (const FramePlace& frame : m.frames()) add(frame.name);
  for (const BodyPlace& body : m.bodies()) add(body.name);
  throw NameError("the mechanism has no signal '" + name + "'" + did_you_mean(name, names) +
                  "; a controller reads q.NAME, v.NAME, position.PLACE.x or velocity.PLACE.x");
}

bool is_freedom(const Mechanism& m, const std::string& name) {
  const auto names = m.velocity_names();
  return std::find(names.begin(), names.end(), name) != names.end();
}

}  // namespace

SignalSettings plant_deviation(const Mechanism& mechanism, const std::string& name,
                               const State& point) {
  if (is_freedom(mechanism, name))
    return position_deviation(mechanism, freedom_index(mechanism, name), point);
  const std::size_t dot = name.find('.');
  if (dot == std::string::npos) throw_unknown_signal(mechanism, name);
  const std::string kind = name.substr(0, dot), rest = name.substr(dot + 1);
  if (kind == "a" || kind == "effort")
    throw Error("a controller cannot read '" + name +
                "': accelerations and efforts follow from what it does; read positions and "
                "velocities");
  if ((kind == "q" || kind == "v") && is_freedom(mechanism, rest)) {
    const int freedom = freedom_index(mechanism, rest);
    if (kind == "q") return position_deviation(mechanism, freedom, point);
    const double v0 = point.v[freedom];
    return [freedom, v0](double, const State& state) { return state.v[freedom] - v0; };
  }
  if (kind == "position" || kind == "velocity")
    for (int axis = 0; axis < 3; ++axis) {
      if (!rest.ends_with(kAxisNames[axis])) continue;
      if (const auto place = find_place(mechanism, rest.substr(0, rest.size() - 2)))
        return PlaceDeviation(mechanism, *place, axis, kind == "velocity", point);
    }
  throw_unknown_signal(mechanism, name);
}

}  // namespace catena
