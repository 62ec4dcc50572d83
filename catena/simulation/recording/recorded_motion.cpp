// SPDX-License-Identifier: BSD-3-Clause
#include "catena/simulation/recording/recorded_motion.h"

#include <algorithm>
#include <cmath>

#include "catena/base/index.h"
#include "catena/base/text.h"
#include "catena/model/configuration.h"
#include "catena/spatial/transform.h"

namespace catena {
namespace {

using Eigen::Index;
using Eigen::VectorXd;

// [a, b] of the hinges whose coordinates are quaternions, zero elsewhere.
VectorXd bracket(const Mechanism& m, const VectorXd& a, const VectorXd& b) {
  VectorXd c = VectorXd::Zero(m.freedoms());
  for (const Node& node : m.nodes()) {
    if (node.coordinates == node.freedoms) continue;
    Twistd x = Twistd::zero(), y = Twistd::zero();
    for (int i = 0; i < node.freedoms; ++i) {
      x[i] = a[node.v_index + i];
      y[i] = b[node.v_index + i];
    }
    const Twistd z = ad(x, y);
    for (int i = 0; i < node.freedoms; ++i) c[node.v_index + i] = z[i];
  }
  return c;
}

// q = q_0 ⊕ ξ(t) has the velocity v = ξ̇ − ½ [ξ, ξ̇] + ⅙ [ξ, [ξ, ξ̇]] − ..., and the other way round
// ξ̇ = v + ½ [ξ, v] + 1/12 [ξ, [ξ, v]] + ...: for the short way between two rows.
VectorXd velocity_of(const Mechanism& m, const VectorXd& xi, const VectorXd& rate) {
  const VectorXd once = bracket(m, xi, rate);
  return rate - 0.5 * once + bracket(m, xi, once) / 6.0;
}
VectorXd rate_of(const Mechanism& m, const VectorXd& xi, const VectorXd& v) {
  const VectorXd once = bracket(m, xi, v);
  return v + 0.5 * once + bracket(m, xi, once) / 12.0;
}

}  // namespace

RecordedMotion::RecordedMotion(const Mechanism& mechanism, std::vector<double> times,
                               std::vector<State> states, std::vector<VectorXd> efforts)
    : mechanism_(&mechanism),
      times_(std::move(times)),
      states_(std::move(states)),
      efforts_(std::move(efforts)) {
  if (times_.empty()) throw Error("a motion needs a row at least");
  if (states_.size() != times_.size() || efforts_.size() != times_.size())
    throw Error("a motion needs as many states and efforts as times");
  for (std::size_t k = 0; k < times_.size(); ++k) {
    const std::string row = "row " + std::to_string(k) + " of the motion: ";
    if (states_[k].q.size() != mechanism.coordinates() ||
        states_[k].v.size() != mechanism.freedoms() || efforts_[k].size() != mechanism.freedoms())
      throw Error(row + "it does not have the coordinates and freedoms of '" + mechanism.name() +
                  "'");
    if (!std::isfinite(times_[k]) || !states_[k].q.allFinite() || !states_[k].v.allFinite() ||
        !efforts_[k].allFinite())
      throw Error(row + "a number is not finite");
    if (k > 0 && !(times_[k] > times_[k - 1]))
      throw Error(row + "its time " + number(times_[k]) + " s is not after " +
                  number(times_[k - 1]) + " s");
    normalize_quaternions(mechanism, states_[k].q);
  }
}

std::size_t RecordedMotion::row_before(double t) const {
  const auto after = std::upper_bound(times_.begin() + 1, times_.end() - 1, t);
  return to_size(after - times_.begin()) - 1;
}

State RecordedMotion::state_at(double t) const {
  if (t <= start()) return states_.front();
  if (t >= end()) return states_.back();
  const Mechanism& m = *mechanism_;
  const std::size_t k = row_before(t);
  const State &a = states_[k], &b = states_[k + 1];
  const double h = times_[k + 1] - times_[k], s = (t - times_[k]) / h;
  const VectorXd way = difference(m, a.q, b.q);
  const VectorXd last = rate_of(m, way, b.v);
  // Hermite's cubic from 0 to `way` with these rates at its ends.
  const VectorXd xi = (s * s * (3.0 - 2.0 * s)) * way + (h * s * (1.0 - s) * (1.0 - s)) * a.v -
                      (h * s * s * (1.0 - s)) * last;
  const VectorXd rate = (6.0 * s * (1.0 - s) / h) * way + ((1.0 - s) * (1.0 - 3.0 * s)) * a.v -
                        (s * (2.0 - 3.0 * s)) * last;
  return {integrate(m, a.q, xi), velocity_of(m, xi, rate)};
}

// Of the parabola through three rows. At most three times the smaller of the two slopes beside it:
// then the cubic between two rows stays between them (Fritsch and Carlson).
VectorXd RecordedMotion::effort_slope(std::size_t row) const {
  const std::size_t last = times_.size() - 1;
  const auto width = [&](std::size_t k) { return times_[k + 1] - times_[k]; };
  const auto chord = [&](std::size_t k) -> VectorXd {
    return (efforts_[k + 1] - efforts_[k]) / width(k);
  };
  if (last == 1) return chord(0);
  const bool first = row == 0;
  const std::size_t k = first ? 0 : row == last ? last - 2 : row - 1;  // of the three rows
  const VectorXd a = chord(k), b = chord(k + 1);
  const double bend = first ? -width(k) : row == last ? width(k) + 2.0 * width(k + 1) : width(k);
  const VectorXd slope = a + (b - a) * (bend / (width(k) + width(k + 1)));
  const VectorXd most = 3.0 * (first         ? VectorXd(a.cwiseAbs())
                               : row == last ? VectorXd(b.cwiseAbs())
                                             : VectorXd(a.cwiseAbs().cwiseMin(b.cwiseAbs())));
  return slope.cwiseMax(-most).cwiseMin(most);
}

VectorXd RecordedMotion::effort_at(double t) const {
  if (t <= start()) return efforts_.front();
  if (t >= end()) return efforts_.back();
  const std::size_t k = row_before(t);
  const double h = times_[k + 1] - times_[k], s = (t - times_[k]) / h;
  return efforts_[k] + (s * s * (3.0 - 2.0 * s)) * (efforts_[k + 1] - efforts_[k]) +
         (h * s * (1.0 - s) * (1.0 - s)) * effort_slope(k) -
         (h * s * s * (1.0 - s)) * effort_slope(k + 1);
}

RecordedMotion recorded_motion(std::span<const RunColumn> columns, const RunRows& rows,
                               const Mechanism& m, Efforts efforts, const std::string& what) {
  const auto place = [&](const std::string& name) -> Index {
    const auto found = std::find_if(columns.begin(), columns.end(),
                                    [&](const RunColumn& c) { return c.name == name; });
    return found == columns.end() ? -1 : found - columns.begin();
  };
  const auto places = [&](const char* prefix, std::span<const std::string> names,
                          const char* remedy) {
    std::vector<Index> all;
    for (const std::string& name : names) {
      all.push_back(place(prefix + name));
      if (all.back() < 0 && remedy != nullptr)
        throw Error(what + ": has no column '" + prefix + name + "': " + remedy);
    }
    return all;
  };
  const Index time = place("time");
  if (time < 0) throw Error(what + ": has no column 'time'");
  const std::vector<Index> q = places("q.", m.position_names(), "was it made with another model?");
  const std::vector<Index> v = places("v.", m.velocity_names(),
                                      "was it made with another model, or with --outputs that "
                                      "leave out v.*?");
  const std::vector<Index> effort =
      places("effort.", m.velocity_names(),
             efforts == Efforts::required
                 ? "the efforts of the motion are needed; record them (--outputs 'v.*' 'effort.*')"
                 : nullptr);
  std::vector<double> times;
  std::vector<State> states;
  std::vector<VectorXd> all_efforts;
  const auto gather = [&](const std::vector<Index>& from, Index row) {
    VectorXd x(static_cast<Index>(from.size()));
    for (std::size_t i = 0; i < from.size(); ++i)
      x[static_cast<Index>(i)] = from[i] < 0 ? 0.0 : rows(row, from[i]);
    return x;
  };
  for (Index row = 0; row < rows.rows(); ++row) {
    times.push_back(rows(row, time));
    states.push_back({gather(q, row), gather(v, row)});
    all_efforts.push_back(gather(effort, row));
  }
  try {
    return {m, std::move(times), std::move(states), std::move(all_efforts)};
  } catch (const Error& e) {
    throw Error(what + ": " + e.what());
  }
}

RecordedMotion recorded_motion(const RunFile& run, const Mechanism& mechanism, Efforts efforts) {
  return recorded_motion(run.header().columns, run.read(0, run.rows()), mechanism, efforts,
                         run.path());
}

}  // namespace catena
