// SPDX-License-Identifier: BSD-3-Clause
// Derivatives of the dynamics by parameters of the mechanism, by name, and the regressor.
//
//   body.NAME.mass                     kg; centre and central inertia stay
//   body.NAME.com.x  .y .z             centre of mass, m; mass and central inertia stay
//   body.NAME.inertia.xx ... .yz       entries of the central inertia in its own axes, kg m²
//                                      (of both places of an off-diagonal entry)
//   body.NAME.EIy .EIz .EA .GJ         of a flexible beam, N m² or N; mode shapes and damping are
//                                      held (of a body by matrices: .stiffness, a factor)
//   gravity.x .y .z                    m/s²
//   hinge.NAME.damping .stiffness .rest .friction     of a freedom; .damping.2 of its second one
//   hinge.NAME.rotor_inertia .gear_ratio              of its drive
//   spring.NAME.stiffness .rest_length .damping
//   spring.NAME.point_a.x .y .z  .point_b.x ...       its ends, along the axes of their bodies, m
//   hinge.NAME.position.x .y .z        of the hinge on its parent, along the parent's axes, m
//   hinge.NAME.rotation.x .y .z        of its frame on the parent, turned about its own axes, rad
//   hinge.NAME.child_position.x ...    of the hinge on its child
//   hinge.NAME.axis.x .y .z            of its axis, which stays of unit length
//   hinge.NAME.axis.2.x .y .z          of the second (of .1, .2, .3) of a universal or gimbal hinge
//   hinge.NAME.pitch                   of a screw
//   rod.NAME.length
//   coupling.NAME.ratio .offset        of a gear, q = ratio · q_other + offset
//   coupling.NAME.coefficient.2        of the second term of any other linear coupling
//   coupling.NAME.constant
//
// Everything down to the springs costs a few dot products for each freedom inboard: effort is
// linear in inertial parameters, gravity, constants of elements and (reflected) rotor inertia. The
// geometry of hinges is exact too, by probes (geometry_probe.h), and the length of a rod. Only the
// axes of a universal or gimbal hinge, and the frame of a hinge whose rotor rides on a distant
// body, are differenced: the mechanism is made again with the parameter changed, in steps
// extrapolated to order eight, which is right to about eleven digits. In a closed mechanism the
// independent freedoms stay where they are. A parameter whose change opens a loop (a hinge of a
// planar loop moved out of its plane) has no derivative: NumericalError.
//
// In a mechanism with flexible bodies stiffnesses and constants of elements are exact; all other
// parameters are differenced as above, and adjoint products are not available.
//
// The regressor is the matrix of the linear dependence: effort = Y π + the part of other elements,
// π the ten inertial parameters of each body about its own frame (mass, mass · centre, inertia
// about the origin). For identification by least squares.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "catena/sensitivity/forward_derivatives.h"

namespace catena {

class DynamicsProducts;
class GeometryProbe;
class ParameterAdjoint;
struct LoopGradient;

// Rows: freedoms (independent ones of a closed mechanism), columns: parameters. Zero where the
// freedom's acceleration, or effort, is given.
struct HybridParameterDerivatives {
  Eigen::MatrixXd acceleration;
  Eigen::MatrixXd effort;
  // Of a closed mechanism: how positions (tangent directions) and velocities of all freedoms follow
  // when it is closed again, the independent ones held.
  Eigen::MatrixXd position;
  Eigen::MatrixXd velocity;
};

class ParameterSet {
 public:
  // Throws a NameError, with the nearest name, for one that does not exist. The mechanism must
  // outlive it.
  ParameterSet(const Mechanism& mechanism, std::vector<std::string> names);

  const std::vector<std::string>& names() const { return names_; }
  int size() const { return static_cast<int>(names_.size()); }
  // The value of each as the mechanism has it; those that have none (rotation, axis) start at zero.
  Eigen::VectorXd values() const;
  // The mechanism with other values, or its description alone, which may be impossible.
  Mechanism with(const Eigen::VectorXd& values) const;
  Description changed(const Eigen::VectorXd& values) const;

