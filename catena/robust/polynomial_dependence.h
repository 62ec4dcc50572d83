// SPDX-License-Identifier: BSD-3-Clause
// A matrix function of several variables as a polynomial, found from its values.
//
// Newton's form on points that are added one by one: a multi-index α is kept if the value at its
// point differs from the polynomial found so far, and only kept indices have followers. An affine
// function of k variables costs 1 + k + k (k + 1)/2 values, and a polynomial is found exactly. The
// error is measured at random points of the box.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include <Eigen/Core>

#include "catena/robust/uncertain_matrix.h"

namespace catena {

struct PolynomialDependence {
  struct Term {
    std::vector<int> index{};  // α: degree in each variable
    Eigen::MatrixXd coefficient{};
  };
  std::vector<std::vector<double>> points{};  // of Newton's form, by variable
  std::vector<Term> terms{};
  int evaluations = 0;
  bool complete = true;  // false: the limit of the degree or of the evaluations was reached
  double error = 0.0;    // largest entry's, measured at random points

  Eigen::MatrixXd value(const Eigen::VectorXd& x) const;
  int degree() const;       // the largest |α|
  int cross_terms() const;  // terms in more than one variable
};

struct DependenceSettings {
  double tolerance = 1e-11;  // entries are of the order of one
  int degree = 8;            // in each variable
  int evaluations = 3000;
  int checks = 8;  // random points
};

// In the box low ≤ x ≤ high about zero.
PolynomialDependence fit_dependence(
    const std::function<Eigen::MatrixXd(const Eigen::VectorXd&)>& function,
    const Eigen::VectorXd& low, const Eigen::VectorXd& high,
    const DependenceSettings& settings = {});

// The same as a linear fractional form in these parameters, by Horner's rule, each product at the
// rank of its factor.
UncertainMatrix uncertain_matrix(const PolynomialDependence& f,
                                 const std::vector<std::string>& names);

}  // namespace catena
