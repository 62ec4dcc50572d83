// SPDX-License-Identifier: BSD-3-Clause
#include "catena/dynamics/operators/operators.h"

#include <algorithm>
#include <cmath>

#include "catena/base/index.h"
#include "catena/dynamics/embedding.h"
#include "catena/dynamics/flexible_mass.h"
#include "catena/dynamics/kernels/aggregate_block.h"
#include "catena/dynamics/kernels/hinge_block.h"

namespace catena {
namespace {

// Each operator maps a vector over the independent freedoms (all of a tree's) to another, and works
// in place on a vector over all freedoms: f(all). This is the only check they make.
template <class F>
void in_place(Workspace& w, const Eigen::VectorXd& x, Eigen::VectorXd& y, F f) {
  const bool closed = w.model().aggregate_count > 0;
  if (closed && !w.has_chart())
    throw NumericalError("the independent freedoms are not chosen yet; call articulate() first");
  const Eigen::Index size =
      closed ? static_cast<Eigen::Index>(w.independent().size()) : w.model().freedoms;
  if (x.size() != size)
    throw NumericalError("the vector has " + std::to_string(x.size()) +
                         " entries, but this mechanism has " + std::to_string(size) + " " +
                         (closed ? "independent freedoms" : "freedoms"));
  if (!closed) {
    if (&x != &y) y = x;
    f(y);
    return;
  }
  w.vector.setZero();
  for (Eigen::Index i = 0; i < size; ++i) w.vector[w.independent()[index(i)]] = x[i];
  f(w.vector);
  if (y.size() != size) y.resize(size);
  for (Eigen::Index i = 0; i < size; ++i) y[i] = w.vector[w.independent()[index(i)]];
}

}  // namespace

void articulate(const Mechanism& mechanism, const Eigen::VectorXd& q, Workspace& w) {
  refuse_flexible(mechanism, "an operator of the mass matrix");
  if (!w.remote_drives().empty())
    throw NumericalError(
        "the drive of hinge '" + mechanism.hinges()[index(w.remote_drives().front().hinge)].name +
        "' is carried by a body that is not its parent; the mass matrix has no O(N) factors then");
  PreparedInput in = prepare_position(mechanism, q, w);
  w.vector.setZero();
  in.v = w.vector.data();
  Scratch<double> scratch = w.scratch();
  const SweepStatus status = run_embedded(mechanism, w.has_quaternion ? w.position : q, {}, w, [&] {
    return kernel_table().forward(w.model(), in, &scratch, w.acceleration.data());
  });
  if (!status.done()) throw_no_inertia(mechanism, status.place);
  check_closed(mechanism, q, w.vector, w);
}

namespace {

// Outward: twists at velocity x. Inward: momenta; a rotor holds c·ω of its carrier and gives it
// c v, with c = ratio · rotor inertia · axis. Of the spanning tree.
void times_tree_mass(Workspace& w, Eigen::VectorXd& x) {
  const SweepModel& model = w.model();
  NodeScratch<double>* nodes = w.scratch().nodes;
  for (int n = 0; n < model.node_count; ++n) {
    const HingeBlock hinge(w, n);
    nodes[n].acceleration = hinge.motion(x.data() + hinge.v_index());
    if (hinge.parent() >= 0)
      nodes[n].acceleration += Ad_inverse(hinge.to_parent(), nodes[hinge.parent()].acceleration);
    nodes[n].force = load_inertia<double>(model.nodes[n]) * nodes[n].acceleration;
  }
  for (const DrivePlace& drive : w.remote_drives()) {
    const Vec3d c = drive.gear_ratio * drive.rotor_inertia * drive.rotor_axis;
    nodes[drive.carrier_node].force.moment += x[drive.v_index] * c;
  }
  for (int n = model.node_count; n-- > 0;) {
    const HingeBlock hinge(w, n);
    const int v = hinge.v_index();
    double own = 0.0;  // of the rotor
    if (model.rotors != nullptr && hinge.freedoms() == 1) {
      own = model.rotors[n].reflected * x[v];
      if (hinge.parent() >= 0) {
        const Vec3d c = load_vec3<double>(model.rotors[n].coupling);
        own += dot(c, nodes[hinge.parent()].acceleration.angular);
        nodes[hinge.parent()].force.moment += x[v] * c;
      }
    }
    hinge.project(nodes[n].force, x.data() + v);
    x[v] += own;
    if (hinge.parent() >= 0)
      nodes[hinge.parent()].force += Ad_star_inverse(hinge.to_parent(), nodes[n].force);
  }
  for (const DrivePlace& drive : w.remote_drives()) {
    const Vec3d c = drive.gear_ratio * drive.rotor_inertia * drive.rotor_axis;
    x[drive.v_index] += dot(c, nodes[drive.carrier_node].acceleration.angular);
  }
}

}  // namespace

void apply_mass_matrix(Workspace& w, const Eigen::VectorXd& x, Eigen::VectorXd& y) {
  refuse_flexible(w.mechanism(), "an operator of the mass matrix");
  in_place(w, x, y, [&](Eigen::VectorXd& all) {
    w.expand(all);
    times_tree_mass(w, all);
    w.reduce(all);
  });
}

Eigen::VectorXd apply_mass_matrix(const Mechanism& mechanism, const Eigen::VectorXd& q,
                                  const Eigen::VectorXd& x) {
  Workspace w(mechanism);
  const PreparedInput in = prepare_position(mechanism, q, w);
  Scratch<double> scratch = w.scratch();
  kernel_table().kinematics(w.model(), in, &scratch);
  run_embedded(mechanism, w.has_quaternion ? w.position : q, {}, w,
               [&] { return kernel_table().embed(w.model(), in, &scratch); });
  Eigen::VectorXd y;
  apply_mass_matrix(w, x, y);
  return y;
}

namespace {

// Inward over the blocks. f(block, felt, own) is called with Hᵀ z of what has arrived at a block
// and its part of `all`; it overwrites both, `felt` with what goes through the gain to the parent:
//   z_parent += Ad*⁻¹ z + gain · felt
// A loop's members pass z on as they are; the loop acts when its first member is reached.
template <class F>
void inward(Workspace& w, Eigen::VectorXd& all, F f) {
  NodeScratch<double>* nodes = w.scratch().nodes;
  const int count = w.model().node_count;
  for (int n = 0; n < count; ++n) nodes[n].force = Wrenchd::zero();
  for (int n = count; n-- > 0;) {
    const HingeBlock hinge(w, n);
    const int v = hinge.v_index(), parent = hinge.parent();
    if (!is_member(w, n)) {
      double felt[kMaxFreedoms] = {};
      hinge.project(nodes[n].force, felt);
      f(hinge, felt, all.data() + v);
      if (parent >= 0) nodes[parent].force += hinge.passed(nodes[n].force, felt);
      continue;
    }
    hinge.project(nodes[n].force, w.effort.data() + v);
    if (parent >= 0) nodes[parent].force += Ad_star_inverse(hinge.to_parent(), nodes[n].force);
    if (!is_first_member(w, n)) continue;
    const AggregateBlock loop(w, n);
    double* felt = loop.work();
    double* own = w.total_effort.data();
    loop.project(w.effort.data(), felt);
    loop.gather(all.data(), own);
    f(loop, felt, own);
    loop.scatter(own, all.data());
    if (loop.base() >= 0) nodes[loop.base()].force += loop.passed(felt);
  }
}

// Outward over the blocks. f(block, pulled, own) is called with D⁻¹ gainᵀ V_parent and the block's
// part of `all`; it overwrites both, `pulled` with the velocities that the block moves with:
//   V = Ad⁻¹ V_parent + H · pulled
template <class F>
void outward(Workspace& w, Eigen::VectorXd& all, F f) {
  NodeScratch<double>* nodes = w.scratch().nodes;
  for (int n = 0; n < w.model().node_count; ++n) {
    const HingeBlock hinge(w, n);
    const int v = hinge.v_index(), parent = hinge.parent();
    Twistd carried = Twistd::zero();
    if (parent >= 0) carried = Ad_inverse(hinge.to_parent(), nodes[parent].acceleration);
    if (!is_member(w, n)) {
      double pulled[kMaxFreedoms] = {};
      if (parent >= 0) {
        hinge.pull(nodes[parent].acceleration, carried, pulled);
        hinge.solve(pulled);
      }
      f(hinge, pulled, all.data() + v);
      nodes[n].acceleration = carried + hinge.motion(pulled);
      continue;
    }
    if (is_first_member(w, n)) {
      const AggregateBlock loop(w, n);
      double* pulled = loop.work();
      double* own = w.total_effort.data();
      std::fill_n(pulled, loop.freedoms(), 0.0);
      if (loop.base() >= 0) {
        loop.pull(nodes[loop.base()].acceleration, pulled);
        loop.solve(pulled);
      }
      loop.gather(all.data(), own);
      f(loop, pulled, own);
      loop.scatter(own, all.data());
      loop.scatter(pulled, w.effort.data());
      loop.expand(w.effort.data());
    }
    nodes[n].acceleration = carried + hinge.motion(w.effort.data() + v);
  }
}

// f(block, own part of all) at every block.
template <class F>
void at_every_block(Workspace& w, Eigen::VectorXd& all, F f) {
  for (int n = 0; n < w.model().node_count; ++n) {
    if (!is_member(w, n)) {
      const HingeBlock hinge(w, n);
      f(hinge, all.data() + hinge.v_index());
    } else if (is_first_member(w, n)) {
      const AggregateBlock loop(w, n);
      loop.gather(all.data(), loop.work());
      f(loop, loop.work());
      loop.scatter(loop.work(), all.data());
    }
  }
}

// y = x + Hᵀ z, passing D⁻¹ x.
void times_factor(Workspace& w, Eigen::VectorXd& all) {
  inward(w, all, [](const auto& block, double* felt, double* own) {
    for (int k = 0; k < block.freedoms(); ++k) {
      const double given = own[k];
      own[k] += felt[k];
      felt[k] = given;
    }
    block.solve(felt);
  });
}

// The filter: ε = x − Hᵀ z, passing D⁻¹ ε.
void times_inverse_factor(Workspace& w, Eigen::VectorXd& all) {
  inward(w, all, [](const auto& block, double* felt, double* own) {
    for (int k = 0; k < block.freedoms(); ++k) {
      own[k] -= felt[k];
      felt[k] = own[k];
    }
    block.solve(felt);
  });
}

// y = x + D⁻¹ gainᵀ V_parent, moving with x.
void times_factor_transposed(Workspace& w, Eigen::VectorXd& all) {
  outward(w, all, [](const auto& block, double* pulled, double* own) {
    for (int k = 0; k < block.freedoms(); ++k) {
      const double given = own[k];
      own[k] += pulled[k];
      pulled[k] = given;
    }
  });
}

// y = x − D⁻¹ gainᵀ V_parent, moving with y.
void times_inverse_factor_transposed(Workspace& w, Eigen::VectorXd& all) {
  outward(w, all, [](const auto& block, double* pulled, double* own) {
    for (int k = 0; k < block.freedoms(); ++k) {
      own[k] -= pulled[k];
      pulled[k] = own[k];
    }
  });
}

void divide_by_hinge_inertia(Workspace& w, Eigen::VectorXd& all) {
  at_every_block(w, all, [](const auto& block, double* own) { block.solve(own); });
}

}  // namespace

void apply_factor(Workspace& w, const Eigen::VectorXd& x, Eigen::VectorXd& y) {
  in_place(w, x, y, [&](Eigen::VectorXd& all) { times_factor(w, all); });
}

void apply_inverse_factor(Workspace& w, const Eigen::VectorXd& x, Eigen::VectorXd& y) {
  in_place(w, x, y, [&](Eigen::VectorXd& all) { times_inverse_factor(w, all); });
}

void apply_factor_transposed(Workspace& w, const Eigen::VectorXd& x, Eigen::VectorXd& y) {
  in_place(w, x, y, [&](Eigen::VectorXd& all) { times_factor_transposed(w, all); });
}

void apply_inverse_factor_transposed(Workspace& w, const Eigen::VectorXd& x, Eigen::VectorXd& y) {
  in_place(w, x, y, [&](Eigen::VectorXd& all) { times_inverse_factor_transposed(w, all); });
}

void apply_hinge_inertia(Workspace& w, const Eigen::VectorXd& x, Eigen::VectorXd& y) {
  in_place(w, x, y, [&](Eigen::VectorXd& all) {
    at_every_block(w, all, [](const auto& block, double* own) { block.times_inertia(own); });
  });
}

void apply_inverse_hinge_inertia(Workspace& w, const Eigen::VectorXd& x, Eigen::VectorXd& y) {
  in_place(w, x, y, [&](Eigen::VectorXd& all) { divide_by_hinge_inertia(w, all); });
}

void apply_inverse_mass_matrix(Workspace& w, const Eigen::VectorXd& x, Eigen::VectorXd& y) {
  in_place(w, x, y, [&](Eigen::VectorXd& all) {
    times_inverse_factor(w, all);
    divide_by_hinge_inertia(w, all);
    times_inverse_factor_transposed(w, all);
  });
}

void apply_inverse_mass_matrix(Workspace& w, const Eigen::MatrixXd& x, Eigen::MatrixXd& y) {
  const SweepModel& model = w.model();
  w.prepare_rows();
  if (model.aggregate_count == 0 && model.composite.stride > 0 && x.rows() == model.freedoms) {
    if (y.rows() != x.rows() || y.cols() != x.cols()) y.resize(x.rows(), x.cols());
    Scratch<double> scratch = w.scratch();
    kernel_table().solve(model, &scratch, {x.data(), x.rows(), static_cast<int>(x.cols())}, 1.0,
                         {y.data(), y.rows()});
    return;
  }
  Eigen::VectorXd column;
  if (&x != &y) y.resize(x.rows(), x.cols());
  for (Eigen::Index k = 0; k < x.cols(); ++k) {
    column = x.col(k);
    apply_inverse_mass_matrix(w, column, column);
    y.col(k) = column;
  }
}

Eigen::VectorXd apply_inverse_mass_matrix(const Mechanism& mechanism, const Eigen::VectorXd& q,
                                          const Eigen::VectorXd& x) {
  Workspace w(mechanism);
  articulate(mechanism, q, w);
  Eigen::VectorXd y;
  apply_inverse_mass_matrix(w, x, y);
  return y;
}

namespace {

// Column by column, by whole sweeps; the lower triangle is copied.
void inverse_of_closed(Workspace& w, Eigen::MatrixXd& inverse) {
  const auto size = static_cast<Eigen::Index>(w.independent().size());
  if (inverse.rows() != size || inverse.cols() != size) inverse.resize(size, size);
  for (Eigen::Index j = 0; j < size; ++j) {
    w.vector.setZero();
    w.vector[w.independent()[index(j)]] = 1.0;
    times_inverse_factor(w, w.vector);
    divide_by_hinge_inertia(w, w.vector);
    times_inverse_factor_transposed(w, w.vector);
    for (Eigen::Index i = j; i < size; ++i)
      inverse(i, j) = inverse(j, i) = w.vector[w.independent()[index(i)]];
  }
}

}  // namespace

void inverse_mass_matrix(Workspace& w, Eigen::MatrixXd& inverse) {
  const SweepModel& model = w.model();
  if (model.aggregate_count > 0) return inverse_of_closed(w, inverse);
  if (inverse.rows() != model.freedoms || inverse.cols() != model.freedoms)
    inverse.resize(model.freedoms, model.freedoms);
  w.prepare_rows();
  if (model.composite.stride > 0) {
    Scratch<double> scratch = w.scratch();
    kernel_table().inverse_mass_matrix(model, &scratch, inverse.data());
    return;
  }
  NodeScratch<double>* nodes = w.scratch().nodes;
  Eigen::VectorXd& filtered = w.vector;  // D⁻¹ ε: zero off the way to the ground
  for (int source = 0; source < model.node_count; ++source) {
    const HingeBlock start(w, source);
    for (int j = start.v_index(); j < start.v_index() + start.freedoms(); ++j) {
      filtered.setZero();
      filtered[j] = 1.0;
      Wrenchd z = Wrenchd::zero();
      for (int n = source; n >= 0; n = model.nodes[n].parent) {
        const HingeBlock hinge(w, n);
        double own[kMaxFreedoms] = {};
        hinge.project(z, own);
        for (int k = 0; k < hinge.freedoms(); ++k) own[k] = filtered[hinge.v_index() + k] - own[k];
        hinge.solve(own);
        std::copy_n(own, hinge.freedoms(), filtered.data() + hinge.v_index());
        if (hinge.parent() >= 0) z = hinge.passed(z, own);
      }
      for (int n = 0; n < model.node_count; ++n) {
        const HingeBlock hinge(w, n);
        const int v = hinge.v_index();
        Twistd carried = Twistd::zero();
        double own[kMaxFreedoms] = {};
        if (hinge.parent() >= 0) {
          const Twistd& outer_twist = nodes[hinge.parent()].acceleration;
          carried = Ad_inverse(hinge.to_parent(), outer_twist);
          hinge.pull(outer_twist, carried, own);
          hinge.solve(own);
        }
        for (int k = 0; k < hinge.freedoms(); ++k) {
          own[k] = filtered[v + k] - own[k];
          if (v + k < j) continue;
          inverse(v + k, j) = own[k];
          inverse(j, v + k) = own[k];
        }
        nodes[n].acceleration = carried + hinge.motion(own);
      }
    }
  }
}

Eigen::MatrixXd inverse_mass_matrix(const Mechanism& mechanism, const Eigen::VectorXd& q) {
  Workspace w(mechanism);
  articulate(mechanism, q, w);
  Eigen::MatrixXd inverse;
  inverse_mass_matrix(w, inverse);
  return inverse;
}

void normalized_velocity(Workspace& w, const Eigen::VectorXd& v, Eigen::VectorXd& nu) {
  in_place(w, v, nu, [&](Eigen::VectorXd& all) {
    times_factor_transposed(w, all);
    at_every_block(w, all,
                   [](const auto& block, double* own) { block.times_root_transposed(own); });
  });
}

void velocity_from_normalized(Workspace& w, const Eigen::VectorXd& nu, Eigen::VectorXd& v) {
  in_place(w, nu, v, [&](Eigen::VectorXd& all) {
    at_every_block(w, all,
                   [](const auto& block, double* own) { block.divide_by_root_transposed(own); });
    times_inverse_factor_transposed(w, all);
  });
}

double log_determinant_mass_matrix(const Workspace& w) {
  double sum = 0.0;
  for (int n = 0; n < w.model().node_count; ++n) {
    if (!is_member(w, n))
      sum += HingeBlock(w, n).log_determinant();
    else if (is_first_member(w, n))
      sum += AggregateBlock(w, n).log_determinant();
  }
  return sum;
}

double determinant_mass_matrix(const Workspace& w) {
  return std::exp(log_determinant_mass_matrix(w));
}

}  // namespace catena
