// SPDX-License-Identifier: BSD-3-Clause
// Random drops and random trees with stops, friction and couplings, by events and by time-stepping:
// how many runs come to their end, what the audit says, how fast they are (`make contact-study`).
//
//   contact_study [runs of each kind, default 100] [a part of the names of those wanted] [first
//   run]
//                 [method: dop853 or time-stepping, default both]
//
// Columns: residual of the laws over the load; largest penetration (m; by events the closure
// residual, which holds the gaps of closed contacts, and that of stretches by steps); creep of
// contacts that stick; `restored`: energy that time-stepping gave back or took, in all steps, over
// the largest energy of the run, per second; time against the same runs without stops (trees only),
// the largest ratio.
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <functional>
#include <random>
#include <string>

#include "catena/io/load.h"
#include "catena/io/models/yaml.h"
#include "catena/simulation/settings_file.h"
#include "catena/simulation/simulate.h"

namespace catena {
namespace {

using Random = std::mt19937;

double normal(Random& random) { return std::normal_distribution<double>()(random); }
double uniform(Random& random, double from, double to) {
  return std::uniform_real_distribution<double>(from, to)(random);
}

Mechanism from_text(const std::string& text) {
  return MechanismBuilder(read_yaml_text("catena: 1\n" + text, "study.yaml").description).finish();
}

struct Case {
  Mechanism mechanism;
  State state;
  SimulationSettings settings;
};

void read(Case& c, const std::string& text) {
  StateInput input = default_input(c.mechanism);
  read_settings_text(text, "study.yaml", c.mechanism, input, c.settings);
}

void throw_it(Case& c, Random& random, double height, double spin, double speed, double joints) {
  c.state = c.mechanism.default_state();
  c.state.q[6] = height;
  for (int i = 0; i < c.mechanism.freedoms(); ++i)
    c.state.v[i] = (i < 3 ? spin : i < 6 ? speed : joints) * normal(random);
}

Case two_wheels(Random& random) {
  Case c{from_text(R"(
base: free
bodies:
  chassis: {mass: 5, center_of_mass: [0, 0, 0.3], inertia: [0.2, 0.2, 0.05]}
  left: &w {mass: 0.5, inertia: [0.002, 0.0035, 0.002]}
  right: *w
hinges:
  L: {type: revolute, parent: chassis, child: left, axis: y, at: [0, 0.2, 0], friction: 0.05}
  R: {type: revolute, parent: chassis, child: right, axis: y, at: [0, -0.2, 0], friction: 0.05}
)"),
         {},
         {}};
  read(c, R"(
constraints:
  l: {type: contact, body: left, radius: 0.12, friction: 0.8}
  r: {type: contact, body: right, radius: 0.12, friction: 0.8}
  h: {type: contact, body: chassis, point: [0, 0, 0.75], radius: 0.1, friction: 0.5}
)");
  throw_it(c, random, 0.5, 4.0, 1.0, 10.0);
  return c;
}

Case car(Random& random) {
  Case c{from_text(R"(
base: free
bodies:
  chassis: {mass: 20, center_of_mass: [0, 0, 0.05], inertia: [0.4, 0.8, 1.0]}
  fl: &w {mass: 1, inertia: [0.003, 0.005, 0.003]}
  fr: *w
  rl: *w
  rr: *w
hinges:
  jfl: {type: revolute, parent: chassis, child: fl, axis: y, at: [0.25, 0.2, 0]}
  jfr: {type: revolute, parent: chassis, child: fr, axis: y, at: [0.25, -0.2, 0]}
  jrl: {type: revolute, parent: chassis, child: rl, axis: y, at: [-0.25, 0.2, 0]}
  jrr: {type: revolute, parent: chassis, child: rr, axis: y, at: [-0.25, -0.2, 0]}
)"),
         {},
         {}};
  read(c, R"(
constraints:
  cfl: {type: contact, body: fl, radius: 0.1, friction: 0.8}
  cfr: {type: contact, body: fr, radius: 0.1, friction: 0.8}
  crl: {type: contact, body: rl, radius: 0.1, friction: 0.8}
  crr: {type: contact, body: rr, radius: 0.1, friction: 0.8}
inputs: {jrl: 5*sin(t), jrr: -5*sin(2*t), jfl: 3, jfr: 3*cos(t)}
)");
  throw_it(c, random, 0.3, 0.5, 1.0, 5.0);
  return c;
}

Case quadruped(Random& random) {
  Case c{load(CATENA_SOURCE_DIR "/models/quadruped.yaml"), {}, {}};
  std::string text = "limit_efforts: false\nconstraints:\n";
  for (const std::string leg : {"front_left", "front_right", "hind_left", "hind_right"}) {
    text += "  " + leg + "_foot: {type: contact, body: " + leg +
            "_shank, point: [0, 0, -0.25], radius: 0.025, friction: 0.7}\n";
    const auto pd = [&](const std::string& joint, const std::string& target) {
      c.settings.actions.controllers.push_back(
          {.freedom = leg + joint, .kp = 150.0, .kd = 5.0, .target = target});
    };
    pd("_roll", "0");
    pd("_pitch", "0.7");
    pd("_knee", "-1.3 - 0.2*sin(4*t)");
  }
  read(c, text);
  throw_it(c, random, 0.6, 1.0, 0.5, 0.0);
  return c;
}

// Boxes that fall onto a plane, one above the other, and onto each other.
Case pile(Random& random) {
  constexpr int kBoxes = 20;
  std::string bodies, hinges;
  for (int k = 0; k < kBoxes; ++k) {
    char text[300];
    const double x = uniform(random, 0.1, 0.25), y = uniform(random, 0.1, 0.25),
                 z = uniform(random, 0.1, 0.25), mass = 500.0 * x * y * z;
    std::snprintf(text, sizeof text,
                  "  b%d: {mass: %.5f, inertia: [%.7f, %.7f, %.7f], collisions: [{shape: box, "
                  "size: [%.5f, %.5f, %.5f]}]}\n",
                  k, mass, mass * (y * y + z * z) / 12.0, mass * (x * x + z * z) / 12.0,
                  mass * (x * x + y * y) / 12.0, x, y, z);
    bodies += text;
    std::snprintf(text, sizeof text,
                  "  J%d: {type: free, parent: world, child: b%d, at: {xyz: [%.4f, %.4f, %.4f], "
                  "rpy: [%.4f, %.4f, %.4f]}}\n",
                  k, k, 0.1 * normal(random), 0.1 * normal(random), 0.3 + 0.35 * k, normal(random),
                  normal(random), normal(random));
    hinges += text;
  }
  Case c{from_text("bodies:\n" + bodies + "hinges:\n" + hinges), {}, {}};
  read(c, "{ground: {height: 0, friction: 0.6}, collisions: {friction: 0.6}}");
  c.state = c.mechanism.default_state();
  for (int i = 0; i < c.mechanism.freedoms(); ++i)
    c.state.v[i] = (i % 6 < 3 ? 2.0 : 0.3) * normal(random);
  return c;
}

// A tree of 3 to 12 links with stops and dry friction, some joints coupled, on a free or fixed
// base.
Case tree(Random& random) {
  const int links = std::uniform_int_distribution<int>(3, 12)(random);
  std::string bodies = "  b0: {mass: 10, inertia: [0.3, 0.4, 0.5]}\n", hinges, couplings;
  for (int k = 1; k <= links; ++k) {
    const std::string i = std::to_string(k);
    char text[400];
    std::snprintf(text, sizeof text,
                  "  b%d: {mass: %.4f, center_of_mass: [%.4f, %.4f, %.4f], inertia: [0.02, 0.05, "
                  "0.05]}\n",
                  k, uniform(random, 0.5, 3.0), uniform(random, 0.1, 0.5),
                  uniform(random, -0.1, 0.1), uniform(random, -0.1, 0.1));
    bodies += text;
    const int parent = std::uniform_int_distribution<int>(std::max(0, k - 3), k - 1)(random);
    std::snprintf(text, sizeof text,
                  "  J%d: {type: revolute, parent: b%d, child: b%d, axis: %c, at: [%.3f, %.3f, "
                  "%.3f], limits: [%.3f, %.3f], damping: %.3f, friction: %.3f}\n",
                  k, parent, k, "xyz"[k % 3], uniform(random, 0.1, 0.6), uniform(random, -0.3, 0.3),
                  uniform(random, -0.3, 0.3), k % 4 == 0 ? 0.0 : uniform(random, -1.0, 0.0),
                  k % 5 == 0 ? 0.0 : uniform(random, 0.0, 1.0), uniform(random, 0.0, 0.5),
                  k % 2 == 0 ? uniform(random, 0.0, 1.0) : 0.0);
    hinges += text;
    if (k % 6 == 5)
      couplings += "  c" + i + ": {follower: J" + i + ", leader: J" + std::to_string(k - 1) +
                   ", ratio: -1}\n";
  }
  Case c{from_text(std::string("base: ") + (links % 2 == 0 ? "free" : "fixed") + "\nbodies:\n" +
                   bodies + "hinges:\n" + hinges +
                   (couplings.empty() ? "" : "couplings:\n" + couplings)),
         {},
         {}};
  c.state = c.mechanism.default_state();
  for (int i = 0; i < (links % 2 == 0 ? 6 : 0); ++i) c.state.v[i] = normal(random);
  return c;
}

struct Tally {
  int runs = 0, done = 0, stepped = 0;
  double residual = 0.0, penetration = 0.0, creep = 0.0, drift = 0.0, restored = 0.0;
  double processor = 0.0, simulated = 0.0, slowest = 0.0, ratio = 0.0;
  std::int64_t most_events = 0;
  std::string error;
};

// Ratios of shorter times are noise of the clock.
constexpr double kShortest = 0.02;  // s
constexpr double kMostRatio = 10.0;

Tally study(const std::function<Case(Random&)>& make, Method method, int first, int runs,
            double duration, bool without_stops) {
  Tally tally;
  for (int k = first; k < first + runs; ++k) {
    Random random(static_cast<unsigned>(1000 + k));
    Case c = make(random);
    c.settings.duration = duration;
    c.settings.integrator.method = method;
    MemoryRecorder record;
    ++tally.runs;
    try {
      const SimulationResult r = simulate(c.mechanism, c.state, c.settings, record);
      ++tally.done;
      tally.drift = std::max(tally.drift, r.audit.energy_drift / duration);
      tally.processor += r.processor_time;
      tally.slowest = std::max(tally.slowest, r.processor_time);
      tally.simulated += r.simulated_time;
      tally.most_events = std::max(tally.most_events, r.events);
      if (method != Method::time_stepping)
        tally.penetration = std::max(tally.penetration, r.audit.closure_residual);
      if (without_stops) {
        c.settings.actions.stops = false;
        MemoryRecorder free;
        const double time = simulate(c.mechanism, c.state, c.settings, free).processor_time;
        const double ratio = r.processor_time / std::max(time, kShortest);
        tally.ratio = std::max(tally.ratio, ratio);
        if (ratio > kMostRatio)
          tally.error += "    run " + std::to_string(k) + ": " + std::to_string(r.processor_time) +
                         " s, without stops " + std::to_string(time) + " s; " +
                         std::to_string(r.events) + " events, " + std::to_string(r.steps.steps) +
                         " steps\n";
      }
      if (!r.audit.contact) continue;
      ++tally.stepped;
      tally.residual = std::max(tally.residual, r.audit.contact->residual);
      tally.penetration = std::max(tally.penetration, r.audit.contact->penetration);
      tally.creep = std::max(tally.creep, r.audit.contact->creep);
      tally.restored =
          std::max(tally.restored, r.audit.contact->restored / r.audit.energy_scale / duration);
    } catch (const std::exception& e) {
      tally.error += "    run " + std::to_string(k) + ": " + e.what() + "\n";
    }
  }
  return tally;
}

}  // namespace
}  // namespace catena

