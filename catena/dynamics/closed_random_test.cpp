// Closed mechanisms of mixed hinges, cut at hinges of every type, with rods and couplings, against
// the equations of the spanning tree with multipliers: M v̇ + C = τ + Yᵀ λ, Y v̇ = −Ẏ v. Everything
// there comes from the reference (reference.h): velocities and accelerations of points and axes as
// derivatives of positions, in long double; the constraints are solved over the null space of Y, so
// that redundant rows do no harm.
#include <Eigen/LU>
#include <Eigen/QR>

#include "catena/dynamics/random_loops.h"

namespace catena::test {
namespace {

using Wide = Eigen::Matrix<Exact, Eigen::Dynamic, Eigen::Dynamic>;
using WideVector = Eigen::Matrix<Exact, Eigen::Dynamic, 1>;
using V = Eigen::Matrix<Exact, 3, 1>;
using M = Eigen::Matrix<Exact, 3, 3>;

V wide(const Vec3d& a) { return {Exact(a.x), Exact(a.y), Exact(a.z)}; }

// A frame on a body, with its motion.
struct Side {
  M r;
  V p, v, a, w, alpha;
};

Side side_of(const std::vector<reference::Motion<Exact>>& bodies, int body, const Transformd& x) {
  M turn;
  for (int i = 0; i < 3; ++i)
    for (int k = 0; k < 3; ++k) turn(i, k) = Exact(x.rotation.matrix.m[i][k]);
  const V shift = wide(x.translation);
  if (body < 0) return {turn, shift, V::Zero(), V::Zero(), V::Zero(), V::Zero()};
  const auto& m = bodies[static_cast<std::size_t>(body)];
  const auto vec = [](const reference::V3<Exact>& a) { return V(a[0], a[1], a[2]); };
  M r;
  for (int i = 0; i < 3; ++i)
    for (int k = 0; k < 3; ++k)
      r(i, k) = m.r[static_cast<std::size_t>(i)][static_cast<std::size_t>(k)];
  Side s;
  s.r = r * turn;
  s.p = vec(m.origin) + r * shift;
  s.w = vec(m.angular_velocity);
  s.alpha = vec(m.angular_acceleration);
  const V arm = s.p - vec(m.center);
  s.v = vec(m.center_velocity) + s.w.cross(arm);
  s.a = vec(m.center_acceleration) + s.alpha.cross(arm) + s.w.cross(s.w.cross(arm));
  return s;
}

struct Rates {
  std::vector<Exact> first, second;  // of every constraint
};

void add_cut(const Cut& c, const Side& p, const Side& q, Rates& rates) {
  const V w = q.w - p.w, alpha = q.alpha - p.alpha, s = q.p - p.p;
  const auto turn = [&](const Vec3d& direction) {
    const V e = p.r * wide(direction);
    rates.first.push_back(e.dot(w));
    rates.second.push_back(e.dot(alpha) + p.w.cross(e).dot(w));
  };
  const auto shift = [&](const Vec3d& direction, const Vec3d& axis, double pitch) {
    const V d = p.r * wide(direction), a = p.r * wide(axis);
    const V dd = p.w.cross(d);
    rates.first.push_back(d.dot(q.v - p.v) + dd.dot(s) - Exact(pitch) * a.dot(w));
    rates.second.push_back(d.dot(q.a - p.a) + 2 * dd.dot(q.v - p.v) +
                           (p.alpha.cross(d) + p.w.cross(dd)).dot(s) -
                           Exact(pitch) * (a.dot(alpha) + p.w.cross(a).dot(w)));
  };
  const Vec3d x = Vec3d::unit_x(), y = Vec3d::unit_y(), z = Vec3d::unit_z();
  const Vec3d axis = c.axes.empty() ? z : normalized(c.axes[0]);
  const Vec3d e1 = normalized(cross(axis, std::abs(axis.x) < 0.6 ? x : y)), e2 = cross(axis, e1);
  switch (c.type) {
    case HingeType::weld:
    case HingeType::prismatic:
    case HingeType::translation:
      for (const Vec3d& e : {x, y, z}) turn(e);
      break;
    case HingeType::revolute:
    case HingeType::screw:
    case HingeType::cylindrical:
    case HingeType::planar:
      turn(e1);
      turn(e2);
      break;
    case HingeType::universal: {
      // a · b is constant.
      const V a = p.r * wide(normalized(c.axes[0])), b = q.r * wide(normalized(c.axes[1]));
      const V da = p.w.cross(a), db = q.w.cross(b);
      rates.first.push_back(da.dot(b) + a.dot(db));
      rates.second.push_back((p.alpha.cross(a) + p.w.cross(da)).dot(b) + 2 * da.dot(db) +
                             a.dot(q.alpha.cross(b) + q.w.cross(db)));
      break;
    }
    default:
      break;
  }
  switch (c.type) {
    case HingeType::weld:
    case HingeType::revolute:
    case HingeType::universal:
    case HingeType::spherical:
    case HingeType::gimbal:
      for (const Vec3d& e : {x, y, z}) shift(e, z, 0.0);
      break;
    case HingeType::prismatic:
    case HingeType::cylindrical:
    case HingeType::screw:
      shift(e1, z, 0.0);
      shift(e2, z, 0.0);
      if (c.type == HingeType::screw) shift(axis, axis, c.pitch);
      break;
    case HingeType::planar:
      shift(axis, z, 0.0);
      break;
    default:
      break;
  }
}

Rates rates_of(const reference::Engine<Exact>& engine, const Mechanism& tree, const ClosedCase& c,
               const reference::Vector<Exact>& q, const reference::Vector<Exact>& v,
               const reference::Vector<Exact>& a) {
  const auto bodies = engine.motion(q, v, a);
  Rates rates;
  for (const Cut& cut : c.cuts)
    add_cut(cut, side_of(bodies, cut.parent, cut.on_parent),
            side_of(bodies, cut.child, cut.on_child), rates);
  for (const Rod& rod : c.rods) {
    const Side p =
        side_of(bodies, tree.body_index(rod.body_a), Transformd::from_translation(rod.point_a));
    const Side o =
        side_of(bodies, tree.body_index(rod.body_b), Transformd::from_translation(rod.point_b));
    rates.first.push_back((o.p - p.p).dot(o.v - p.v));
    rates.second.push_back((o.p - p.p).dot(o.a - p.a) + (o.v - p.v).squaredNorm());
  }
  for (const Coupling& coupling : c.couplings) {
    Exact first = 0, second = 0;
    for (const Coupling::Term& term : coupling.terms) {
      const auto& hinge = tree.hinges()[static_cast<std::size_t>(tree.hinge_index(term.hinge))];
      const auto i = static_cast<std::size_t>(hinge.v_index + term.freedom);
      first += Exact(term.coefficient) * v[i];
      second += Exact(term.coefficient) * a[i];
    }
    rates.first.push_back(first);
    rates.second.push_back(second);
  }
  return rates;
}

WideVector wide_vector(const std::vector<Exact>& x) {
  return Eigen::Map<const WideVector>(x.data(), static_cast<Eigen::Index>(x.size()));
}

struct Reference {
  Wide y;           // rows by freedoms
  WideVector bias;  // Ẏ v
  Wide null_space;  // of y
  Wide mass;
};

Wide rows_of(const reference::Engine<Exact>& engine, const Mechanism& tree, const ClosedCase& c,
             const reference::Vector<Exact>& q) {
  const auto n = static_cast<std::size_t>(tree.freedoms());
  const reference::Vector<Exact> zero(n, 0);
  Wide y;
  for (std::size_t k = 0; k < n; ++k) {
    reference::Vector<Exact> unit = zero;
    unit[k] = 1;
    const WideVector column = wide_vector(rates_of(engine, tree, c, q, unit, zero).first);
    if (k == 0) y.resize(column.size(), tree.freedoms());
    y.col(static_cast<Eigen::Index>(k)) = column;
  }
  // A cut between bodies that are welded together says nothing: its rows are rounding.
  return y.cwiseAbs().maxCoeff() < Exact(1e-12) ? Wide(Wide::Zero(y.rows(), y.cols())) : y;
}

Wide null_space_of(const Wide& y) {
  Eigen::FullPivLU<Wide> lu(y);
  lu.setThreshold(Exact(1e-9));
  return lu.dimensionOfKernel() > 0 ? Wide(lu.kernel()) : Wide(y.cols(), 0);
}

double relative(const VectorXd& actual, const WideVector& expected) {
  return error(actual, reference::Vector<Exact>(expected.begin(), expected.end()));
}

struct Tally {
  Worst acceleration, dense, multipliers, effort, mass, hybrid_acceleration, hybrid_effort, reduced;
  int closed = 0, moving = 0, redundant = 0;
};

void compare(const Made& made, Tally& worst) {
  const Mechanism& m = made.closed;
  if (m.loops().empty()) return;
  ASSERT_EQ(m.freedoms(), made.tree.freedoms());
  const reference::Engine<Exact> engine(made.tree);
  const auto q = plain<Exact>(made.c.state.q);
  const auto n = static_cast<std::size_t>(m.freedoms());
  const reference::Vector<Exact> zero(n, 0);
  const Wide y = rows_of(engine, made.tree, made.closures, q);
  const Wide null_space = null_space_of(y);
  // A velocity along the closure.
  WideVector v = WideVector::Zero(m.freedoms());
  if (null_space.cols() > 0) {
    const WideVector random = made.c.state.v.cast<Exact>();
    v = null_space * null_space.colPivHouseholderQr().solve(random);
  }
  State state{made.c.state.q, v.cast<double>()};
  const auto vs = plain<Exact>(state.v);
  const WideVector bias =
      wide_vector(rates_of(engine, made.tree, made.closures, q, vs, zero).second);

  Wide mass(m.freedoms(), m.freedoms());
  const auto rows = engine.mass_matrix(q);
  for (std::size_t i = 0; i < n; ++i)
    for (std::size_t k = 0; k < n; ++k)
      mass(static_cast<Eigen::Index>(i), static_cast<Eigen::Index>(k)) = rows[i][k];
  const reference::Vector<double> passive =
      reference::passive_effort(made.tree, plain<double>(state.q), plain<double>(state.v));
  WideVector applied = made.c.effort.cast<Exact>();
  for (std::size_t i = 0; i < n; ++i) applied[static_cast<Eigen::Index>(i)] += Exact(passive[i]);
  const WideVector needed = wide_vector(engine.effort(q, vs, zero, made.c.external));

  // v̇ = particular + N z.
  Eigen::CompleteOrthogonalDecomposition<Wide> solver;
  solver.setThreshold(Exact(1e-9));
  solver.compute(y);
  const WideVector particular = solver.solve(-bias);
  WideVector a = particular;
  if (null_space.cols() > 0) {
    const Wide inner = null_space.transpose() * mass * null_space;
    a += null_space *
         inner.ldlt().solve(null_space.transpose() * (applied - needed - mass * particular));
  }

  ++worst.closed;
  worst.moving += null_space.cols() > 0 ? 1 : 0;
  worst.redundant += solver.rank() < y.rows() ? 1 : 0;
  Workspace w(m);
  worst.acceleration.take(
      relative(forward_dynamics(m, state, made.c.effort, w, made.c.external), a));
  worst.dense.take(
      relative(forward_dynamics(m, state, made.c.effort, w, made.c.external, Route::dense), a));

  if (w.remote_drives().empty()) {
    const VectorXd found =
        forward_dynamics(m, state, made.c.effort, w, made.c.external, Route::multipliers);
    // What cannot move does so to rounding of the accelerations that the open tree would have.
    const WideVector free = mass.ldlt().solve(applied - needed);
    worst.multipliers.take(
        null_space.cols() > 0
            ? relative(found, a)
            : static_cast<double>((found.cast<Exact>() - a).norm() / free.norm()));
  }

  // Inverse dynamics at these accelerations gives back the efforts on the independent freedoms.
  const std::vector<int>& independent = w.independent();
  ASSERT_EQ(static_cast<Eigen::Index>(independent.size()), null_space.cols());
  if (independent.empty()) return;
  Wide chosen(null_space.cols(), null_space.cols());
  for (Eigen::Index i = 0; i < chosen.rows(); ++i)
    chosen.row(i) = null_space.row(independent[static_cast<std::size_t>(i)]);
  const Wide x = null_space * chosen.inverse();
  const WideVector reduced = x.transpose() * made.c.effort.cast<Exact>();
  const VectorXd effort = inverse_dynamics(m, state, a.cast<double>(), w, made.c.external);
  worst.effort.take(relative(effort(independent), reduced));
  const MatrixXd reduced_mass = mass_matrix(m, state.q, w);
  const Wide expected_mass = x.transpose() * mass * x;
  worst.mass.take(static_cast<double>((reduced_mass.cast<Exact>() - expected_mass).norm() /
                                      expected_mass.norm()));

  // One independent freedom driven at the acceleration that it has: the effort applied comes out.
  HybridInput hybrid{std::vector<std::uint8_t>(n, 0), made.c.effort, a.cast<double>()};
  const int driven = independent[independent.size() / 2];
  hybrid.motion_driven[static_cast<std::size_t>(driven)] = 1;
  hybrid.effort[driven] = std::numeric_limits<double>::quiet_NaN();
  HybridResult result;
  hybrid_dynamics(m, state, hybrid, w, result, made.c.external);
  worst.hybrid_acceleration.take(relative(result.acceleration, a));
  const double scale = static_cast<double>(needed.norm() + applied.norm());
  worst.hybrid_effort.take(std::abs(result.effort[driven] - made.c.effort[driven]) / scale);
}

void expect_all_below(double tolerance, const Tally& worst) {
  EXPECT_LT(worst.acceleration.value, tolerance) << "forward dynamics";
  EXPECT_LT(worst.dense.value, tolerance) << "dense route";
  EXPECT_LT(worst.multipliers.value, tolerance) << "route by multipliers";
  EXPECT_LT(worst.effort.value, tolerance) << "inverse dynamics";
  EXPECT_LT(worst.mass.value, tolerance) << "mass matrix";
  EXPECT_LT(worst.hybrid_acceleration.value, tolerance) << "hybrid, accelerations";
  EXPECT_LT(worst.hybrid_effort.value, tolerance) << "hybrid, efforts";
}

// Random closures are often close to a singular position, where digits are lost: of six thousand
// the worst were 9e-12 off by multipliers, which square the condition of Y, and 2e-12 by embedding.
constexpr double kTolerance = 1e-10;

TEST(RandomLoops, OfEveryHinge) {
  Tally worst;
  Random random(21);
  for (int i = 0; i < 300; ++i)
    compare(make(random, 2 + i % 12, 1 + random.below(3), false, false), worst);
  EXPECT_GT(worst.closed, 200);
  EXPECT_GT(worst.moving, 125);
  expect_all_below(kTolerance, worst);
}

TEST(RandomLoops, WithDrivesAndPassiveElements) {
  Tally worst;
  Random random(22);
  for (int i = 0; i < 60; ++i)
    compare(make(random, 2 + i % 10, 1 + random.below(2), i % 2 == 0, i % 3 != 0), worst);
  EXPECT_GT(worst.closed, 40);
  expect_all_below(kTolerance, worst);
}

}  // namespace
}  // namespace catena::test
