// A flexible arm: two inertias with a spring between, driven by a motor with a delay. How far can
// the gain go, what does the loop do at a step, and what does the sampled loop look like?
#include <cstdio>

#include "catena/linear/algebra.h"
#include "catena/linear/analysis.h"
#include "catena/linear/connect.h"
#include "catena/linear/demo_systems.h"
#include "catena/linear/discretize.h"
#include "catena/linear/files/system_file.h"
#include "catena/linear/freqresp.h"
#include "catena/linear/timeresp.h"
#include "catena/linear/zpk.h"

int main() {
  catena::StateSpace arm = catena::demo::double_mass({.stiffness = 400.0, .damping = 0.5});
  arm.input_delay = Eigen::VectorXd::Constant(1, 0.004);
  for (const catena::PoleInfo& p : catena::damp(arm))
    std::printf("pole %8.4f %+8.4fi  %8.3f rad/s, damping %.4f\n", p.pole.real(), p.pole.imag(),
                p.frequency, p.damping);

  // A lead compensator from the error to the force, connected by names.
  catena::StateSpace lead = catena::state_space(catena::zpk({-0.5}, {-20.0}, 30.0));
  lead.inputs = {"error"};
  lead.outputs = {"force"};
  const catena::StateSpace closed = catena::connect(
      {catena::pade(arm, 4), lead, catena::summing_junction("error = reference - x1")},
      {"reference"}, {"x1", "x2", "force"});
  std::printf("the loop is %s\n", catena::is_stable(closed) ? "stable" : "unstable");
  const catena::StepInfo info = catena::stepinfo(closed)(0, 0);
  std::printf("rise %.3f s, settling %.3f s, overshoot %.1f %%\n", info.rise_time,
              info.settling_time, info.overshoot);

  // The largest gain of the plant near its resonance, on a grid that cannot miss it.
  const catena::SingularValues gains = catena::sigma(arm, {.from = 10.0, .to = 100.0});
  Eigen::Index worst = 0;
  const double peak = gains.values.row(0).maxCoeff(&worst);
  std::printf("largest gain between 10 and 100 rad/s: %.5f at %.3f rad/s (%ld points)\n", peak,
              gains.omega[worst], static_cast<long>(gains.omega.size()));

  // Sampled with 5 ms: the delay of 4 ms is exact, one state more.
  const catena::StateSpace sampled = catena::c2d(arm, 0.005);
  std::printf("sampled: %d states, delay left %.4f s\n", sampled.order(),
              sampled.has_delay() ? sampled.delays().maxCoeff() : 0.0);
  std::printf("%s", catena::system_to_yaml(sampled).substr(0, 90).c_str());
  std::printf("...\n");
}
