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
// Bounds are looked at in about so many points between two knots.
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

// Bounds on the path, and final conditions that the splines do not hold by themselves.
void Transcription::make_rows() {
  const Mechanism& m = *problem_.mechanism;
  std::vector<double> lower, upper;
  const auto add = [&](const Row& r, double low, double high) {
    rows_.push_back(r);
    lower.push_back(low);
    upper.push_back(high);
  };
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
    add({.final = static_cast<int>(finals_.size()) - 1}, f.lower, f.upper);
  }
  for (std::size_t i = 0; i < finals_.size(); ++i)
    if (finals_[i].weight == 0.0 && finals_[i].body >= 0)
      add({.final = static_cast<int>(i)}, finals_[i].target, finals_[i].target);

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
  if (!paths_.empty()) {
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
        const bool first = p == 0, last = p == rollout_->points() - 1;
        // Where the motion starts is not a matter of choice, nor where it ends if that is given.
        const bool given =
            (first && (path.quantity == MotionQuantity::position ||
                       path.quantity == MotionQuantity::velocity)) ||
            (last && std::any_of(problem_.final_bounds.begin(), problem_.final_bounds.end(),
                                 [&](const FinalBound& f) {
                                   return f.lower == f.upper && f.quantity == path.quantity &&
                                          freedom_index(m, f.freedom) == path.freedom;
                                 }));
        path_rows_.push_back(given ? -1 : static_cast<int>(rows_.size()));
        if (!given)
          add({-1, path.quantity, path.freedom, path.coordinate, places[index(p)]}, path.lower,
              path.upper);
      }
  }
  row_lower_ = Eigen::Map<VectorXd>(lower.data(), static_cast<Index>(lower.size()));
  row_upper_ = Eigen::Map<VectorXd>(upper.data(), static_cast<Index>(upper.size()));
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

bool Transcription::evaluate(const VectorXd& x, Want want, ProgramValues& out) {
  const bool derivatives = want == Want::derivatives;
  const Index n = x.size(), columns = controls_->parameters() + 1;
  const bool free = problem_.duration.free();
  const double duration_now = duration(x);
  failure_.clear();
  out.cost = 0.0;
  out.parts = VectorXd::Zero(static_cast<Index>(cost_names_.size()));
  out.constraints = VectorXd::Zero(constraints());
  if (!x.allFinite() || !(duration_now > 0.0)) {
    failure_ = "the numbers are not finite";
    return false;
  }
  // Residuals and their rows.
  const Index most = static_cast<Index>(rollout_->points()) * static_cast<Index>(terms_.size()) +
                     static_cast<Index>(finals_.size()) + 1;
  Eigen::Matrix<double, Eigen::Dynamic, Eigen::Dynamic, Eigen::RowMajor> rows;
  VectorXd residuals;
  Index count = 0;
  if (derivatives) {
    rows.resize(most, n);
    residuals.resize(most);
    out.jacobian = MatrixXd::Zero(constraints(), n);
  }
  RowVectorXd g(columns);
  RowVectorXd* const wanted = derivatives ? &g : nullptr;
  int visit = 0;
  std::size_t next_path = 0;
  int first_path_row = 0;
  while (first_path_row < constraints() && rows_[index(first_path_row)].final >= 0)
    ++first_path_row;
  try {
    rollout_->run(
        duration_now, x.head(controls_->parameters()), derivatives, [&](const MotionPoint& p) {
          if (p.weight > 0.0)
            for (std::size_t i = 0; i < terms_.size(); ++i) {
              Term& term = terms_[i];
              const double r = residual(term, p, wanted);
              const double root = std::sqrt(term.weight * p.weight);
              out.parts[cost_of_term_[i]] += 0.5 * root * root * r * r;
              if (!derivatives) continue;
              g[columns - 1] +=
                  0.5 * r / duration_now;  // the weight is proportional to the duration
              residuals[count] = root * r;
              rows.row(count++) = root * g.head(n);
            }
          if (next_path < path_points_.size() && path_points_[next_path] == visit) {
            for (std::size_t k = 0; k < paths_.size(); ++k) {
              const int i = path_rows_[next_path * paths_.size() + k];
              if (i < 0) continue;
              out.constraints[i] = value(paths_[k], p);
              if (!derivatives) continue;
              row(paths_[k].quantity, paths_[k].freedom, *p.columns, g);
              out.jacobian.row(i) = g.head(n);
            }
            ++next_path;
          }
          ++visit;
          if (!p.last) return;
          for (std::size_t i = 0; i < finals_.size(); ++i) {
            const Final& f = finals_[i];
            if (f.weight == 0.0) continue;
            const double off = final_value(f, p, wanted) - f.target;
            out.parts[cost_of_final_[i]] += f.weight * off * off;
            if (!derivatives) continue;
            residuals[count] = std::sqrt(2.0 * f.weight) * off;
            rows.row(count++) = std::sqrt(2.0 * f.weight) * g.head(n);
          }
          for (int i = 0; i < first_path_row; ++i) {
            out.constraints[i] = final_value(finals_[index(rows_[index(i)].final)], p, wanted);
            if (derivatives) out.jacobian.row(i) = g.head(n);
          }
        });
  } catch (const NumericalError& e) {
    failure_ = e.what();
    return false;
  }
  // w T as a square: ½ (√(2 w T))².
  const bool timed = problem_.time_weight != 0.0;
  if (timed) out.parts[out.parts.size() - 1] += problem_.time_weight * duration_now;
  out.cost = out.parts.sum();
  if (!std::isfinite(out.cost) || !out.constraints.allFinite()) {
    failure_ = "the cost is not finite";
    return false;
  }
  if (!derivatives) return true;
  if (timed && free) {
    residuals[count] = std::sqrt(2.0 * problem_.time_weight * duration_now);
    rows.row(count).setZero();
    rows(count, n - 1) = problem_.time_weight / residuals[count];
    ++count;
  }
  const auto used = rows.topRows(count);
  out.gradient = used.transpose() * residuals.head(count);
  out.hessian = MatrixXd::Zero(n, n);
  out.hessian.selfadjointView<Eigen::Lower>().rankUpdate(used.transpose());
  out.hessian.triangularView<Eigen::StrictlyUpper>() = out.hessian.transpose();
  if (!out.gradient.allFinite() || !out.jacobian.allFinite()) {
    failure_ = "the derivatives are not finite";
    return false;
  }
  return true;
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
