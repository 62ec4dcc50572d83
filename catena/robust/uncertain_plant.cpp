// SPDX-License-Identifier: BSD-3-Clause
#include "catena/robust/uncertain_plant.h"

#include <algorithm>
#include <cmath>
#include <complex>

#include <fmt/core.h>

#include "catena/base/dense.h"
#include "catena/base/error.h"
#include "catena/base/index.h"
#include "catena/base/text.h"
#include "catena/control/nonlinear/nonlinear_loop.h"
#include "catena/linear/algebra.h"
#include "catena/linear/discretize.h"
#include "catena/robust/polynomial_dependence.h"
#include "catena/robust/uncertain_matrix.h"

namespace catena {
namespace {

using Complex = std::complex<double>;
using Eigen::Index;
using Eigen::MatrixXd;
using Eigen::VectorXd;

constexpr int kHoldPade = 4;  // order, of the delay of a sampled controller

// p = nominal + half · y; y runs through `low` to `high`.
struct Scaled {
  double nominal = 0.0, half = 0.0, low = 0.0, high = 0.0;
};
Scaled scaled(const UncertainParameter& p) {
  const double half = 0.5 * (p.high - p.low);
  return {p.nominal, half, (p.low - p.nominal) / half, (p.high - p.nominal) / half};
}

// y = a δ/(1 − b δ): the map of UncertainParameter.
UncertainMatrix in_delta(const UncertainMatrix& f, const UncertainParameter& p) {
  const double up = p.high - p.nominal, down = p.nominal - p.low, sum = up + down;
  return substituted(f, p.name, 4.0 * up * down / (sum * sum), (up - down) / sum);
}

// Rows [M P2 P1 P3; 0 C D] of a linear model; the scales make every block's entries one at most.
struct Blocks {
  Index n = 0, inputs = 0, outputs = 0;
  VectorXd row_scale, column_scale;

