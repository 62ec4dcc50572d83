// SPDX-License-Identifier: BSD-3-Clause
#include "catena/control/certificate.h"

#include "catena/base/text.h"

namespace catena {

std::string Check::text() const {
  std::string line = (passed ? "ok      " : "FAILED  ") + name + ": " + short_number(value, 6) +
                     " (limit " + short_number(limit, 6) + ")";
  if (!detail.empty()) line += ", " + detail;
  return line;
}

bool Certificate::passed() const {
  for (const Check& c : checks)
    if (!c.passed) return false;
  return true;
}

void Certificate::add(std::string name, bool good, double value, double limit, std::string detail) {
  checks.push_back({std::move(name), good, value, limit, std::move(detail)});
}

std::string Certificate::text() const {
  std::string all;
  for (const Check& c : checks) all += c.text() + "\n";
  for (const std::string& r : remarks) all += "note    " + r + "\n";
  return all;
}

}  // namespace catena
