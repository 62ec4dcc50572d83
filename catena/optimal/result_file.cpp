// SPDX-License-Identifier: BSD-3-Clause
#include <cmath>
#include <memory>

#include <nlohmann/json.hpp>

#include "catena/base/index.h"
#include "catena/io/runs/run_file.h"
#include "catena/io/text_file.h"
#include "catena/optimal/problem_file.h"
#include "catena/optimal/resolve.h"

namespace catena {
namespace {

using Json = nlohmann::ordered_json;
using Eigen::VectorXd;

Json list(const VectorXd& v) { return std::vector<double>(v.begin(), v.end()); }
// JSON has no NaN.
Json finite(double x) { return std::isfinite(x) ? Json(x) : Json(nullptr); }

}  // namespace

std::string result_json(const MotionProblem& p, const OptimalMotion& motion) {
  const Mechanism& m = *p.mechanism;
  const SplineControls splines(m, controls_of(p));
  Json json{{"converged", motion.converged},
            {"feasible", motion.feasible},
            {"message", motion.message},
            {"solver", solver_names()[index(motion.solver)]},
            {"cost", finite(motion.cost)},
            {"guess_cost", finite(motion.guess_cost)},
            {"refined_cost", finite(motion.refined_cost)},
            {"refined_change", finite(motion.refined_change)},
            {"grid",
             {{"steps", motion.grid.steps},
              {"points", motion.grid.points},
              {"parts", motion.grid.parts}}},
            {"duration", motion.duration},
            {"violation", finite(motion.violation)},
            {"overshoot", finite(motion.overshoot)},
            {"stationarity", finite(motion.stationarity)},
            {"iterations", motion.iterations},
            {"evaluations", motion.evaluations},
            {"wall_time", motion.wall_time}};
  if (!motion.worst.empty()) json["worst"] = motion.worst;
  for (std::size_t i = 0; i < motion.part_names.size(); ++i)
    json["parts"][motion.part_names[i]] = finite(motion.parts[static_cast<Eigen::Index>(i)]);
  for (int c = 0; c < splines.size(); ++c) {
    const SplineControl& s = splines.controls()[index(c)];
    const int first = splines.first_parameter(c), count = splines.free_coefficients(c);
    json["controls"][p.controls[index(c)].freedom] = {
        {"type", s.motion ? "motion" : "effort"},
        {"degree", s.degree},
        {"coefficients", list(splines.coefficients(c, motion.duration, motion.variables))},
        {"free", list(motion.variables.segment(first, count))},
        {"guess", list(motion.guess.segment(first, count))}};
  }
  Json& final = json["final"];
  for (int i = 0; i < m.coordinates(); ++i)
    final["q"][m.position_names()[index(i)]] = motion.final_state.q[i];
  for (int i = 0; i < m.freedoms(); ++i)
    final["v"][m.velocity_names()[index(i)]] = motion.final_state.v[i];
  if (motion.minima.size() > 1 || (motion.minima.size() == 1 && motion.minima[0].starts > 1))
    for (const Minimum& minimum : motion.minima)
      json["minima"].push_back({{"cost", minimum.cost}, {"starts", minimum.starts}});
  return json.dump(2);
}

namespace {
void warm_start_from(const std::string& text, const std::string& path, MotionProblem& p);
}

void warm_start(const std::string& path, MotionProblem& p) {
  std::string text;
  if (path.ends_with(".h5")) {
    text = RunFile(path).header().settings_json;
  } else {
    std::vector<Diagnostic> diagnostics;
    const std::optional<std::string> read = read_text_file(path, diagnostics);
    if (!read) throw ModelError(std::move(diagnostics));
    text = *read;
  }
  try {
    warm_start_from(text, path, p);
  } catch (const nlohmann::json::exception& e) {
    throw Error(path + ": is not a result of an optimization: " + e.what());
  }
}

namespace {
void warm_start_from(const std::string& text, const std::string& path, MotionProblem& p) {
  const Json json = Json::parse(text, nullptr, false);
  const Json* result = &json;
  if (json.is_object() && json.contains("result")) result = &json["result"];
  if (!result->is_object() || !result->contains("controls"))
    throw Error(path + ": is not a result of an optimization, so it cannot be the start");
  if (!(*result)["controls"].is_object()) throw Error(path + ": 'controls' is not a map by name");
  const double duration = result->value("duration", p.duration.guess);
  if (p.duration.free())
    p.duration.guess = std::clamp(duration, p.duration.lower, p.duration.upper);
  for (ControlSettings& c : p.controls) {
    if (!(*result)["controls"].contains(c.freedom)) continue;
    const Json& old = (*result)["controls"][c.freedom];
    if (!old.is_object()) throw Error(path + ": control '" + c.freedom + "' is not a map");
    const auto coefficients = old.value("coefficients", std::vector<double>{});
    const auto free = old.value("free", std::vector<double>{});
    const int degree = old.value("degree", 3);
    if (old.value("type", std::string()) != (c.motion ? "motion" : "effort") ||
        static_cast<int>(coefficients.size()) <= degree)
      continue;
    if (degree < 0 || degree > kMaxSplineDegree)
      throw Error(path + ": control '" + c.freedom + "' has degree " + std::to_string(degree) +
                  "; 0 to " + std::to_string(kMaxSplineDegree) + " are possible");
    const SplineControls mine(*p.mechanism,
                              {control_of(p, c, freedom_index(*p.mechanism, c.freedom))});
    if (degree == c.degree && static_cast<int>(coefficients.size()) == c.coefficients &&
        static_cast<int>(free.size()) == mine.free_coefficients(0)) {
      c.guess = {.signal = {}, .coefficients = free, .warm = true};
      continue;
    }
    const double scale = p.duration.guess;
    c.guess = {};
    c.guess.warm = true;
    c.guess.signal = TimeFunction{[coefficients, degree, scale](double t) {
      const int count = static_cast<int>(coefficients.size());
      const double u = std::clamp(t / scale, 0.0, 1.0);
      const SplineBasis b = spline_basis(degree, count, spline_span(degree, count, u), u);
      const auto first = to_size(b.first);
      double sum = 0.0;
      for (int k = 0; k <= degree; ++k) sum += b.values[0][k] * coefficients[first + to_size(k)];
      return Jet{sum, 0.0, 0.0};
    }};
  }
}
}  // namespace

}  // namespace catena
