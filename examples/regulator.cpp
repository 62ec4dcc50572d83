// A block on a rail is brought back to its place: the best gains, and how far it is after 10 s.
#include <cstdio>

#include <catena/model/builder.h>
#include <catena/optimal/regulated_run.h>

int main() {
  catena::MechanismBuilder builder("block");
  builder.set_gravity({0.0, 0.0, 0.0});
  builder.add_body("block", {.mass = 2.0});
  builder.add_hinge("rail", "world", "block",
                    {.type = catena::HingeType::prismatic, .axes = {{1.0, 0.0, 0.0}}});
  const catena::Mechanism block = builder.finish();

  const Eigen::VectorXd none = Eigen::VectorXd::Zero(1);
  const catena::OperatingPoint rest{block.default_state(), none, none, {}};
  const catena::Regulator regulator =
      catena::hold(block, rest,
                   {.actuators = {"rail"},
                    .interval = 1e-3,
                    .state_weights = {{"q.rail", 4.0}, {"v.rail", 1.0}},
                    .input_weights = {{"rail", 0.25}}});
  std::printf("effort = -%.2f x - %.2f v\n", regulator.gains[0](0, 0), regulator.gains[0](0, 1));

  const catena::RecordedMotion stay(block, {0.0, 10.0}, {rest.state, rest.state}, {none, none});
  catena::RegulatedSettings settings;
  settings.disturbance.offsets = {{"q.rail", 0.1}};
  catena::MemoryRecorder record;
  const catena::RegulatedResult result =
      catena::simulate_regulated(block, stay, regulator, settings, record);
  std::printf("from 0.1 m it comes back to %s\n",
              result.final_deviation.norm() < 1e-4 ? "1e-4" : "somewhere else");
}
