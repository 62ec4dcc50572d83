// SPDX-License-Identifier: BSD-3-Clause
#include "apps/catena/assignments.h"

#include <cmath>

#include "apps/catena/commands.h"
#include "catena/base/error.h"
#include "catena/simulation/signals/expression.h"

namespace catena::app {

namespace {

std::string program(const std::string& command) {
  return command.empty() ? "catena" : "catena " + command;
}

}  // namespace

std::pair<std::string, std::string> split_assignment(const std::string& text,
                                                     const std::string& command,
                                                     const std::string& option) {
  const std::size_t at = text.find('=');
  if (at == std::string::npos || at == 0 || at + 1 == text.size())
    throw UsageError(program(command) + ": error: " + option + " needs NAME=VALUE, not '" + text +
                     "'");
  return {text.substr(0, at), text.substr(at + 1)};
}

double constant(const std::string& text, const std::string& command, const std::string& option) {
  const auto refuse = [&](const std::string& why) {
    throw UsageError(program(command) + ": error: " + option + ": '" + text + "' is not a number" +
                     why);
  };
  try {
    const Expression expression(text);
    if (!expression.constant()) refuse("");
    const double value = expression.jet(0.0).value;
    if (!std::isfinite(value)) refuse(" that is finite");
    return value;
  } catch (const UsageError&) {
    throw;
  } catch (const Error& e) {
    refuse(std::string(" (") + e.what() + ")");
  }
  return 0.0;
}

std::map<std::string, double> numbers_by_name(const std::vector<std::string>& texts,
                                              const std::string& command,
                                              const std::string& option) {
  std::map<std::string, double> numbers;
  for (const std::string& text : texts) {
    const auto [name, value] = split_assignment(text, command, option);
    numbers[name] = constant(value, command, option + " " + name);
  }
  return numbers;
}

}  // namespace catena::app