int main(int argc, char** argv) {
  using namespace catena;
  const int runs = argc > 1 ? std::atoi(argv[1]) : 100;
  const std::string wanted = argc > 2 ? argv[2] : "";
  const int first = argc > 3 ? std::atoi(argv[3]) : 0;
  const std::string only = argc > 4 ? argv[4] : "";
  const std::pair<const char*, std::function<Case(Random&)>> kinds[] = {
      {"two-wheeled robot", two_wheels},
      {"car", car},
      {"quadruped with PD", quadruped},
      {"pile of 20 boxes", pile},
      {"trees with stops, friction, couplings", tree}};
  std::printf("%-38s %-14s %9s %8s %9s %9s %9s %9s %9s %8s %9s %7s %7s\n", "", "", "done",
              "stepped", "residual", "penetr. m", "creep m/s", "drift/s", "restored", "x real",
              "slowest s", "ratio", "events");
  int failed = 0;
  for (const auto& [name, make] : kinds) {
    if (std::string(name).find(wanted) == std::string::npos) continue;
    for (const Method method : {Method::time_stepping, Method::dop853}) {
      // Shapes against each other are stepped in both.
      if (method != Method::time_stepping && std::string(name).starts_with("pile")) continue;
      if (!only.empty() && only != to_string(method)) continue;
      const bool trees = std::string(name).starts_with("trees");
      const Tally t = study(make, method, first, runs, 5.0, trees);
      std::printf(
          "%-38s %-14s %4d/%-4d %8d %9.1e %9.1e %9.1e %9.1e %9.1e %8.1f %9.2f %7.1f %7lld\n", name,
          std::string(to_string(method)).c_str(), t.done, t.runs, t.stepped, t.residual,
          t.penetration, t.creep, t.drift, t.restored, t.simulated / t.processor, t.slowest,
          t.ratio, static_cast<long long>(t.most_events));
      std::fputs(t.error.c_str(), stdout);
      std::fflush(stdout);
      failed += t.runs - t.done;
    }
  }
  return failed == 0 ? 0 : 1;
}