  MatrixXd stacked(const LinearModel& model) const {
    MatrixXd f = MatrixXd::Zero(n + outputs, 3 * n + inputs);
    f.topLeftCorner(n, n) = model.M;
    f.block(0, n, n, n) = model.P2;
    f.block(0, 2 * n, n, n) = model.P1;
    f.topRightCorner(n, inputs) = model.P3;
    f.block(n, n, outputs, 2 * n) = model.C;
    f.bottomRightCorner(outputs, inputs) = model.D;
    return f;
  }
  explicit Blocks(const LinearModel& model)
      : n(std::ssize(model.freedoms)), inputs(model.B.cols()), outputs(model.C.rows()) {
    const MatrixXd f = stacked(model);
    row_scale = VectorXd::Ones(f.rows());
    column_scale = VectorXd::Ones(f.cols());
    // Freedoms of very different inertia are brought to one size first, then the blocks.
    for (Index i = 0; i < n; ++i) row_scale[i] = 1.0 / std::sqrt(std::abs(model.M(i, i)));
    for (int block = 0; block < 3; ++block) column_scale.segment(block * n, n) = row_scale.head(n);
    const auto bring = [&](Index from, Index count) {
      const double largest = (row_scale.head(n).asDiagonal() * f.block(0, from, n, count) *
                              column_scale.segment(from, count).asDiagonal())
                                 .cwiseAbs()
                                 .maxCoeff();
      if (largest > 0.0) column_scale.segment(from, count) /= largest;
    };
    for (int block = 0; block < 3; ++block) bring(block * n, n);
    if (inputs > 0) bring(3 * n, inputs);
    for (Index i = n; i < f.rows(); ++i) {
      const double largest = (f.row(i) * column_scale.asDiagonal()).cwiseAbs().maxCoeff();
      if (largest > 0.0) row_scale[i] = 1.0 / largest;
    }
  }
  MatrixXd scaled_stack(const LinearModel& model) const {
    return row_scale.asDiagonal() * stacked(model) * column_scale.asDiagonal();
  }
  // [ẋ; y] as a function of [x; u].
  UncertainMatrix first_order(UncertainMatrix f) const {
    f.m21 = row_scale.cwiseInverse().asDiagonal() * f.m21;
    f.m12 = f.m12 * column_scale.cwiseInverse().asDiagonal();
    f.m22 =
        row_scale.cwiseInverse().asDiagonal() * f.m22 * column_scale.cwiseInverse().asDiagonal();
    // M v̇ = R w is solved for v̇; C and D read w.
    const Index w = 2 * n + inputs, p = f.m11.rows();
    const Lu mass(f.m22.topLeftCorner(n, n));
    const MatrixXd of_w = mass.solve(f.m22.topRightCorner(n, w));
    const MatrixXd of_p = mass.solve(f.m21.topRows(n));
    // M v̇ − R w = 0 is F [v̇; −w] = 0, of which p and q are taken with the opposite sign.
    UncertainMatrix g;
    g.channels = f.channels;
    const MatrixXd tv = f.m12.leftCols(n), tw = f.m12.rightCols(w);
    g.m11 = f.m11 - tv * of_p;
    g.m12 = tw - tv * of_w;
    g.m21 = MatrixXd::Zero(2 * n + outputs, p);
    g.m21.middleRows(n, n) = of_p;
    g.m21.bottomRows(outputs) = f.m21.bottomRows(outputs);
    g.m22 = MatrixXd::Zero(2 * n + outputs, w);
    g.m22.block(0, n, n, n).setIdentity();
    g.m22.middleRows(n, n) = of_w;
    g.m22.bottomRows(outputs) = f.m22.bottomRightCorner(outputs, w);
    return g;
  }
};

// A factor 1 + x at one row or column of F.
UncertainMatrix gain_at(Index size, Index place, double half, const std::string& name) {
  const MatrixXd unit = MatrixXd::Identity(size, size).col(place);
  return constant(MatrixXd::Identity(size, size)) +
         constant(half * unit) * parameter(name) * constant(MatrixXd(unit.transpose()));
}

// The oscillating modes of a matrix, slowest first: T (columns) and W (rows) with
// W A T = ω [0 1; −1 −2ζ]. Of a proportionally damped structure the first column is a position.
struct Mode {
  double omega = 0.0, zeta = 0.0;
  MatrixXd T, W;
};
std::vector<Mode> modes_of(const MatrixXd& a) {
  std::vector<Mode> list;
  const GeneralEigen eigen = general_eigen(a);
  const Eigen::MatrixXcd inverted = eigen.vectors.partialPivLu().inverse();
  const Index n = a.rows();
  for (Index k = 0; k < n; ++k) {
    const Complex lambda = eigen.values[k];
    if (!(lambda.imag() > 0.0)) continue;
    Mode mode;
    mode.omega = std::abs(lambda);
    mode.zeta = -lambda.real() / mode.omega;
    Index largest = 0;
    eigen.vectors.col(k).head(std::max<Index>(1, n / 2)).cwiseAbs().maxCoeff(&largest);
    const Complex phase = eigen.vectors(largest, k) / std::abs(eigen.vectors(largest, k));
    const Eigen::VectorXcd v = eigen.vectors.col(k) / phase;
    const Eigen::VectorXcd u = inverted.row(k).transpose() * phase;
    const double root = lambda.imag() / mode.omega;
    mode.T.resize(n, 2);
    mode.T.col(1) = v.imag() / root;
    mode.T.col(0) = v.real() + mode.zeta * mode.T.col(1);
    mode.W.resize(2, n);
    mode.W.row(0) = 2.0 * u.real().transpose();
    mode.W.row(1) = 2.0 * (lambda / mode.omega * u).real().transpose();
    list.push_back(std::move(mode));
  }
  std::sort(list.begin(), list.end(),
            [](const Mode& a1, const Mode& b1) { return a1.omega < b1.omega; });
  return list;
}

// What an uncertain plant is put together from.
class Assembler {
 public:
  Assembler(const StateSpace& plant, const std::vector<Uncertainty>& all)
      : plant_(plant), all_(all) {}

