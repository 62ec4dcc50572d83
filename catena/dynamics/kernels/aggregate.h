// The steps of the sweeps for aggregates: closed loops folded into one node of the tree.
//
// Constraint embedding (Jain, "Recursive Algorithms Using Local Constraint Embedding for Multibody
// System Dynamics", DETC2009-87663), in a form that needs nothing of size 6n x 6n. With S the
// twists of all members' freedoms, P and z the members' inertias and residual forces (what hangs
// outboard on them included), everything in the aggregate's frame (closure/structure.h):
//
//   embed      Y v = 0 (closure/rows.h)   =>   v = X v_r,  v̇ = X v̇_r + γ
//   eliminate  composite inertias R and forces F of the members, from the tips of the loop inward
//              M = Sᵀ R S,  U = R S,  D = Xᵀ M X,  ε = Xᵀ (τ − Sᵀ F)
//              to the base:  R⁺ = ΣR − U X D⁻¹ (U X)ᵀ,   z⁺ = ΣF + U X D⁻¹ ε
//   accelerate v̇_r = D⁻¹ (ε − (U X)ᵀ a_base),  v̇ = X v̇_r + γ
//
// A plain body is the case of one member and X = 1. Cost: O(members · depth) products and one
// factorization each of the rank and of the number of independent freedoms.
#pragma once

#include "catena/closure/rows.h"
#include "catena/dynamics/kernels/gear_pair.h"
#include "catena/dynamics/kernels/general_hinge.h"
#include "catena/dynamics/kernels/kernel_table.h"
#include "catena/dynamics/kernels/scratch.h"
#include "catena/dynamics/kernels/shift.h"