  // ∂τ/∂p of inverse dynamics at this acceleration (efforts at the independent freedoms of a closed
  // mechanism), and ∂v̇/∂p of forward dynamics at this effort.
  Eigen::MatrixXd effort_derivatives(const State& state, const Eigen::VectorXd& acceleration,
                                     SensitivityWorkspace& workspace,
                                     std::span<const ExternalWrench> external = {}) const;
  Eigen::MatrixXd acceleration_derivatives(const State& state, const Eigen::VectorXd& effort,
                                           SensitivityWorkspace& workspace,
                                           std::span<const ExternalWrench> external = {}) const;
  // Derivatives of the results of hybrid dynamics.
  HybridParameterDerivatives hybrid_derivatives(
      const State& state, const HybridInput& input, SensitivityWorkspace& workspace,
      std::span<const ExternalWrench> external = {}) const;

  // Σ_i multiplier_i ∂τ_i/∂p of the spanning tree, at the state whose columns the workspace holds:
  // with the multiplier of an adjoint product (products.h) the gradient by the parameters. Along a
  // motion only sums are added (adjoint_size() numbers, zero at first). The gradient follows from
  // them at the end, so that the number of parameters matters little (parameter_adjoint.h). Only
  // welds with springs or rotors beyond them need probes. Parameters that are differenced cost
  // rebuilt mechanisms.
  Eigen::Index adjoint_size() const;
  void add_adjoint(const State& state, const Eigen::VectorXd& multiplier,
                   const SensitivityWorkspace& workspace, Eigen::VectorXd& sums) const;
  Eigen::VectorXd gradient_of(const Eigen::VectorXd& sums) const;
  // Parameters that change how loops close are not included: each such parameter has a probe of its
  // own, about the cost of an adjoint product. Besides multiplierᵀ (efforts of the spanning tree
  // less the given ones) the gradient `by` of anything else is carried to them: positions,
  // velocities and accelerations of dependent freedoms follow from a parameter too, the independent
  // ones held.
  struct LoopScratch {
    std::unique_ptr<DynamicsProducts> own;  // of rods' lengths
    std::vector<std::unique_ptr<DynamicsProducts>> probes;
    LoopScratch();
    ~LoopScratch();
  };
  void add_loop_adjoint(const State& state, const Eigen::VectorXd& effort, const LoopGradient& by,
                        const Eigen::VectorXd& multiplier, const SensitivityWorkspace& workspace,
                        LoopScratch& scratch, Eigen::VectorXd& sums) const;

  // By differences of rebuilt mechanisms, for comparison: of efforts at this acceleration, or
  // (`forward`) of accelerations at this effort, rows the independent freedoms of the workspace. A
  // constant of zero that cannot be less has none, and the result is empty. `part`: of the usual
  // step.
  Eigen::VectorXd differenced(int parameter, const State& state, const Eigen::VectorXd& given,
                              bool forward, const SensitivityWorkspace& workspace,
                              std::span<const ExternalWrench> external = {},
                              double part = 1.0) const;

  // Of every kind, for listing and for suggestions.
  static std::vector<std::string> all_names(const Mechanism& mechanism);
  // The name of a parameter that is written with its kind in front, mass.NAME, friction.NAME or
  // length.NAME; any other text is returned as it is.
  static std::string full_name(const Mechanism& mechanism, const std::string& text);