  UncertainMatrix f{};  // [ẋ; y] of [x; u] in scaled variables
  std::vector<UncertainParameter> ranges{};

  UncertainPlant finish(UncertainPlant result) {
    add_modes();
    add_gains();
    for (const UncertainParameter& p : ranges) f = in_delta(f, p);
    f = reduce(f);
    UncertainSystem& u = result.system;
    const Index n = plant_.order(), p = f.m11.rows();
    u.system.A = f.m22.topLeftCorner(n, n);
    u.system.B.resize(n, p + plant_.input_count());
    u.system.B << f.m21.topRows(n), f.m22.topRightCorner(n, plant_.input_count());
    u.system.C.resize(p + plant_.output_count(), n);
    u.system.C << f.m12.leftCols(n), f.m22.bottomLeftCorner(plant_.output_count(), n);
    u.system.D.resize(u.system.C.rows(), u.system.B.cols());
    u.system.D << f.m11, f.m12.rightCols(plant_.input_count()),
        f.m21.bottomRows(plant_.output_count()),
        f.m22.bottomRightCorner(plant_.output_count(), plant_.input_count());
    u.system.states = plant_.states;
    u.system.point = plant_.point;
    if (u.system.point)
      for (VectorXd* x : {&u.system.point->x0, &u.system.point->u0, &u.system.point->y0})
        x->resize(0);
    for (const std::string& name : f.names()) {
      u.blocks.add_real(name, f.entries_of(name));
      u.parameters.emplace_back(
          *std::find_if(ranges.begin(), ranges.end(),
                        [&](const UncertainParameter& r) { return r.name == name; }));
    }
    for (const UncertainParameter& r : ranges)
      if (f.entries_of(r.name) == 0)
        u.remarks.push_back("'" + r.name + "' does not matter to the linear model");
    result.entries = u.blocks.rows();
    result.repeats = result.entries - u.blocks.size();
    for (const Uncertainty& d : all_)
      if (d.kind == Uncertainty::Kind::delay) add_delay(u, d);
    u.system.inputs.clear();
    u.system.outputs.clear();
    name_signals(u);
    u.validate();
    return result;
  }

 private:
  // The place of an input (>= 0), or of an output (−1 − place).
  Index place_of(const std::string& name, bool outputs_too) const {
    const auto fits = [&](const std::string& other) {
      return other == name || other == "effort." + name || other == "q." + name;
    };
    for (int j = 0; j < plant_.input_count(); ++j)
      if (fits(plant_.input_name(j))) return j;
    std::vector<std::string> known = plant_.inputs;
    if (outputs_too) {
      for (int i = 0; i < plant_.output_count(); ++i)
        if (fits(plant_.output_name(i))) return -1 - i;
      known.insert(known.end(), plant_.outputs.begin(), plant_.outputs.end());
    }
    for (std::string& other : known)
      for (const std::string front : {"effort.", "q."})
        if (other.starts_with(front)) other = other.substr(front.size());
    throw NameError("no " + std::string(outputs_too ? "input or output" : "input") +
                    " of the plant is named '" + name + "'" + did_you_mean(name, known));
  }

  void add_gains() {
    for (const Uncertainty& g : all_) {
      if (g.kind != Uncertainty::Kind::gain) continue;
      const UncertainParameter range = g.range(1.0);
      if (std::abs(range.nominal - 1.0) > 1e-12)
        throw Error(
            fmt::format("the gain '{}' has the nominal value {}; it is relative to the "
                        "model's, so its range must have 1 inside",
                        g.name, number(range.nominal)));
      const Scaled s = scaled(range);
      const Index place = place_of(g.target, true), n = plant_.order();
      f = place >= 0 ? f * gain_at(f.columns(), n + place, s.half, g.name)
                     : gain_at(f.rows(), n - 1 - place, s.half, g.name) * f;
      ranges.push_back(range);
    }
  }

