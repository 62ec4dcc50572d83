// SPDX-License-Identifier: BSD-3-Clause
// The operators against dense matrices, and the numbers of the ten-body tree.
#include "catena/dynamics/operators/operators.h"

#include "catena/base/dense.h"
#include "catena/base/index.h"
#include "catena/dynamics/operators/influence.h"
#include "catena/dynamics/testing/closed_cases.h"
#include "catena/dynamics/testing/operator_test_support.h"

namespace catena::test {
namespace {

constexpr double kOperatorTolerance = 1e-11;
using Operator = void (*)(Workspace&, const VectorXd&, VectorXd&);

MatrixXd dense(Operator op, Workspace& w) {
  const auto n = static_cast<Eigen::Index>(w.independent().size());
  MatrixXd m(n, n);
  VectorXd y;
  for (Eigen::Index j = 0; j < n; ++j) {
    op(w, VectorXd::Unit(n, j), y);
    m.col(j) = y;
  }
  return m;
}

void expect_operators(const Mechanism& mechanism, const VectorXd& q) {
  Workspace w(mechanism);
  const MatrixXd m = mass_matrix(mechanism, q, w);
  const MatrixXd one = MatrixXd::Identity(m.rows(), m.cols());
  articulate(mechanism, q, w);
  const MatrixXd factor = dense(apply_factor, w), d = dense(apply_hinge_inertia, w);
  const MatrixXd inverse_factor = dense(apply_inverse_factor, w);
  // An inverse is as good as its matrix is conditioned, against its own size.
  const double condition = m.norm() * catena::inverse(m).norm() / static_cast<double>(m.rows());
  const double loose = std::max(kOperatorTolerance, 1e-14 * condition);
  EXPECT_LT(distance(product(factor, d, factor.transpose()), m), kOperatorTolerance);
  EXPECT_LT(distance(dense(apply_mass_matrix, w), m), kOperatorTolerance);
  EXPECT_LT(distance(dense(apply_factor_transposed, w), factor.transpose()), kOperatorTolerance);
  EXPECT_LT(distance(dense(apply_inverse_factor_transposed, w), inverse_factor.transpose()),
            kOperatorTolerance);
  EXPECT_LT(distance(product(factor, inverse_factor), one), loose);
  EXPECT_LT(distance(product(d, dense(apply_inverse_hinge_inertia, w)), one), loose);
  const MatrixXd inverse = dense(apply_inverse_mass_matrix, w);
  EXPECT_LT(distance(product(m, inverse), one), loose);
  MatrixXd whole;
  inverse_mass_matrix(w, whole);
  EXPECT_LT(distance(whole, inverse), loose);
  EXPECT_EQ((whole - whole.transpose()).cwiseAbs().maxCoeff(), 0.0);
  // Of many columns at once: fewer than a block, several blocks with a rest, and in place.
  for (const Eigen::Index columns : {Eigen::Index{3}, Eigen::Index{69}}) {
    MatrixXd x = m * MatrixXd::Random(m.rows(), columns), y;
    apply_inverse_mass_matrix(w, x, y);
    EXPECT_LT(distance(y, Cholesky(m).solve(x)), loose);
    apply_inverse_mass_matrix(w, x, x);
    EXPECT_EQ(x, y);
  }
  const Cholesky root(m);
  double log_determinant = 0.0;
  for (Eigen::Index i = 0; i < m.rows(); ++i) log_determinant += 2.0 * std::log(root.pivot_root(i));
  EXPECT_NEAR(log_determinant_mass_matrix(w), log_determinant, 1e-9);

  // In place, and through the diagonalizing velocities.
  VectorXd v = VectorXd::LinSpaced(m.rows(), -1.0, 2.0), nu, back, d_nu;
  const double energy = 0.5 * v.dot(m * v);
  diagonalizing_velocity(w, v, nu);
  apply_hinge_inertia(w, nu, d_nu);
  EXPECT_NEAR(0.5 * nu.dot(d_nu), energy, kOperatorTolerance * energy);
  velocity_from_diagonalizing(w, nu, back);
  EXPECT_LT(distance(back, v), loose);
  normalized_velocity(w, v, nu);
  EXPECT_NEAR(0.5 * nu.squaredNorm(), energy, kOperatorTolerance * energy);
  velocity_from_normalized(w, nu, nu);
  EXPECT_LT(distance(nu, v), loose);
  apply_mass_matrix(w, v, back);
  apply_inverse_mass_matrix(w, back, back);
  EXPECT_LT(distance(back, v), loose);
}

TEST(Operators, AgreeWithDenseMatricesOnRandomTrees) {
  Random random(11);
  for (int i = 0; i < 40; ++i) {
    TreeSettings settings;
    settings.bodies = 1 + i / 2;
    settings.free_base = i % 2 == 1;
    settings.limb_after_limb = i % 3 == 0;
    const bool rotors = i % 4 >= 2;
    settings.reversed = !rotors;  // else some carriers would be beyond their hinges
    MechanismBuilder builder = random_tree(random, settings);
    if (rotors) add_rotors(random, builder);
    const Mechanism mechanism = builder.finish();
    if (mechanism.freedoms() == 0) continue;
    SCOPED_TRACE(i);
    expect_operators(mechanism, random_position(mechanism, static_cast<std::uint64_t>(i)));
  }
}

// Closed loops as blocks: against Xᵀ M X by composite bodies.
TEST(Operators, AgreeWithDenseMatricesOnClosedMechanisms) {
  const TwoFourBars series = two_four_bars();
  expect_operators(series.m, series.s.q);
  const Mechanism plain = four_bar(), branched = four_bar(HingeType::revolute, true);
  expect_operators(plain, four_bar_state(plain, 0.7, 1.0).q);
  State s = four_bar_state(branched, 0.7, 1.0);
  s.q[branched.velocity_index("E")] = -0.8;
  expect_operators(branched, s.q);
  const Mechanism hexapod = platform();
  expect_operators(hexapod, assemble(hexapod, hexapod.default_state()).q);
}

TEST(Operators, DenseOperatorsOfClosedMechanisms) {
  const TwoFourBars series = two_four_bars();
  const Mechanism hexapod = platform();
  const State s = assemble(hexapod, hexapod.default_state());
  for (const auto& [m, q] : {std::pair<const Mechanism&, VectorXd>{series.m, series.s.q},
                             std::pair<const Mechanism&, VectorXd>{hexapod, s.q}}) {
    Workspace w(m);
    const MatrixXd mass = mass_matrix(m, q, w);
    articulate(m, q, w);
    const DenseOperators o = dense_operators(w);
    const MatrixXd g = product(o.shift_sum, o.hinge_map);
    if (m.drives().empty()) {  // rotors are not in `inertia`
      EXPECT_LT(distance(product(g.transpose(), o.inertia, g), mass), kOperatorTolerance);
    }
    EXPECT_LT(distance(product(o.factor.transpose(), o.hinge_inertia, o.factor), mass),
              kOperatorTolerance);
    EXPECT_LT(
        distance(product(o.factor, o.inverse_factor), MatrixXd::Identity(mass.rows(), mass.cols())),
        kOperatorTolerance);
    EXPECT_LT(distance(o.factor, dense(apply_factor_transposed, w)), kOperatorTolerance);
    EXPECT_LT(distance(o.inverse_factor, dense(apply_inverse_factor_transposed, w)),
              kOperatorTolerance);
  }
}

TEST(Operators, ClosedMechanismsNeedAChartAndAClosedPosition) {
  const Mechanism m = four_bar();
  Workspace w(m);
  VectorXd y;
  EXPECT_THROW(apply_factor(w, VectorXd::Zero(1), y), NumericalError);
  EXPECT_THROW(articulate(m, VectorXd::Constant(3, 0.3), w), NumericalError);
  articulate(m, four_bar_state(m, 0.7, 1.0).q, w);
  EXPECT_THROW(apply_factor(w, VectorXd::Zero(3), y), NumericalError);
  apply_factor(w, VectorXd::Ones(1), y);
  EXPECT_EQ(y, VectorXd::Ones(1));
}

// Every identity of [Concurrent Dynamics 2017] between the dense operators.
TEST(Operators, Identities) {
  Random random(3);
  std::vector<std::pair<Mechanism, VectorXd>> cases;
  const SpecCase tree = spec_case_t(), chain = spec_case_a();
  cases.emplace_back(tree.mechanism, tree.state.q);
  cases.emplace_back(chain.mechanism, chain.state.q);
  for (int i = 0; i < 6; ++i) {
    TreeSettings settings;
    settings.bodies = 8;
    settings.free_base = i % 2 == 0;
    Mechanism m = random_tree(random, settings).finish();
    const VectorXd q = random_position(m, static_cast<std::uint64_t>(i));
    cases.emplace_back(std::move(m), q);
  }
  for (const auto& [mechanism, q] : cases) {
    Workspace w(mechanism);
    articulate(mechanism, q, w);
    const DenseOperators o = dense_operators(w);
    const MatrixXd m = mass_matrix(mechanism, q);
    const Eigen::Index n6 = o.shift.rows();
    const MatrixXd one = MatrixXd::Identity(n6, n6);
    const MatrixXd& phi = o.shift;
    const MatrixXd& psi = o.shift_sum;
    const MatrixXd& g = o.hinge_map;
    const MatrixXd& p = o.articulated;
    const MatrixXd& psi_b = o.articulated_sum;
    const MatrixXd& phi_b = o.articulated_step;
    const MatrixXd small = MatrixXd::Identity(m.rows(), m.cols());
    const double tolerance = 1e-11;

    // 1. Nilpotency and the sum of powers.
    const int length = nilpotency(node_parents(mechanism));
    MatrixXd power = one, sum = one * 0.0;
    for (int k = 0; k < length; ++k) {
      EXPECT_GT(power.cwiseAbs().maxCoeff(), 0.0);
      sum += power;
      power = product(power, phi);
    }
    EXPECT_EQ(power.cwiseAbs().maxCoeff(), 0.0);
    EXPECT_LT(distance(sum, psi), tolerance);
    EXPECT_LT(distance(product(phi, psi) + one, psi), tolerance);
    EXPECT_LT(distance(product(psi, phi) + one, psi), tolerance);
    // 2. The articulated step.
    EXPECT_LT(distance(phi - product(g, o.gain.transpose()), phi_b), tolerance);
    EXPECT_LT(distance(product(phi.transpose(), o.own_gain), o.gain), tolerance);
    EXPECT_LT(distance(product(o.own_gain.transpose(), g), small), tolerance);
    // 3. Riccati, plain, Joseph, and for composite bodies.
    const MatrixXd felt = p - product(p, g, inverse(o.hinge_inertia), g.transpose(), p);
    EXPECT_LT(distance(p - product(phi.transpose(), felt, phi), o.inertia), tolerance);
    EXPECT_LT(distance(p - product(phi_b.transpose(), p, phi_b), o.inertia), tolerance);
    MatrixXd composite = o.inertia;
    for (int n = w.model().node_count; n-- > 0;)
      if (const int parent = w.model().nodes[n].parent; parent >= 0) {
        const Matrix6d x = phi.block<6, 6>(6 * n, 6 * parent);
        composite.block<6, 6>(6 * parent, 6 * parent) +=
            x.transpose() * composite.block<6, 6>(6 * n, 6 * n) * x;
      }
    // 4. Both decompositions.
    const MatrixXd beyond = product(phi, psi), beyond_b = product(phi_b, psi_b);
    EXPECT_LT(
        distance(composite + product(composite, beyond) + product(beyond.transpose(), composite),
                 product(psi.transpose(), o.inertia, psi)),
        tolerance);
    EXPECT_LT(distance(p + product(p, beyond_b) + product(beyond_b.transpose(), p),
                       product(psi_b.transpose(), o.inertia, psi_b)),
              tolerance);
    // 5. Factors.
    EXPECT_LT(distance(product(g.transpose(), psi.transpose(), o.inertia, psi, g), m), tolerance);
    EXPECT_LT(distance(product(o.factor.transpose(), o.hinge_inertia, o.factor), m), tolerance);
    EXPECT_LT(distance(product(o.inverse_factor, o.factor), small), tolerance);
    EXPECT_LT(distance(o.factor, dense(apply_factor_transposed, w)), tolerance);
    EXPECT_LT(distance(o.inverse_factor, dense(apply_inverse_factor_transposed, w)), tolerance);
    // 6. How the factors act on the sweeps.
    EXPECT_LT(distance(product(psi, g, o.inverse_factor), product(psi_b, g)), tolerance);
    EXPECT_LT(
        distance(product(g.transpose(), psi_b.transpose(), o.inertia, psi_b, g), o.hinge_inertia),
        tolerance);
    // 7. Between the two sweeps.
    EXPECT_LT(distance(psi_b + product(psi_b, g, o.gain.transpose(), psi), psi), tolerance);
    EXPECT_LT(distance(psi - product(psi, g, o.gain.transpose(), psi_b), psi_b), tolerance);
    // 8. Of the chain: (1 − H D⁻¹ Hᵀ P)ᵀ P H = 0.
    const MatrixXd step = one - product(g, inverse(o.hinge_inertia), g.transpose(), p);
    EXPECT_LT(product(step.transpose(), p, g).cwiseAbs().maxCoeff(),
              tolerance * p.cwiseAbs().maxCoeff());
  }
}

TEST(Operators, NumbersOfTheTenBodyTree) {
  const SpecCase c = spec_case_t();
  Workspace w(c.mechanism);
  articulate(c.mechanism, c.state.q, w);
  const DenseOperators o = dense_operators(w);
  const std::vector<Transformd> poses = node_poses(c.mechanism, c.state.q);
  const auto node = [&](int i) {
    return c.mechanism.hinges()[index(c.mechanism.hinge_index("h" + std::to_string(i)))].node;
  };
  const std::vector<double> hinge_inertia = {
      6.02582670202106,  0.0224000000000000, 0.632606763721787, 0.208255431807260,
      0.230496969993512, 0.0420100000000000, 0.155265700531332, 0.0183416000000000,
      0.149585064324485, 0.0173300000000000};
  const std::vector<std::array<double, 6>> gain = {
      {0.0474744039874303, -0.00489230085378727, 1.0, -0.486304272744307, -0.0740191538704344,
       -0.110556307022517},
      {0.921996040342475, 0.403300813768352, 0.355502583449455, -0.707535743948035,
       2.28727071218111, -0.0870734092693214},
      {-0.734813597291772, 0.819447119189693, 0.0158299406321189, 0.823254306483645,
       -0.0847762602724336, -0.347798738251748},
      {0.366886935138902, 1.19445472713034, 0.279314998246560, -2.87041498479686, 0.445828261395877,
       0.707016388835143},
      {-0.706895059859725, 0.119653212417788, -0.787290705611999, -0.395563259065280,
       0.679557526312002, 0.348149708813222},
      {0.889444883369172, 0.135633822517843, -0.444596677744545, -1.63523375370375,
       1.95608727880389, -2.56121842494315},
      {-0.281199500647705, 0.434503773172884, -0.856871110163926, 1.17660587731340,
       1.74772853582783, 0.678047785701739},
      {0.362485289454489, 0.902380542342026, 0.347253309384557, 2.67094357465701, -2.45237917906840,
       2.75821196611054},
      {-0.715187162811940, -0.330145715371353, 0.841080413864618, 1.01023625616405,
       2.27366253460994, 1.80783588669802},
      {0.0389078151193277, -0.0154607102530710, 1.23146767042910, -4.72253714396448,
       0.876630337011309, 0.0231285057998869}};
  for (int i = 1; i <= 10; ++i) {
    const int n = node(i), v = w.model().nodes[n].v_index;
    EXPECT_NEAR(o.hinge_inertia(v, v), hinge_inertia[index(i - 1)], 1e-12);
    const VectorXd k = turned(poses[index(n)].rotation) * o.own_gain.block<6, 1>(6 * n, v);
    const VectorXd expected = Eigen::Map<const Vector6d>(gain[index(i - 1)].data());
    EXPECT_LT(distance(k, expected), 1e-11) << i;
  }
  const auto articulated = [&](int i) {
    const int n = node(i);
    const MatrixXd r = turned(poses[index(n)].rotation);
    return MatrixXd(r * to_eigen(w.node(n).articulated) * r.transpose());
  };
  const std::vector<std::pair<int, std::vector<double>>> inertias = {
      {1, {4.71600483810499,   2.85259784272871,    0.286072531209993,  0.815055286818069,
           -0.912749586418940, 4.17615656484827,    3.77669826048844,   -0.0294801571190717,
           1.38745596429937,   0.350065979884909,   0.290616428385273,  6.02582670202106,
           -2.93038527200958,  -0.446026593853469,  -0.666193146933120, 16.6108022781529,
           0.0722552816713302, -0.0721045811920135, 17.9985059934842,   -0.599036887548413,
           18.6158744968737}},
      {3, {1.92220497159097,     0.108027234281571,   -0.0288829370340506, 0.212297996235355,
           -0.00729152138751659, 2.99984074121747,    0.576039989025607,   0.00154776459261701,
           0.610815766913705,    -0.0583928575885895, 0.697653370461917,   1.10416675470388,
           -2.06782009511789,    -0.575684889717950,  -0.0755750294306792, 7.68992658878799,
           0.263696192511554,    0.0194436681803743,  9.00684449353885,    0.0303614986779614,
           9.28146068666762}},
      {4, {0.322898420480005,  0.0356549697803137, 0.0182630364076450, -0.0708220513388330,
           0.671656038090297,  0.419010484120827,  0.331260852585923,  0.118844899707606,
           -0.816852791974925, 0.0332883007886416, 0.121172446349511,  0.116905707947349,
           -0.322863859041621, 0.107211366251869,  0.0664705745327091, 3.35420208210084,
           -0.199145939469142, -0.258993291527127, 3.11542298890604,   -0.0599306903732343,
           3.48907878036880}},
      {9, {0.118004085150222,   0.0707185851518710,  -0.00414995162305163, -0.00367096139216731,
           -0.0115331308727329, -0.316289580781681,  0.251461964581651,    0.0222915680316738,
           -0.0241045533934328, 0.00674180762792644, -0.774291979938046,   0.283794946778003,
           0.345972568000407,   0.768963225702263,   -1.45283627565247e-4, 3.31350015187077,
           0.0717448019553145,  0.00189287319646322, 3.68668222864117,     -3.51368346621883e-4,
           3.69999072970156}}};
  for (const auto& [i, upper] : inertias)
    EXPECT_LT(distance(articulated(i), symmetric(6, upper)), 1e-12) << i;

  const auto entry = [&](const MatrixXd& a, int i, int j) {
    return a(w.model().nodes[node(i)].v_index, w.model().nodes[node(j)].v_index);
  };
  const std::vector<std::tuple<int, int, double>> factor = {
      {2, 1, 1.07376386779},   {3, 1, -0.185815555141}, {4, 1, 2.16118608863},
      {4, 3, 1.12339532148},   {5, 1, -1.01380799022},  {5, 3, 0.389405837111},
      {6, 3, -0.833695559159}, {6, 5, -0.592013058405}, {7, 4, 0.50810090192},
      {8, 1, -0.526395864345}, {8, 4, 0.673135615324},  {8, 7, -0.144933911993},
      {9, 1, 1.98793769257},   {10, 9, 0.187140275234}};
  for (const auto& [i, j, value] : factor) EXPECT_NEAR(entry(o.factor, i, j), value, 1e-11);
  const std::vector<std::tuple<int, int, double>> inverse = {{4, 1, -2.36993041394},
                                                             {6, 3, 0.60316221857},
                                                             {7, 1, 3.51014311677},
                                                             {8, 1, 2.55110205321},
                                                             {8, 4, -0.746776666726}};
  for (const auto& [i, j, value] : inverse)
    EXPECT_NEAR(entry(o.inverse_factor, i, j), value, 1e-11);
  EXPECT_NEAR(determinant_mass_matrix(w) / 1.27119526685661e-9, 1.0, 1e-12);

  VectorXd nu, d_nu;
  diagonalizing_velocity(w, c.state.v, nu);
  apply_hinge_inertia(w, nu, d_nu);
  EXPECT_NEAR(0.5 * nu.dot(d_nu), 1.38447180609747, 1e-13);

  // The factored inverse on effort − bias: (19b) of [Concurrent Dynamics 2017].
  VectorXd acceleration;
  const VectorXd bias = bias_effort(c.mechanism, c.state, c.external);
  apply_inverse_mass_matrix(w, c.effort - bias, acceleration);
  const std::vector<double> expected = {
      0.655532785070888, -42.7238628748339, 4.14888128647318, -6.67907460060371, -10.3554862053551,
      -5.51744104995867, -9.67324406361905, 2.44008642667152, -19.6138620613941, -20.5859056531525};
  for (int i = 1; i <= 10; ++i)
    EXPECT_NEAR(acceleration[w.model().nodes[node(i)].v_index], expected[index(i - 1)],
                1e-11 * 42.7);
}

// The innovations of the mixed chain: ½ Σ εᵀ D⁻¹ ε is what Gibbs' function falls by.
TEST(Operators, InnovationsOfTheMixedChain) {
  const SpecCase c = spec_case_a();
  Workspace w(c.mechanism);
  const VectorXd bias = bias_effort(c.mechanism, c.state, c.external);
  articulate(c.mechanism, c.state.q, w);
  VectorXd epsilon, solved;
  innovations(w, c.effort - bias, epsilon);
  apply_inverse_hinge_inertia(w, epsilon, solved);
  const std::vector<double> terms = {1940.861344576, 66.61078388756, 127.3677503195, 0.002585243875,
                                     80.34593475209, 164.8502436835, 33.89666620436};
  for (int n = 0; n < 7; ++n) {
    const Node& node = w.model().nodes[n];
    EXPECT_NEAR(epsilon.segment(node.v_index, node.freedoms)
                    .dot(solved.segment(node.v_index, node.freedoms)),
                terms[index(n)], 1e-9);
  }
  EXPECT_NEAR(-0.5 * epsilon.dot(solved), -1206.96765433331, 1e-10);
  EXPECT_NEAR(determinant_mass_matrix(w), 3.18019548200246, 1e-12);
}

TEST(Operators, SayWhatIsWrong) {
  const SpecCase c = spec_case_t();
  Workspace w(c.mechanism);
  articulate(c.mechanism, c.state.q, w);
  VectorXd y;
  EXPECT_THROW(apply_mass_matrix(w, VectorXd::Zero(9), y), NumericalError);
  EXPECT_THROW(articulate(c.mechanism, VectorXd::Zero(9), w), NumericalError);

  MechanismBuilder builder = c.mechanism.edit();
  DriveSettings drive;
  drive.rotor_inertia = 0.01;
  drive.gear_ratio = 10.0;
  drive.carrier = "b1";
  drive.rotor_axis = Vec3d{0.6, 0.0, 0.8};
  builder.hinge("h8").drive = drive;
  const Mechanism remote = builder.finish();
  Workspace other(remote);
  try {
    articulate(remote, c.state.q, other);
    FAIL();
  } catch (const NumericalError& error) {
    EXPECT_NE(std::string(error.what()).find("h8"), std::string::npos);
  }
  // The product with the mass matrix needs no factors.
  const VectorXd x = VectorXd::LinSpaced(10, -1.0, 1.0);
  EXPECT_LT(distance(apply_mass_matrix(remote, c.state.q, x), mass_matrix(remote, c.state.q) * x),
            1e-13);
}

TEST(Influence, BodySetsOfTheTenBodyTree) {
  const std::vector<int> parents = {-1, 0, 0, 2, 2, 4, 3, 6, 0, 8};
  EXPECT_EQ(path_to_ground(parents, 5), (std::vector<int>{5, 4, 2, 0}));
  EXPECT_EQ(branch(parents, 3), (std::vector<int>{3, 6, 7}));
  EXPECT_EQ(children(parents, 0), (std::vector<int>{1, 2, 8}));
  EXPECT_EQ(children(parents, -1), (std::vector<int>{0}));
  EXPECT_EQ(nilpotency(parents), 5);
  EXPECT_EQ(common_ancestor(parents, 7, 5), 2);
  EXPECT_EQ(common_ancestor(parents, 7, 3), 3);
  const std::vector<int> star = {-1, 0, 0, 0};
  EXPECT_EQ(nilpotency(star), 2);
  const std::vector<int> two = {-1, -1};
  EXPECT_EQ(common_ancestor(two, 0, 1), -1);

  std::vector<MatrixXd> blocks;
  for (const double a : {0., 2., 3., 5., 7., 11., 13., 17., 19., 23.})
    blocks.push_back(MatrixXd::Constant(1, 1, a));
  const InfluenceOperator influence(parents, blocks);
  const MatrixXd psi = influence.dense();
  EXPECT_EQ(psi.col(0), (VectorXd(10) << 1, 2, 3, 15, 21, 231, 195, 3315, 19, 437).finished());
  EXPECT_EQ(psi(7, 3), 221.0);
  EXPECT_EQ(psi(5, 2), 77.0);
  EXPECT_EQ(psi(9, 8), 23.0);
  const MatrixXd phi = influence.dense_step();
  EXPECT_NE(product(phi, phi, phi, phi).norm(), 0.0);
  EXPECT_EQ(product(phi, phi, phi, phi, phi).norm(), 0.0);
  const VectorXd x = VectorXd::LinSpaced(10, 1.0, 10.0);
  EXPECT_EQ(influence.apply_transposed(x), psi.transpose() * x);
  EXPECT_THROW(InfluenceOperator({0}, {blocks[0]}), NumericalError);
  EXPECT_THROW(InfluenceOperator({-1, 0}, {blocks[0]}), NumericalError);
}

}  // namespace
}  // namespace catena::test
