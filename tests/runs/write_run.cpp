// SPDX-License-Identifier: BSD-3-Clause
// Runs to test the reports with, until a simulation writes them:
//
//   write_run WHAT MODELS OUT
//
//   pendulum   models/double_pendulum.yaml for 10 s, by RK4 with the library's forward dynamics
//   four_bar   models/four_bar.yaml with its crank turning at 1 rad/s, by the closed form of a
//              four-bar: no dynamics at all
//   bare       the same without visuals, to be drawn from its hinges
//   slow       the double pendulum, a row every 10 ms until it is killed
//   million    a million rows with one outlier
//   hills      a pendulum above a height field, with figures of a flexible body in its audit
#include <chrono>
#include <cmath>
#include <cstdio>
#include <numbers>
#include <string>
#include <thread>

#include "catena/dynamics/energy.h"
#include "catena/dynamics/forward.h"
#include "catena/io/load.h"
#include "catena/io/models/yaml.h"
#include "catena/io/runs/run_file.h"
#include "catena/model/builder.h"

namespace {

using namespace catena;

RunHeader header_of(const Mechanism& mechanism, const std::string& path) {
  RunHeader header{.model_yaml = write_yaml(mechanism.description()), .model_path = path};
  header.columns.push_back({"time", "s"});
  for (const std::string& name : mechanism.position_names())
    header.columns.push_back({"q." + name, "rad"});
  for (const std::string& name : mechanism.velocity_names())
    header.columns.push_back({"v." + name, "rad/s"});
  return header;
}

State rk4_step(const Mechanism& mechanism, const State& state, double h) {
  const Eigen::VectorXd effort = Eigen::VectorXd::Zero(mechanism.freedoms());
  const auto acceleration = [&](const Eigen::VectorXd& q, const Eigen::VectorXd& v) {
    return forward_dynamics(mechanism, {q, v}, effort);
  };
  const Eigen::VectorXd k1 = acceleration(state.q, state.v), v2 = state.v + h / 2 * k1;
  const Eigen::VectorXd k2 = acceleration(state.q + h / 2 * state.v, v2), v3 = state.v + h / 2 * k2;
  const Eigen::VectorXd k3 = acceleration(state.q + h / 2 * v2, v3), v4 = state.v + h * k3;
  const Eigen::VectorXd k4 = acceleration(state.q + h * v3, v4);
  return {state.q + h / 6 * (state.v + 2 * v2 + 2 * v3 + v4),
          state.v + h / 6 * (k1 + 2 * k2 + 2 * k3 + k4)};
}

void pendulum(const std::string& models, const std::string& out, bool slow) {
  const std::string path = models + "/double_pendulum.yaml";
  const Mechanism mechanism = load(path);
  RunHeader header = header_of(mechanism, path);
  for (const char* name : {"energy.kinetic", "energy.potential", "energy.total"})
    header.columns.push_back({name, "J"});
  header.settings_json =
      R"({"duration": 10, "output_step": 0.01, "integrator": {"method": "rk4", "step": 0.001},
          "gravity": [0, -9.81, 0], "outputs": ["q", "v", "energy"]})";
  RunWriter writer(out, header, true);
  EnergyMeter meter(mechanism);
  State state = mechanism.default_state();
  state.q << 2.2, -0.4;  // high up, so that it has something to show
  double first = 0.0, drift = 0.0, before = state.q[0];
  for (int i = 0; slow || i <= 1000; ++i) {
    const double time = i * 0.01;
    const Energy energy = meter.measure(state);
    if (i == 0) first = energy.total();
    drift = std::max(drift, std::abs(energy.total() - first));
    writer.append(std::vector<double>{time, state.q[0], state.q[1], state.v[0], state.v[1],
                                      energy.kinetic, energy.potential(), energy.total()});
    if (before * state.q[0] < 0.0)
      writer.add_event({time, "user", "shoulder", "hangs straight down"});
    before = state.q[0];
    if (slow) std::this_thread::sleep_for(std::chrono::milliseconds(10));
    for (int k = 0; k < 10; ++k) state = rk4_step(mechanism, state, 0.001);
  }
  writer.finish(R"({"energy_drift": )" + std::to_string(drift) +
                    R"(, "linear_momentum_drift": null, "angular_momentum_drift": null,
                       "closure_residual": 0, "steps": {"accepted": 10000, "rejected": 0},
                       "work": [{"element": "gravity", "work": 0.0}]})",
                true);
}