namespace catena {
inline namespace CATENA_ISA {

inline constexpr double kLostRow = 1e-14;  // a pivot below this fraction of its row is rounding

// Most loops are small: a geared motor has two freedoms, a four-bar three. With kSize > 0 an
// aggregate has that many members of one freedom each (Aggregate::simple), one of them independent,
// and no loop below has a length that the compiler does not know.
template <int kSize>
inline int size_of(const Aggregate& a) {
  return kSize > 0 ? kSize : a.freedoms;
}
template <int kSize>
inline int independents_of(const Aggregate& a) {
  return kSize > 0 ? 1 : a.independents;
}
template <int kSize>
inline int members_of(const Aggregate& a) {
  return kSize > 0 ? kSize : a.member_count;
}

inline bool is_placed_early(const SweepModel& model, const Aggregate& a) {
  return a.member_count > 0 &&
         (model.order_flags[model.members[a.first_member].node] & kPlacedEarly) != 0;
}

// S of a member's freedoms, its pose and (unless only those are wanted) twist and bias.
template <class Scalar, class PlaceHinge>
[[gnu::noinline]] void move_members(const SweepModel& model, const Aggregate& a, const Scalar* v,
                                    PlaceHinge place_hinge, const Scratch<Scalar>& s,
                                    const AggregateScratch<Scalar>& g) {
  const Scalar zero(0.0);
  for (int i = 0; i < a.member_count; ++i) {
    const AggregateMember& member = model.members[a.first_member + i];
    const Node& node = model.nodes[member.node];
    NodeScratch<Scalar>& w = s.nodes[member.node];
    place_hinge(node, member.node);
    const MemberMotion<Scalar>* parent = member.parent < 0 ? nullptr : g.members + member.parent;
    MemberMotion<Scalar>& m = g.members[i];
    Twist<Scalar>* columns = g.columns + member.column;
    if (model.general_index[member.node] >= 0) {
      const GeneralScratch<Scalar>& hinge = s.general[model.general_index[member.node]];
      for (int k = 0; k < node.freedoms; ++k) columns[k] = hinge.map[k];
      move_member(a, w.to_parent, parent, w.twist, w.bias, node.freedoms, columns, m);
      continue;
    }
    if (parent == nullptr) {
      m.pose = w.to_parent;  // NOLINT: where there are members there is their motion
      m.pose.translation = m.pose.translation - load_vec3<Scalar>(a.origin);
    } else {
      m.pose = parent->pose * w.to_parent;
    }
    const Vec3<Scalar> axis = m.pose.rotation.axis(2);
    columns[0] = node.hinge == NodeHinge::revolute
                     ? Twist<Scalar>{axis, cross(m.pose.translation, axis)}
                     : Twist<Scalar>{{zero, zero, zero}, axis};
    if (a.constant || v == nullptr) continue;
    const Twist<Scalar> own = v[node.v_index] * columns[0];
    if (parent == nullptr) {
      m.twist = own;
      m.bias = Twist<Scalar>::zero();
    } else {
      m.twist = parent->twist + own;
      m.bias = parent->bias + ad(parent->twist, own);
    }
  }
}

// The user's function of a coupling serves double and, through its derivatives, Dual<double, N>;
// packs are done lane by lane by
// couple(), other scalars get NaN. (The dual numbers' one is with those who use it:
// sensitivity/tangent.cpp.)
template <class Scalar>
inline void evaluate_user_coupling(const Coupling&, int terms, const Scalar*, Scalar& value,
                                   Scalar* gradient, Scalar* hessian) {
  const Scalar nan(std::numeric_limits<double>::quiet_NaN());
  value = nan;
  for (int i = 0; i < terms; ++i) gradient[i] = nan;
  for (int i = 0; i < terms * terms; ++i) hessian[i] = nan;
}
inline void evaluate_user_coupling(const Coupling& coupling, int terms, const double* x,
                                   double& value, double* gradient, double* hessian) {
  evaluate_coupling(coupling, terms, x, value, gradient, hessian);
}

// One row of a coupling by the user's function.
template <class Scalar>
inline void couple(const Closure& c, const CouplingTerm* terms, const int* freedom_of_column,
                   const Scalar* q, const Scalar* v, Scalar* row, const int* place_of_column,
                   const AggregateScratch<Scalar>& g, Scalar& right, Scalar& gap, Scalar& rate) {
  Scalar* x = g.work;
  Scalar* gradient = x + c.term_count;
  Scalar* hessian = gradient + c.term_count;
  Scalar value(0.0);
  if constexpr (kLanesOf < Scalar >> 0) {
    // The work space has the size of x, gradient and hessian in packs: room for all lanes.
    constexpr int kLanes = kLanesOf<Scalar>;
    const int terms_squared = c.term_count * c.term_count;
    double* at = reinterpret_cast<double*>(hessian + terms_squared);
    double* own_gradient = at + c.term_count;
    double* own_hessian = own_gradient + c.term_count;
    double values[kLanes];
    for (int l = 0; l < kLanes; ++l) {
      for (int i = 0; i < c.term_count; ++i) at[i] = q[terms[i].coordinate].lane(l);
      evaluate_coupling(*c.coupling, c.term_count, at, values[l], own_gradient, own_hessian);
      for (int i = 0; i < c.term_count; ++i) set_lane(gradient[i], l, own_gradient[i]);
      for (int i = 0; i < terms_squared; ++i) set_lane(hessian[i], l, own_hessian[i]);
    }
    value = Scalar::load(values);
  } else {
    for (int i = 0; i < c.term_count; ++i) x[i] = q[terms[i].coordinate];
    evaluate_user_coupling(*c.coupling, c.term_count, x, value, gradient, hessian);
  }
  gap = value;
  for (int i = 0; i < c.term_count; ++i) {
    Scalar& entry = row[place_of_column[terms[i].column]];
    entry = entry + gradient[i];
    if (v == nullptr) continue;
    const Scalar vi = v[freedom_of_column[terms[i].column]];
    rate = rate + gradient[i] * vi;
    for (int k = 0; k < c.term_count; ++k)
      right = right - vi * hessian[i * c.term_count + k] * v[freedom_of_column[terms[k].column]];
  }
}

// X of an aggregate in which it does not change; γ is zero.
template <class Scalar>
inline void set_constant_map(const SweepModel& model, const Aggregate& a,
                             const AggregateScratch<Scalar>& g) {
  const int* order = model.order + a.first_order;
  const double* map = model.constant_map + a.first_map;
  for (int i = 0; i < a.freedoms; ++i) g.bias[i] = Scalar(0.0);
  for (int i = 0; i < a.rank; ++i)
    for (int k = 0; k < a.independents; ++k)
      g.map[order[i] * a.independents + k] = Scalar(map[i * a.independents + k]);
  for (int i = 0; i < a.independents; ++i)
    for (int k = 0; k < a.independents; ++k)
      g.map[order[a.rank + i] * a.independents + k] = Scalar(i == k ? 1.0 : 0.0);
}

// X and γ of one aggregate. False if a pivot is lost.
template <class Scalar, int kSize>
[[gnu::noinline]] bool solve_closure(const SweepModel& model, const Aggregate& a, const Scalar* q,
                                     const Scalar* v, AggregateScratch<Scalar>& g) {
  if (a.constant) {
    set_constant_map(model, a, g);
    return true;
  }
  const Scalar zero(0.0), one(1.0);
  const int size = size_of<kSize>(a), independents = independents_of<kSize>(a);
  const int rank = size - independents;
  const int* order = model.order + a.first_order;
  const int* freedom = model.freedom_of_column + a.first_order;
  for (int i = 0; i < size; ++i) {
    g.bias[i] = zero;
    g.place_of_column[order[i]] = i;
  }
  for (int i = 0; i < size * independents; ++i) g.map[i] = zero;
  for (int k = 0; k < independents; ++k) g.map[order[rank + k] * independents + k] = one;
  g.gap = zero;
  g.rate = zero;
  // The rows that the chart uses, columns in the order of the pivots, Ẏ v at the end of each.
  const int stride = size + 1;
  const Scalar inverse_length(1.0 / a.length);
  ClosureMotion<Scalar> sides;
  int seen = -1;
  for (int i = 0; i < rank; ++i) {
    const ChartRow& chosen = model.chart_rows[a.first_row + i];
    const Closure& c = model.closures[chosen.closure];
    Scalar* row = g.rows + chosen.place * stride;
    for (int k = 0; k < stride; ++k) row[k] = zero;
    Scalar& right = row[size];
    Scalar gap = zero, rate = zero;
    if (c.kind == ClosureKind::coupling) {
      const CouplingTerm* terms = model.terms + c.first_term;
      if (c.coupling != nullptr) {
        couple(c, terms, freedom, q, v, row, g.place_of_column, g, right, gap, rate);
      } else {
        for (int k = 0; k < c.term_count; ++k) {
          Scalar& entry = row[g.place_of_column[terms[k].column]];
          entry = entry + Scalar(terms[k].coefficient);
          if (v != nullptr)
            rate = rate + Scalar(terms[k].coefficient) * v[freedom[terms[k].column]];
        }
      }
    } else {
      if (chosen.closure != seen) {
        seen = chosen.closure;
        move_side(c.parent, g.members, sides.parent);
        move_side(c.child, g.members, sides.child);
      }
      const Wrench<Scalar> covector = row_covector(c, chosen.row, sides);
      for (int k = c.first_path; k < c.first_path + c.path_count; ++k) {
        const PathColumn& path = model.paths[k];
        row[g.place_of_column[path.column]] =
            Scalar(path.sign) * dot(covector, g.columns[path.column]);
      }
      const Vec3<Scalar> apart = sides.child.pose.translation - sides.parent.pose.translation;
      if (c.kind == ClosureKind::rod)
        gap = Scalar(0.5) * inverse_length * (dot(covector.force, apart) - Scalar(c.length));
      else if (c.pitch == 0.0)
        gap = inverse_length * dot(covector.force, apart);
      if (v != nullptr) {
        right = -row_bias(c, chosen.row, covector, sides);
        rate = inverse_length * dot(covector, sides.child.twist - sides.parent.twist);
      }
    }
    g.gap = g.gap + gap * gap;
    g.rate = g.rate + rate * rate;
  }
  // Gauss-Jordan elimination in the chart's order of pivots.
  for (int p = 0; p < rank; ++p) {
    Scalar* pivot_row = g.rows + p * stride;
    Scalar squares = zero;
    for (int k = p; k < size; ++k) squares = squares + pivot_row[k] * pivot_row[k];
    const Scalar pivot = pivot_row[p];
    if (!all_positive(pivot * pivot - Scalar(kLostRow * kLostRow) * squares)) return false;
    const Scalar inverse = one / pivot;
    for (int k = p + 1; k < stride; ++k) pivot_row[k] = inverse * pivot_row[k];
    for (int i = 0; i < rank; ++i) {
      if (i == p) continue;
      Scalar* row = g.rows + i * stride;
      const Scalar factor = row[p];
      for (int k = p + 1; k < stride; ++k) row[k] = row[k] - factor * pivot_row[k];
    }
  }
  for (int i = 0; i < rank; ++i) {
    const Scalar* row = g.rows + i * stride;
    for (int k = 0; k < independents; ++k) g.map[order[i] * independents + k] = -row[rank + k];
    g.bias[order[i]] = row[size];
  }
  return true;
}

// D = L Lᵀ in place (lower triangle, row by row); false if a pivot is lost.
template <class Scalar>
inline bool factor_rows(Scalar* d, int size) {
  using std::sqrt;
  for (int j = 0; j < size; ++j) {
    Scalar& pivot = d[j * size + j];
    const Scalar lost = Scalar(kLostPivot) * pivot;
    for (int k = 0; k < j; ++k) pivot = pivot - d[j * size + k] * d[j * size + k];
    if (!all_positive(pivot - lost)) return false;
    pivot = sqrt(pivot);
    const Scalar inverse = Scalar(1.0) / pivot;
    for (int i = j + 1; i < size; ++i) {
      Scalar& entry = d[i * size + j];
      for (int k = 0; k < j; ++k) entry = entry - d[i * size + k] * d[j * size + k];
      entry = entry * inverse;
    }
  }
  return true;
}
template <class Scalar, class T>
inline void solve_lower_rows(const Scalar* l, int size, T* x) {
  for (int i = 0; i < size; ++i) {
    for (int k = 0; k < i; ++k) x[i] = x[i] - l[i * size + k] * x[k];
    x[i] = (Scalar(1.0) / l[i * size + i]) * x[i];
  }
}
template <class Scalar>
inline void solve_upper_rows(const Scalar* l, int size, Scalar* x) {
  for (int i = size; i-- > 0;) {
    for (int k = i + 1; k < size; ++k) x[i] = x[i] - l[k * size + i] * x[k];
    x[i] = x[i] / l[i * size + i];
  }
}

// The coupling of a member's rotor in the aggregate's axes; zero when there is none.
template <class Scalar>
inline Vec3<Scalar> rotor_in_aggregate(const SweepModel& model, const AggregateMember& member,
                                       const AggregateScratch<Scalar>& g) {
  const Vec3<Scalar> coupling = load_vec3<Scalar>(model.rotors[member.node].coupling);
  return member.parent < 0 ? coupling : g.members[member.parent].pose.rotation * coupling;
}

// The inward step. False if the inertia of the independent freedoms is not positive definite.
template <class Scalar, bool kHybrid, int kSize>
[[gnu::noinline]] bool eliminate_aggregate(const SweepModel& model, const Aggregate& a,
                                           const Scalar* effort, const Scalar* given_acceleration,
                                           const std::uint8_t* driven, const Scalar* v,
                                           const Scratch<Scalar>& s, AggregateScratch<Scalar>& g) {
  const Scalar zero(0.0);
  const int size = size_of<kSize>(a), independents = independents_of<kSize>(a);
  const int members = members_of<kSize>(a), rank = size - independents;
  const int* order = model.order + a.first_order;
  const int* freedom = model.freedom_of_column + a.first_order;
  const auto freedoms_of = [&](const AggregateMember& member) {
    return kSize > 0 ? 1 : static_cast<int>(model.nodes[member.node].freedoms);
  };
  const bool rotors = model.rotors != nullptr;
  const bool placed = is_placed_early(model, a);

  // Motion-driven freedoms are independent; their acceleration joins the bias.
  g.free_count = 0;
  for (int k = 0; k < independents; ++k) {
    const int column = order[rank + k];
    if (kHybrid && driven[freedom[column]] != 0) {
      const Scalar given = given_acceleration[freedom[column]];
      for (int i = 0; i < size; ++i) g.bias[i] = g.bias[i] + given * g.map[i * independents + k];
    } else {
      g.free[g.free_count++] = k;
    }
  }

  for (int i = 0; i < size * size; ++i) g.mass[i] = zero;  // members on different branches

  // Outward: the members' accelerations at v̇_r = 0, and what they feel; inward: composites.
  for (int i = 0; i < members; ++i) {
    const AggregateMember& member = model.members[a.first_member + i];
    const NodeScratch<Scalar>& w = s.nodes[member.node];
    const int freedoms = freedoms_of(member);
    const Transform<Scalar>& pose = placed ? g.members[i].pose : w.to_parent;
    g.composite[i] = inertia_at_base(model, member, pose, w);
    if (is_lone(model, member)) {
      const LoneMember<Scalar> lone(model.nodes[member.node], w);
      const Wrench<Scalar> force = lone.force + g.bias[member.column] * lone.momentum;
      g.needed[member.column] = lone.along(force);
      g.mass[member.column * (size + 1)] = lone.along(lone.momentum);
      g.momentum[member.column] = Ad_star_inverse(pose, lone.momentum);
      g.force[i] = Ad_star_inverse(pose, force);
      continue;
    }
    Twist<Scalar> acceleration = Ad(pose, w.bias);
    if (member.parent >= 0) acceleration += g.acceleration[member.parent];
    for (int k = member.column; k < member.column + freedoms; ++k)
      acceleration += g.bias[k] * g.columns[k];
    g.acceleration[i] = acceleration;
    g.force[i] = Ad_star_inverse(pose, w.force) + g.composite[i] * acceleration;
  }
  Wrench<Scalar> total_force = Wrench<Scalar>::zero();
  ArticulatedInertia<Scalar> total = ArticulatedInertia<Scalar>::zero();
  if (rotors) {
    for (int i = 0; i < members; ++i) {
      const AggregateMember& member = model.members[a.first_member + i];
      const Node& node = model.nodes[member.node];
      if (node.freedoms != 1 || node.parent < 0) continue;
      const Vec3<Scalar> coupling = rotor_in_aggregate(model, member, g);
      const Vec3<Scalar> own = load_vec3<Scalar>(model.rotors[member.node].coupling);
      Vec3<Scalar> turned = cross(s.nodes[node.parent].twist.angular, v[node.v_index] * own);
      if (member.parent >= 0) turned = g.members[member.parent].pose.rotation * turned;
      Wrench<Scalar>& felt = member.parent < 0 ? total_force : g.force[member.parent];
      felt.moment += g.bias[member.column] * coupling + turned;
    }
  }
  for (int i = members; i-- > 0;) {
    const AggregateMember& member = model.members[a.first_member + i];
    const int freedoms = is_lone(model, member) ? 0 : freedoms_of(member);
    for (int k = member.column; k < member.column + freedoms; ++k) {
      g.needed[k] = dot(g.force[i], g.columns[k]);
      const Wrench<Scalar> momentum = g.composite[i] * g.columns[k];
      g.momentum[k] = momentum;
      for (int l = member.column; l <= k; ++l)
        g.mass[k * size + l] = g.mass[l * size + k] = dot(momentum, g.columns[l]);
      for (int j = member.parent; j >= 0; j = model.members[a.first_member + j].parent) {
        const AggregateMember& inner = model.members[a.first_member + j];
        const int inner_freedoms = freedoms_of(inner);
        for (int l = inner.column; l < inner.column + inner_freedoms; ++l)
          g.mass[k * size + l] = g.mass[l * size + k] = dot(momentum, g.columns[l]);
      }
    }
    if (member.parent < 0) {
      total_force += g.force[i];
      total += g.composite[i];
    } else {
      g.force[member.parent] += g.force[i];
      g.composite[member.parent] += g.composite[i];
    }
  }
  if (rotors) {
    for (int i = 0; i < members; ++i) {
      const AggregateMember& member = model.members[a.first_member + i];
      if (model.nodes[member.node].freedoms != 1) continue;
      const int k = member.column;
      const Scalar reflected = rotor_inertia<Scalar>(model, member.node);
      g.mass[k * size + k] = g.mass[k * size + k] + reflected;
      g.needed[k] = g.needed[k] + reflected * g.bias[k];
      if (model.nodes[member.node].parent < 0) continue;
      const Vec3<Scalar> coupling = rotor_in_aggregate(model, member, g);
      g.momentum[k].moment += coupling;
      if (member.parent >= 0)
        g.needed[k] = g.needed[k] + dot(coupling, g.acceleration[member.parent].angular);
      for (int j = member.parent; j >= 0; j = model.members[a.first_member + j].parent) {
        const AggregateMember& inner = model.members[a.first_member + j];
        for (int l = inner.column; l < inner.column + model.nodes[inner.node].freedoms; ++l) {
          const Scalar entry = dot(coupling, g.columns[l].angular);
          g.mass[k * size + l] = g.mass[k * size + l] + entry;
          g.mass[l * size + k] = g.mass[l * size + k] + entry;
        }
      }
    }
  }

  // D = Xᵀ M X, ε = Xᵀ (τ − needed), gain = U X over the freedoms that are force-driven.
  const int free = kSize > 0 && !kHybrid ? 1 : g.free_count;
  for (int f = 0; f < free; ++f) {
    const int k = kSize > 0 ? 0 : g.free[f];
    Scalar innovation = zero;
    Wrench<Scalar> gain = Wrench<Scalar>::zero();
    for (int i = 0; i < size; ++i) {
      const Scalar x = g.map[i * independents + k];
      const Scalar applied =
          effort == nullptr || (kHybrid && driven[freedom[i]] != 0) ? zero : effort[freedom[i]];
      innovation = innovation + x * (applied - g.needed[i]);
      gain += x * g.momentum[i];
      Scalar sum = zero;
      for (int l = 0; l < size; ++l) sum = sum + g.mass[i * size + l] * g.map[l * independents + k];
      g.work[i] = sum;
    }
    g.innovation[f] = innovation;
    g.gain[f] = gain;
    for (int h = 0; h <= f; ++h) {
      Scalar sum = zero;
      for (int i = 0; i < size; ++i) sum = sum + g.map[i * independents + g.free[h]] * g.work[i];
      g.factor[f * free + h] = sum;
    }
  }
  if (!factor_rows(g.factor, free)) return false;
  if (a.base < 0) return true;
  for (int f = 0; f < free; ++f) {
    g.reduced[f] = g.gain[f];
    g.work[f] = g.innovation[f];
  }
  solve_lower_rows(g.factor, free, g.reduced);
  solve_lower_rows(g.factor, free, g.work);
  for (int f = 0; f < free; ++f) {
    total -= outer(g.reduced[f], Scalar(1.0));
    total_force += g.work[f] * g.reduced[f];
  }
  Wrench<Scalar>& felt = s.nodes[a.base].force;
  felt += total_force;
  if (a.origin[0] != 0.0 || a.origin[1] != 0.0 || a.origin[2] != 0.0) {
    const Vec3<Scalar> origin = load_vec3<Scalar>(a.origin);
    felt.moment += cross(origin, total_force.force);
    total = translated(origin, total.angular, total.coupling, total.linear);
  }
  receive(model, model.members[a.first_member].node, a.base, total, s);
  return true;
}

// The last outward step: accelerations of all members' freedoms from that of the base.
template <class Scalar, bool kHybrid, int kSize>
[[gnu::noinline]] void accelerate_aggregate(const SweepModel& model, const Aggregate& a,
                                            const Twist<Scalar>& base,
                                            const Scalar* given_acceleration,
                                            const std::uint8_t* driven, const Scalar* effort,
                                            AggregateScratch<Scalar>& g, Scalar* acceleration,
                                            Scalar* found_effort) {
  const Scalar zero(0.0);
  const int size = size_of<kSize>(a), independents = independents_of<kSize>(a);
  const int rank = size - independents, free = kSize > 0 && !kHybrid ? 1 : g.free_count;
  const int* order = model.order + a.first_order;
  const int* freedom = model.freedom_of_column + a.first_order;
  const Twist<Scalar> pulled{base.angular,
                             base.linear + cross(base.angular, load_vec3<Scalar>(a.origin))};
  for (int f = 0; f < free; ++f) g.work[f] = g.innovation[f] - dot(g.gain[f], pulled);
  solve_lower_rows(g.factor, free, g.work);
  solve_upper_rows(g.factor, free, g.work);
  for (int i = 0; i < size; ++i) {
    Scalar sum = g.bias[i];
    for (int f = 0; f < free; ++f) sum = sum + g.map[i * independents + g.free[f]] * g.work[f];
    acceleration[freedom[i]] = sum;
  }
  if constexpr (kHybrid) {
    // What every hinge of the spanning tree would have to give, less what it gives.
    for (int i = 0; i < size; ++i) {
      Scalar sum = g.needed[i] + dot(g.momentum[i], pulled);
      for (int l = 0; l < size; ++l)
        sum = sum + g.mass[i * size + l] * (acceleration[freedom[l]] - g.bias[l]);
      const bool is_driven = driven[freedom[i]] != 0;
      const Scalar given = effort != nullptr && !is_driven ? effort[freedom[i]] : zero;
      found_effort[freedom[i]] = given;
      g.needed[i] = sum - given;
    }
    for (int k = 0; k < independents; ++k) {
      const int column = order[rank + k];
      if (driven[freedom[column]] == 0) continue;
      Scalar sum = zero;
      for (int i = 0; i < size; ++i) sum = sum + g.map[i * independents + k] * g.needed[i];
      found_effort[freedom[column]] = sum;
      acceleration[freedom[column]] = given_acceleration[freedom[column]];
    }
  }
}

// Calls f<kSize>() for the size that suits the aggregate.
template <class F>
inline auto with_size(const Aggregate& a, F f) {
  if (a.simple && a.independents == 1) {
    if (a.freedoms == 2) return f.template operator()<2>();
    if (a.freedoms == 3) return f.template operator()<3>();
  }
  return f.template operator()<0>();
}

}  // namespace CATENA_ISA
}  // namespace catena
