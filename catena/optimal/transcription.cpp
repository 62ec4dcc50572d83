// SPDX-License-Identifier: BSD-3-Clause
#include "catena/optimal/transcription.h"

#include <algorithm>
#include <cmath>

#include <fmt/format.h>

#include "catena/base/index.h"
#include "catena/dynamics/kinematics.h"
#include "catena/optimal/resolve.h"

namespace catena {
using Eigen::Index;
using Eigen::MatrixXd;
using Eigen::RowVectorXd;
using Eigen::VectorXd;

namespace {

constexpr double kInfinite = std::numeric_limits<double>::infinity();
// Number of points between two knots at which bounds are checked, about.
constexpr int kBoundPoints = 8;

}  // namespace

Transcription::Transcription(const MotionProblem& problem) : problem_(problem) {
  const std::vector<std::string> wrong = mistakes(problem);
  if (!wrong.empty()) {
    std::string text = "the problem cannot be solved as it stands:";
    for (const std::string& line : wrong) text += "\n  " + line;
    throw Error(text);
  }
  controls_ = std::make_unique<SplineControls>(*problem.mechanism, controls_of(problem));
  rollout_ =
      std::make_unique<Rollout>(*problem_.mechanism, *controls_, problem_.start, problem_.grid);
  kinematics_ = std::make_unique<Workspace>(*problem_.mechanism);
  make_guess();
  make_terms();
  make_rows();
}

double Transcription::duration(const VectorXd& x) const {
  return problem_.duration.free() ? x[x.size() - 1] : problem_.duration.guess;
}

bool Transcription::bounded() const {
  return (lower_.array() > -kInfinite).any() || (upper_.array() < kInfinite).any();
}

void Transcription::make_guess() {
  const int n = controls_->parameters() + (problem_.duration.free() ? 1 : 0);
  guess_ = VectorXd::Zero(n);
  lower_ = VectorXd::Constant(n, -kInfinite);
  upper_ = VectorXd::Constant(n, kInfinite);
  for (int c = 0; c < controls_->size(); ++c)
    guess_.segment(controls_->first_parameter(c), controls_->free_coefficients(c)) =
        guess_of(problem_, *controls_, c);
  if (problem_.duration.free()) {
    guess_[n - 1] = problem_.duration.guess;
    lower_[n - 1] = problem_.duration.lower;
    upper_[n - 1] = problem_.duration.upper;
  }
  if (n == 0) throw Error("the ends hold every coefficient of the controls; nothing is free");
}

void Transcription::make_terms() {
  const Mechanism& m = *problem_.mechanism;
  const auto cost = [&](const std::string& name) {
    cost_names_.push_back(name);
    return static_cast<int>(cost_names_.size()) - 1;
  };
  for (const RunningCost& r : problem_.running_costs) {
    Term t;
    t.quantity = r.quantity;
    t.freedom = freedom_index(m, r.freedom);
    t.coordinate = m.coordinate_of_freedom()[index(t.freedom)];
    t.weight = r.weight;
    if (r.reference) t.reference.emplace(*r.reference, m, "reference of '" + r.freedom + "'", true);
    cost_of_term_.push_back(cost(fmt::format("{} of {}", word(r.quantity), r.freedom)));
    terms_.push_back(std::move(t));
  }
  for (const RateCost& r : problem_.rate_costs) {
    Term t;
    t.weight = r.weight;
    const int freedom = freedom_index(m, r.freedom);
    for (int c = 0; c < controls_->size(); ++c)
      if (controls_->controls()[index(c)].freedom == freedom) t.control = c;
    cost_of_term_.push_back(cost("rate of " + r.freedom));
    terms_.push_back(std::move(t));
  }
  for (const CustomCost& c : problem_.custom_costs) {
    Term t;
    t.custom = &c;
    cost_of_term_.push_back(cost(c.name));
    terms_.push_back(std::move(t));
  }
  for (const FinalCost& f : problem_.final_costs) {
    const int freedom = freedom_index(m, f.freedom);
    Final x;
    x.quantity = f.quantity;
    x.freedom = freedom;
    x.coordinate = m.coordinate_of_freedom()[index(freedom)];
    x.target = f.target;
    x.weight = f.weight;
    x.name = fmt::format("final {} of {}", word(f.quantity), f.freedom);
    cost_of_final_.push_back(cost(x.name));
    finals_.push_back(x);
  }
  for (const FinalPoint& f : problem_.final_points) {
    Final x;
    const auto frame = std::find_if(m.frames().begin(), m.frames().end(),
                                    [&](const FramePlace& p) { return p.name == f.frame; });
    if (frame == m.frames().end()) {
      x.body = m.body_index(f.frame);
    } else {
      const VectorXd q = problem_.start.q;
      x.body = frame->body;
      const Transformd in_body = body_pose(m, q, x.body).inverse() *
                                 frame_pose(m, q, static_cast<int>(frame - m.frames().begin()));
      x.point = in_body.translation;
    }
    x.weight = f.weight;
    const int part = f.weight > 0.0 ? cost("final point of " + f.frame) : -1;
    for (int axis = 0; axis < 3; ++axis) {
      if (!f.coordinate[axis]) continue;
      x.axis = axis;
      x.target = f.position[axis];
      x.name = fmt::format("final {} of '{}'", "xyz"[axis], f.frame);
      cost_of_final_.push_back(part);
      finals_.push_back(x);
    }
  }
  if (problem_.time_weight != 0.0) cost("time");
}

void Transcription::add_row(const Row& row, double lower, double upper) {
  rows_.push_back(row);
  const Index n = row_lower_.size();
  row_lower_.conservativeResize(n + 1);
  row_upper_.conservativeResize(n + 1);
  row_lower_[n] = lower;
  row_upper_[n] = upper;
}

// Bounds on the path, and final conditions that the splines do not hold by themselves.
void Transcription::make_rows() {
  make_final_rows();
  make_paths();
  if (!paths_.empty()) make_path_rows();
}

void Transcription::make_final_rows() {
  const Mechanism& m = *problem_.mechanism;
  for (const FinalBound& f : problem_.final_bounds) {
    const int freedom = freedom_index(m, f.freedom);
    const bool held =
        f.lower == f.upper && f.quantity != MotionQuantity::effort &&
        f.quantity != MotionQuantity::acceleration &&
        std::any_of(controls_->controls().begin(), controls_->controls().end(),
                    [&](const SplineControl& c) { return c.motion && c.freedom == freedom; });
    if (held) continue;
    Final x;
    x.quantity = f.quantity;
    x.freedom = freedom;
    x.coordinate = m.coordinate_of_freedom()[index(freedom)];
    x.name = fmt::format("final {} of '{}'", word(f.quantity), f.freedom);
    cost_of_final_.push_back(-1);
    finals_.push_back(x);
    add_row({.final = static_cast<int>(finals_.size()) - 1}, f.lower, f.upper);
  }
  for (std::size_t i = 0; i < finals_.size(); ++i)
    if (finals_[i].weight == 0.0 && finals_[i].body >= 0)
      add_row({.final = static_cast<int>(i)}, finals_[i].target, finals_[i].target);
}

// Bounds along the motion; those of controls whose coefficients are their extremes become bounds of
// the variables.
void Transcription::make_paths() {
  const Mechanism& m = *problem_.mechanism;
  for (const PathBound& b : all_bounds(problem_)) {
    const int freedom = freedom_index(m, b.freedom);
    int own = -1;
    for (int c = 0; c < controls_->size(); ++c)
      if (controls_->controls()[index(c)].freedom == freedom) own = c;
    // The coefficients of a step or a polygon are its extremes.
    if (own >= 0 && b.quantity == MotionQuantity::effort &&
        !controls_->controls()[index(own)].motion &&
        controls_->controls()[index(own)].degree <= 1) {
      const int first = controls_->first_parameter(own);
      for (int k = first; k < first + controls_->free_coefficients(own); ++k) {
        lower_[k] = std::max(lower_[k], b.lower);
        upper_[k] = std::min(upper_[k], b.upper);
      }
      continue;
    }
    paths_.push_back(
        {b.quantity, freedom, m.coordinate_of_freedom()[index(freedom)], b.lower, b.upper});
  }
}

void Transcription::make_path_rows() {
  const int spans = static_cast<int>(controls_->knots().size()) - 1;
  const int per_span =
      rollout_->driven() ? problem_.grid.points * problem_.grid.parts : problem_.grid.steps + 1;
  const int stride = std::max(1, (per_span + kBoundPoints - 1) / kBoundPoints);
  int point = 0;
  if (rollout_->driven()) path_points_.push_back(point++);
  for (int s = 0; s < spans; ++s)
    for (int k = 0; k < per_span; ++k, ++point)
      if (k % stride == stride / 2 || k == 0 || k == per_span - 1) path_points_.push_back(point);
  if (rollout_->driven()) path_points_.push_back(point);
  const std::vector<double> places = rollout_->places();
  for (const int p : path_points_)
    for (const Path& path : paths_) {
      const bool given = is_given(path, p);
      path_rows_.push_back(given ? -1 : static_cast<int>(rows_.size()));
      if (!given)
        add_row({-1, path.quantity, path.freedom, path.coordinate, places[index(p)]}, path.lower,
                path.upper);
    }
}

// The start of the motion is given, and perhaps the end: bounds there would have no effect.
bool Transcription::is_given(const Path& path, int point) const {
  if (point == 0 &&
      (path.quantity == MotionQuantity::position || path.quantity == MotionQuantity::velocity))
    return true;
  return point == rollout_->points() - 1 &&
         std::any_of(problem_.final_bounds.begin(), problem_.final_bounds.end(),
                     [&](const FinalBound& f) {
                       return f.lower == f.upper && f.quantity == path.quantity &&
                              freedom_index(*problem_.mechanism, f.freedom) == path.freedom;
                     });
}

std::string Transcription::constraint_name(int i, double duration) const {
  const Row& r = rows_[index(i)];
  if (r.final >= 0) return finals_[index(r.final)].name;
  return fmt::format("{} of '{}' at {:.3g} s", word(r.quantity),
                     problem_.mechanism->velocity_names()[index(r.freedom)], r.u * duration);
}

double Transcription::violation(const VectorXd& x, const VectorXd& c, int* worst) const {
  double most = 0.0;
  if (worst != nullptr) *worst = -1;
  for (Index i = 0; i < x.size(); ++i) most = std::max({most, lower_[i] - x[i], x[i] - upper_[i]});
  for (Index i = 0; i < c.size(); ++i) {
    const double off = std::max(row_lower_[i] - c[i], c[i] - row_upper_[i]);
    if (off <= most) continue;
    most = off;
    if (worst != nullptr) *worst = static_cast<int>(i);
  }
  return most;
}

void Transcription::row(MotionQuantity quantity, int freedom, const MotionColumns& columns,
                        Eigen::Ref<RowVectorXd> to) const {
  switch (quantity) {
    case MotionQuantity::position:
      to = columns.q.row(freedom);
      break;
    case MotionQuantity::velocity:
      to = columns.v.row(freedom);
      break;
    case MotionQuantity::effort:
      to = columns.effort.row(freedom);
      break;
    case MotionQuantity::acceleration:
      to = columns.acceleration.row(freedom);
      break;
  }
}

double Transcription::value(const Path& path, const MotionPoint& point) const {
  switch (path.quantity) {
    case MotionQuantity::position:
      return point.state.q[path.coordinate];
    case MotionQuantity::velocity:
      return point.state.v[path.freedom];
    case MotionQuantity::effort:
      return point.effort[path.freedom];
    case MotionQuantity::acceleration:
      return point.acceleration[path.freedom];
  }
  return 0.0;
}

double Transcription::overshoot(const MotionPoint& point) const {
  double most = 0.0;
  for (const Path& path : paths_) {
    const double x = value(path, point);
    most = std::max({most, path.lower - x, x - path.upper});
  }
  return most;
}

double Transcription::residual(Term& term, const MotionPoint& p, RowVectorXd* g) const {
  const Index last = controls_->parameters();
  if (term.custom != nullptr) {
    const CostPoint point{p.time, p.state, p.acceleration, p.effort};
    if (g == nullptr) return term.custom->residual(point, nullptr);
    CostGradient by;
    by.set_zero(problem_.mechanism->freedoms());
    const double r = term.custom->residual(point, &by);
    *g = by.q.transpose() * p.columns->q;
    *g += by.v.transpose() * p.columns->v;
    *g += by.acceleration.transpose() * p.columns->acceleration;
    *g += by.effort.transpose() * p.columns->effort;
    return r;
  }
  if (term.control >= 0) {
    const ControlValue& c = p.controls[index(term.control)];
    const int order = controls_->controls()[index(term.control)].motion ? 3 : 1;
    if (g != nullptr) {
      g->setZero();
      for (int k = 0; k < c.count; ++k) (*g)[c.first + k] = c.by_parameter[order][k];
      (*g)[last] = c.by_duration[order];
    }
    return c.value[order];
  }
  double r = value({term.quantity, term.freedom, term.coordinate, 0.0, 0.0}, p);
  if (g != nullptr) row(term.quantity, term.freedom, *p.columns, *g);
  if (term.reference) {
    term.reference->start(p.time, p.state);
    const Jet jet = term.reference->jet(p.time);
    r -= jet.value;
    // The place of the point in the motion stays, its time is proportional to the duration.
    const double duration_now = p.duration;
    if (g != nullptr) (*g)[last] -= jet.rate * p.time / duration_now;
  }
  return r;
}

double Transcription::final_value(const Final& f, const MotionPoint& p, RowVectorXd* g) const {
  if (f.body < 0) {
    if (g != nullptr) row(f.quantity, f.freedom, *p.columns, *g);
    return value({f.quantity, f.freedom, f.coordinate, 0.0, 0.0}, p);
  }
  const Mechanism& m = *problem_.mechanism;
  update_kinematics(m, p.state.q, *kinematics_);
  if (g != nullptr) {
    MatrixXd jacobian = MatrixXd::Zero(6, m.freedoms());
    body_jacobian(m, *kinematics_, f.body, f.point, Axes::ground, jacobian);
    *g = jacobian.row(3 + f.axis) * p.columns->q;
  }
  return point_position(m, *kinematics_, f.body, f.point)[f.axis];
}

// Gathers residuals, their rows and the constraints from point to point of a motion.
class Transcription::Sum {
 public:
  Sum(Transcription& of, const VectorXd& x, bool derivatives, ProgramValues& out)
      : t_(of),
        out_(out),
        derivatives_(derivatives),
        duration_(of.duration(x)),
        n_(x.size()),
        g_(of.controls_->parameters() + 1) {
    out.cost = 0.0;
    out.parts = VectorXd::Zero(static_cast<Index>(of.cost_names_.size()));
    out.constraints = VectorXd::Zero(of.constraints());
    while (final_rows_ < of.constraints() && of.rows_[index(final_rows_)].final >= 0) ++final_rows_;
    if (!derivatives) return;
    const Index most =
        static_cast<Index>(of.rollout_->points()) * static_cast<Index>(of.terms_.size()) +
        static_cast<Index>(of.finals_.size()) + 1;
    rows_.resize(most, n_);
    residuals_.resize(most);
    out.jacobian = MatrixXd::Zero(of.constraints(), n_);
  }

