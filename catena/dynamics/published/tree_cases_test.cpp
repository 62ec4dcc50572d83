// SPDX-License-Identifier: BSD-3-Clause
// The ten-body tree T of [Concurrent Dynamics 2017] (figure 2) and TP, the same with two
// sliders: reference numbers by point masses in 40-digit arithmetic.
//
// The text works in ground axes, angular part first, at the hinge points, where the frames of the
// bodies stand here.
#include "catena/base/dense.h"
#include "catena/base/index.h"
#include "catena/dynamics/published/published_cases.h"
#include "catena/dynamics/published/published_numbers.h"
#include "catena/dynamics/published/published_support.h"

namespace catena::test {
namespace {

constexpr double kMass[] = {8.71993708953657,
                            0.0240523106384394,
                            0.424670592746814,
                            0.265574980016957,
                            -0.206593122121295,
                            -0.0457532944501098,
                            -0.348933992688005,
                            -0.00965494238546941,
                            0.296938608981006,
                            -0.00228266541863753,
                            0.0224,
                            0.0,
                            0.0,
                            0.0,
                            0.0,
                            0.0,
                            0.0,
                            0.0,
                            0.0,
                            0.973998909694161,
                            0.218151299323751,
                            0.110491264764275,
                            -0.035023550440262,
                            -0.0426069071769925,
                            0.00782928790322824,
                            0.0,
                            0.0,
                            0.25665062932989,
                            0.0,
                            0.0,
                            0.0771012327159101,
                            0.0123463842020187,
                            0.0,
                            0.0,
                            0.245220612163647,
                            -0.0248704685835911,
                            0.0,
                            0.0,
                            0.0,
                            0.0,
                            0.04201,
                            0.0,
                            0.0,
                            0.0,
                            0.0,
                            0.1556509812251,
                            -0.00265831984020408,
                            0.0,
                            0.0,
                            0.0183416,
                            0.0,
                            0.0,
                            0.150191986618198,
                            0.00324314096980867,
                            0.01733};
constexpr double kBias[] = {
    -2.64316572439022, 0.541247450216073, -0.842643301372343,  1.65070454706352, 1.47917074625597,
    0.34954324171517,  2.53261001729388,  -0.0641608994803637, 3.61795490894005, 0.171860626615881};
constexpr double kAcceleration[] = {
    0.655532785070888, -42.7238628748339, 4.14888128647318, -6.67907460060371, -10.3554862053551,
    -5.51744104995867, -9.67324406361905, 2.44008642667152, -19.6138620613941, -20.5859056531525};
constexpr double kHingeInertia[] = {6.02582670202106,  0.0224000000000000, 0.632606763721787,
                                    0.208255431807260, 0.230496969993512,  0.0420100000000000,
                                    0.155265700531332, 0.0183416000000000, 0.149585064324485,
                                    0.0173300000000000};
constexpr double kGain[10][6] = {{0.0474744039874303, -0.00489230085378727, 1.00000000000000,
                                  -0.486304272744307, -0.0740191538704344, -0.110556307022517},
                                 {0.921996040342475, 0.403300813768352, 0.355502583449455,
                                  -0.707535743948035, 2.28727071218111, -0.0870734092693214},
                                 {-0.734813597291772, 0.819447119189693, 0.0158299406321189,
                                  0.823254306483645, -0.0847762602724336, -0.347798738251748},
                                 {0.366886935138902, 1.19445472713034, 0.279314998246560,
                                  -2.87041498479686, 0.445828261395877, 0.707016388835143},
                                 {-0.706895059859725, 0.119653212417788, -0.787290705611999,
                                  -0.395563259065280, 0.679557526312002, 0.348149708813222},
                                 {0.889444883369172, 0.135633822517843, -0.444596677744545,
                                  -1.63523375370375, 1.95608727880389, -2.56121842494315},
                                 {-0.281199500647705, 0.434503773172884, -0.856871110163926,
                                  1.17660587731340, 1.74772853582783, 0.678047785701739},
                                 {0.362485289454489, 0.902380542342026, 0.347253309384557,
                                  2.67094357465701, -2.45237917906840, 2.75821196611054},
                                 {-0.715187162811940, -0.330145715371353, 0.841080413864618,
                                  1.01023625616405, 2.27366253460994, 1.80783588669802},
                                 {0.0389078151193277, -0.0154607102530710, 1.23146767042910,
                                  -4.72253714396448, 0.876630337011309, 0.0231285057998869}};
constexpr double kArticulated[4][21] = {
    {4.71600483810499,   2.85259784272871,    0.286072531209993,  0.815055286818069,
     -0.912749586418940, 4.17615656484827,    3.77669826048844,   -0.0294801571190717,
     1.38745596429937,   0.350065979884909,   0.290616428385273,  6.02582670202106,
     -2.93038527200958,  -0.446026593853469,  -0.666193146933120, 16.6108022781529,
     0.0722552816713302, -0.0721045811920135, 17.9985059934842,   -0.599036887548413,
     18.6158744968737},
    {1.92220497159097,     0.108027234281571,   -0.0288829370340506, 0.212297996235355,
     -0.00729152138751659, 2.99984074121747,    0.576039989025607,   0.00154776459261701,
     0.610815766913705,    -0.0583928575885895, 0.697653370461917,   1.10416675470388,
     -2.06782009511789,    -0.575684889717950,  -0.0755750294306792, 7.68992658878799,
     0.263696192511554,    0.0194436681803743,  9.00684449353885,    0.0303614986779614,
     9.28146068666762},
    {0.322898420480005,  0.0356549697803137, 0.0182630364076450, -0.0708220513388330,
     0.671656038090297,  0.419010484120827,  0.331260852585923,  0.118844899707606,
     -0.816852791974925, 0.0332883007886416, 0.121172446349511,  0.116905707947349,
     -0.322863859041621, 0.107211366251869,  0.0664705745327091, 3.35420208210084,
     -0.199145939469142, -0.258993291527127, 3.11542298890604,   -0.0599306903732343,
     3.48907878036880},
    {0.118004085150222,   0.0707185851518710,  -0.00414995162305163, -0.00367096139216731,
     -0.0115331308727329, -0.316289580781681,  0.251461964581651,    0.0222915680316738,
     -0.0241045533934328, 0.00674180762792644, -0.774291979938046,   0.283794946778003,
     0.345972568000407,   0.768963225702263,   -1.45283627565247e-4, 3.31350015187077,
     0.0717448019553145,  0.00189287319646322, 3.68668222864117,     -3.51368346621883e-4,
     3.69999072970156}};
constexpr double kInverse[] = {
    7.15262440148357,  0.554099760854512, 0.192895694568144,   2.37463995359833, 1.03632697672441,
    0.351412028238586, 2.09242113148570,  -0.0340074717256825, 3.79863169779027, 0.187779448421397};
constexpr double kFreeSwing[] = {0.7324309451417872, -23.21350311164882, 1.081751965638201,
                                 -6.511305168025585, -6.668331992190143, -21.87420813726134,
                                 -12.2229634590354,  23.93834085994761,  -23.79327191593603,
                                 -4.752883437977938};
constexpr double kAccelerationTP[] = {
    -1.37544604233618, -40.5430711937228, 2.0852840009011, 0.360255915965385, -11.6109319400982,
    -10.1930420886697, -16.8332701089933, 3.5327791921047, -6.31254884082723, 20.6954714091878};
constexpr double kBiasTP[] = {
    2.68703490028021, 0.541247450216073, 0.635069753943607,  30.8653946460591, 1.47917074625597,
    0.34954324171517, 2.14534500949134,  -0.172751774689325, 1.00931330824004, -0.153859277919822};
constexpr int kBodies = 10;
const int kListed[] = {0, 2, 3, 8};  // the bodies of kArticulated

class CaseT : public ::testing::Test {
 protected:
  // By hinge, in the text's order (from 0 here), to the mechanism's order.
  VectorXd ours(const VectorXd& text) const {
    VectorXd x(kBodies);
    for (int i = 0; i < kBodies; ++i) x[place(i)] = text[i];
    return x;
  }
  Eigen::Index place(int i) const {
    return mechanism.hinges()[index(mechanism.hinge_index("h" + std::to_string(i + 1)))].v_index;
  }
  // From the frame of body i to ground axes. The loads in ground axes have left the poses behind.
  MatrixXd to_ground(int i) const {
    const BodyPlace& b = place_of(mechanism, body_name(i + 1));
    MatrixXd r = MatrixXd::Zero(6, 6);
    r.topLeftCorner(3, 3) = r.bottomRightCorner(3, 3) =
        to_eigen(w.node(b.node).pose.rotation * b.X_node_body.rotation);
    return r;
  }

