// The acrobot swings up: one motor at the elbow, none at the shoulder, at least effort.
//
//   optimize models/acrobot.yaml
#include <cstdio>
#include <numbers>
#include <string>

#include "catena/io/load.h"
#include "catena/optimal/solve.h"

int main(int argc, char** argv) {
  if (argc != 2) {
    std::fprintf(stderr, "usage: optimize models/acrobot.yaml\n");
    return 2;
  }
  const catena::Mechanism m = catena::load(argv[1]);
  catena::MotionProblem problem(m);
  problem.duration = 3.0;
  problem.controls.push_back({.freedom = "elbow", .motion = true, .coefficients = 12});
  for (const std::string name : {"shoulder", "elbow"}) {
    problem.final_position(name, name == "shoulder" ? std::numbers::pi / 2.0 : 0.0);
    problem.final_velocity(name, 0.0);
  }
  problem.effort_cost("elbow");

  catena::SolverSettings settings;
  settings.progress = [](const catena::SolverProgress& p) {
    if (p.iteration % 10 == 0) std::printf("%4d  cost %.6g\n", p.iteration, p.cost);
    return true;
  };
  const catena::OptimalMotion best = catena::solve(problem, settings);
  std::printf("%s\ncost %.9g after %.2g s; the shoulder ends at %.9f rad, %.1e rad/s\n",
              best.message.c_str(), best.cost, best.wall_time, best.final_state.q[0],
              best.final_state.v[0]);
  return best.converged ? 0 : 1;
}