  void add_modes() {
    std::map<int, UncertainMatrix> change;  // ω [0 1; −1 −2ζ] by mode
    const bool any = std::any_of(all_.begin(), all_.end(), [](const Uncertainty& u) {
      return u.kind == Uncertainty::Kind::mode_frequency ||
             u.kind == Uncertainty::Kind::mode_damping;
    });
    if (!any) return;
    const std::vector<Mode> modes = modes_of(plant_.A);
    std::map<int, std::pair<UncertainMatrix, UncertainMatrix>> values;  // ω and ζ
    for (const Uncertainty& u : all_) {
      const bool frequency = u.kind == Uncertainty::Kind::mode_frequency;
      if (!frequency && u.kind != Uncertainty::Kind::mode_damping) continue;
      if (u.mode > static_cast<int>(modes.size()))
        throw Error(fmt::format("'{}': the plant has {} oscillating modes", u.name, modes.size()));
      const Mode& mode = modes[to_size(u.mode - 1)];
      auto [entry, fresh] = values.try_emplace(u.mode);
      if (fresh) entry->second = {constant(mode.omega), constant(mode.zeta)};
      const double value = frequency ? mode.omega : mode.zeta;
      UncertainParameter range = u.range(value);
      // Modes are moved from where the plant has them.
      if (std::abs(range.nominal - value) > 1e-9 * value)
        throw Error(fmt::format("the range of '{}' must have the model's value {} inside", u.name,
                                number(value)));
      if (frequency && !(range.low > 0.0))
        throw Error(fmt::format("the range of '{}' has a frequency of {}; it must be positive",
                                u.name, number(range.low)));
      range.unit = frequency ? "rad/s" : "";
      (frequency ? entry->second.first : entry->second.second) =
          constant(range.nominal) + scaled(range).half * parameter(u.name);
      ranges.push_back(range);
    }
    const Index rows = f.rows(), columns = f.columns();
    for (const auto& [number, of] : values) {
      const Mode& mode = modes[to_size(number - 1)];
      const auto& [omega, zeta] = of;
      // [0 1; −1 0] ω + [0; 1] (−2 ζ ω) [0 1]
      MatrixXd turn(2, 2);
      turn << 0.0, 1.0, -1.0, 0.0;
      const MatrixXd second = MatrixXd::Identity(2, 2).col(1);
      UncertainMatrix both = above(beside(omega, constant(0.0)), beside(constant(0.0), omega));
      UncertainMatrix value = constant(turn);
      value.m22(1, 1) = 0.0;
      value = value - constant(2.0 * second) * zeta * constant(MatrixXd(second.transpose()));
      value = reduce(both) * value;
      value.m22.setZero();  // the change alone
      MatrixXd T = MatrixXd::Zero(rows, 2), W = MatrixXd::Zero(2, columns);
      T.topRows(plant_.order()) = mode.T;
      W.leftCols(plant_.order()) = mode.W;
      f = f + constant(T) * value * constant(W);
    }
  }

