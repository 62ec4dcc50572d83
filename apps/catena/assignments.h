// SPDX-License-Identifier: BSD-3-Clause
// NAME=VALUE on the command line.
#pragma once

#include <map>
#include <string>
#include <utility>
#include <vector>

namespace catena::app {

// At the first '='. A UsageError names the command (none: the program) and the option.
std::pair<std::string, std::string> split_assignment(const std::string& text,
                                                     const std::string& command,
                                                     const std::string& option);

// A number, which may be an expression: pi/2.
double constant(const std::string& text, const std::string& command, const std::string& option);

// NAME=NUMBER of each text.
std::map<std::string, double> numbers_by_name(const std::vector<std::string>& texts,
                                              const std::string& command,
                                              const std::string& option);

}  // namespace catena::app