  void add(const MotionPoint& p) {
    if (p.weight > 0.0) add_running(p);
    if (next_path_ < t_.path_points_.size() && t_.path_points_[next_path_] == visit_) add_path(p);
    ++visit_;
    if (p.last) add_final(p);
  }

  // w T as a square: ½ (√(2 w T))².
  void add_time() {
    const double weight = t_.problem_.time_weight;
    if (weight == 0.0) return;
    out_.parts[out_.parts.size() - 1] += weight * duration_;
    if (!derivatives_ || !t_.problem_.duration.free()) return;
    g_.setZero();
    const double root = std::sqrt(2.0 * weight * duration_);
    g_[n_ - 1] = weight / root;
    take(root, 1.0);
  }

  void finish() {
    out_.cost = out_.parts.sum();
    if (!derivatives_) return;
    const auto used = rows_.topRows(count_);
    out_.gradient = used.transpose() * residuals_.head(count_);
    out_.hessian = MatrixXd::Zero(n_, n_);
    out_.hessian.selfadjointView<Eigen::Lower>().rankUpdate(used.transpose());
    out_.hessian.triangularView<Eigen::StrictlyUpper>() = out_.hessian.transpose();
  }

 private:
  RowVectorXd* wanted() { return derivatives_ ? &g_ : nullptr; }
  // A residual times `root`, whose row is in g_.
  void take(double residual, double root) {
    residuals_[count_] = root * residual;
    rows_.row(count_++) = root * g_.head(n_);
  }

