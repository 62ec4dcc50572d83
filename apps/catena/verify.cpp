// SPDX-License-Identifier: BSD-3-Clause
// catena verify: compares results with published numbers.
#include <cmath>
#include <cstdio>
#include <filesystem>
#include <memory>

#include <fmt/core.h>

#include "apps/catena/commands.h"
#include "apps/catena/output.h"
#include "catena/base/index.h"
#include "catena/verification/runner.h"

namespace catena::app {
namespace {

struct VerifyOptions {
  std::string path;
  bool all = false;
  bool json = false;
  std::string out;
  std::string filter;
};

// verification/ here, or the one that was installed with this program.
std::string default_path() {
  namespace fs = std::filesystem;
  if (fs::is_directory("verification")) return "verification";
  std::error_code code;
  const fs::path program = fs::read_symlink("/proc/self/exe", code);
  const fs::path installed =
      program.parent_path().parent_path() / "share" / "catena" / "verification";
  if (!code && fs::is_directory(installed)) return installed.string();
  throw UsageError(
      "catena verify: error: there is no folder 'verification' here; say where the cases are");
}

Json json_of(const VerificationReport& report) {
  Json cases = Json::array();
  for (const VerificationResult& r : report.results) {
    Json one;
    one["name"] = r.name;
    one["source"] = r.source;
    one["quantity"] = r.quantity;
    one["reference"] = to_json(r.reference);
    one["value"] = r.value.size() == 0 ? Json(nullptr) : to_json(r.value);
    one["error"] = std::isfinite(r.error) ? Json(r.error) : Json(nullptr);
    one["tolerance"] = r.tolerance;
    one["pass"] = r.pass;
    if (!r.message.empty()) one["message"] = r.message;
    cases.push_back(std::move(one));
  }
  for (const VerificationResult& r : report.unread) {
    Json one;
    one["name"] = r.name;
    for (const char* key : {"source", "quantity", "reference", "value", "error", "tolerance"})
      one[key] = nullptr;
    one["pass"] = false;
    one["message"] = "the case could not be read: " + r.message;
    cases.push_back(std::move(one));
  }
  return {{"cases", std::move(cases)}};
}

std::string cut_off(const std::string& text, std::size_t longest) {
  return text.size() <= longest ? text : text.substr(0, longest - 3) + "...";
}

void print_table(const VerificationReport& report) {
  constexpr std::size_t kLongestSource = 56;
  Table table({{"case"},
               {"source"},
               {"quantity"},
               {"reference", true},
               {"ours", true},
               {"error", true},
               {"tolerance", true},
               {"pass"}});
  const VerificationResult* before = nullptr;  // repeated names are printed once
  for (const VerificationResult& r : report.results) {
    // Of a vector or matrix the entry with the largest error.
    std::string quantity = r.quantity;
    if (r.reference.size() > 1 && !r.entries.empty()) {
      quantity += " [" + r.entries[index(r.worst_row)];
      if (r.reference.cols() > 1) quantity += ", " + r.entries[index(r.worst_column)];
      quantity += "]";
    }
    const bool known = r.value.size() > 0;
    const bool again = before != nullptr && before->name == r.name;
    const bool same_source = again && before->source == r.source;
    before = &r;
    table.add({again ? "" : r.name, same_source ? "" : cut_off(r.source, kLongestSource), quantity,
               fmt::format("{:.12g}", r.reference(r.worst_row, r.worst_column)),
               known ? fmt::format("{:.12g}", r.value(r.worst_row, r.worst_column)) : "-",
               fmt::format("{:.1e}", r.error), fmt::format("{:.0e}", r.tolerance),
               r.pass ? "yes" : "NO"});
  }
  if (!table.empty()) write_text(table.text(), "");
}

void verify(const VerifyOptions& options) {
  const std::string path = options.path.empty() ? default_path() : options.path;
  if (!std::filesystem::exists(path))
    throw UsageError(path + ": error: there is no such file or folder");
  const VerificationReport report =
      run_verification(path, {.all = options.all, .filter = options.filter});
  if (report.cases == 0 && report.problems.empty() && report.skipped == 0)
    throw UsageError("catena verify: error: no case in '" + path + "' has '" + options.filter +
                     "' in its name");
  int passed = 0;
  for (const VerificationResult& r : report.results) passed += r.pass ? 1 : 0;
  if (options.json || !options.out.empty()) {
    give(json_of(report), "", options.json, options.out);
  } else {
    print_table(report);
    fmt::print("{} of {} checks in {} case{} passed", passed, report.results.size(), report.cases,
               report.cases == 1 ? "" : "s");
    if (!report.unread.empty())
      fmt::print("; {} case{} could not be read", report.unread.size(),
                 report.unread.size() == 1 ? "" : "s");
    if (report.skipped > 0) fmt::print("; {} slow ones left out (--all runs them)", report.skipped);
    fmt::print("\n");
  }
  std::fflush(stdout);
  for (const Diagnostic& problem : report.problems)
    std::fprintf(stderr, "%s\n", problem.text().c_str());
  for (const VerificationResult& r : report.results)
    if (!r.message.empty())
      std::fprintf(stderr, "%s: error: %s: %s\n", r.name.c_str(), r.quantity.c_str(),
                   r.message.c_str());
  if (!report.passed()) throw Failed();
}

}  // namespace

void add_verify(CommandLine& line) {
  Command command = line.subcommand("verify", "Compare with published results");
  const auto options = std::make_shared<VerifyOptions>();
  command.option("PATH", options->path, "A case, or a folder of cases (default: verification)");
  command.flag("--all", options->all, "Run the slow cases too");
  command.json(options->json, options->out);
  command.option("--filter", options->filter, "Run the cases whose name contains this")
      .placeholder("TEXT");
  command.footer(
      "Examples:\n"
      "  catena verify\n"
      "  catena verify verification/simple_pendulum\n"
      "  catena verify --filter pendulum --json\n\n"
      "For a vector or matrix the table shows the entry with the largest error; errors are "
      "relative\n"
      "to its largest entry. Exit 1 if a check fails.");
  command.action([options] { verify(*options); });
}

}  // namespace catena::app
