// SPDX-License-Identifier: BSD-3-Clause
#include "catena/robust/polynomial_dependence.h"

#include <algorithm>
#include <cmath>
#include <deque>
#include <map>
#include <numeric>

#include "catena/base/dense.h"
#include "catena/base/index.h"

namespace catena {
namespace {

using Eigen::Index;
using Eigen::MatrixXd;
using Eigen::VectorXd;
using MultiIndex = std::vector<int>;

// Spread over [-1, 1], far from one another at any length of the list, and without the symmetries
// (zero among them) at which a polynomial could vanish by chance.
constexpr double kPoints[] = {0.137,  0.937, -0.871, 0.523, -0.487, 0.771,
                              -0.693, 0.271, -0.243, 0.989, -0.973, 0.403};
// Singular values of coefficients, whose function is of the order of one, that are rounding.
constexpr double kRank = 1e-12;

double newton_factor(const std::vector<double>& points, int degree, double x) {
  double product = 1.0;
  for (int l = 0; l < degree; ++l) product *= x - points[to_size(l)];
  return product;
}

class Fit {
 public:
  using Function = std::function<MatrixXd(const VectorXd&)>;
  Fit(const Function& function, const VectorXd& low, const VectorXd& high,
      const DependenceSettings& settings)
      : function_(function), low_(low), high_(high), settings_(settings) {
    for (Index i = 0; i < low.size(); ++i) {
      std::vector<double> list;
      for (const double t : kPoints) list.push_back(t >= 0.0 ? t * high[i] : -t * low[i]);
      result_.points.push_back(std::move(list));
    }
  }

  PolynomialDependence run() {
    const std::size_t k = result_.points.size();
    std::deque<MultiIndex> open{MultiIndex(k, 0)};
    while (!open.empty()) {
      const MultiIndex index = open.front();
      open.pop_front();
      if (result_.evaluations >= settings_.evaluations) {
        result_.complete = false;
        break;
      }
      const int total = std::accumulate(index.begin(), index.end(), 0);
      if (!significant(index) && total > 0) continue;
      for (std::size_t i = 0; i < k; ++i) follow(index, i, open);
    }
    check();
    return std::move(result_);
  }

 private:
  // The difference at the point of this index, kept if there is one.
  bool significant(const MultiIndex& index) {
    VectorXd x(std::ssize(index));
    double product = 1.0;
    for (Index i = 0; i < x.size(); ++i) {
      const std::vector<double>& points = at(result_.points, i);
      x[i] = points[to_size(at(index, i))];
      product *= newton_factor(points, at(index, i), x[i]);
    }
    MatrixXd difference = function_(x);
    ++result_.evaluations;
    if (!result_.terms.empty()) difference -= result_.value(x);
    if (!result_.terms.empty() && difference.cwiseAbs().maxCoeff() <= settings_.tolerance)
      return false;
    kept_[index] = true;
    result_.terms.push_back({index, difference / product});
    return true;
  }

  // The index one degree higher in variable i, if all those below it are kept and it comes from the
  // first of them in order.
  void follow(const MultiIndex& index, std::size_t i, std::deque<MultiIndex>& open) {
    MultiIndex next = index;
    ++next[i];
    if (next[i] > settings_.degree || next[i] >= static_cast<int>(std::size(kPoints))) {
      result_.complete = false;
      return;
    }
    for (std::size_t j = 0; j < next.size(); ++j) {
      if (next[j] == 0) continue;
      MultiIndex below = next;
      --below[j];
      if (kept_.find(below) == kept_.end()) return;
    }
    if (std::find(open.begin(), open.end(), next) == open.end()) open.push_back(next);
  }

  void check() {
    constexpr double kSilver = 0.7548776662466927;  // a sequence that fills the box evenly
    double t = 0.37;
    for (int n = 0; n < settings_.checks && low_.size() > 0; ++n) {
      VectorXd x(low_.size());
      for (Index i = 0; i < x.size(); ++i) {
        t += kSilver + 0.1 * static_cast<double>(i + 1) * kSilver * kSilver;
        t -= std::floor(t);
        x[i] = low_[i] + t * (high_[i] - low_[i]);
      }
      const MatrixXd difference = function_(x) - result_.value(x);
      ++result_.evaluations;
      result_.error = std::max(result_.error, difference.cwiseAbs().maxCoeff());
    }
  }

