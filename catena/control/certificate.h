// SPDX-License-Identifier: BSD-3-Clause
// Certificates: what was checked about a result, with the numbers. Every synthesis and reduction
// returns one.
//
//   for (const Check& c : result.certificate.checks) print(c.text());
//   if (!result.certificate.passed()) ...
#pragma once

#include <string>
#include <vector>

namespace catena {

struct Check {
  std::string name;  // "closed loop stable"
  bool passed = true;
  double value = 0.0;  // what was found
  double limit = 0.0;  // what it was compared with
  std::string detail;  // mode, channel, frequency by name; may be empty

  std::string text() const;  // one line
};

struct Certificate {
  std::vector<Check> checks;
  std::vector<std::string> remarks;  // what was changed on the way (regularization, ...)
  double worst_frequency = 0.0;      // rad/s, of the norm that was bounded

  bool passed() const;
  void add(std::string name, bool passed, double value, double limit, std::string detail = {});
  std::string text() const;
};

}  // namespace catena
