// SPDX-License-Identifier: BSD-3-Clause
#include "catena/sensitivity/workspace.h"

#include <algorithm>

#include "catena/base/index.h"
#include "catena/sensitivity/flexible_derivatives.h"

namespace catena {

std::vector<DriveTerm> drive_terms(const Mechanism& mechanism) {
  std::vector<DriveTerm> result;
  for (const DrivePlace& drive : mechanism.drives()) {
    if (drive.rotor_inertia == 0.0) continue;
    DriveTerm term;
    term.freedom = drive.v_index;
    term.reflected = drive.gear_ratio * drive.gear_ratio * drive.rotor_inertia;
    if (!drive.armature_only && drive.carrier_node >= 0) {
      term.carrier = drive.carrier_node;
      for (int i = 0; i < 3; ++i)
        term.coupling[i] = drive.gear_ratio * drive.rotor_inertia * drive.rotor_axis[i];
    }
    result.push_back(term);
  }
  return result;
}

SensitivityWorkspace::SensitivityWorkspace(const Mechanism& mechanism) : dynamics_(mechanism) {
  const int n = mechanism.freedoms();
  // A multiple of eight with four to spare (matrices.h).
  const int stride = (n + kLanes + 7) / 8 * 8;
  const std::size_t length = to_size(stride);
  numbers_.assign(45 * length, 0.0);
  table_.stride = stride;
  double* next = numbers_.data();
  const auto take = [&](int rows) {
    double* start = next;
    next += to_size(rows) * length;
    return start;
  };
  table_.twist = take(6);
  table_.rate = take(6);
  table_.second = take(6);
  table_.drift = take(6);
  table_.momentum = take(6);
  table_.turning = take(3);
  table_.by_q = take(6);
  table_.by_v = take(6);
  nodes_.resize(mechanism.nodes().size());
  std::size_t generals = 0;
  for (int i = 0; i < static_cast<int>(mechanism.nodes().size()); ++i)
    generals += dynamics_.is_general(i) ? 1 : 0;
  general_.resize(generals);
  drives_ = drive_terms(mechanism);
  rotors_.resize(drives_.size());
  table_.nodes = nodes_.data();
  table_.general = general_.data();
  table_.drives = drives_.data();
  table_.rotors = rotors_.data();
  table_.drive_count = static_cast<int>(drives_.size());
  tree_.size = dense_.size = n;
  tree_.stride = dense_.stride = stride;
}

MatrixPattern SensitivityWorkspace::PatternStore::pattern(int size, int stride) const {
  MatrixPattern p;
  p.size = size;
  p.stride = stride;
  p.segments = segments.data();
  p.first_segment = first_segment.data();
  p.inboard = inboard.data();
  p.first_inboard = first_inboard.data();
  p.group_rows = group_rows.data();
  p.first_group_row = first_group_row.data();
  return p;
}

void SensitivityWorkspace::make_patterns() {
  const Mechanism& m = mechanism();
  const int n = m.freedoms();
  std::vector<int> node_of(to_size(n));
  std::vector<std::vector<int>> path(m.nodes().size());  // freedoms from the ground, own included
  for (std::size_t i = 0; i < m.nodes().size(); ++i) {
    const Node& node = m.nodes()[i];
    if (node.parent >= 0) path[i] = path[index(node.parent)];
    for (int k = 0; k < node.freedoms; ++k) {
      path[i].push_back(node.v_index + k);
      node_of[index(node.v_index + k)] = static_cast<int>(i);
    }
  }
  using Kind = RowSegment::Kind;
  // By row and column: is the row's freedom inboard of (or at) the column's, outboard, or neither?
  std::vector<std::vector<Kind>> kind(to_size(n), std::vector<Kind>(to_size(n), Kind::none));
  for (int i = 0; i < n; ++i) {
    const std::size_t own = to_size(i);
    for (const int k : path[index(node_of[own])]) {
      const std::size_t inner = to_size(k);
      kind[inner][own] = Kind::inboard;
      if (node_of[inner] != node_of[own]) kind[own][inner] = Kind::outboard;
    }
  }
  const auto fill = [&](PatternStore& store, bool dense) {
    for (int k = 0; k < n; ++k) {
      const std::size_t column = to_size(k);
      store.first_segment.push_back(static_cast<int>(store.segments.size()));
      for (int r = 0; r < n; ++r) {
        const Kind here = kind[index(r)][column];
        if (r > 0 && store.segments.back().kind == here)
          ++store.segments.back().count;
        else
          store.segments.push_back({here, r, 1});
      }
      store.first_inboard.push_back(static_cast<int>(store.inboard.size()));
      for (int r = 0; r < k; ++r)
        if (dense || kind[index(r)][column] == Kind::inboard) store.inboard.push_back(r);
    }
    store.first_segment.push_back(static_cast<int>(store.segments.size()));
    store.first_inboard.push_back(static_cast<int>(store.inboard.size()));
    for (int k = 0; k < n; k += kLanes) {
      store.first_group_row.push_back(static_cast<int>(store.group_rows.size()));
      for (int r = 0; r < n; ++r) {
        bool some = dense;
        for (int c = k; c < std::min(k + kLanes, n); ++c)
          some = some || kind[index(r)][index(c)] != Kind::none;
        if (some) store.group_rows.push_back(r);
      }
    }
    store.first_group_row.push_back(static_cast<int>(store.group_rows.size()));
  };
  fill(tree_store_, false);
  fill(dense_store_, true);
  tree_ = tree_store_.pattern(n, tree_.stride);
  dense_ = dense_store_.pattern(n, dense_.stride);
  has_patterns_ = true;
}

void SensitivityWorkspace::need_matrices() {
  if (has_patterns_) return;
  make_patterns();
  matrix_size_ = static_cast<std::ptrdiff_t>(mechanism().freedoms()) * tree_.stride;
  matrices_.assign(7 * to_size(matrix_size_), 0.0);
}

ClosureDuals& SensitivityWorkspace::closure_duals() {
  if (!closure_duals_) closure_duals_ = std::make_unique<ClosureDuals>(dynamics_);
  return *closure_duals_;
}

SensitivityWorkspace::~SensitivityWorkspace() = default;

FlexibleDuals& SensitivityWorkspace::flexible_duals() {
  if (!flexible_duals_) flexible_duals_ = std::make_unique<FlexibleDuals>(dynamics_);
  return *flexible_duals_;
}

}  // namespace catena