  // e^{−sτ} = e^{−sτ0} (1 + W Δ) with |e^{−jωτ} − 1| ≤ |W(jω)|, W = τ s/(1 + τ s/√12), as
  // sin² x ≤ x²/(1 + x²/3). τ0 = 0; the block sees √12 (u − x), ẋ = a (u − x), a = √12/τ.
  void add_delay(UncertainSystem& u, const Uncertainty& d) const {
    const double high = d.form == Uncertainty::Form::values ? d.high : 0.0;
    if (!(high > 0.0) || d.low < 0.0 || d.form != Uncertainty::Form::values)
      throw Error(fmt::format("the delay '{}' needs a range 0..X of seconds", d.name));
    const double root = std::sqrt(12.0), a = root / high;
    StateSpace& s = u.system;
    const Index n = s.order(), p = u.blocks.rows(), q = u.blocks.columns();
    const Index input = p + place_of(d.target, false);
    const auto zero_row = [](MatrixXd& m, Index at_row) {
      MatrixXd wider = MatrixXd::Zero(m.rows() + 1, m.cols());
      wider << m.topRows(at_row), MatrixXd::Zero(1, m.cols()), m.bottomRows(m.rows() - at_row);
      m = wider;
    };
    const auto zero_column = [](MatrixXd& m, Index at_column) {
      MatrixXd wider = MatrixXd::Zero(m.rows(), m.cols() + 1);
      wider << m.leftCols(at_column), MatrixXd::Zero(m.rows(), 1),
          m.rightCols(m.cols() - at_column);
      m = wider;
    };
    const MatrixXd b = s.B.col(input), dd = s.D.col(input);
    zero_row(s.A, n), zero_column(s.A, n), zero_row(s.B, n), zero_column(s.C, n);
    zero_column(s.B, p), zero_row(s.C, q), zero_column(s.D, p), zero_row(s.D, q);
    s.A(n, n) = -a;
    s.B(n, input + 1) = a;
    s.B.col(p).head(n) = b;
    s.D.col(p).head(q) = dd.topRows(q);
    s.D.col(p).tail(s.D.rows() - q - 1) = dd.bottomRows(dd.rows() - q);
    s.C(q, n) = -root;
    s.D(q, input + 1) = root;
    s.states.push_back("delay." + d.target);
    u.blocks.add_full(d.name);
    u.parameters.resize(to_size(u.blocks.size()));
    u.remarks.push_back(fmt::format(
        "the delay '{}' up to {} s is covered by a complex block, which is more than the delay",
        d.name, number(high)));
  }

  void name_signals(UncertainSystem& u) const {
    StateSpace& s = u.system;
    for (int k = 0; k < u.blocks.rows(); ++k) s.inputs.push_back("p" + std::to_string(k + 1));
    for (int k = 0; k < u.blocks.columns(); ++k) s.outputs.push_back("q" + std::to_string(k + 1));
    for (int j = 0; j < plant_.input_count(); ++j) s.inputs.push_back(plant_.input_name(j));
    for (int i = 0; i < plant_.output_count(); ++i) s.outputs.push_back(plant_.output_name(i));
  }