  const SpecCase c = spec_case_t();
  const Mechanism& mechanism = c.mechanism;
  const State& state = c.state;
  const VectorXd& effort = c.effort;
  const std::vector<ExternalWrench>& external = c.external;
  Workspace w{mechanism};
};

TEST_F(CaseT, Accelerations) {
  for (const Route route : {Route::recursive, Route::dense})
    EXPECT_LT(error(forward_dynamics(mechanism, state, effort, w, external, route),
                    ours(listed(kAcceleration))),
              kPrinted);
  EXPECT_LT(error(forward_dynamics(mechanism, state, VectorXd::Zero(kBodies), w),
                  ours(listed(kFreeSwing))),
            kPrinted);
}

TEST_F(CaseT, BiasInverseMassMatrixAndEnergy) {
  EXPECT_LT(error(bias_effort(mechanism, state, w, external), ours(listed(kBias))), kPrinted);
  VectorXd asked(kBodies);
  asked << 1, -0.5, 0.25, 2, -1, 0.75, -1.5, 0.5, -0.8, 1.2;
  EXPECT_LT(
      error(inverse_dynamics(mechanism, state, ours(asked), w, external), ours(listed(kInverse))),
      kPrinted);
  const MatrixXd text = symmetric(kMass, kBodies);
  MatrixXd expected(kBodies, kBodies);
  for (int i = 0; i < kBodies; ++i)
    for (int j = 0; j < kBodies; ++j) expected(place(i), place(j)) = text(i, j);
  const MatrixXd& m = mass_matrix(mechanism, state.q, w);
  EXPECT_LT(error(m, expected), kPrinted);
  EXPECT_NEAR(0.5 * state.v.dot(m * state.v), 1.38447180609747, 1e-13);
}

TEST_F(CaseT, InterbodyForces) {
  inverse_dynamics(mechanism, state, ours(listed(kAcceleration)), w, external);
  for (int i = 0; i < kBodies; ++i)
    EXPECT_LT(
        error(VectorXd(to_ground(i) * force_on(mechanism, w, body_name(i + 1))), six(kForceT[i])),
        kPrinted)
        << i;
}

TEST_F(CaseT, HingeInertiasGainsAndArticulatedInertias) {
  forward_dynamics(mechanism, state, effort, w, external);
  for (int i = 0; i < kBodies; ++i) {
    const int n = place_of(mechanism, body_name(i + 1)).node;
    EXPECT_NEAR(1.0 / w.node(n).inverse_hinge_inertia, kHingeInertia[i], kPrinted) << i;
    const BodyPlace& b = place_of(mechanism, body_name(i + 1));
    const VectorXd gain =
        to_eigen(Ad_star(b.X_node_body, w.node(n).inverse_hinge_inertia * w.node(n).gain));
    EXPECT_LT(error(VectorXd(to_ground(i) * gain), six(kGain[i])), kPrinted) << i;
  }
  for (int k = 0; k < 4; ++k) {
    const MatrixXd r = to_ground(kListed[k]);
    const MatrixXd p = articulated_inertia_of(mechanism, w, body_name(kListed[k] + 1));
    EXPECT_LT(error(MatrixXd(r * p * r.transpose()), symmetric(kArticulated[k], 6)), kPrinted);
  }
}

TEST_F(CaseT, WithSliders) {
  const Mechanism sliding = spec_mechanism_t(true);
  VectorXd q = state.q, v = state.v, t = effort;
  q[place(3)] = 0.12;
  v[place(3)] = 0.9;
  t[place(3)] = 30.0;
  q[place(8)] = -0.08;
  v[place(8)] = 0.2;
  t[place(8)] = -20.0;
  EXPECT_LT(error(forward_dynamics(sliding, {q, v}, t, external), ours(listed(kAccelerationTP))),
            kPrinted);
  EXPECT_LT(error(bias_effort(sliding, {q, v}, external), ours(listed(kBiasTP))), kPrinted);
  EXPECT_NEAR(determinant(mass_matrix(sliding, q)), 8.2761346579792e-7, 1e-18);
}

}  // namespace
}  // namespace catena::test
