// SPDX-License-Identifier: BSD-3-Clause
#include "catena/robust/uncertain_system.h"

#include <cmath>
#include <complex>
#include <numeric>

#include <fmt/core.h>

#include "catena/base/error.h"
#include "catena/base/index.h"
#include "catena/base/text.h"
#include "catena/linear/algebra.h"
#include "catena/linear/freqresp.h"
#include "catena/linear/lapack/lapack.h"

namespace catena {
namespace {

// A counter-based generator (splitmix64): the same numbers on every machine.
class Uniform {
 public:
  explicit Uniform(std::uint64_t seed) : state_(seed) {}
  double operator()() {  // in [-1, 1)
    std::uint64_t z = (state_ += 0x9e3779b97f4a7c15ULL);
    z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9ULL;
    z = (z ^ (z >> 27)) * 0x94d049bb133111ebULL;
    z ^= z >> 31;
    return std::ldexp(static_cast<double>(z >> 11), -52) - 1.0;
  }

 private:
  std::uint64_t state_;
};

std::vector<int> range(int first, int last) {
  std::vector<int> indices(to_size(last - first));
  std::iota(indices.begin(), indices.end(), first);
  return indices;
}

// F(M, Δ) for a real Δ.
StateSpace closed_by(const UncertainSystem& u, const Eigen::MatrixXd& delta) {
  StateSpace result = lft(u.system, ss(delta, u.system.dt), LftSide::upper);
  result.point = u.system.point;
  return result;
}

}  // namespace

double UncertainParameter::value(double delta) const {
  const double up = high - nominal, down = nominal - low;
  const double b = (up - down) / (up + down);  // 0 if the nominal value is the middle
  return nominal + 2.0 * up * down / (up + down) * delta / (1.0 - b * delta);
}

double UncertainParameter::delta(double value) const {
  const double up = high - nominal, down = nominal - low;
  const double a = 2.0 * up * down / (up + down), b = (up - down) / (up + down);
  const double change = value - nominal;
  return change / (a + b * change);
}

void UncertainParameter::validate() const {
  const bool finite = std::isfinite(low) && std::isfinite(nominal) && std::isfinite(high);
  if (!finite || !(low < nominal) || !(nominal < high))
    throw Error(
        fmt::format("the uncertain parameter \"{}\" has low {}, nominal {}, high {}; they must be "
                    "finite and ascending",
                    name, number(low), number(nominal), number(high)));
}

StateSpace UncertainSystem::nominal() const {
  return select(system, range(blocks.columns(), system.output_count()),
                range(blocks.rows(), system.input_count()));
}

StateSpace UncertainSystem::m11() const {
  return select(system, range(0, blocks.columns()), range(0, blocks.rows()));
}

void UncertainSystem::validate() const {
  system.validate();
  blocks.validate();
  if (system.input_count() < blocks.rows() || system.output_count() < blocks.columns())
    throw Error(fmt::format(
        "the uncertain blocks need {} inputs and {} outputs of the system, which has {} and {}",
        blocks.rows(), blocks.columns(), system.input_count(), system.output_count()));
  if (system.has_delay())
    throw Error("an uncertain system has delays at its signals; approximate them first (pade)");
  if (!parameters.empty() && parameters.size() != to_size(blocks.size()))
    throw Error(fmt::format("{} parameters for {} uncertain blocks; give one for each, or none",
                            parameters.size(), blocks.size()));
  for (int k = 0; k < static_cast<int>(parameters.size()); ++k) {
    const std::optional<UncertainParameter>& p = parameters[to_size(k)];
    if (!p) continue;
    p->validate();
    if (blocks[k].kind != BlockKind::real)
      throw Error(
          fmt::format("block \"{}\" stands for a parameter and must be real", blocks[k].name));
  }
}

StateSpace close(const UncertainSystem& system, const std::map<std::string, double>& values) {
  system.validate();
  Eigen::MatrixXd delta = Eigen::MatrixXd::Zero(system.blocks.rows(), system.blocks.columns());
  for (const auto& [name, value] : values) {
    const int k = system.blocks.index(name);
    if (system.parameters.empty() || !system.parameters[to_size(k)])
      throw Error(fmt::format("block \"{}\" stands for no parameter, so it has no value", name));
    const int n = system.blocks[k].rows;
    delta.block(system.blocks.row_offset(k), system.blocks.column_offset(k), n, n)
        .diagonal()
        .setConstant(system.parameters[to_size(k)]->delta(value));
  }
  return closed_by(system, delta);
}

StateSpace close(const UncertainSystem& system, const std::vector<BlockValue>& real_values) {
  system.validate();
  const Eigen::MatrixXcd delta = system.blocks.matrix(real_values);
  if (delta.size() != 0 && delta.imag().cwiseAbs().maxCoeff() != 0.0)
    throw Error("the perturbation is complex; use close_at() at one frequency");
  return closed_by(system, delta.real());
}

Eigen::MatrixXcd close_at(const UncertainSystem& system, double omega,
                          const std::vector<BlockValue>& values) {
  system.validate();
  const Eigen::MatrixXcd m = FrequencyEvaluator(system.system).at(omega);
  const Eigen::MatrixXcd delta = system.blocks.matrix(values);
  const int q = system.blocks.columns(), p = system.blocks.rows();
  const Eigen::MatrixXcd loop = Eigen::MatrixXcd::Identity(q, q) - m.topLeftCorner(q, p) * delta;
  const Eigen::MatrixXcd signals =
      lapack::solve(loop, m.topRightCorner(q, m.cols() - p), "1 - M11 Delta");
  return m.bottomRightCorner(m.rows() - q, m.cols() - p) +
         m.bottomLeftCorner(m.rows() - q, p) * delta * signals;
}

std::vector<BlockValue> sample(const BlockStructure& blocks, std::uint64_t seed, double size) {
  Uniform uniform(seed);
  std::vector<BlockValue> values(to_size(blocks.size()));
  for (int k = 0; k < blocks.size(); ++k) {
    const Block& b = blocks[k];
    BlockValue& v = values[to_size(k)];
    if (b.kind == BlockKind::real) {
      v.scalar = size * uniform();
    } else if (b.kind == BlockKind::complex) {
      do v.scalar = {uniform(), uniform()};
      while (std::abs(v.scalar) > 1.0);
      v.scalar *= size;
    } else {
      v.matrix = Eigen::MatrixXcd::NullaryExpr(
          b.rows, b.columns, [&] { return std::complex<double>(uniform(), uniform()); });
      const double radius = 0.5 * (uniform() + 1.0);
      const double largest = lapack::norm2(v.matrix);
      if (largest > 0.0) v.matrix *= size * radius / largest;
    }
  }
  return values;
}

UncertainSystem lft(const UncertainSystem& system, const StateSpace& controller) {
  UncertainSystem result = system;
  result.system = lft(system.system, controller, LftSide::lower);
  result.system.point = system.system.point;
  result.validate();
  return result;
}

UncertainSystem with_blocks(const UncertainSystem& system, const std::vector<int>& blocks) {
  std::vector<int> inputs, outputs;
  UncertainSystem result = system;
  result.parameters.clear();
  std::vector<Block> kept;
  for (const int k : blocks) {
    const Block& b = system.blocks[k];
    const int row = system.blocks.row_offset(k), column = system.blocks.column_offset(k);
    for (int i = 0; i < b.rows; ++i) inputs.push_back(row + i);
    for (int i = 0; i < b.columns; ++i) outputs.push_back(column + i);
    kept.push_back(b);
    if (!system.parameters.empty()) result.parameters.push_back(system.parameters[to_size(k)]);
  }
  for (int i = system.blocks.rows(); i < system.system.input_count(); ++i) inputs.push_back(i);
  for (int i = system.blocks.columns(); i < system.system.output_count(); ++i) outputs.push_back(i);
  result.system = select(system.system, outputs, inputs);
  result.system.point = system.system.point;
  result.blocks = BlockStructure(std::move(kept));
  return result;
}

UncertainSystem append(const UncertainSystem& a, const UncertainSystem& b) {
  const StateSpace both = append(a.system, b.system);
  const int ap = a.blocks.rows(), aq = a.blocks.columns();
  const int ai = a.system.input_count(), ao = a.system.output_count();
  const auto joined = [](std::vector<int> first, const std::vector<int>& second) {
    first.insert(first.end(), second.begin(), second.end());
    return first;
  };
  const auto order = [&](int own, int all, int others, int total) {
    return joined(joined(range(0, own), range(all, all + others)),
                  joined(range(own, all), range(all + others, total)));
  };
  UncertainSystem result;
  result.system = select(both, order(aq, ao, b.blocks.columns(), both.output_count()),
                         order(ap, ai, b.blocks.rows(), both.input_count()));
  std::vector<Block> blocks = a.blocks.blocks();
  blocks.insert(blocks.end(), b.blocks.blocks().begin(), b.blocks.blocks().end());
  result.blocks = BlockStructure(std::move(blocks));
  if (!a.parameters.empty() || !b.parameters.empty()) {
    result.parameters = a.parameters;
    result.parameters.resize(to_size(a.blocks.size()));
    result.parameters.insert(result.parameters.end(), b.parameters.begin(), b.parameters.end());
    result.parameters.resize(to_size(result.blocks.size()));
  }
  result.remarks = a.remarks;
  result.remarks.insert(result.remarks.end(), b.remarks.begin(), b.remarks.end());
  result.validate();
  return result;
}

}  // namespace catena
