// SPDX-License-Identifier: BSD-3-Clause
// catena check: every problem of a model file, at once.
#include <cstdio>
#include <memory>
#include <utility>

#include <fmt/core.h>

#include "apps/catena/model_options.h"
#include "catena/closure/assembly.h"
#include "catena/model/validation.h"

namespace catena::app {
namespace {

void check(const ModelOptions& options) {
  Reading reading = options.read();
  std::vector<Diagnostic> found = reading.diagnostics;
  if (!has_error(found)) {
    try {
      const Mechanism m = MechanismBuilder(reading.description).finish({.strict = reading.strict});
      found.insert(found.end(), m.warnings().begin(), m.warnings().end());
      // Problems that every command would report.
      if (!has_error(found)) assemble_near(m, m.default_state(), given_by_description(m));
    } catch (const ModelError& e) {
      found.insert(found.end(), e.problems().begin(), e.problems().end());
    } catch (const NumericalError& e) {
      Diagnostic torn;
      torn.source.file = options.file();
      torn.message = e.what();
      found.push_back(std::move(torn));
    }
  }
  int errors = 0;
  for (const Diagnostic& one : found) {
    std::fprintf(stderr, "%s\n", one.text().c_str());
    errors += one.severity == Severity::error ? 1 : 0;
  }
  const int warnings = static_cast<int>(found.size()) - errors;
  const auto count = [](int n, const char* what) {
    return fmt::format("{} {}{}", n, what, n == 1 ? "" : "s");
  };
  if (errors > 0) {
    fmt::print("{}: {}, {}\n", options.file(), count(errors, "error"), count(warnings, "warning"));
    throw Failed();
  }
  fmt::print("{}: good, {}\n", options.file(), count(warnings, "warning"));
}

}  // namespace

void add_check(CommandLine& line) {
  Command command = line.subcommand("check", "Report all problems of a model file at once");
  const auto options = std::make_shared<ModelOptions>();
  options->add(command);
  command.footer(
      "Examples:\n"
      "  catena check robot.urdf\n"
      "  catena check robot.urdf --strict\n\n"
      "Closed loops are assembled too; one that cannot be closed is an error.\n"
      "Problems go to stderr as `file:line: error: ...`. Exit 1 if there is an error.");
  command.action([options] { check(*options); });
}

}  // namespace catena::app
