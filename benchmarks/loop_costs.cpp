// SPDX-License-Identifier: BSD-3-Clause
// What closed loops cost, as ratios in one run: a quadruped whose twelve hinges are driven by
// geared motors, or through four-bars, beside the same bodies with the loops opened; four-bars in
// series along a chain; and a four-bar beside a peer's (plug-ins as arguments, as for `table`).
#include <cmath>
#include <cstdio>

#include "sampling.h"
#include "subject.h"

#include "catena/dynamics/forward.h"
#include "catena/io/load.h"
#include "catena/model/configuration.h"

namespace {

using namespace catena;
using namespace catena_bench;

constexpr int kRounds = 60;
constexpr int kStates = 16;
constexpr double kAgreement = 1e-6;  // as in table.cpp; who computes something else is left out

// Forward dynamics of one mechanism in several states.
struct Runner {
  explicit Runner(Mechanism m) : mechanism(std::move(m)), workspace(mechanism) {}
  void run(int k) {
    const auto i = static_cast<std::size_t>(k) % states.size();
    forward_dynamics(mechanism, states[i], efforts[i], workspace);
  }
  Mechanism mechanism;
  Workspace workspace;
  std::vector<State> states;
  std::vector<Eigen::VectorXd> efforts;
};

// Follows every revolute hinge of a tree by two more bodies or one, and closes that, or not.
enum class Extra { motors, four_bars };

std::unique_ptr<Runner> with_extras(const Mechanism& tree, Extra extra, bool closed) {
  MechanismBuilder builder = tree.edit();
  std::vector<std::string> followed;
  for (const Hinge& hinge : tree.description().hinges) {
    HingeSettings& own = builder.hinge(hinge.name);
    own.drive.reset();
    own.freedoms.clear();
    if (hinge.type == HingeType::revolute) followed.push_back(hinge.name);
  }
  const BodySettings small{.mass = 0.2,
                           .center_of_mass = {0.01, 0.0, 0.0},
                           .inertia = SymMat3d::diagonal(2e-4, 2e-4, 2e-4)};
  for (const std::string& name : followed) {
    const Hinge* hinge = nullptr;
    for (const Hinge& h : tree.description().hinges)
      if (h.name == name) hinge = &h;
    const Vec3d axis = normalized(hinge->axes.front());
    if (extra == Extra::motors) {
      builder.add_body(name + "_motor", small);
      builder.add_hinge(name + "_motor", hinge->parent, name + "_motor",
                        {.axes = {axis}, .frame_on_parent = hinge->frame_on_parent});
      if (closed) builder.add_gear(name + "_gear", name + "_motor", name, 8.0);
      continue;
    }
    // A parallelogram: crank beside the hinge, coupler from its tip to the child.
    const Vec3d side =
        normalized(cross(axis, std::abs(axis.x) < 0.9 ? Vec3d{1, 0, 0} : Vec3d{0, 1, 0}));
    const Vec3d arm = 0.1 * cross(side, axis), apart = 0.06 * side;
    const auto shift = [](const Vec3d& p) { return Transformd::from_translation(p); };
    builder.add_body(name + "_crank", small);
    builder.add_hinge(name + "_crank", hinge->parent, name + "_crank",
                      {.axes = {axis}, .frame_on_parent = hinge->frame_on_parent * shift(apart)});
    builder.add_body(name + "_coupler", small);
    builder.add_hinge(name + "_coupler", name + "_crank", name + "_coupler",
                      {.axes = {axis}, .frame_on_parent = shift(arm)});
    if (closed)
      builder.add_hinge(name + "_cut", name + "_coupler", hinge->child,
                        {.axes = {axis},
                         .frame_on_parent = shift(-apart),
                         .frame_on_child = hinge->frame_on_child * shift(arm),
                         .cut = Cut::always});
  }
  auto result = std::make_unique<Runner>(builder.finish());
  const Mechanism& m = result->mechanism;
  for (int k = 0; k < kStates; ++k) {
    State state = m.default_state();
    state.v = random_vector(m.freedoms(), static_cast<std::uint64_t>(k));
    for (std::size_t i = 0; i < followed.size(); ++i) {
      const std::string& name = followed[i];
      const double angle =
          0.5 * std::sin(1.0 + static_cast<double>(k) + 1.7 * static_cast<double>(i));
      const double rate = state.v[m.velocity_index(name)];
      const auto set = [&](const std::string& hinge, double ratio) {
        state.q[m.position_index(hinge)] = ratio * angle;
        state.v[m.velocity_index(hinge)] = ratio * rate;
      };
      set(name, 1.0);
      if (extra == Extra::motors) {
        set(name + "_motor", 8.0);
      } else {
        set(name + "_crank", 1.0);
        set(name + "_coupler", -1.0);
      }
    }
    result->states.push_back(state);
    result->efforts.push_back(random_vector(m.freedoms(), static_cast<std::uint64_t>(100 + k)));
  }
  return result;
}

Contender contender(const std::string& name, Runner& runner) {
  return {name, [&runner](int k) { runner.run(k); }};
}

void beside_opened(const std::string& name, const Mechanism& tree, Extra extra) {
  const auto closed = with_extras(tree, extra, true), open = with_extras(tree, extra, false);
  std::vector<Contender> all{contender("closed", *closed), contender("opened", *open)};
  take_turns(all, kRounds);
  const double own = median(all[0].samples), other = median(all[1].samples);
  std::printf("| %s | %.0f | opened %.0f | %.2f |\n", name.c_str(), own, other, own / other);
}

// The four-bar of the peers' table: 0.2, 0.5 and 0.4 m, pinned 0.6 m from its first hinge.
Mechanism four_bar() {
  MechanismBuilder b("four_bar");
  const double lengths[3] = {0.2, 0.5, 0.4};
  std::string parent = kWorld;
  for (int i = 0; i < 3; ++i) {
    const std::string name = "link" + std::to_string(i);
    b.add_body(name, {.mass = 1.0 + i,
                      .center_of_mass = {lengths[i] / 2.0, 0.0, 0.0},
                      .inertia = SymMat3d::diagonal(0.001, 0.02, 0.02)});
    b.add_hinge(name, parent, name,
                {.axes = {Vec3d::unit_y()},
                 .frame_on_parent =
                     Transformd::from_translation({i == 0 ? 0.0 : lengths[i - 1], 0.0, 0.0})});
    parent = name;
  }
  b.add_hinge("pin", kWorld, parent,
              {.type = HingeType::spherical,
               .frame_on_parent = Transformd::from_translation({0.6, 0.0, 0.0}),
               .frame_on_child = Transformd::from_translation({0.4, 0.0, 0.0}),
               .cut = Cut::always});
  return b.finish();
}

void beside_peers(const std::vector<Plugin>& plugins) {
  const Subject subject("four-bar", four_bar(), kStates, {{2, {0.4, 0, 0}, {0.6, 0, 0}}});
  Runner ours(subject.mechanism);
  for (int k = 0; k < kStates; ++k) {
    ours.states.push_back({subject.q.row(k).transpose(), subject.v.row(k).transpose()});
    ours.efforts.push_back(subject.effort.row(k).transpose());
  }
  std::vector<Contender> all{contender("Catena", ours)};
  std::vector<std::unique_ptr<Peer>> peers;
  for (const Plugin& plugin : plugins) {
    std::unique_ptr<Peer> peer = plugin.make(subject);
    if (peer == nullptr) continue;
    double worst = 0.0;
    for (int k = 0; k < kStates; ++k) {
      Eigen::VectorXd theirs(3);
      peer->run(Task::forward, k);
      peer->result(Task::forward, theirs.data());
      ours.run(k);
      const Eigen::VectorXd& own = ours.workspace.acceleration;
      worst = std::max(worst, (theirs - own).cwiseAbs().maxCoeff() / own.cwiseAbs().maxCoeff());
    }
    std::printf("  %s agrees to %.0e\n", plugin.name().c_str(), worst);
    if (!(worst < kAgreement)) continue;
    all.push_back({plugin.name(), [p = peer.get()](int k) { p->run(Task::forward, k % kStates); }});
    peers.push_back(std::move(peer));
  }
  take_turns(all, kRounds);
  const double own = median(all.front().samples);
  for (std::size_t i = 1; i < all.size(); ++i) {
    const double theirs = median(all[i].samples);
    std::printf("| four-bar | %.0f | %s %.0f | %.2f |\n", own, all[i].name.c_str(), theirs,
                theirs / own);
  }
  if (all.size() == 1) std::printf("| four-bar | %.0f | – | – |\n", own);
}

}  // namespace

