// SPDX-License-Identifier: BSD-3-Clause
#include "catena/model/flexible/flexible_tables.h"

#include <array>
#include <cstddef>

#include "catena/base/index.h"

namespace catena {

using Eigen::MatrixXd;

const double* FlexibleTables::keep(std::vector<double> numbers) {
  numbers_.push_back(std::make_unique<const std::vector<double>>(std::move(numbers)));
  return numbers_.back()->data();
}

const double* FlexibleTables::rows_of(const std::vector<Eigen::RowVectorXd>& rows) {
  std::vector<double> numbers;
  for (const Eigen::RowVectorXd& row : rows) numbers.insert(numbers.end(), row.begin(), row.end());
  return keep(std::move(numbers));
}

BlockMatrix FlexibleTables::pack(const Blocks& blocks, int n) {
  BlockMatrix packed;
  std::vector<BlockMatrix::Run> runs;
  Blocks stored;
  for (std::size_t i = 0; i < blocks.size(); ++i) {
    if (blocks[i] == nullptr || blocks[i]->isZero(0.0)) continue;
    const int place = static_cast<int>(i);
    if (!runs.empty() && runs.back().place + runs.back().count == place)
      ++runs.back().count;
    else
      runs.push_back({place, 1});
    stored.push_back(blocks[i]);
  }
  std::vector<double> numbers;
  numbers.reserve(stored.size() * to_size(n) * to_size(n));
  for (int j = 0; j < n; ++j)
    for (const MatrixXd* block : stored)
      for (int k = 0; k < n; ++k) numbers.push_back((*block)(k, j));
  packed.stored = static_cast<int>(stored.size());
  packed.run_count = static_cast<int>(runs.size());
  packed.numbers = keep(std::move(numbers));
  runs_.push_back(std::make_unique<const std::vector<BlockMatrix::Run>>(std::move(runs)));
  packed.runs = runs_.back()->data();
  return packed;
}

FlexibleTables::FlexibleTables(const FlexibleBody& whole, const CompletedInertia* completed) {
  const FlexibleBody& b = completed == nullptr ? whole : completed->remainder;
  const int n = b.modes();
  Blocks all, rates;
  for (const auto& a : b.mass_moment_2) all.push_back(&a), rates.push_back(&a);
  for (const auto& a : b.inertia_2) all.push_back(&a);
  for (const auto& a : b.coupling_1) all.push_back(&a), rates.push_back(&a);
  std::array<MatrixXd, 3> transposed;
  for (int c = 0; c < 3; ++c) {
    at(transposed, c) = at(b.coupling_1, c).transpose();
    rates.push_back(&at(transposed, c));
  }
  std::vector<Eigen::RowVectorXd> base;
  for (const MatrixXd* rows : {&b.mass_moment_1, &b.inertia_1, &b.coupling_0})
    for (Eigen::Index c = 0; c < rows->rows(); ++c) base.push_back(rows->row(c));
  body.modes = n;
  body.ruthless = b.model == FlexibleModel::ruthless;
  body.base = rows_of(base);
  body.matrix = pack(all, n);
  body.rates = pack(rates, n);
  body.modal_mass = keep({b.modal_mass.data(), b.modal_mass.data() + b.modal_mass.size()});
  body.stiffness = pack({&b.stiffness}, n);
  body.damping = pack({&b.damping}, n);
  if (completed != nullptr) complete(*completed, n);
  for (const FlexibleBody::Attachment& a : b.attachments) {
    AttachmentTable t;
    for (int i = 0; i < 9; ++i) t.rotation[i] = a.rotation.matrix.m[i / 3][i % 3];
    for (int i = 0; i < 3; ++i) t.position[i] = a.position[i];
    t.modes = n;
    t.ruthless = body.ruthless;
    std::vector<Eigen::RowVectorXd> shapes;
    Blocks second;
    for (int c = 0; c < 3; ++c) shapes.push_back(a.slope.row(c));
    for (int c = 0; c < 3; ++c) shapes.push_back(a.shape.row(c));
    for (const auto& m2 : a.second_slope) second.push_back(&m2);
    for (const auto& m2 : a.second_shape) second.push_back(&m2);
    t.base = rows_of(shapes);
    t.matrix = pack(second, n);
    attachments.push_back(t);
  }
}

void FlexibleTables::complete(const CompletedInertia& inertia, int n) {
  std::vector<double> scale, position, turn;
  std::vector<Eigen::RowVectorXd> base;
  Blocks blocks, rates;
  for (const CompletedInertia::Point& p : inertia.points) {
    scale.push_back(p.scale);
    position.insert(position.end(), p.position.begin(), p.position.end());
    for (int c = 0; c < 3; ++c) {
      base.push_back(p.first.row(c));
      blocks.push_back(&at(p.second, c));
      rates.push_back(&at(p.second, c));
    }
  }
  std::vector<MatrixXd> transposed;
  for (const CompletedInertia::Row& r : inertia.rows) transposed.push_back(r.slope_1.transpose());
  for (std::size_t i = 0; i < inertia.rows.size(); ++i) {
    const CompletedInertia::Row& r = inertia.rows[i];
    turn.insert(turn.end(), r.turn.begin(), r.turn.end());
    for (int a = 0; a < 3; ++a) {
      base.push_back(r.first.row(a));
      blocks.push_back(&at(r.second, a));
    }
    base.push_back(r.slope);
    blocks.push_back(&r.slope_1);
    rates.push_back(&r.slope_1);
    rates.push_back(&transposed[i]);
  }
  completion.points = static_cast<int>(inertia.points.size());
  completion.rows = static_cast<int>(inertia.rows.size());
  completion.scale = keep(std::move(scale));
  completion.position = keep(std::move(position));
  completion.turn = keep(std::move(turn));
  completion.base = rows_of(base);
  completion.matrix = pack(blocks, n);
  completion.rates = pack(rates, n);
  body.completion = &completion;
}

}  // namespace catena
