// SPDX-License-Identifier: BSD-3-Clause
#include "catena/robust/uncertain_transfer.h"

#include <algorithm>

#include "catena/base/error.h"
#include "catena/base/index.h"
#include "catena/linear/lapack/lapack.h"

namespace catena {
namespace {

using Eigen::Index;
using Eigen::MatrixXd;

UncertainMatrix identity(Index n) { return constant(MatrixXd::Identity(n, n)); }
UncertainMatrix zero(Index rows, Index columns) { return constant(MatrixXd::Zero(rows, columns)); }

// [ẋ; y] of [x; u].
UncertainMatrix realization(const UncertainFactor& factor, std::size_t number) {
  const Index n = std::ssize(factor.denominator) - 1, m = std::ssize(factor.numerator) - 1;
  if (n < 0 || m < 0 || m > n)
    throw Error("factor " + std::to_string(number + 1) +
                " of the transfer function has a numerator of degree " + std::to_string(m) +
                " and a denominator of degree " + std::to_string(n) +
                "; it must be proper, so multiply it with another factor");
  // [x; w], w = (u − Σ a x)/a0.
  UncertainMatrix input = constant(1.0);
  for (Index i = 1; i <= n; ++i) input = beside(-1.0 * at(factor.denominator, i), input);
  input = inverse(factor.denominator.front()) * input;
  const UncertainMatrix signals = n == 0 ? input : above(beside(identity(n), zero(n, 1)), input);
  // ẋ = the next state, w at the end; y = Σ b (x, w).
  UncertainMatrix output = at(factor.numerator, m);
  for (Index i = m - 1; i >= 0; --i) output = beside(output, at(factor.numerator, i));
  if (m < n) output = beside(output, zero(1, n - m));
  if (n == 0) return output * signals;
  return above(beside(zero(n, 1), identity(n)), output) * signals;
}

int longest_path(const MatrixXd& m11) {
  const Index n = m11.rows();
  std::vector<int> depth(to_size(n), 1);
  for (Index pass = 0; pass < n; ++pass)  // at most n passes: more is a cycle
    for (Index i = 0; i < n; ++i)
      for (Index j = 0; j < n; ++j)
        if (m11(i, j) != 0.0 && at(depth, j) + 1 > at(depth, i) && at(depth, j) < n)
          at(depth, i) = at(depth, j) + 1;
  return n == 0 ? 0 : *std::max_element(depth.begin(), depth.end());
}

}  // namespace

UncertainTransfer uncertain_transfer(const std::vector<UncertainFactor>& factors) {
  if (factors.empty()) throw Error("the transfer function has no factors");
  UncertainTransfer g;
  g.form = realization(factors.front(), 0);
  g.order = static_cast<int>(std::ssize(factors.front().denominator)) - 1;
  for (std::size_t k = 1; k < factors.size(); ++k) {
    // [x; z; u] → [ẋ; z; y] → [ẋ; ż; y].
    const UncertainMatrix next = realization(factors[k], k);
    const Index n = g.order, m = next.rows() - 1;
    MatrixXd order = MatrixXd::Zero(n + m + 1, n + m + 1), swap = order;
    // (x, z, u) → (x, u, z), and (ẋ, y, z) → (ẋ, z, y).
    order.topLeftCorner(n, n).setIdentity();
    order(n, n + m) = 1.0;
    order.block(n + 1, n, m, m).setIdentity();
    swap = order.transpose();
    const UncertainMatrix first =
        above(beside(g.form, zero(n + 1, m)), beside(zero(m, n + 1), identity(m)));
    const UncertainMatrix second =
        above(beside(identity(n), zero(n, m + 1)), beside(zero(m + 1, n), next));
    g.form = second * constant(swap) * first * constant(order);
    g.order += static_cast<int>(m);
  }
  g.form = reduce(g.form);
  g.parameters = static_cast<int>(g.form.names().size());
  g.repeats = g.form.entries() - g.parameters;
  g.longest = longest_path(g.form.m11);
  return g;
}

std::complex<double> UncertainTransfer::value(std::complex<double> s,
                                              const std::map<std::string, double>& values) const {
  const Eigen::MatrixXcd f = form.value(values).cast<std::complex<double>>();
  const Index n = order;
  if (n == 0) return f(0, 0);
  const Eigen::MatrixXcd a = s * Eigen::MatrixXcd::Identity(n, n) - f.topLeftCorner(n, n);
  const Eigen::MatrixXcd x = lapack::solve(a, Eigen::MatrixXcd(f.topRightCorner(n, 1)), "s - A");
  return (f.bottomLeftCorner(1, n) * x)(0, 0) + f(n, n);
}

}  // namespace catena
