// SPDX-License-Identifier: BSD-3-Clause
#include "catena/verification/runner.h"

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <limits>

#include "catena/base/text.h"
#include "catena/components/controller_file.h"
#include "catena/model/validation.h"
#include "catena/simulation/settings_file.h"
#include "catena/verification/case_file.h"

namespace catena {
namespace {

namespace fs = std::filesystem;

std::vector<std::string> find_cases(const std::string& path) {
  if (!fs::exists(path)) throw Error(path + ": error: there is no such file or folder");
  if (fs::is_regular_file(path)) return {path};
  std::vector<std::string> found;
  for (const fs::directory_entry& entry : fs::recursive_directory_iterator(path))
    if (entry.is_regular_file() && entry.path().filename() == "case.yaml")
      found.push_back(entry.path().lexically_normal().string());
  if (found.empty()) throw Error(path + ": error: there is no case.yaml here");
  std::sort(found.begin(), found.end());
  return found;
}

Eigen::MatrixXd selected(const Eigen::MatrixXd& whole, const VerificationCheck& check) {
  if (check.quantity->shape == Quantity::Shape::list) {
    if (whole.rows() < check.reference.rows())
      throw NumericalError(check.quantity->name + " has " + std::to_string(whole.rows()) +
                           " entries, fewer than the reference");
    return whole.topRows(check.reference.rows());
  }
  if (check.rows.empty()) return whole;
  if (check.quantity->shape == Quantity::Shape::freedom_matrix)
    return whole(check.rows, check.rows);
  return whole(check.rows, Eigen::all);
}

// The state after the check's motion.
StateInput moved(const Mechanism& mechanism, const VerificationCheck& check, StateInput input,
                 const std::function<bool()>& goes_on) {
  SimulationSettings settings = *check.after;
  if (goes_on) settings.progress = [&goes_on](double) { return goes_on(); };
  settings.output_interval = settings.duration;
  connect_controllers(settings.actions);
  add_actions(input, mechanism, settings.actions);
  MemoryRecorder record;
  input.state = simulate(mechanism, input.state, settings, record).state;
  return input;
}

// The last motion of a case: the next check often asks for another quantity at its end.
struct LastMotion {
  std::pair<const void*, const void*> run;  // as in VerificationCheck
  std::optional<StateInput> end;
};

Eigen::MatrixXd computed(const VerificationCase& one, const VerificationCheck& check,
                         const std::function<bool()>& goes_on, LastMotion& last) {
  StateInput input = check.input;
  if (!check.quantity->of_guess) close_loops(*one.mechanism, input);
  if (check.after && (!last.end || last.run != check.run || check.quantity->of_guess)) {
    last.end.reset();
    last.end = moved(*one.mechanism, check, input, goes_on);
    last.run = check.run;
  }
  if (check.after) input = *last.end;
  return selected(check.quantity->compute(
                      {*one.mechanism, input, check.of, check.other, check.axes, check.rows}),
                  check);
}

VerificationResult run_check(const VerificationCase& one, const VerificationCheck& check,
                             const std::function<bool()>& goes_on, LastMotion& last) {
  VerificationResult r;
  r.name = one.name;
  r.title = one.title;
  r.source = check.source;
  const bool lq = check.lq_quantity != nullptr;
  const bool control = check.control_quantity != nullptr;
  r.quantity = (lq        ? check.lq_quantity->name
                : control ? check.control_quantity->name
                          : check.quantity->name) +
               (check.of.empty() ? "" : " of " + check.of) +
               (check.other.empty() ? "" : " and " + check.other);
  if (check.after)
    r.quantity += " after " + number(check.after->duration) + " s (" +
                  std::string(to_string(check.after->integrator.method)) + ")";
  r.reference = check.reference;
  r.entries = check.entries;
  r.tolerance = check.tolerance;
  r.error = std::numeric_limits<double>::infinity();
  try {
    r.value = lq        ? check.lq_quantity->compute(*one.lq, check.stage)
              : control ? check.control_quantity->compute(check.problem)
                        : computed(one, check, goes_on, last);
    if (control && check.control_quantity->list && r.value.rows() > r.reference.rows())
      r.value = r.value.topRows(r.reference.rows()).eval();
    if (r.value.rows() != r.reference.rows() || r.value.cols() != r.reference.cols())
      throw Error("the reference does not have the size of the value");
  } catch (const Error& e) {
    r.message = e.what();
    return r;
  }
  const Eigen::MatrixXd difference = (r.value - r.reference).cwiseAbs();
  const double largest = r.reference.cwiseAbs().maxCoeff();
  if (r.value.allFinite()) {
    r.error = difference.maxCoeff(&r.worst_row, &r.worst_column);
    if (largest > 0.0) r.error /= largest;
  }
  r.pass = r.error <= r.tolerance;
  return r;
}

}  // namespace

bool VerificationReport::passed() const {
  return !has_error(problems) &&
         std::all_of(results.begin(), results.end(), [](const auto& r) { return r.pass; });
}

VerificationReport run_verification(const std::string& path, const VerificationSettings& settings) {
  VerificationReport report;
  for (const std::string& file : find_cases(path)) {
    const std::string name =
        fs::absolute(file).lexically_normal().parent_path().filename().string();
    if (name.find(settings.filter) == std::string::npos) continue;
    const std::size_t before = report.problems.size();
    const std::optional<VerificationCase> one = read_case(file, !settings.all, report.problems);
    if (!one) {
      VerificationResult& unread = report.unread.emplace_back();
      unread.name = name;
      if (before < report.problems.size()) unread.message = report.problems[before].text();
      continue;
    }
    if (one->slow && !settings.all) {
      ++report.skipped;
      continue;
    }
    ++report.cases;
    LastMotion last;
    for (const VerificationCheck& check : one->checks) {
      if (settings.goes_on && !settings.goes_on())
        throw NumericalError("the verification was stopped");
      report.results.push_back(run_check(*one, check, settings.goes_on, last));
    }
  }
  return report;
}

}  // namespace catena
