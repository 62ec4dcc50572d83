// SPDX-License-Identifier: BSD-3-Clause
// Interbody forces against the reference, and the numbers of the chain A and the tree T.
#include "catena/dynamics/forces.h"

#include "catena/base/dense.h"
#include "catena/base/index.h"
#include "catena/dynamics/published/published_numbers.h"
#include "catena/dynamics/testing/operator_test_support.h"

namespace catena::test {
namespace {

// Chain A in the frames of [D'Eleuterio & Damaren 1991], angular first: velocity part of the
// accelerations, residual force. Then Armstrong's constraint forces and inertias of bodies 1 to 6.
const std::vector<std::vector<double>> kBias = {
    {0, 0, 0, 0, 0, 0},
    {0.101689255198798, -0.118992837503413, 0, -0.346335581026534, -0.225968283869691, 0},
    {0.00106329250398602, -0.0217152432145365, -0.468431381498419, -0.0408176843059318,
     0.257574500172471, 0.174397552931813},
    {0.00106329250398602, -0.0217152432145365, -0.468431381498419, -0.0427127828314202,
     -0.0134774081252001, 0.334392949708439},
    {-1.06467955410114, -0.0319277672440716, -0.5432956047062, 0.723105300835888,
     -0.346473694753093, -0.402318345528343},
    {0.196647436100386, -0.150657510297718, -0.5432956047062, 0.671927326373529, -0.117038651543428,
     0.0587663736314097},
    {0.40900522211633, 1.43911447069232, -0.5432956047062, -0.801567991346895, -0.524538487062828,
     0.107928232656506}};
const std::vector<std::vector<double>> kResidual = {
    {7.69381193456981, -64.8711994471127, -4.03712513622512, -147.347940687766, -13.9680384100034,
     124.557540816078},
    {-1.75049567615208, -24.5846758179608, 10.0267996802594, -56.0915380785156, 24.8177073769576,
     57.3012534391098},
    {-6.0785573009729, -4.53124415094284, 9.7294998563617, -7.51162522749073, 58.1693199277334,
     18.0218825692641},
    {-5.05921578902282, -1.65366071187897, 2.04729222064648, -4.62866123382889, 29.7582026323302,
     11.1059776945616},
    {-0.145926669650968, 3.14078821871407, 2.48085352817654, 6.29332048416044, 14.8989403202535,
     -13.1827502743439},
    {-1.75666494813661, 1.60153493783491, -2.59905854750747, 17.520399079929, 7.39078771920929,
     -5.01947867323407},
    {0.268058849848547, 0.743946552556195, -0.301740479136877, 7.59461043609182, -4.71112015337486,
     -3.88222026367281}};
const std::vector<std::vector<double>> kConstraintForce = {
    {-2.20580292940337, 2.19520885351394, 2.75220696861863, -1.67723694309589, -1.46521670249829},
    {1.69314366503734, 4.5021007983755, 0.687105388113079, -0.962931118376178},
    {-0.250378576092668, 3.8004918822709, -1.11082845113665, 0.65621679281822, -0.480812343230844},
    {2.83722366527763, 0.907046135467584, -1.91962290811781},
    {0.243609516500915, -0.389871002190889, -0.150273811544235},
    {-0.110497875816186, 0.327982412589347, -1.08954576362483, -0.140415150796854,
     0.020419027347453}};
const std::vector<std::vector<double>> kConstraintInertia = {
    {6.66039780681023, 0.78554937678208, -0.75246927701765, -0.175979430452712, 0.62504176806833,
     3.50446393708243, 0.0997071166260228, -0.372760205020841, 0.273933555080401, 7.70094780287099,
     0.0224348775469596, -2.90954114293552, 0.228459880822443, -0.0680918497627032,
     1.62213523685971},
    {2.82634316932797, 0.526927549883205, -0.179975962343281, -0.597316074625587, 3.72657645239857,
     0.827921304426317, -0.0423747196745258, 2.86641519019078, 0.401745382921093,
     0.467376241000821},
    {3.95995294344512, -0.284367522389477, 0.417817346900748, -0.80841542242698, 0.399671165984404,
     3.79447480679886, -0.799858064992231, 0.0838155565506961, 0.210742317296946, 0.293506305449641,
     -0.100432201367798, -0.0108806342380146, 0.257663574408499, -0.0876316491497333,
     0.106047977512494},
    {1.97459826160837, -0.11656743650108, 0.153237286765426, 1.09340700998551, -0.0151404238872748,
     1.67023572494906},
    {2.1813154047077, 0.41478968411373, -0.0688683684256361, 0.160265368490452, -0.0135931451571491,
     0.0369280775194925},
    {0.991071428571429, 0.0535714285714286, 0.0446986258805821, -0.00419642857142857, 0.076875,
     0.678571428571429, -0.268191755283493, -0.0548214285714286, 0.01875, 0.778727678571429,
     0.031020846361124, -0.0444304341252986, 0.0125276785714286, -0.00156875, 0.01790625}};

// Of a table with the linear part first.
Vector6d angular_first(const double (&x)[6]) {
  return (Vector6d() << x[3], x[4], x[5], x[0], x[1], x[2]).finished();
}
Vector6d six(const std::vector<double>& x) { return Eigen::Map<const Vector6d>(x.data()); }

// The Q of [D'Eleuterio & Damaren 1991] for body n, angular first, in the frame of the body.
HingeMatrix constraint_map(int n) {
  HingeMatrix q = HingeMatrix::Zero(6, n == 2 ? 4 : (n == 4 || n == 5 ? 3 : 5));
  const auto units = [&](std::vector<int> text) {  // 1..6, linear first
    for (std::size_t k = 0; k < text.size(); ++k)
      if (text[k] > 0) q((text[k] + 2) % 6, static_cast<Eigen::Index>(k)) = 1.0;
  };
  const double beta = -.6, pitch = .05, length = std::sqrt(1.0 + pitch * pitch);
  switch (n) {
    case 1:
      units({1, 2, 3, 4, 5});
      break;
    case 2:
      units({1, 2, 3, 0});
      q.col(3) << -std::sin(beta), 0, std::cos(beta), 0, 0, 0;
      break;
    case 3:
      units({0, 2, 4, 5, 6});
      q.col(0) << 0, 0, 0, -.8, 0, .6;
      break;
    case 4:
      units({1, 2, 3});
      break;
    case 5:
      units({3, 4, 5});
      break;
    default:
      units({1, 2, 0, 4, 5});
      q.col(2) << 0, 0, -pitch / length, 0, 0, 1 / length;
  }
  return q;
}

TEST(Forces, NumbersOfTheMixedChain) {
  const SpecCase c = spec_case_a();
  Workspace w(c.mechanism);
  const VectorXd acceleration = forward_dynamics(c.mechanism, c.state, c.effort, w, c.external);
  const std::vector<Transformd> poses = node_poses(c.mechanism, c.state.q);
  InterbodyForces forces(c.mechanism);
  for (int n = 0; n < 7; ++n) {
    SCOPED_TRACE(n);
    const Transformd& X_node_body = at(c.mechanism.bodies(), n).X_node_body;
    const MatrixXd turn = turned(X_node_body.rotation).transpose();  // node to body axes
    const MatrixXd p = turn * to_eigen(w.node(n).articulated) * turn.transpose();
    MatrixXd swap = MatrixXd::Zero(6, 6);
    swap.topRightCorner<3, 3>().setIdentity();
    swap.bottomLeftCorner<3, 3>().setIdentity();
    EXPECT_LT(distance(swap * p * swap,
                       symmetric(6, {std::begin(kArticulatedA[n]), std::end(kArticulatedA[n])})),
              1e-12);
    // The text measures its residual from the acceleration without velocity terms and gravity.
    Vector6d reference = six(at(kBias, n));
    reference.tail<3>() -=
        to_eigen((at(poses, n) * X_node_body).rotation.inverse_times(c.mechanism.gravity()));
    const VectorXd psi = turn * to_eigen(w.node(n).force) + p * reference;
    EXPECT_LT(distance(psi, six(at(kResidual, n))), 1e-12);
    EXPECT_LT(
        distance(turn * to_eigen(interbody_force_after_forward(w, n)), angular_first(kForceA[n])),
        1e-11);
    if (n == 0) continue;
    const HingeMatrix q = turned(X_node_body.rotation) * constraint_map(n);
    const ArmstrongForm form = armstrong_form(w, n, q);
    const VectorXd box = Eigen::Map<const VectorXd>(at(kConstraintForce, n - 1).data(), q.cols());
    EXPECT_LT(distance(form.constraint_force, box), 1e-11);
    EXPECT_LT(distance(form.inertia * form.acceleration + form.residual, box), 1e-11);
    const MatrixXd phi = symmetric(static_cast<int>(q.cols()), at(kConstraintInertia, n - 1));
    EXPECT_LT(distance(form.inertia, phi), 1e-11);
    const MatrixXd compliance = inverse(to_eigen(w.node(n).articulated));
    EXPECT_LT(distance(form.inertia * product(q.transpose(), compliance, q),
                       MatrixXd::Identity(q.cols(), q.cols())),
              1e-11);
    // P − P H D⁻¹ Hᵀ P = Q Φ Qᵀ, with our own Q too; H (HᵀH)⁻¹ Hᵀ + Q Qᵀ = 1.
    const ArmstrongForm own = armstrong_form(w, n);
    const MatrixXd h = own.free_map, qq = own.constraint_map, pn = to_eigen(w.node(n).articulated);
    const MatrixXd left =
        pn - product(pn, h, inverse(product(h.transpose(), pn, h)), h.transpose(), pn);
    EXPECT_LT(distance(product(qq, own.inertia, qq.transpose()), left), 1e-11);
    EXPECT_LT(distance(product(h, inverse(product(h.transpose(), h)), h.transpose()) +
                           product(qq, qq.transpose()),
                       MatrixXd::Identity(6, 6)),
              1e-14);
  }
  forces.collect(c.state, acceleration, w, c.external);
  for (int n = 0; n < 7; ++n) {
    const HingeForce f = forces.at(n, ForceAxes::body);
    EXPECT_LT(distance(to_eigen(f.wrench), angular_first(kForceA[n])), 1e-11);
    const Node& node = at(c.mechanism.nodes(), n);
    EXPECT_LT(distance(f.effort, c.effort.segment(node.v_index, node.freedoms)), 1e-11);
  }
  // Components along the columns against efforts: they differ for the Euler ball and the screw.
  const VectorXd ball = (VectorXd(3) << .25, -.35, .45).finished();
  EXPECT_LT(distance(forces.at(4).free_force, ball), 1e-11);
  EXPECT_NEAR(forces.at(6).free_force[0], .12, 1e-12);
}

TEST(Forces, NumbersOfTheTenBodyTree) {
  const SpecCase c = spec_case_t();
  Workspace w(c.mechanism);
  InterbodyForces forces(c.mechanism);
  const VectorXd acceleration = forward_dynamics(c.mechanism, c.state, c.effort, w, c.external);
  for (int pass = 0; pass < 2; ++pass) {
    if (pass == 0)
      forces.collect(c.state, acceleration, w, c.external);
    else
      forces.compute(c.state, acceleration, w, c.external);
    for (int i = 1; i <= 10; ++i) {
      const int h = c.mechanism.hinge_index("h" + std::to_string(i));
      EXPECT_LT(distance(to_eigen(forces.at(h, ForceAxes::ground).wrench),
                         Eigen::Map<const Vector6d>(kForceT[i - 1])),
                1e-11);
    }
  }
}

// A screw: total wrench and effort are physical, the split depends on the unit of length.
TEST(Forces, ScrewAndUniversal) {
  {
    MechanismBuilder b;
    b.add_body("nut", spec_body(.8, {0, 0, .05}, .006, .005, .004, 0, 0, 0));
    HingeSettings screw;
    screw.type = HingeType::screw;
    screw.pitch = .02;
    b.add_hinge("thread", kWorld, "nut", screw);
    const Mechanism m = b.finish();
    const State state{VectorXd::Zero(1), VectorXd::Zero(1)};
    Workspace w(m);
    const VectorXd a = forward_dynamics(m, state, VectorXd::Constant(1, .1), w);
    EXPECT_NEAR(a[0], -13.18518518518519, 1e-12);
    InterbodyForces forces(m);
    forces.collect(state, a, w);
    const HingeForce f = forces.at(0);
    EXPECT_NEAR(f.wrench.force.z, 7.637037037037037, 1e-13);
    EXPECT_NEAR(f.wrench.moment.z, -0.05274074074074074, 1e-14);
    EXPECT_NEAR(f.free_force[0], 0.09996001599360256, 1e-14);
    EXPECT_NEAR(f.constraint_force[4], 7.636564691614284, 1e-12);
    EXPECT_NEAR(f.effort[0], .1, 1e-14);
  }
  {
    MechanismBuilder b;
    b.add_body("bob", spec_body(1.7, {0, 0, -.9}, .05, .06, .03, 0, 0, 0));
    HingeSettings hooke;
    hooke.type = HingeType::universal;
    b.add_hinge("hooke", kWorld, "bob", hooke);
    const Mechanism m = b.finish();
    const State state{(VectorXd(2) << .4, -.5).finished(), (VectorXd(2) << 1.2, -.7).finished()};
    Workspace w(m);
    const VectorXd a = forward_dynamics(m, state, (VectorXd(2) << .3, -.2).finished(), w);
    EXPECT_NEAR(a[0], -3.474026619694136, 1e-12);
    EXPECT_NEAR(a[1], 5.062069810670624, 1e-12);
    InterbodyForces forces(m);
    forces.collect(state, a, w);
    const HingeForce f = forces.at(0);
    const Vector6d expected = (Vector6d() << 0.3530360917658265, -0.2, 0.02047933841864947,
                               0.5462300071766708, 0.5974341633437284, 15.9266339727401)
                                  .finished();
    EXPECT_LT(distance(to_eigen(f.wrench), expected), 1e-13);
    const double along = -std::sin(-.5) * f.wrench.moment.x + std::cos(-.5) * f.wrench.moment.z;
    EXPECT_NEAR(along, 0.1872268287168126, 1e-13);
    EXPECT_EQ(f.constraint_force.size(), 4);
  }
}

TEST(Forces, ComplementIsOrthonormalForEveryHinge) {
  Random random(5);
  for (int i = 0; i < 60; ++i) {
    const int freedoms = i % 7;
    HingeMatrix h(6, freedoms);
    for (int k = 0; k < freedoms; ++k)
      for (int r = 0; r < 6; ++r) h(r, k) = random.number();
    const HingeMatrix q = hinge_complement(h);
    ASSERT_EQ(q.cols(), 6 - freedoms);
    if (freedoms < 6) {
      EXPECT_LT(distance(q.transpose() * q, MatrixXd::Identity(q.cols(), q.cols())), 1e-14);
    }
    if (freedoms > 0 && freedoms < 6) {
      EXPECT_LT((h.transpose() * q).cwiseAbs().maxCoeff(), 1e-14);
    }
  }
  const HingeMatrix turn = Vector6d::Unit(2), q = hinge_complement(turn);
  for (int k = 0; k < 5; ++k) EXPECT_EQ(q.col(k), Vector6d::Unit(k < 2 ? k : k + 1));
}

// Hinges and welds of random trees against the sum over everything beyond.
TEST(Forces, HingesAndWeldsAgreeWithTheReference) {
  double worst = 0.0;
  Random random(21);
  int welds = 0;
  for (int i = 0; i < 30; ++i) {
    TreeSettings settings;
    settings.bodies = 2 + i / 2;
    settings.free_base = i % 2 == 1;
    MechanismBuilder builder = random_tree(random, settings);
    builder.add_body("bracket", random.body());  // welded to the ground, with a load of its own
    HingeSettings weld = random.hinge(HingeType::weld);
    builder.add_hinge("anchor", kWorld, "bracket", weld);
    const Mechanism mechanism = builder.finish();
    const Case c = random_case(random, mechanism, 4);
    Workspace w(mechanism);
    InterbodyForces forces(mechanism);
    VectorXd acceleration = c.acceleration;
    switch (i % 3) {
      case 0:
        forces.compute(c.state, acceleration, w, c.external);
        break;
      case 1:
        acceleration = forward_dynamics(mechanism, c.state, c.effort, w, c.external);
        forces.collect(c.state, acceleration, w, c.external);
        break;
      default: {
        HybridResult result;
        hybrid_dynamics(mechanism, c.state, random_hybrid(random, c), w, result, c.external);
        acceleration = result.acceleration;
        forces.collect(c.state, acceleration, w, c.external);
      }
    }
    const reference::Engine<Exact> engine(mechanism);
    const std::vector<Transformd> nodes = node_poses(mechanism, c.state.q);
    for (int h = 0; h < static_cast<int>(mechanism.hinges().size()); ++h) {
      const HingePlace& hinge = at(mechanism.hinges(), h);
      const bool outward = hinge.child_body >= 0 && forces.inboard_hinge(hinge.child_body) == h;
      const int beyond = outward ? hinge.child_body : hinge.parent_body;
      const std::string& name = at(mechanism.bodies(), beyond).name;
      const auto expected =
          engine.wrench_through(hinge.name, name, plain<Exact>(c.state.q), plain<Exact>(c.state.v),
                                plain<Exact>(acceleration), c.external);
      Wrenchd whole;  // at the ground's origin
      for (int k = 0; k < 6; ++k) whole[k] = static_cast<double>(expected[index(k)]);
      whole = Ad_star_inverse(transform(body_pose(mechanism, nodes, name)), whole);
      const std::string child =
          hinge.child_body < 0 ? kWorld : at(mechanism.bodies(), hinge.child_body).name;
      const Transformd side = transform(body_pose(mechanism, nodes, child)) *
                              at(mechanism.description().hinges, h).frame_on_child;
      const double sign = outward ? 1.0 : -1.0;
      const Wrenchd found = Ad_star_inverse(Transformd::from_translation(side.translation),
                                            forces.at(h, ForceAxes::ground).wrench);
      const Wrenchd again = Ad_star_inverse(side, forces.at(h, ForceAxes::hinge).wrench);
      worst = std::max(worst, distance(to_eigen(sign * found), to_eigen(whole)));
      worst = std::max(worst, distance(to_eigen(sign * again), to_eigen(whole)));
      const HingeForce f = forces.at(h);
      const Vector6d sum = f.free_map * f.free_force + f.constraint_map * f.constraint_force;
      worst = std::max(worst, distance(sum, to_eigen(f.wrench)));
      if (hinge.role == HingePlace::Role::weld) ++welds;
      if (i % 3 != 1 || hinge.role != HingePlace::Role::tree) continue;
      worst = std::max(worst, distance(f.effort, c.effort.segment(hinge.v_index, hinge.freedoms)));
    }
  }
  EXPECT_GT(welds, 40);
  EXPECT_LT(worst, 1e-9);
}

// With rotors, springs and dampers the bodies' sums are those of the sweeps.
TEST(Forces, RotorsAndSpringsAreCarriedByTheRightBodies) {
  Random random(22);
  for (int i = 0; i < 20; ++i) {
    TreeSettings settings;
    settings.bodies = 8;
    settings.reversed = false;
    MechanismBuilder builder = random_tree(random, settings);
    add_rotors(random, builder);
    for (int s = 0; s < 3; ++s) {
      SpringDamper spring;
      spring.name = "s" + std::to_string(s);
      spring.body_a = body_name(s);
      spring.body_b = body_name(s == 2 ? -1 : s + 4);
      spring.point_a = random.vector();
      spring.point_b = random.vector();
      spring.stiffness = 5.0;
      spring.rest_length = 0.3;
      spring.damping = 0.7;
      builder.add_spring(spring);
    }
    const Mechanism mechanism = builder.finish();
    const Case c = random_case(random, mechanism, 2);
    Workspace w(mechanism);
    InterbodyForces forces(mechanism);
    forces.compute(c.state, c.acceleration, w, c.external);
    for (const HingePlace& hinge : mechanism.hinges()) {
      if (hinge.role != HingePlace::Role::tree) continue;
      EXPECT_LT(
          distance(to_eigen(forces.on_body(hinge.child_body)), to_eigen(w.node(hinge.node).force)),
          1e-11);
    }
    const VectorXd a = forward_dynamics(mechanism, c.state, c.effort, w, c.external);
    forces.collect(c.state, a, w, c.external);
    for (const HingePlace& hinge : mechanism.hinges()) {
      if (hinge.role != HingePlace::Role::tree) continue;
      EXPECT_LT(distance(to_eigen(forces.on_body(hinge.child_body)),
                         to_eigen(interbody_force_after_forward(w, hinge.node))),
                1e-10);
    }
  }
}

// A hinge set free and moved just as it moved before: the six efforts of inverse dynamics that this
// takes are the wrench that went through it, whatever rotors and springs act around it.
TEST(Forces, OfAHingeThatIsSetFree) {
  Random random(23);
  int compared = 0;
  for (int i = 0; i < 40; ++i) {
    SCOPED_TRACE(i);
    TreeSettings settings;
    settings.bodies = 6;
    settings.reversed = false;
    settings.welds = false;
    settings.chain_share = 0.7;
    settings.types = {HingeType::revolute, HingeType::prismatic};
    MechanismBuilder builder = random_tree(random, settings);
    add_rotors(random, builder);
    add_passive_elements(random, builder);
    const int k = random.below(settings.bodies);
    Hinge& hinge = builder.description().hinges[index(k)];
    const bool turns = hinge.type == HingeType::revolute;
    const Vec3d axis = normalized(hinge.axes[0]);
    const std::string name = hinge.name;
    hinge.drive.reset();
    hinge.freedoms.clear();
    const Mechanism m = builder.finish();
    hinge.type = HingeType::free;
    hinge.axes.clear();
    const Mechanism loose = builder.finish();

    const Case c = random_case(random, m, 2);
    State s = loose.default_state();
    VectorXd a = VectorXd::Zero(loose.freedoms());
    for (const HingePlace& from : m.hinges()) {
      const HingePlace& to = loose.hinges()[index(loose.hinge_index(from.name))];
      const double q = c.state.q[from.q_index], v = c.state.v[from.v_index];
      if (from.name != name) {
        s.q[to.q_index] = q;
        s.v[to.v_index] = v;
        a[to.v_index] = c.acceleration[from.v_index];
        continue;
      }
      const Vector3d e = to_eigen(axis);
      s.q.segment(to.q_index, 7).setZero();
      s.q[to.q_index] = turns ? std::cos(0.5 * q) : 1.0;
      if (turns)
        s.q.segment(to.q_index + 1, 3) = std::sin(0.5 * q) * e;
      else
        s.q.segment(to.q_index + 4, 3) = q * e;
      s.v.segment(to.v_index + (turns ? 0 : 3), 3) = v * e;
      a.segment(to.v_index + (turns ? 0 : 3), 3) = c.acceleration[from.v_index] * e;
    }
    const VectorXd effort = inverse_dynamics(loose, s, a, c.external);
    const HingePlace& free = loose.hinges()[index(loose.hinge_index(name))];
    Workspace w(m);
    InterbodyForces forces(m);
    forces.compute(c.state, c.acceleration, w, c.external);
    const Vector6d wrench = to_eigen(forces.at(m.hinge_index(name)).wrench);
    EXPECT_LT((wrench - effort.segment(free.v_index, 6)).norm(), 1e-10 * (1.0 + wrench.norm()));
    // And after forward dynamics, where the accelerations are found.
    const VectorXd found = forward_dynamics(m, c.state, c.effort, w, c.external);
    forces.collect(c.state, found, w, c.external);
    const Vector6d then = to_eigen(forces.at(m.hinge_index(name)).wrench);
    forces.compute(c.state, found, w, c.external);
    EXPECT_LT((then - to_eigen(forces.at(m.hinge_index(name)).wrench)).norm(),
              1e-8 * (1.0 + then.norm()));
    ++compared;
  }
  EXPECT_EQ(compared, 40);
}

}  // namespace
}  // namespace catena::test
