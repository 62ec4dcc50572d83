// SPDX-License-Identifier: BSD-3-Clause
// The table of all quantities, and the objects of their names.
#include "catena/verification/quantities.h"

#include <algorithm>
#include <iterator>
#include <limits>

#include "catena/base/index.h"
#include "catena/base/text.h"
#include "catena/closure/chart.h"
#include "catena/sensitivity/parameters.h"
#include "catena/verification/flexible_quantities.h"
#include "catena/verification/quantity_tables.h"

namespace catena {
namespace {

const std::vector<Quantity>& table() {
  static const std::vector<Quantity> kRows = [] {
    std::vector<Quantity> rows;
    for (const auto& subject :
         {mechanism_quantities, acceleration_quantities, mass_quantities, body_quantities,
          closure_quantities, sensitivity_quantities, optimal_quantities, flexible_quantities})
      std::ranges::move(subject(), std::back_inserter(rows));
    return rows;
  }();
  return kRows;
}

}  // namespace

void pin_reference(const QuantityRequest& r, Workspace& w) {
  std::vector<std::uint8_t> pinned = r.input.motion_driven;
  for (const int i : r.freedoms) pinned[index(i)] = 1;
  w.set_chart(choose_chart(r.mechanism, r.input.state.q, {.pinned = pinned}), true);
}

Eigen::MatrixXd coordinates_of_freedoms(const QuantityRequest& r, const Eigen::VectorXd& q) {
  const auto coordinates = r.mechanism.coordinate_of_freedom();
  Eigen::MatrixXd result = Eigen::MatrixXd::Constant(r.mechanism.freedoms(), 1,
                                                     std::numeric_limits<double>::quiet_NaN());
  for (const int i : r.freedoms) {
    const int coordinate = coordinates[index(i)];
    if (coordinate < 0)
      throw NumericalError("position: freedom '" + r.mechanism.velocity_names()[index(i)] +
                           "' has no coordinate of its own");
    result(i, 0) = q[coordinate];
  }
  return result;
}

std::span<const Quantity> quantities() { return table(); }

const Quantity* find_quantity(const std::string& name) {
  for (const Quantity& quantity : table())
    if (quantity.name == name) return &quantity;
  return nullptr;
}

int find_thing(const Mechanism& mechanism, Quantity::Of kind, const std::string& name) {
  const auto find = [&](const auto& list, const char* what) {
    std::vector<std::string> names;
    names.reserve(list.size());
    for (const auto& thing : list) names.push_back(thing.name);
    const auto found = std::find(names.begin(), names.end(), name);
    if (found == names.end())
      throw NameError(std::string("no ") + what + " is named '" + name + "'" +
                      did_you_mean(name, names));
    return static_cast<int>(found - names.begin());
  };
  switch (kind) {
    case Quantity::Of::hinge:
      return mechanism.hinge_index(name);
    case Quantity::Of::coupling:
      return find(mechanism.description().couplings, "coupling");
    case Quantity::Of::rod:
      return find(mechanism.description().rods, "rod");
    case Quantity::Of::parameter:
      ParameterSet(mechanism, {name});
      return 0;
    case Quantity::Of::frames:
      return mechanism.frame_index(name);
    case Quantity::Of::flexible:
    case Quantity::Of::flexible_component:
      return find_flexible_body(mechanism, name).body;
    case Quantity::Of::problem:  // a file, which is read when it is solved
      return 0;
    case Quantity::Of::body:
    case Quantity::Of::nothing:
      break;
  }
  return mechanism.body_index(name);
}

Eigen::VectorXd number_groups(const std::vector<std::vector<int>>& groups, std::size_t count) {
  std::vector<int> first;
  for (const std::vector<int>& group : groups)
    if (!group.empty()) first.push_back(*std::min_element(group.begin(), group.end()));
  std::sort(first.begin(), first.end());
  Eigen::VectorXd result = Eigen::VectorXd::Zero(static_cast<Eigen::Index>(count));
  for (const std::vector<int>& group : groups) {
    if (group.empty()) continue;
    const int least = *std::min_element(group.begin(), group.end());
    const auto place = std::lower_bound(first.begin(), first.end(), least);
    for (const int body : group) result[body] = static_cast<double>(place - first.begin() + 1);
  }
  return result;
}

}  // namespace catena