 private:
  enum class Kind {
    mass,
    com,
    inertia,
    gravity,
    damping,
    stiffness,
    rest,
    friction,
    rotor_inertia,
    gear_ratio,
    spring_stiffness,
    spring_rest,
    spring_damping,
    spring_point_a,
    spring_point_b,
    elastic,  // index: flexible body, entry: part of its stiffness
    position,
    rotation,
    child_position,
    axis,
    further_axis,  // entry: 3 · axis + component
    pitch,
    rod_length,
    coefficient,
    ratio,
    constant
  };
  struct Parameter {
    Kind kind = Kind::mass;
    int index = 0;  // of the body, hinge, spring, rod or coupling
    int entry = 0;  // component, or freedom of the hinge
  };
  // By its name; none: there is no such parameter.
  static std::optional<Parameter> find(const Mechanism& mechanism, const std::string& name);
  static std::optional<Parameter> find_of_hinge(const Mechanism& mechanism, int hinge,
                                                const std::string& name);
  static std::optional<Parameter> find_of_spring(const SpringDamper& spring, int number,
                                                 const std::string& name);
  static std::optional<Parameter> find_of_coupling(const Coupling& coupling, int number,
                                                   const std::string& name);
  // The number in a description that a parameter is (of a gear's ratio: its negative); null for
  // rotations and axes, which are none.
  static double* number_of(const Parameter& p, Description& description);
  static bool is_geometry(Kind kind) { return kind >= Kind::position; }
  // The parameters that are left to differences.
  template <class F>
  void each_differenced(F f) const;
  void change(const Parameter& p, double by, Description& description) const;
  // Analytic ones, for efforts of the spanning tree: calls own(freedom, effort) and spread(node,
  // wrench that it needs).
  template <class Own, class Spread>
  void contribute(const Parameter& p, const State& state, const SensitivityWorkspace& w, Own own,
                  Spread spread) const;
  template <class Own, class Spread>
  void contribute_drive(const Parameter& p, const State& state, const SensitivityWorkspace& w,
                        Own own, Spread spread) const;
  template <class Spread>
  void contribute_spring(const Parameter& p, const SensitivityWorkspace& w, Spread spread) const;
  // As a column, and times x, with Λ of the nodes (parameter_adjoint.h).
  double tree_product(const Parameter& p, const State& state, const SensitivityWorkspace& w,
                      const Eigen::VectorXd& x, const std::vector<Twistd>& lambda) const;
  SpatialInertiad inertial_change(const Parameter& p) const;  // of its body
  void tree_column(const Parameter& p, const State& state, const SensitivityWorkspace& w,
                   Eigen::Ref<Eigen::VectorXd> column) const;
  // Differences of a value of mechanisms that have the parameter changed and their loops closed
  // again.
  using Value = std::function<Eigen::VectorXd(const Mechanism&, const State&, Workspace&)>;
  Eigen::VectorXd differences(const Parameter& p, const State& state, const SensitivityWorkspace& w,
                              const Value& value, double part = 1.0) const;
  void make_probes();
  static bool is_exact_with_flexible(const Parameter& p);
  bool shapes_loops(const Parameter& p) const;
  bool has_rods() const;
  // f(parameter, how the mechanism changes) for each length of a rod, at accelerations and efforts
  // of all freedoms; `products` is of the mechanism and has the chart.
  template <class F>
  void each_rod(const State& state, const Eigen::VectorXd& acceleration,
                const Eigen::VectorXd& effort, std::span<const ExternalWrench> external,
                DynamicsProducts& products, F f) const;

  const Mechanism& m_;
  std::vector<std::string> names_;
  std::vector<Parameter> parameters_;
  std::vector<std::uint8_t> probed_;
  // One for all of a tree; one for each parameter of a closed mechanism, where one that opens a
  // loop must not spoil the others.
  std::vector<std::shared_ptr<const GeometryProbe>> probes_;
  std::shared_ptr<const ParameterAdjoint> adjoint_;
  std::vector<std::uint8_t> swept_;                     // by parameter: adjoint_ serves it
  std::shared_ptr<const GeometryProbe> adjoint_probe_;  // null: it serves all
};

// Rows: freedoms (independent ones of a closed mechanism); columns: ten for each body, in the order
// mass, mass · (x, y, z), inertia about the body's origin (xx, xy, xz, yy, yz, zz).
Eigen::MatrixXd regressor(const Mechanism& mechanism, const State& state,
                          const Eigen::VectorXd& acceleration, SensitivityWorkspace& workspace);
Eigen::VectorXd inertial_parameters(const Mechanism& mechanism);

}  // namespace catena
