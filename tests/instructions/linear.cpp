// SPDX-License-Identifier: BSD-3-Clause
// linear SHAPE BODIES WHAT: one call of forward or inverse dynamics of a `chain` or a `star`, in a
// function of its own, for linear.sh to count the instructions of.
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <string>

#include "catena/dynamics/forward.h"
#include "catena/dynamics/inverse.h"
#include "catena/model/builder.h"

namespace {

using namespace catena;

Mechanism many(int bodies, bool star) {
  MechanismBuilder builder("many");
  for (int i = 0; i < bodies; ++i) {
    const std::string name = "b" + std::to_string(i);
    builder.add_body(name, {.mass = 1.0, .inertia = {.xx = 0.01, .yy = 0.01, .zz = 0.01}});
    HingeSettings hinge{.type = i % 5 == 4 ? HingeType::prismatic : HingeType::revolute};
    hinge.axes = {i % 2 == 0 ? Vec3d::unit_x() : Vec3d::unit_y()};
    hinge.frame_on_parent.translation = {0.1, 0.0, 0.05};
    const std::string parent = star || i == 0 ? std::string(kWorld) : "b" + std::to_string(i - 1);
    builder.add_hinge("h" + std::to_string(i), parent, name, hinge);
  }
  return builder.finish();
}

struct Job {
  Mechanism mechanism;
  Workspace workspace;
  State state;
  Eigen::VectorXd given;  // efforts or accelerations
  bool forward;
};

}  // namespace

extern "C" [[gnu::noinline]] void counted(Job* job) {
  if (job->forward)
    forward_dynamics(job->mechanism, job->state, job->given, job->workspace);
  else
    inverse_dynamics(job->mechanism, job->state, job->given, job->workspace);
}

int main(int argc, char** argv) {
  if (argc != 4) return 2;
  const int bodies = std::atoi(argv[2]);
  Mechanism m = many(bodies, std::strcmp(argv[1], "star") == 0);
  Job job{m, Workspace(m), m.default_state(), Eigen::VectorXd::Constant(bodies, 0.1),
          std::strcmp(argv[3], "forward") == 0};
  for (int i = 0; i < bodies; ++i) job.state.q[i] = 0.3 * std::sin(0.7 * i);
  // The first call also fills caches of the library's own.
  forward_dynamics(job.mechanism, job.state, job.given, job.workspace);
  counted(&job);
}
