// SPDX-License-Identifier: BSD-3-Clause
#include "catena/simulation/coordinates/coordinates.h"

#include <algorithm>

#include "catena/base/index.h"
#include "catena/closure/assembly.h"
#include "catena/constraints/constraint_set.h"
#include "catena/model/configuration.h"
#include "catena/simulation/coordinates/closed_coordinates.h"

namespace catena {
namespace {

class TreeCoordinates final : public Coordinates {
 public:
  explicit TreeCoordinates(const Mechanism& mechanism)
      : mechanism_(mechanism), turning_(turning_coordinates(mechanism)) {
    for (const Node& node : mechanism.nodes())
      if (node.coordinates != node.freedoms) has_quaternions_ = true;
  }

  int size() const override { return mechanism_.coordinates() + mechanism_.freedoms(); }

  std::string name(int entry) const override {
    const int n = mechanism_.coordinates();
    return entry < n ? "q." + mechanism_.position_names()[index(entry)]
                     : "v." + mechanism_.velocity_names()[index(entry - n)];
  }

  bool turns(int entry) const override {
    return entry < mechanism_.coordinates() && turning_[index(entry)] != 0;
  }

  void begin(const State& state) override {
    if (constraints_ != nullptr) constraints_->begin(state);
  }

  void pack(const State& state, std::span<double> y) const override {
    std::copy_n(state.q.data(), state.q.size(), y.data());
    std::copy_n(state.v.data(), state.v.size(), y.data() + state.q.size());
  }

  void at(std::span<const double> y, Instant& instant) override {
    State& state = instant.state;
    state.q.resize(mechanism_.coordinates());
    state.v.resize(mechanism_.freedoms());
    instant.sides.clear();
    instant.clearance = 1.0;
    instant.interpolation_error = 0.0;
    std::copy_n(y.data(), state.q.size(), state.q.data());
    std::copy_n(y.data() + state.q.size(), state.v.size(), state.v.data());
    if (has_quaternions_) normalize_quaternions(mechanism_, state.q);
  }

  void rate(const State& state, const Eigen::VectorXd& acceleration,
            std::span<double> dy) const override {
    if (!has_quaternions_) {  // then coordinates and freedoms are the same, in the same order
      std::copy_n(state.v.data(), state.v.size(), dy.data());
    } else {
      for (const Node& node : mechanism_.nodes())
        node_position_rate(node, state.q.data() + node.q_index, state.v.data() + node.v_index,
                           dy.data() + node.q_index);
    }
    std::copy_n(acceleration.data(), acceleration.size(), dy.data() + state.q.size());
  }

  void prescribe(int freedom, double position, double velocity,
                 std::span<double> y) const override {
    const int coordinate = mechanism_.coordinate_of_freedom()[index(freedom)];
    if (coordinate >= 0) y[index(coordinate)] = position;
    y[index(mechanism_.coordinates() + freedom)] = velocity;
  }

  void project(State& state) override {
    if (constraints_ != nullptr) constraints_->close(state);
  }
  void set_constraints(ConstraintSet* constraints) override { constraints_ = constraints; }

  Accepted accept(const Instant&) override { return {}; }

  double closure_residual(const State& state) const override {
    if (constraints_ == nullptr) return 0.0;
    // Loops with the rows that do not count, too.
    return std::max(constraints_->gap(state), closure_gap(mechanism_, state.q));
  }

 private:
  const Mechanism& mechanism_;
  std::vector<std::uint8_t> turning_;
  ConstraintSet* constraints_ = nullptr;
  bool has_quaternions_ = false;
};

}  // namespace

std::vector<std::uint8_t> turning_coordinates(const Mechanism& mechanism) {
  std::vector<std::uint8_t> turning(index(mechanism.coordinates()), 0);
  for (const Node& node : mechanism.nodes())
    for (int k = 0; k < node.coordinates; ++k) {
      bool turns = node.hinge == NodeHinge::revolute || node.hinge == NodeHinge::screw;
      if (node.hinge == NodeHinge::screws)
        for (int s = 0; s < node.coordinates; ++s) {
          const NodeScrew& screw = mechanism.screws()[index(node.first_screw + s)];
          turns = turns || (screw.coordinate == k && screw.rotation);
        }
      turning[index(node.q_index + k)] = turns ? 1 : 0;
    }
  return turning;
}

std::unique_ptr<Coordinates> make_coordinates(const Mechanism& mechanism, const State& state,
                                              std::vector<std::uint8_t> pinned, bool whole) {
  if (!mechanism.loops().empty() && !whole)
    return std::make_unique<ClosedCoordinates>(mechanism, state, std::move(pinned));
  return std::make_unique<TreeCoordinates>(mechanism);
}

}  // namespace catena
