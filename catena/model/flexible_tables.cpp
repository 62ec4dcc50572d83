// SPDX-License-Identifier: BSD-3-Clause
#include "catena/model/flexible_tables.h"

#include <array>
#include <cstddef>

#include "catena/base/index.h"

namespace catena {

FlexibleTables::FlexibleTables(const FlexibleBody& b) {
  const int n = b.modes();
  const std::size_t m = to_size(n), each = 6 * m + 6 * m * m;
  numbers_.reserve(12 * m + 12 * m * m + 9 * m * m + 3 * m * m + each * b.attachments.size());
  const auto here = [&] { return numbers_.data() + numbers_.size(); };
  const auto add = [&](double x) { numbers_.push_back(x); };
  const auto add_rows = [&](const Eigen::MatrixXd& rows) {
    for (Eigen::Index c = 0; c < rows.rows(); ++c)
      for (int k = 0; k < n; ++k) add(rows(c, k));
  };
  // For each column j the blocks of all matrices.
  const auto add_columns = [&](const std::vector<const Eigen::MatrixXd*>& blocks) {
    for (int j = 0; j < n; ++j)
      for (const Eigen::MatrixXd* block : blocks)
        for (int k = 0; k < n; ++k) add((*block)(k, j));
  };
  std::vector<const Eigen::MatrixXd*> all, rates;
  std::array<Eigen::MatrixXd, 3> transposed;
  for (const auto& a : b.mass_moment_2) all.push_back(&a);
  rates = all;
  for (const auto& a : b.inertia_2) all.push_back(&a);
  for (const auto& a : b.coupling_1) all.push_back(&a), rates.push_back(&a);
  for (int c = 0; c < 3; ++c) {
    at(transposed, c) = at(b.coupling_1, c).transpose();
    rates.push_back(&at(transposed, c));
  }
  body.modes = n;
  body.ruthless = b.model == FlexibleModel::ruthless;
  body.base = here();
  add_rows(b.mass_moment_1);
  add_rows(b.inertia_1);
  add_rows(b.coupling_0);
  body.matrix = here();
  add_columns(all);
  body.rates = here();
  add_columns(rates);
  body.modal_mass = here();
  add_columns({&b.modal_mass});
  body.stiffness = here();
  add_columns({&b.stiffness});
  body.damping = here();
  add_columns({&b.damping});
  for (const FlexibleBody::Attachment& a : b.attachments) {
    AttachmentTable t;
    for (int i = 0; i < 9; ++i) t.rotation[i] = a.rotation.matrix.m[i / 3][i % 3];
    for (int i = 0; i < 3; ++i) t.position[i] = a.position[i];
    t.modes = n;
    t.ruthless = body.ruthless;
    t.base = here();
    add_rows(a.slope);
    add_rows(a.shape);
    t.matrix = here();
    std::vector<const Eigen::MatrixXd*> second;
    for (const auto& m2 : a.second_slope) second.push_back(&m2);
    for (const auto& m2 : a.second_shape) second.push_back(&m2);
    add_columns(second);
    attachments.push_back(t);
  }
}

}  // namespace catena