  const Function& function_;
  const VectorXd &low_, &high_;
  const DependenceSettings& settings_;
  PolynomialDependence result_;
  std::map<MultiIndex, bool> kept_;
};

// x I − t in front of h, or behind it, whichever needs fewer channels.
UncertainMatrix times_variable(const UncertainMatrix& h, const std::string& name, double t) {
  const auto rank_of = [](const Svd& svd) {
    Index rank = 0;
    while (rank < svd.values.size() && svd.values[rank] > kRank * std::max(1.0, svd.values[0]))
      ++rank;
    return rank;
  };
  MatrixXd rows(h.rows(), h.m21.cols() + h.columns());
  rows << h.m21, h.m22;
  MatrixXd columns(h.m12.rows() + h.rows(), h.columns());
  columns << h.m12, h.m22;
  const Svd left = thin_svd(rows), right = thin_svd(columns);
  const Index r = rank_of(left), s = rank_of(right);
  const auto factor = [&](Index size) {
    UncertainMatrix x = parameter(name, static_cast<int>(size));
    x.m22.diagonal().setConstant(-t);
    return x;
  };
  UncertainMatrix inner = h;
  if (r <= s) {
    const MatrixXd u = left.u.leftCols(r);
    inner.m21 = u.transpose() * h.m21;
    inner.m22 = u.transpose() * h.m22;
    return constant(u) * factor(r) * inner;
  }
  const MatrixXd v = right.v.leftCols(s);
  inner.m12 = h.m12 * v;
  inner.m22 = h.m22 * v;
  return inner * factor(s) * constant(MatrixXd(v.transpose()));
}

// The terms as a polynomial in variables `first` and later ones.
UncertainMatrix horner(const std::vector<const PolynomialDependence::Term*>& terms,
                       std::size_t first, const PolynomialDependence& f,
                       const std::vector<std::string>& names) {
  if (first == names.size()) {
    MatrixXd sum = terms.front()->coefficient;
    for (std::size_t i = 1; i < terms.size(); ++i) sum += terms[i]->coefficient;
    return constant(sum);
  }
  std::map<int, std::vector<const PolynomialDependence::Term*>> by_degree;
  for (const auto* term : terms) by_degree[term->index[first]].push_back(term);
  const int highest = by_degree.rbegin()->first;
  UncertainMatrix sum = horner(by_degree[highest], first + 1, f, names);
  for (int degree = highest - 1; degree >= 0; --degree) {
    sum = times_variable(sum, names[first], f.points[first][to_size(degree)]);
    if (const auto found = by_degree.find(degree); found != by_degree.end())
      sum = horner(found->second, first + 1, f, names) + sum;
  }
  return sum;
}

}  // namespace

MatrixXd PolynomialDependence::value(const VectorXd& x) const {
  MatrixXd sum = MatrixXd::Zero(terms.front().coefficient.rows(), terms.front().coefficient.cols());
  for (const Term& term : terms) {
    double product = 1.0;
    for (Index i = 0; i < x.size(); ++i)
      product *= newton_factor(at(points, i), at(term.index, i), x[i]);
    sum += product * term.coefficient;
  }
  return sum;
}

int PolynomialDependence::degree() const {
  int largest = 0;
  for (const Term& term : terms)
    largest = std::max(largest, std::accumulate(term.index.begin(), term.index.end(), 0));
  return largest;
}

int PolynomialDependence::cross_terms() const {
  return static_cast<int>(std::count_if(terms.begin(), terms.end(), [](const Term& term) {
    return std::count_if(term.index.begin(), term.index.end(), [](int d) { return d > 0; }) > 1;
  }));
}

PolynomialDependence fit_dependence(const std::function<MatrixXd(const VectorXd&)>& function,
                                    const VectorXd& low, const VectorXd& high,
                                    const DependenceSettings& settings) {
  return Fit(function, low, high, settings).run();
}

UncertainMatrix uncertain_matrix(const PolynomialDependence& f,
                                 const std::vector<std::string>& names) {
  std::vector<const PolynomialDependence::Term*> all;
  for (const PolynomialDependence::Term& term : f.terms) all.push_back(&term);
  return reduce(horner(all, 0, f, names));
}

}  // namespace catena