  void add_running(const MotionPoint& p) {
    for (std::size_t i = 0; i < t_.terms_.size(); ++i) {
      Term& term = t_.terms_[i];
      const double r = t_.residual(term, p, wanted());
      const double root = std::sqrt(term.weight * p.weight);
      out_.parts[t_.cost_of_term_[i]] += 0.5 * root * root * r * r;
      if (!derivatives_) continue;
      g_[g_.size() - 1] += 0.5 * r / duration_;  // the weight is proportional to the duration
      take(r, root);
    }
  }

  void add_path(const MotionPoint& p) {
    for (std::size_t k = 0; k < t_.paths_.size(); ++k) {
      const int i = t_.path_rows_[next_path_ * t_.paths_.size() + k];
      if (i < 0) continue;
      out_.constraints[i] = t_.value(t_.paths_[k], p);
      if (!derivatives_) continue;
      t_.row(t_.paths_[k].quantity, t_.paths_[k].freedom, *p.columns, g_);
      out_.jacobian.row(i) = g_.head(n_);
    }
    ++next_path_;
  }

  void add_final(const MotionPoint& p) {
    for (std::size_t i = 0; i < t_.finals_.size(); ++i) {
      const Final& f = t_.finals_[i];
      if (f.weight == 0.0) continue;
      const double off = t_.final_value(f, p, wanted()) - f.target;
      out_.parts[t_.cost_of_final_[i]] += f.weight * off * off;
      if (derivatives_) take(off, std::sqrt(2.0 * f.weight));
    }
    for (int i = 0; i < final_rows_; ++i) {
      out_.constraints[i] =
          t_.final_value(t_.finals_[index(t_.rows_[index(i)].final)], p, wanted());
      if (derivatives_) out_.jacobian.row(i) = g_.head(n_);
    }
  }

