// SPDX-License-Identifier: BSD-3-Clause
// Published chains: the mixed chains A and B, worked out for [D'Eleuterio & Damaren 1991] with
// point masses in 40-digit arithmetic.
//
// [D'Eleuterio & Damaren 1991] puts the linear part first and lists (x, y, angle) for a planar
// hinge; its C_{n,n−1} is the transpose of our rotation. Its bodies' frames stand at their hinges,
// as ours do here, but the nodes have turned frames: results are compared in the frames of the
// bodies.
#include "catena/dynamics/published/published_cases.h"
#include "catena/dynamics/published/published_numbers.h"
#include "catena/dynamics/published/published_support.h"

namespace catena::test {
namespace {

constexpr double kAccelerationA[] = {8.27543790629785,   0.0339350661836936, -5.49900225916688,
                                     0.0178067614216083, 0.687913168135963,  -1.08952141268843,
                                     3.516064288739,     -6.18745590341749,  2.33721024034321,
                                     4.79840316262974,   5.18085614216887,   -13.2215507904757,
                                     1.01643873118492,   2.56792239806937,   -0.939745077314528,
                                     7.12444108519768,   11.7799062121619};
constexpr double kBiasA[] = {
    -201.764696814296, -10.5597314469382,  142.382089126483,  19.3518847272152, -113.461515458629,
    14.4791425382426,  12.8704385802822,   -35.6327728350811, -11.794124700489, 4.64152193619184,
    -9.50536119071354, -0.350880814352941, 8.34551235433333,  4.30616594057595, 20.5544522421552,
    -3.76546127687066, -0.495851492320518};
constexpr double kAccelerationAtRestA[] = {
    8.23999078677767,  -0.155666102902698, -5.63340369334565,  0.00761599947061056,
    0.762467744481937, -1.12380848596054,  3.613112655522,     -5.13946046789475,
    1.50692429283203,  3.85263019928051,   5.48832739529366,   -12.9303602858236,
    0.419873969188242, 1.85263371192872,   -0.815092696078284, 6.89866720508457,
    11.184260174202};
constexpr double kTwistA[7][6] = {
    {0.5, -0.2, 0.3, 0.1, 0.2, -0.3},
    {0.322811834099559, -0.494765115752191, 0.21, 0.169989767862019, 0.145270364569712, 0.4},
    {0.152962398555839, -0.335137205101375, 0.306837113979782, 0.639123818006662,
     -0.651081786115217, 0.0164378299584192},
    {0.255349017851507, -0.460496294208944, 1.01210510000006, 0.639123818006662, -0.651081786115217,
     0.0164378299584192},
    {0.986248679972381, -0.287644626175115, 0.907290897342337, 0.15427083033252, -1.43127238936712,
     0.276705120709366},
    {0.677835998193554, -0.936809804593824, 1.53593638952429, -1.20558383736876, -0.786706903955577,
     -0.623294879290634},
    {-0.0468678502082815, -1.05411232545195, 1.2945404301821, -1.40428733748056, 0.316728930550915,
     0.576705120709366}};
constexpr double kRateA[7][6] = {{8.27543790629785, 0.0339350661836936, -5.49900225916688,
                                  0.0178067614216083, 0.687913168135963, -1.08952141268843},
                                 {7.05193903490981, -3.90464770555812, -5.8411781670927,
                                  0.385976374161556, 0.507682869412882, 2.42654287605057},
                                 {0.978381757344073, -9.24426042216902, -2.73065198713679,
                                  -3.38892941494908, 3.60922909129803, 4.34463437039441},
                                 {2.41583783494717, -8.11535392619215, -0.802072428787139,
                                  -3.38892941494908, 3.60922909129803, 4.34463437039441},
                                 {-0.83584297555513, -7.45356333047641, 1.04379674898203,
                                  -5.89407933487736, -5.51864575739951, -0.768225271992266},
                                 {-6.05145137659988, -4.33810316084766, 4.45684454178935,
                                  -6.88375302868125, 1.66458511931869, 6.35621581320541},
                                 {-8.82739093643941, 3.10333604894798, 3.32490159522713,
                                  -3.22178192974603, 7.78297458925799, 18.1361220253673}};
constexpr double kMassA[] = {26.0,
                             0.0,
                             0.0,
                             0.0,
                             6.87987095294234,
                             -2.79776193935905,
                             -1.99776193935905,
                             6.21107348361626,
                             1.55185940001636,
                             3.32728980275635,
                             0.908989264026089,
                             0.17021760053769,
                             -0.923342472426753,
                             0.798792650161332,
                             -2.21001785990718,
                             0.243707760301625,
                             0.0254658704437444,
                             26.0,
                             0.0,
                             -6.87987095294234,
                             0.0,
                             11.5818045139876,
                             3.38180451398762,
                             -1.54302119085709,
                             4.43750801947132,
                             -0.512935949530101,
                             -0.156569892308972,
                             0.660406724041091,
                             -0.42465566820083,
                             -0.451973140024134,
                             -1.02591534981912,
                             0.212544965438867,
                             -0.0231673179571819,
                             26.0,
                             2.79776193935905,
                             -11.5818045139876,
                             0.0,
                             0.0,
                             1.95162363793541,
                             0.798435905963953,
                             6.13726643385744,
                             -0.614497570288976,
                             0.36058551112396,
                             0.221664501589952,
                             2.3254355683925,
                             0.559748831081234,
                             -0.367142858059881,
                             -0.0708150042096536,
                             8.00666957564152,
                             -2.39957169896708,
                             -3.72741923864713,
                             -1.04748376217596,
                             1.75577626138658,
                             -3.5395412815598,
                             1.76816125298587,
                             0.0955739022147273,
                             -0.600385972834122,
                             0.468627317034045,
                             0.650842349268409,
                             1.01331060538047,
                             -0.201605227745391,
                             0.021762548891578,
                             15.4454474874543,
                             -0.679873295365091,
                             -0.501886200070857,
                             3.49512405379694,
                             0.671336937594637,
                             -1.92644464688424,
                             1.36762190852971,
                             -0.171680829254972,
                             -1.10123544100278,
                             -1.05298701538672,
                             -2.49734995189909,
                             0.461445295468041,
                             0.0691886134812656,
                             10.8455135474174,
                             3.66483509648769,
                             -2.48098746316174,
                             3.09736989916483,
                             -1.11960718911411,
                             -0.228446358507912,
                             0.566611564339328,
                             -0.210299619265562,
                             -0.428225123195602,
                             -0.576392653426179,
                             0.139494086117579,
                             -0.0186501769177106,
                             1.77415664555797,
                             -1.08836951937157,
                             1.03380182943081,
                             -0.530410234073425,
                             -0.0592624859508172,
                             0.253429962372552,
                             -0.0903060324078219,
                             -0.122359288167402,
                             -0.284436764507338,
                             0.057592379428308,
                             -0.0045199308947452,
                             6.13594593450141,
                             0.529325771406379,
                             4.17701715020797,
                             0.913143902960676,
                             -0.000258839455389638,
                             -0.844249563346561,
                             1.22594052973152,
                             -1.88709172315228,
                             0.101591198927008,
                             0.014442946622852,
                             3.59084278703574,
                             1.07050606467574,
                             0.0257512511848065,
                             0.690238142562755,
                             -0.622877828547456,
                             0.37328593895462,
                             -1.38747161924392,
                             0.129263639308895,
                             -0.0321714360454343,
                             7.0,
                             -0.0952220394904499,
                             0.348660898629005,
                             -0.213427532768527,
                             2.45163793844749,
                             -0.484544758956544,
                             -0.221627021023205,
                             -0.0482849810098804,
                             0.394256228163417,
                             -0.0616171074663809,
                             -0.284369136295795,
                             -0.191130075535808,
                             -0.655096421679995,
                             0.101745049326099,
                             0.0182677815896108,
                             0.261138514234278,
                             -0.0878452048023852,
                             0.233103738101499,
                             -0.293747591110306,
                             0.0262533446166407,
                             -0.00684194957680566,
                             0.377464044405252,
                             -0.0520638834092942,
                             0.740136227570433,
                             -0.051190869660513,
                             0.00286042847769181,
                             2.5,
                             0.0,
                             -0.302063883409294,
                             -0.0535451095926098,
                             2.5,
                             -0.384863772429567,
                             -0.0288603748886844,
                             0.152204216273722,
                             0.0212021081368608,
                             0.0112};
constexpr double kEffortB[] = {1.5, -0.7, 0.9, 0.160598801142222, -0.35, 0.400332667301235};
constexpr double kBiasB[] = {11.3145460262355,   8.31621412675004,  2.03515944997107,
                             -0.407239685079067, 0.731317927701332, -0.668401233967183};
constexpr double kAccelerationB[] = {-12.5017444359428, -19.2735992873165, 20.3511022938499,
                                     33.6085276488451,  -32.9116042981612, 15.9144596466774};
constexpr double kUndrivenB[] = {-12.0668490609932, -17.650086773997,  -3.54946509989979,
                                 28.0122888740373,  -5.19168750228933, 5.23318641770358};
constexpr double kForceB[3][6] = {{15.6451150951735, 23.1382193936794, 48.4216275587012,
                                   -3.57736911229097, -14.4084369221927, 1.5},
                                  {19.6519888054327, 11.3439324487542, 2.55846354136148,
                                   -3.48619252258483, 0.9, -3.85603094331483},
                                  {3.40120724629649, -1.1328194542394, -3.25598738988092,
                                   -0.121859629780861, -0.409491619807123, 0.400332667301235}};
constexpr double kMassB[] = {1.35799864029937,    -0.387012495686046,   0.0820391643946822,
                             -0.0636880804589542, 0.0460436756215132,   0.10618824731868,
                             0.942226484070056,   -0.0412224809398206,  0.132532655584662,
                             -0.0784434527493377, -0.118851293811417,   0.128090827240544,
                             -0.0296229959093977, 0.060164197859777,    -0.0336257939163907,
                             0.0656372543247353,  -0.0361533910230653,  -0.0293424526870207,
                             0.059061583333912,   -0.00522250722953804, 0.1008};

// ---- Case A: free, revolute, universal, prismatic, gimbal, planar, screw. ----

class CaseA : public ::testing::Test {
 protected:
  // From the text's order of freedoms to ours.
  static VectorXd ours(const VectorXd& text) {
    VectorXd x = text;
    x.head(3) = text.segment(3, 3);
    x.segment(3, 3) = text.head(3);
    x[13] = text[15];
    x.segment(14, 2) = text.segment(13, 2);
    return x;
  }

