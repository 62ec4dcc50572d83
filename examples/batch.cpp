// Ten thousand states of an arm at once: how fast do its joints accelerate under random torques?
#include <chrono>
#include <cstdio>
#include <limits>

#include <catena/dynamics/batch.h>
#include <catena/io/load.h>
#include <catena/model/configuration.h>

int main(int argc, char** argv) {
  const catena::Mechanism arm = catena::load(argc > 1 ? argv[1] : "models/arm7.yaml");
  const Eigen::Index states = 10000, n = arm.freedoms();

  // One state per row, in memory of your own.
  catena::RowMatrix q(states, arm.coordinates()), v(states, n), effort(states, n);
  for (Eigen::Index i = 0; i < states; ++i) {
    const auto seed = static_cast<std::uint64_t>(3 * i);
    q.row(i) = catena::random_position(arm, seed).transpose();
    v.row(i) = catena::random_vector(arm.freedoms(), seed + 1).transpose();
    effort.row(i) = 10.0 * catena::random_vector(arm.freedoms(), seed + 2).transpose();
  }
  v(42, 3) = std::numeric_limits<double>::quiet_NaN();  // a mistake in the data

  catena::BatchWorkspace workspace(arm);
  catena::RowMatrix acceleration(states, n);
  const auto start = std::chrono::steady_clock::now();
  batch_forward_dynamics(arm, q, v, effort, workspace, acceleration);
  const std::chrono::duration<double, std::milli> time = std::chrono::steady_clock::now() - start;
  std::printf("%td states in %.2f ms, %d at a time on %d threads\n", states, time.count(),
              workspace.lanes(), workspace.threads());

  double fastest = 0.0;
  for (Eigen::Index i = 0; i < states; ++i) {
    if (workspace.reports()[static_cast<std::size_t>(i)].status != catena::BatchStatus::ok)
      std::printf("%s\n", workspace.message(i).c_str());
    else
      fastest = std::max(fastest, acceleration.row(i).cwiseAbs().maxCoeff());
  }
  std::printf("the largest acceleration is %.0f rad/s^2\n", fastest);
}
