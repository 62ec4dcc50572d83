// SPDX-License-Identifier: BSD-3-Clause
// HingeBlock: the hinge of a node as the operators (operators/operators.h) see it, for every
// kind of node (one column about or along z, or a general hinge with its rotor).
//
//   H          6 x d   motion map, node's frame
//   D          d x d   hinge inertia, reflected inertia of a rotor included
//   gain       6 x d   Ad*⁻¹ (P H) + rotor coupling, in the PARENT's frame: K D of the SOA
//
// Valid after a sweep that eliminated every freedom (articulate(), forward_dynamics() by the
// recursive route); H alone after any sweep.
#pragma once

#include <cmath>

#include "catena/dynamics/kernels/cholesky.h"
#include "catena/dynamics/workspace.h"

namespace catena {

class HingeBlock {
 public:
  HingeBlock(const Workspace& workspace, int n)
      : node_(workspace.model().nodes[n]),
        w_(workspace.node(n)),
        general_(workspace.is_general(n) ? &workspace.general(n) : nullptr) {}

  int parent() const { return node_.parent; }
  int freedoms() const { return node_.freedoms; }
  int v_index() const { return node_.v_index; }
  const Transformd& to_parent() const { return w_.to_parent; }

  Twistd column(int k) const {
    if (general_ != nullptr) return general_->map[k];
    return turns() ? Twistd{Vec3d::unit_z(), Vec3d::zero()}
                   : Twistd{Vec3d::zero(), Vec3d::unit_z()};
  }

  // H x
  Twistd motion(const double* x) const {
    if (general_ == nullptr) return x[0] * column(0);
    Twistd v = Twistd::zero();
    for (int k = 0; k < node_.freedoms; ++k) v += x[k] * general_->map[k];
    return v;
  }

  // y := Hᵀ f
  void project(const Wrenchd& f, double* y) const {
    if (general_ == nullptr)
      y[0] = turns() ? f.moment.z : f.force.z;
    else
      for (int k = 0; k < node_.freedoms; ++k) y[k] = dot(f, general_->map[k]);
  }

  // y := gainᵀ V_parent; `carried` is the same twist in this node's frame.
  void pull(const Twistd& parent_twist, const Twistd& carried, double* y) const {
    if (general_ == nullptr)
      y[0] = dot(w_.gain, carried);
    else
      for (int k = 0; k < node_.freedoms; ++k) y[k] = dot(general_->parent_gain[k], parent_twist);
  }

  // Ad*⁻¹ f + gain x: what the node passes on to its parent, in the parent's frame.
  Wrenchd passed(const Wrenchd& f, const double* x) const {
    if (general_ == nullptr) return Ad_star_inverse(w_.to_parent, f + x[0] * w_.gain);
    Wrenchd sum = Ad_star_inverse(w_.to_parent, f);
    for (int k = 0; k < node_.freedoms; ++k) sum += x[k] * general_->parent_gain[k];
    return sum;
  }

  // x := D⁻¹ x, in place.
  void solve(double* x) const {
    if (general_ == nullptr) {
      x[0] *= w_.inverse_hinge_inertia;
    } else {
      solve_lower(general_->factor, node_.freedoms, x);
      solve_upper(general_->factor, node_.freedoms, x);
    }
  }

  // With D = C Cᵀ (Cholesky):  x := Cᵀ x,  x := C x,  x := C⁻ᵀ x.  In place.
  void times_root_transposed(double* x) const {
    if (general_ == nullptr) {
      x[0] *= std::sqrt(hinge_inertia());
    } else {
      const auto& c = general_->factor;
      for (int i = 0; i < node_.freedoms; ++i) {
        double sum = 0.0;
        for (int k = i; k < node_.freedoms; ++k) sum += c[k][i] * x[k];
        x[i] = sum;
      }
    }
  }
  void times_root(double* x) const {
    if (general_ == nullptr) {
      x[0] *= std::sqrt(hinge_inertia());
    } else {
      const auto& c = general_->factor;
      for (int i = node_.freedoms; i-- > 0;) {
        double sum = 0.0;
        for (int k = 0; k <= i; ++k) sum += c[i][k] * x[k];
        x[i] = sum;
      }
    }
  }
  void divide_by_root_transposed(double* x) const {
    if (general_ == nullptr)
      x[0] /= std::sqrt(hinge_inertia());
    else
      solve_upper(general_->factor, node_.freedoms, x);
  }

  // x := D x, in place.
  void times_inertia(double* x) const {
    if (general_ == nullptr) {
      x[0] *= hinge_inertia();
    } else {
      times_root_transposed(x);
      times_root(x);
    }
  }

  // log det D
  double log_determinant() const {
    if (general_ == nullptr) return std::log(hinge_inertia());
    double sum = 0.0;
    for (int k = 0; k < node_.freedoms; ++k) sum += 2.0 * std::log(general_->factor[k][k]);
    return sum;
  }

 private:
  bool turns() const { return node_.hinge == NodeHinge::revolute; }
  double hinge_inertia() const {
    return turns() ? w_.articulated.angular.zz : w_.articulated.linear.zz;
  }

  const Node& node_;
  const NodeScratch<double>& w_;
  const GeneralScratch<double>* general_;
};

}  // namespace catena