  Transcription& t_;
  ProgramValues& out_;
  bool derivatives_;
  double duration_;
  Index n_;
  RowVectorXd g_;  // the row of one residual or constraint, over all columns of the rollout
  Eigen::Matrix<double, Eigen::Dynamic, Eigen::Dynamic, Eigen::RowMajor> rows_;
  VectorXd residuals_;
  Index count_ = 0;
  int visit_ = 0;
  std::size_t next_path_ = 0;
  int final_rows_ = 0;  // they come first among the constraints
};

bool Transcription::evaluate(const VectorXd& x, Want want, ProgramValues& out) {
  const bool derivatives = want == Want::derivatives;
  failure_.clear();
  Sum sum(*this, x, derivatives, out);
  if (!x.allFinite() || !(duration(x) > 0.0)) {
    failure_ = "the numbers are not finite";
    return false;
  }
  try {
    rollout_->run(duration(x), x.head(controls_->parameters()), derivatives,
                  [&](const MotionPoint& p) { sum.add(p); });
  } catch (const NumericalError& e) {
    failure_ = e.what();
    return false;
  }
  sum.add_time();
  sum.finish();
  if (!std::isfinite(out.cost) || !out.constraints.allFinite())
    failure_ = "the cost is not finite";
  else if (derivatives && (!out.gradient.allFinite() || !out.jacobian.allFinite()))
    failure_ = "the derivatives are not finite";
  return failure_.empty();
}

void Transcription::visit(const VectorXd& x, const Rollout::Visitor& visitor, int finer) {
  MotionGrid grid = problem_.grid;
  grid.steps *= finer;
  grid.parts *= finer;
  Rollout rollout(*problem_.mechanism, *controls_, problem_.start, grid);
  rollout.run(duration(x), x.head(controls_->parameters()), false, visitor);
}

double Transcription::refined_cost(const VectorXd& x) {
  MotionProblem finer = problem_;
  finer.grid.steps *= 2;
  finer.grid.parts *= 2;
  ProgramValues e;
  Transcription twice(finer);
  return twice.evaluate(x, Want::values, e) ? e.cost : std::numeric_limits<double>::quiet_NaN();
}

}  // namespace catena
