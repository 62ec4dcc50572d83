// SPDX-License-Identifier: BSD-3-Clause
// catena control: linear systems and controllers, from a mechanism or from a file.
#include "apps/catena/control/control_commands.h"

namespace catena::app {

void add_control(CommandLine& line) {
  Command control = line.subcommand(
      "control", "Analyse linear systems, design controllers, verify them on the mechanism");
  control.needs_subcommand();
  add_control_info(control);
  add_control_responses(control);
  add_control_feedback(control);
  add_control_robust(control);
  add_control_reduce(control);
  add_control_verify(control);
  add_control_robustness(control);
  control.footer(
      "Examples:\n"
      "  catena control info models/cart_pendulum.yaml --inputs rail --outputs q.rail,q.pivot\n"
      "  catena control hinf models/cart_pendulum.yaml --at examples/control_cart_upright.yaml "
      "--inputs rail --outputs q.rail,q.pivot -o K.yaml\n"
      "  catena control verify models/cart_pendulum.yaml --at examples/control_cart_upright.yaml "
      "--controller K.yaml --report page.html\n"
      "  catena simulate models/cart_pendulum.yaml --state examples/control_cart_start.yaml "
      "--controller K.yaml\n\n"
      "FILE is a mechanism, which is linearized at a state, or a linear system (docs/control.md).\n"
      "`catena control COMMAND --help` says more.");
}

}  // namespace catena::app
