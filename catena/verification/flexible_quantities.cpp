// SPDX-License-Identifier: BSD-3-Clause
#include "catena/verification/flexible_quantities.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <complex>

#include "catena/base/dense.h"
#include "catena/base/index.h"
#include "catena/base/text.h"
#include "catena/dynamics/kinematics.h"
#include "catena/dynamics/mass_matrix.h"
#include "catena/linear/analysis.h"
#include "catena/linear/minreal.h"
#include "catena/linear/state_space.h"
#include "catena/model/flexible_body.h"
#include "catena/sensitivity/inverse_derivatives.h"
#include "catena/sensitivity/linearize.h"
#include "catena/spatial/eigen.h"
#include "catena/verification/quantity_tables.h"

namespace catena {
namespace {

using Request = const QuantityRequest&;
using Matrix = Eigen::MatrixXd;

Matrix sorted(std::vector<double> values) {
  std::sort(values.begin(), values.end());
  return Eigen::Map<const Eigen::VectorXd>(values.data(), std::ssize(values));
}

// ∂v̇/∂q and ∂v̇/∂v of the freedoms of `order` that are not driven by motion, about the state and its
// accelerations (zero unless given), which efforts hold. All other freedoms keep to theirs.
struct SmallMotion {
  Matrix dq, dv;
};

SmallMotion small_motion(Request r) {
  std::vector<int> freedoms;
  for (const int i : r.freedoms)
    if (r.input.motion_driven[index(i)] == 0) freedoms.push_back(i);
  const InverseDerivatives d = inverse_dynamics_derivatives(r.mechanism, r.input.state,
                                                            r.input.acceleration, r.input.external);
  const Cholesky mass(d.da(freedoms, freedoms));
  return {-mass.solve(d.dq(freedoms, freedoms)), -mass.solve(d.dv(freedoms, freedoms))};
}

// ω² of δv̇ = ∂v̇/∂q δq, for motions without gyroscopic terms and damping. A negative one diverges.
Matrix squared_frequencies(Request r) {
  const Eigen::VectorXcd values = eigenvalues(-small_motion(r).dq);
  std::vector<double> squares;
  for (const std::complex<double>& value : values) squares.push_back(value.real());
  return sorted(std::move(squares));
}

// |Im s| of the eigenvalues s, one of each pair; a real pair counts as one 0.
Matrix frequencies(Request r) {
  const SmallMotion small = small_motion(r);
  const Eigen::Index n = small.dq.rows();
  Matrix a = Matrix::Zero(2 * n, 2 * n);
  a.topRightCorner(n, n).setIdentity();
  a.bottomLeftCorner(n, n) = small.dq;
  a.bottomRightCorner(n, n) = small.dv;
  std::vector<double> found;
  int real = 0;
  for (const std::complex<double>& s : eigenvalues(a)) {
    if (s.imag() > 0.0) found.push_back(s.imag());
    if (s.imag() == 0.0 && ++real % 2 == 0) found.push_back(0.0);
  }
  return sorted(std::move(found));
}

// Eigenvalues of A_z, z̈ + A_z z = 0: motions that are left when efforts at the freedoms of `order`
// keep the origin of a body where it is, in the plane of x and y. The transmission zeros of the
// linear model are ±√(−A_z).
Matrix zero_dynamics(Request r) {
  LinearizeSettings settings;
  for (const int i : r.freedoms) settings.inputs.push_back(r.mechanism.velocity_names()[index(i)]);
  settings.outputs = {"position." + r.of + ".x", "position." + r.of + ".y"};
  const LinearModel model =
      linearize(r.mechanism, {r.input.state, r.input.effort, {}, r.input.external}, settings);
  std::vector<double> squares;
  // Parts of the model that the efforts do not reach or that the point does not see have no zeros.
  for (const std::complex<double>& s : zeros(minreal(state_space(model))))
    squares.push_back(-(s * s).real());
  std::sort(squares.begin(), squares.end());
  std::vector<double> one_of_each_pair;
  for (std::size_t i = 0; i < squares.size(); i += 2) one_of_each_pair.push_back(squares[i]);
  return sorted(std::move(one_of_each_pair));
}

// Of the mass matrix of the freedoms of `order`, the smallest first.
Matrix mass_eigenvalues(Request r) {
  const Matrix m = mass_matrix(r.mechanism, r.input.state.q);
  const Eigen::VectorXcd values = eigenvalues(m(r.freedoms, r.freedoms));
  std::vector<double> found;
  for (const std::complex<double>& value : values) found.push_back(value.real());
  return sorted(std::move(found));
}

Matrix mass_condition(Request r) {
  const Matrix values = mass_eigenvalues(r);
  return scalar(values(values.rows() - 1, 0) / values(0, 0));
}

// Of the origin of an attachment from its place in the undeformed body, in the axes of the frame.
Matrix deflection(Request r) {
  const int body = r.mechanism.body_index(r.of);
  for (const FlexiblePlace& place : r.mechanism.flexible_bodies())
    for (std::size_t k = 0; k < place.attachments.size(); ++k) {
      if (place.attachments[k].body != body) continue;
      const Transformd frame = body_pose(r.mechanism, r.input.state.q, place.body);
      const Vec3d now = body_pose(r.mechanism, r.input.state.q, body).translation;
      return to_eigen(frame.inverse() * now - place.constants->attachments[k].position);
    }
  throw NameError("'" + r.of + "' is no attachment of a flexible body");
}

const FlexibleBody& body_of(Request r) { return *find_flexible_body(r.mechanism, r.of).constants; }

template <Matrix FlexibleBody::*kPart>
Matrix part_of(Request r) {
  return body_of(r).*kPart;
}

// A component of an array of matrices by its name.
template <std::size_t kSize>
Matrix component(Request r, const std::array<Matrix, kSize>& all,
                 const std::array<const char*, kSize>& names) {
  for (std::size_t i = 0; i < kSize; ++i)
    if (r.other == names[i]) return all[i];
  throw NameError("'" + r.other + "' is no component; those are " +
                  listed(std::vector<std::string>(names.begin(), names.end())));
}

Matrix modal_moment_2(Request r) {
  return component<3>(r, body_of(r).mass_moment_2, {"x", "y", "z"});
}

Matrix modal_inertia_2(Request r) {
  return component<6>(r, body_of(r).inertia_2, {"xx", "xy", "xz", "yy", "yz", "zz"});
}

}  // namespace

const FlexiblePlace& find_flexible_body(const Mechanism& mechanism, const std::string& name) {
  std::vector<std::string> names;
  for (const FlexiblePlace& place : mechanism.flexible_bodies()) {
    if (place.name == name) return place;
    names.push_back(place.name);
  }
  throw NameError("no flexible body is named '" + name + "'" + did_you_mean(name, names));
}

std::vector<Quantity> flexible_quantities() {
  using Shape = Quantity::Shape;
  using Of = Quantity::Of;
  return {
      {"frequencies",
       "of small motions of the freedoms in `order`, rad/s, lowest first",
       Shape::list,
       {},
       Of::nothing,
       frequencies},
      {"squared_frequencies",
       "the same without damping and gyroscopic terms; negative: divergence",
       Shape::list,
       {},
       Of::nothing,
       squared_frequencies},
      {"zero_dynamics",
       "squared frequencies while efforts at `order` hold the body's origin",
       Shape::list,
       {},
       Of::body,
       zero_dynamics},
      {"mass_eigenvalues",
       "of the mass matrix of the freedoms in `order`, smallest first",
       Shape::list,
       {},
       Of::nothing,
       mass_eigenvalues},
      {"mass_condition",
       "condition number of the same",
       Shape::list,
       {},
       Of::nothing,
       mass_condition},
      {"deflection",
       "of an attachment, in the axes of its flexible body",
       Shape::vector,
       {"x", "y", "z"},
       Of::body,
       deflection},
      {"modal_mass", "M_e", Shape::matrix, {}, Of::flexible, part_of<&FlexibleBody::modal_mass>},
      {"modal_stiffness", "K", Shape::matrix, {}, Of::flexible, part_of<&FlexibleBody::stiffness>},
      {"modal_moment",
       "h1: mass moment by the modes",
       Shape::matrix,
       {},
       Of::flexible,
       part_of<&FlexibleBody::mass_moment_1>},
      {"modal_coupling",
       "C0: rotation coupling",
       Shape::matrix,
       {},
       Of::flexible,
       part_of<&FlexibleBody::coupling_0>},
      {"modal_moment_2",
       "a component of h2",
       Shape::matrix,
       {},
       Of::flexible_component,
       modal_moment_2},
      {"modal_inertia_2",
       "a component of J2",
       Shape::matrix,
       {},
       Of::flexible_component,
       modal_inertia_2},
  };
}

}  // namespace catena