int main(int argc, char** argv) try {
  std::vector<Plugin> plugins;
  for (int i = 1; i < argc; ++i) plugins.emplace_back(argv[i]);
  std::printf("Forward dynamics of one state, ns; medians of short samples taken in turn.\n\n");
  std::printf("| mechanism | closed | beside | ratio |\n|---|---:|---:|---:|\n");
  const Mechanism quadruped = load(std::string(CATENA_SOURCE_DIR) + "/models/quadruped.yaml");
  beside_opened("quadruped, 12 geared motors", quadruped, Extra::motors);
  beside_opened("quadruped, 12 four-bars", quadruped, Extra::four_bars);
  std::vector<std::unique_ptr<Runner>> series;
  const std::vector<int> lengths{1, 10, 100, 1000};
  for (const int n : lengths) series.push_back(with_extras(chain(n), Extra::four_bars, true));
  std::vector<Contender> all;
  all.reserve(lengths.size());
  for (std::size_t i = 0; i < lengths.size(); ++i)
    all.push_back(contender(std::to_string(lengths[i]), *series[i]));
  take_turns(all, kRounds);
  const double per_loop = median(all[1].samples) / 10.0;
  for (std::size_t i = 0; i < lengths.size(); ++i) {
    const double each = median(all[i].samples) / lengths[i];
    std::printf("| %d four-bars in series, each | %.0f | of 10: %.0f | %.2f |\n", lengths[i], each,
                per_loop, each / per_loop);
  }
  beside_peers(plugins);
} catch (const std::exception& e) {
  std::fprintf(stderr, "%s\n", e.what());
  return 1;
}