// Crank 1, coupler 4.8, rocker 2, ground 4: the loop  r1 e^{ia} + r2 e^{ib} = 4 + r3 e^{ic}.
void four_bar(const std::string& models, const std::string& out, bool bare) {
  const std::string path = models + "/four_bar.yaml";
  Reading reading = read_description(path);
  if (bare)
    for (Body& body : reading.description.bodies) body.visuals.clear();
  const Mechanism mechanism = MechanismBuilder(reading.description).finish();
  RunHeader header = header_of(mechanism, path);
  header.columns.resize(1 + static_cast<std::size_t>(mechanism.coordinates()));  // no velocities
  header.settings_json = R"({"duration": 6.283185307179586, "drive": "crank at 1 rad/s"})";
  RunWriter writer(out, header, true);
  const int a = mechanism.position_index("A"), b = mechanism.position_index("B"),
            d = mechanism.position_index("D");
  for (int i = 0; i <= 400; ++i) {
    const double time = 2.0 * std::numbers::pi * i / 400.0, crank = time + std::numbers::pi / 2;
    // From the crank's end to the rocker's pivot, then the triangle of coupler and rocker.
    const double x = 4.0 - std::cos(crank), y = -std::sin(crank), r = std::hypot(x, y);
    const double at_crank = std::acos((4.8 * 4.8 + r * r - 2.0 * 2.0) / (2.0 * 4.8 * r));
    const double coupler = std::atan2(y, x) + at_crank;
    const double rocker = std::atan2(std::sin(crank) + 4.8 * std::sin(coupler),
                                     std::cos(crank) + 4.8 * std::cos(coupler) - 4.0);
    std::vector<double> row(header.columns.size(), 0.0);
    row[0] = time;
    row[static_cast<std::size_t>(1 + a)] = crank;
    row[static_cast<std::size_t>(1 + b)] = coupler - crank;
    row[static_cast<std::size_t>(1 + d)] = rocker;
    writer.append(row);
  }
  writer.finish(R"({"closure_residual": 0})", true);
}

void million(const std::string& models, const std::string& out) {
  const std::string path = models + "/pendulum.yaml";
  const Mechanism mechanism = load(path);
  RunWriter writer(out, header_of(mechanism, path), true);
  for (int i = 0; i < 1000000; ++i) {
    const double time = i * 1e-4;
    writer.append(std::vector<double>{time, std::sin(time), i == 123456 ? 77.0 : std::cos(time)});
  }
  writer.finish("{}", true);
}

void hills(const std::string& models, const std::string& out) {
  const std::string path = models + "/pendulum.yaml";
  const Mechanism mechanism = load(path);
  RunHeader header = header_of(mechanism, path);
  header.settings_json = R"({"duration": 1, "ground": {"height_field": {"origin": [-1, -2],
      "spacing": [0.5, 1], "heights": [[0, 0.1, 0], [0.2, -0.3, 0.1]]}}})";
  RunWriter writer(out, header, true);
  for (int i = 0; i <= 10; ++i)
    writer.append(std::vector<double>{0.1 * i, std::sin(0.1 * i), std::cos(0.1 * i)});
  writer.finish(R"({"audit": {"energy_drift": 1e-9, "flexible": {
                    "arm.boom": {"deflection": 0.15, "rate": 0.5, "pivot": 0.9}}}})",
                true);
}

}  // namespace

int main(int argc, char** argv) {
  const std::string what = argc == 4 ? argv[1] : "";
  try {
    if (what == "pendulum" || what == "slow")
      pendulum(argv[2], argv[3], what == "slow");
    else if (what == "four_bar" || what == "bare")
      four_bar(argv[2], argv[3], what == "bare");
    else if (what == "million")
      million(argv[2], argv[3]);
    else if (what == "hills")
      hills(argv[2], argv[3]);
    else {
      std::fprintf(stderr,
                   "usage: write_run pendulum|four_bar|bare|slow|million|hills MODELS OUT\n");
      return 2;
    }
  } catch (const std::exception& error) {
    std::fprintf(stderr, "write_run: %s\n", error.what());
    return 1;
  }
}
