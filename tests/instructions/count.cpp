// SPDX-License-Identifier: BSD-3-Clause
// count MODEL WHAT: forward dynamics of one state (`one`) or of one pack (`batch`), ten times in a
// function of its own, for check.sh to count the instructions of.
#include <cstdio>
#include <cstring>

#include "catena/base/cpu.h"
#include "catena/dynamics/batch.h"
#include "catena/dynamics/forward.h"
#include "catena/io/load.h"
#include "catena/model/configuration.h"

namespace {

using namespace catena;

constexpr int kCalls = 10;

struct Job {
  const Mechanism& mechanism;
  Workspace workspace;
  BatchWorkspace batch;
  State state;
  Eigen::VectorXd effort;
  RowMatrix q, v, efforts, found;
  bool many;
};

}  // namespace

extern "C" [[gnu::noinline]] void counted(Job* job) {
  for (int i = 0; i < kCalls; ++i) {
    if (job->many)
      batch_forward_dynamics(job->mechanism, job->q, job->v, job->efforts, job->batch, job->found);
    else
      forward_dynamics(job->mechanism, job->state, job->effort, job->workspace);
  }
}

int main(int argc, char** argv) {
  if (argc != 3) return 2;
  const Mechanism m = load(argv[1]);
  const int n = m.freedoms();
  Job job{m,
          Workspace(m),
          BatchWorkspace(m, {.threads = 1}),
          {random_position(m, 1), random_vector(n, 2)},
          random_vector(n, 3),
          {},
          {},
          {},
          {},
          std::strcmp(argv[2], "batch") == 0};
  const int states = job.batch.lanes();
  job.q = job.state.q.transpose().replicate(states, 1);
  job.v = job.state.v.transpose().replicate(states, 1);
  job.efforts = job.effort.transpose().replicate(states, 1);
  job.found.resize(states, n);
  counted(&job);
  std::printf("%s\n", instruction_set().c_str());
}