  const StateSpace& plant_;
  const std::vector<Uncertainty>& all_;
};

bool is_parameter(const Uncertainty& u) { return u.kind == Uncertainty::Kind::parameter; }

// Both ends of each range must be mechanisms.
void check_ends(const MechanismFamily& family, const std::vector<UncertainParameter>& ranges) {
  VectorXd nominal(std::ssize(ranges));
  for (Index i = 0; i < nominal.size(); ++i) nominal[i] = at(ranges, i).nominal;
  for (Index i = 0; i < nominal.size(); ++i)
    for (const double end : {at(ranges, i).low, at(ranges, i).high}) {
      VectorXd values = nominal;
      values[i] = end;
      try {
        static_cast<void>(family.at(values));
      } catch (const Error& e) {
        throw Error(fmt::format("'{}' cannot be {}, which its range {} to {} has: {}",
                                at(ranges, i).name, number(end), number(at(ranges, i).low),
                                number(at(ranges, i).high), e.what()));
      }
    }
}

}  // namespace

UncertainPlant uncertain_plant(const MechanismFamily& family, const std::vector<Uncertainty>& all) {
  UncertainPlant result;
  const VectorXd given = family.values();
  std::vector<UncertainParameter> ranges;
  std::vector<std::string> names, remarks;
  for (const Uncertainty& u : all) {
    if (!is_parameter(u)) continue;
    const auto i = std::ssize(ranges);
    if (i >= given.size())
      throw Error("there are more uncertain parameters than the family of mechanisms has");
    ranges.push_back(u.range(given[i]));
    names.push_back(u.name);
    if (std::abs(ranges.back().nominal - given[i]) > 1e-12 * std::abs(given[i]))
      remarks.push_back(fmt::format(
          "'{}' is {} in the model, which is not inside its range; its nominal value is {}", u.name,
          number(given[i]), number(ranges.back().nominal)));
  }
  if (std::ssize(ranges) != given.size())
    throw Error("the family of mechanisms has another number of parameters than are uncertain");
  check_ends(family, ranges);
  const auto count = std::ssize(ranges);
  VectorXd low(count), high(count), nominal(count), half(count);
  for (Index i = 0; i < count; ++i) {
    const Scaled s = scaled(at(ranges, i));
    low[i] = s.low, high[i] = s.high, nominal[i] = s.nominal, half[i] = s.half;
  }
  const MechanismFamily::Member middle = family.at(nominal);
  const Blocks blocks(middle.model);
  const auto function = [&](const VectorXd& y) {
    const MechanismFamily::Member member = family.at(nominal + half.cwiseProduct(y));
    result.moved = result.moved || member.moved;
    return blocks.scaled_stack(member.model);
  };
  const PolynomialDependence dependence = fit_dependence(function, low, high);
  result.cross_terms = dependence.cross_terms();
  result.degree = dependence.degree();
  result.evaluations = dependence.evaluations;
  result.error = dependence.error;
  const StateSpace plant = state_space(middle.model, *middle.mechanism);
  Assembler assembler(plant, all);
  assembler.f = blocks.first_order(uncertain_matrix(dependence, names));
  assembler.ranges = ranges;
  result = assembler.finish(std::move(result));
  constexpr double kExact = 1e-8;
  if (result.error > kExact)
    remarks.push_back(
        fmt::format("the dependence on the parameters is no polynomial; one of degree {} has an "
                    "error of {} of the matrices, which the margins leave out",
                    result.degree, short_number(result.error)));
  result.system.remarks.insert(result.system.remarks.begin(), remarks.begin(), remarks.end());
  return result;
}

UncertainPlant uncertain_plant(const StateSpace& plant, const std::vector<Uncertainty>& all) {
  plant.validate();
  if (!plant.is_continuous())
    throw Error("the uncertain plant is sampled; give the continuous one (d2c)");
  for (const Uncertainty& u : all)
    if (is_parameter(u))
      throw Error("'" + u.name +
                  "' is a parameter of a mechanism; a linear system has gain.SIGNAL, delay.INPUT, "
                  "mode.N.frequency and mode.N.damping");
  const StateSpace g = explicit_form(plant);
  MatrixXd f(g.order() + g.output_count(), g.order() + g.input_count());
  f << g.A, g.B, g.C, g.D;
  Assembler assembler(g, all);
  assembler.f = constant(f);
  return assembler.finish({});
}

UncertainSystem closed_loop(const UncertainSystem& plant, const StateSpace& controller,
                            double delay) {
  UncertainSystem result = plant;
  const int p = plant.blocks.rows(), q = plant.blocks.columns();
  StateSpace ports = plant.nominal();
  StateSpace k = fitted(ports, explicit_form(controller));
  if (k.is_discrete()) {
    const double total = delay + 0.5 * k.dt;
    result.remarks.push_back(
        fmt::format("the sampled controller is taken as a continuous one (Tustin) with a delay of "
                    "{} s for its hold and its computation",
                    number(total)));
    k = d2c(k, {.method = Hold::tustin});
    k.input_delay = VectorXd::Constant(k.input_count(), total);
    k = pade(k, kHoldPade);
  }
  // Inputs [p; w; u], outputs [q; y; y]: the last ones are closed, u + w drives the plant.
  const StateSpace& s = plant.system;
  const Index m = plant.inputs(), outputs = plant.outputs();
  StateSpace open = s;
  open.B.resize(s.order(), p + 2 * m);
  open.B << s.B, s.B.rightCols(m);
  open.C.resize(q + 2 * outputs, s.order());
  open.C << s.C, s.C.bottomRows(outputs);
  open.D.resize(q + 2 * outputs, p + 2 * m);
  open.D << s.D, s.D.rightCols(m), s.D.bottomRows(outputs), s.D.bottomRightCorner(outputs, m);
  open.inputs.clear(), open.outputs.clear();
  open.input_units.clear(), open.output_units.clear();
  open.fill_names();
  result.system = open;
  result = lft(result, k);
  result.system.inputs = s.inputs;
  result.system.outputs = s.outputs;
  return result;
}

}  // namespace catena