  const SpecCase c = spec_case_a();
  const Mechanism& mechanism = c.mechanism;
  const State& state = c.state;
  const std::vector<ExternalWrench>& external = c.external;
  Workspace w{mechanism};
};

TEST_F(CaseA, Accelerations) {
  const VectorXd expected = ours(listed(kAccelerationA));
  for (const Route route : {Route::automatic, Route::recursive, Route::dense})
    EXPECT_LT(error(forward_dynamics(mechanism, state, c.effort, w, external, route), expected),
              kPrinted);
  State rest = state;
  rest.v.setZero();
  EXPECT_LT(error(forward_dynamics(mechanism, rest, c.effort, w, external),
                  ours(listed(kAccelerationAtRestA))),
            kPrinted);
}

TEST_F(CaseA, BiasInverseAndMassMatrix) {
  EXPECT_LT(error(bias_effort(mechanism, state, w, external), ours(listed(kBiasA))), kPrinted);
  EXPECT_LT(error(inverse_dynamics(mechanism, state, ours(listed(kAccelerationA)), w, external),
                  c.effort),
            kPrinted);
  const MatrixXd text = symmetric(kMassA, 17);
  MatrixXd expected(17, 17);
  const VectorXd order = ours(VectorXd::LinSpaced(17, 0.0, 16.0));
  for (int i = 0; i < 17; ++i)
    for (int j = 0; j < 17; ++j)
      expected(i, j) = text(static_cast<int>(order[i]), static_cast<int>(order[j]));
  EXPECT_LT(error(mass_matrix(mechanism, state.q, w), expected), kPrinted);
  EXPECT_NEAR(0.5 * state.v.dot(mass_matrix(mechanism, state.q, w) * state.v), 11.8280733104911,
              1e-11);
}

TEST_F(CaseA, TwistsAndInterbodyForces) {
  inverse_dynamics(mechanism, state, ours(listed(kAccelerationA)), w, external);
  for (int n = 0; n < 7; ++n) {
    EXPECT_LT(error(swapped(twist_of(mechanism, w, body_name(n))), six(kTwistA[n])), kPrinted);
    EXPECT_LT(error(swapped(force_on(mechanism, w, body_name(n))), six(kForceA[n])), kPrinted) << n;
  }
}

TEST_F(CaseA, ArticulatedInertiasAndAccelerationsOfBodies) {
  forward_dynamics(mechanism, state, c.effort, w, external);
  Rotationd axes = Rotationd::identity();
  for (int n = 0; n < 7; ++n) {
    EXPECT_LT(error(swapped(articulated_inertia_of(mechanism, w, body_name(n))),
                    symmetric(kArticulatedA[n], 6)),
              kPrinted)
        << n;
    // The sweep's accelerations contain −g.
    const BodyPlace& b = place_of(mechanism, body_name(n));
    axes = axes * w.node(b.node).to_parent.rotation;
    const Twistd acceleration = w.node(b.node).acceleration +
                                Twistd{Vec3d::zero(), axes.inverse_times(mechanism.gravity())};
    EXPECT_LT(
        error(swapped(VectorXd(to_eigen(Ad_inverse(b.X_node_body, acceleration)))), six(kRateA[n])),
        kPrinted)
        << n;
  }
}

// Variant (ii): the ball by its angular velocity. Every other acceleration is unchanged.
TEST_F(CaseA, BallByQuaternion) {
  const Mechanism other = spec_mechanism_a(HingeType::spherical);
  const Quaterniond ball =
      to_quaternion(Rotationd::about_x(0.3) * Rotationd::about_y(-0.7) * Rotationd::about_z(0.9));
  State s;
  s.q.resize(19);
  s.q << state.q.head(11), ball.w, ball.x, ball.y, ball.z, state.q.tail(4);
  s.v = state.v;
  s.v.segment(10, 3) << -0.0756139999660051, -0.548204720767407, 0.277891156381154;
  VectorXd effort = c.effort;
  effort.segment(10, 3) << -0.155306036427125, -0.367343855624303, 0.288945578190577;
  VectorXd expected = ours(listed(kAccelerationA));
  expected.segment(10, 3) << -8.30265706833112, -11.1763148891515, -2.47412886809120;
  EXPECT_LT(error(forward_dynamics(other, s, effort, external), expected), kPrinted);
}

// ---- Case B: fixed root, revolute, universal, gimbal. ----

TEST(CaseB, AllResults) {
  const std::vector<BodySettings> body = spec_bodies_a();
  const Mechanism mechanism = chain(
      {{{.type = HingeType::revolute, .frame_on_parent = mount(kEB, {0.1, -0.2, 0.3})}, body[1]},
       {{.type = HingeType::universal, .frame_on_parent = mount(kEA, {0.5, 0.0, 0.1})}, body[2]},
       {{.type = HingeType::gimbal, .frame_on_parent = mount(kOne, {0.0, 0.45, 0.0})}, body[4]}});
  State s;
  s.q.resize(6);
  s.v.resize(6);
  s.q << 0.4, 0.5, -0.6, 0.3, -0.2, 0.9;
  s.v << 0.7, 0.3, -0.8, 0.5, -0.4, 0.6;
  Workspace w(mechanism);
  EXPECT_LT(error(forward_dynamics(mechanism, s, listed(kEffortB), w), listed(kAccelerationB)),
            kPrinted);
  EXPECT_LT(error(forward_dynamics(mechanism, s, VectorXd::Zero(6), w), listed(kUndrivenB)),
            kPrinted);
  EXPECT_LT(error(bias_effort(mechanism, s, w), listed(kBiasB)), kPrinted);
  EXPECT_LT(error(mass_matrix(mechanism, s.q, w), symmetric(kMassB, 6)), kPrinted);
  inverse_dynamics(mechanism, s, listed(kAccelerationB), w);
  for (int n = 0; n < 3; ++n)
    EXPECT_LT(error(swapped(force_on(mechanism, w, body_name(n))), six(kForceB[n])), kPrinted) << n;
}

}  // namespace
}  // namespace catena::test
