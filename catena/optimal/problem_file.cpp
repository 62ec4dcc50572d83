// SPDX-License-Identifier: BSD-3-Clause
#include "catena/optimal/problem_file.h"

#include <cmath>
#include <filesystem>

#include "catena/base/index.h"
#include "catena/io/load.h"
#include "catena/io/models/yaml_values.h"
#include "catena/io/text_file.h"
#include "catena/optimal/resolve.h"
#include "catena/simulation/constraint_settings.h"
#include "catena/simulation/state_values.h"
#include "catena/simulation/used_hinges.h"

namespace catena {
namespace {

using yaml::Entry;
using yaml::Values;

const std::vector<std::string> kTypes{"effort", "motion"};
const std::vector<std::string> kLimits{"ignore", "model"};
const std::vector<std::string> kHessians{"auto", "gauss-newton", "limited-memory"};

class ProblemReader {
 public:
  // `used`: gets the names of the hinges, and nothing is assembled.
  ProblemReader(Values& values, const Mechanism& m, std::string folder, UsedHinges* used = nullptr)
      : values_(values), m_(m), folder_(std::move(folder)), used_(used) {}

  void read(const yaml::Node& node, MotionProblem& p, SolverSettings& solver) {
    StateInput input = default_input(m_);
    values_.with(node, "start", [&](const Entry& e) {
      if (used_ != nullptr) used_->add_state(*e.value);
      read_state(values_, *e.value, m_, input);
    });
    if (values_.errors() == 0 && used_ == nullptr) close_loops(m_, input);
    p.start = input.state;
    values_.with(node, "duration", [&](const Entry& e) { duration(*e.value, p.duration); });
    each(node, "controls", [&](const Entry& e) { p.controls.push_back(control(e)); });
    if (node.find("controls") == nullptr)
      values_.error(node.line, "needs controls: the freedoms whose motion or effort is sought");
    values_.with(node, "final", [&](const Entry& e) { final_conditions(*e.value, p); });
    values_.with(node, "bounds", [&](const Entry& e) {
      by_quantity(*e.value, [&](const Entry& b, MotionQuantity q) {
        PathBound bound{b.key, q};
        if (interval(*b.value, bound.lower, bound.upper, true)) p.bounds.push_back(bound);
      });
    });
    values_.with(node, "limits", [&](const Entry& e) {
      std::size_t index = 0;
      if (values_.choice(*e.value, kLimits, index)) p.model_limits = index == 1;
    });
    values_.with(node, "grid", [&](const Entry& e) {
      static const std::vector<std::string> kKeys{"steps", "points", "parts"};
      if (!values_.map(*e.value, "a map with steps, points, parts")) return;
      values_.unknown_keys(*e.value, kKeys);
      integer(*e.value, "steps", p.grid.steps);
      integer(*e.value, "points", p.grid.points);
      integer(*e.value, "parts", p.grid.parts);
    });
    if (node.find("cost") == nullptr)
      for (const ControlSettings& c : p.controls) p.effort_cost(c.freedom);
    values_.with(node, "cost", [&](const Entry& e) { cost(*e.value, p); });
    values_.with(node, "solver", [&](const Entry& e) { solver_settings(*e.value, solver); });
  }

 private:
  // Of a map by freedom.
  template <class F>
  void each(const yaml::Node& node, const char* key, F f) {
    values_.each(node, key, [&](const Entry& entry) {
      if (known(entry)) f(entry);
    });
  }
  bool known(const Entry& entry) {
    if (used_ != nullptr) used_->add(entry.key);
    try {
      freedom_index(m_, entry.key);
      return true;
    } catch (const Error& e) {
      values_.error(entry.line, e.what());
      return false;
    }
  }
  SignalSettings signal(const yaml::Node& node) {
    SignalSettings signal = read_signal(values_, node, folder_);
    if (used_ != nullptr) used_->add(signal);
    return signal;
  }
  void number(const yaml::Node& node, const char* key, double& to) {
    values_.with(node, key, [&](const Entry& e) {
      values_.number(*e.value, to, yaml::Range::infinite_allowed);
    });
  }
  void integer(const yaml::Node& node, const char* key, int& to) {
    values_.with(node, key, [&](const Entry& e) { values_.integer(*e.value, to); });
  }
  // One number (a value; with `symmetric` ± that) or two.
  bool interval(const yaml::Node& node, double& lower, double& upper, bool symmetric) {
    if (node.is_list()) {
      double both[2] = {};
      if (!values_.numbers(node, both, yaml::Range::infinite_allowed)) return false;
      lower = both[0];
      upper = both[1];
      return true;
    }
    double x = 0.0;
    if (!values_.number(node, x)) return false;
    lower = symmetric ? -x : x;
    upper = x;
    return true;
  }
  template <class F>
  void by_quantity(const yaml::Node& node, F f, bool points = false) {
    std::vector<std::string> keys{"q", "v", "effort", "acceleration"};
    if (points) keys.emplace_back("points");
    if (!values_.map(node, "a map with q, v, effort")) return;
    values_.unknown_keys(node, keys);
    const MotionQuantity all[] = {MotionQuantity::position, MotionQuantity::velocity,
                                  MotionQuantity::effort, MotionQuantity::acceleration};
    for (std::size_t i = 0; i < 4; ++i)
      each(node, keys[i].c_str(), [&](const Entry& e) { f(e, all[i]); });
  }

  void duration(const yaml::Node& node, DurationSettings& d) {
    if (!node.is_map()) {
      double x = d.guess;
      if (values_.number(node, x)) d = DurationSettings(x);
      return;
    }
    static const std::vector<std::string> kKeys{"guess", "between"};
    values_.unknown_keys(node, kKeys);
    values_.with(node, "between", [&](const Entry& e) {
      double both[2] = {};
      if (values_.numbers(*e.value, both)) d = {0.5 * (both[0] + both[1]), both[0], both[1]};
    });
    if (node.find("between") == nullptr)
      values_.error(node.line,
                    "needs `between: [least, greatest]`, or a number instead of the map");
    number(node, "guess", d.guess);
  }

  ControlSettings control(const Entry& e) {
    static const std::vector<std::string> kKeys{"type", "degree", "coefficients", "guess"};
    ControlSettings c;
    c.freedom = e.key;
    if (!values_.map(*e.value, "a map with type, degree, coefficients, guess")) return c;
    values_.unknown_keys(*e.value, kKeys);
    if (e.value->find("type") == nullptr)
      values_.error(e.value->line, "needs a type: motion (a spline of its position) or effort");
    values_.with(*e.value, "type", [&](const Entry& type) {
      std::size_t index = 0;
      if (values_.choice(*type.value, kTypes, index)) c.motion = index == 1;
    });
    integer(*e.value, "degree", c.degree);
    integer(*e.value, "coefficients", c.coefficients);
    values_.with(*e.value, "guess", [&](const Entry& guess) {
      if (guess.value->is_list())
        values_.number_or_list(*guess.value, c.guess.coefficients);
      else
        c.guess.signal = signal(*guess.value);
    });
    return c;
  }

  void final_conditions(const yaml::Node& node, MotionProblem& p) {
    by_quantity(
        node,
        [&](const Entry& e, MotionQuantity q) {
          FinalBound f{e.key, q};
          if (interval(*e.value, f.lower, f.upper, false)) p.final_bounds.push_back(f);
        },
        true);
    values_.each(node, "points", [&](const Entry& e) { point(e, *e.value, 0.0, p); });
  }
  // [x, y, z]; a null leaves a coordinate out.
  void point(const Entry& e, const yaml::Node& node, double weight, MotionProblem& p) {
    FinalPoint f;
    f.frame = e.key;
    f.weight = weight;
    if (!values_.list(node, "a position [x, y, z]") || node.entries.size() != 3) {
      values_.mismatch(node, "a position [x, y, z] (~ leaves one out)");
      return;
    }
    for (int i = 0; i < 3; ++i) {
      const yaml::Node& x = *node.entries[index(i)].value;
      f.coordinate[i] = !x.is_null();
      if (f.coordinate[i]) values_.number(x, f.position[i]);
    }
    p.final_points.push_back(f);
  }

  void cost(const yaml::Node& node, MotionProblem& p) {
    static const std::vector<std::string> kKeys{"effort",   "acceleration", "rate",
                                                "tracking", "final",        "time"};
    if (!values_.map(node, "a map with effort, acceleration, rate, tracking, final, time")) return;
    values_.unknown_keys(node, kKeys);
    const auto weighted = [&](const char* key, auto add) {
      const Entry* entry = node.find(key);
      if (entry != nullptr && !entry->value->is_map()) {  // one for all controls
        const Values::Within within(values_, key);
        double w = 0.0;
        if (values_.number(*entry->value, w))
          for (const ControlSettings& c : p.controls) add(c.freedom, w);
        return;
      }
      each(node, key, [&](const Entry& e) {
        double w = 0.0;
        if (values_.number(*e.value, w)) add(e.key, w);
      });
    };
    weighted("effort", [&](const std::string& name, double w) { p.effort_cost(name, w); });
    weighted("acceleration", [&](const std::string& name, double w) {
      p.running_costs.push_back({name, MotionQuantity::acceleration, w, {}});
    });
    weighted("rate", [&](const std::string& name, double w) { p.rate_costs.push_back({name, w}); });
    values_.with(node, "tracking", [&](const Entry& e) {
      by_quantity(*e.value, [&](const Entry& t, MotionQuantity q) {
        static const std::vector<std::string> kTrackingKeys{"reference", "weight"};
        RunningCost r{t.key, q, 1.0, {}};
        if (!values_.map(*t.value, "a map with reference and weight")) return;
        values_.unknown_keys(*t.value, kTrackingKeys);
        number(*t.value, "weight", r.weight);
        values_.with(*t.value, "reference",
                     [&](const Entry& x) { r.reference = signal(*x.value); });
        p.running_costs.push_back(std::move(r));
      });
    });
    values_.with(node, "final", [&](const Entry& e) {
      static const std::vector<std::string> kFinalKeys{"target", "weight"};
      by_quantity(
          *e.value,
          [&](const Entry& t, MotionQuantity q) {
            FinalCost f{t.key, q};
            if (!values_.map(*t.value, "a map with target and weight")) return;
            values_.unknown_keys(*t.value, kFinalKeys);
            number(*t.value, "target", f.target);
            number(*t.value, "weight", f.weight);
            p.final_costs.push_back(f);
          },
          true);
      values_.each(*e.value, "points", [&](const Entry& t) {
        if (!values_.map(*t.value, "a map with target and weight")) return;
        values_.unknown_keys(*t.value, kFinalKeys);
        double weight = 1.0;
        number(*t.value, "weight", weight);
        const Entry* target = t.value->find("target");
        if (target == nullptr)
          values_.error(t.line, "needs a target: [x, y, z]");
        else
          point(t, *target->value, weight, p);
      });
    });
    number(node, "time", p.time_weight);
  }

  void solver_settings(const yaml::Node& node, SolverSettings& s) {
    static const std::vector<std::string> kKeys{
        "method",     "hessian",    "tolerance", "feasibility", "accuracy",
        "iterations", "time_limit", "starts",    "seed",        "spread"};
    if (!values_.map(node, "a map of settings of the solver")) return;
    values_.unknown_keys(node, kKeys);
    const auto choice = [&](const char* key, const std::vector<std::string>& words, auto set) {
      values_.with(node, key, [&](const Entry& e) {
        std::size_t index = 0;
        if (values_.choice(*e.value, words, index)) set(index);
      });
    };
    choice("method", solver_names(), [&](std::size_t i) { s.solver = static_cast<Solver>(i); });
    choice("hessian", kHessians, [&](std::size_t i) { s.hessian = static_cast<HessianModel>(i); });
    number(node, "tolerance", s.tolerance);
    number(node, "feasibility", s.feasibility);
    number(node, "accuracy", s.accuracy);
    number(node, "time_limit", s.time_limit);
    number(node, "spread", s.spread);
    integer(node, "iterations", s.iterations);
    integer(node, "starts", s.starts);
    int seed = static_cast<int>(s.seed);
    integer(node, "seed", seed);
    s.seed = static_cast<std::uint64_t>(seed);
  }

  Values& values_;
  const Mechanism& m_;
  std::string folder_;
  UsedHinges* used_;
};

// The first entry of this name below a node, or none.
const Entry* named(const yaml::Node& node, const std::string& name) {
  for (const Entry& entry : node.entries) {
    if (entry.key == name) return &entry;
    if (entry.value == nullptr) continue;
    if (const Entry* found = named(*entry.value, name)) return found;
  }
  return nullptr;
}

// The line that a mistake refers to: its section, and in it the quantity and the quoted name.
int line_of(const yaml::Node& root, const std::string& mistake) {
  static const std::pair<const char*, const char*> kSections[] = {
      {"duration", "duration"}, {"control", "controls"}, {"the spline of", "controls"},
      {"bounds", "bounds"},     {"final", "final"},      {"cost", "cost"}};
  for (const auto& [begin, key] : kSections) {
    if (!mistake.starts_with(begin)) continue;
    const Entry* section = root.find(key);
    if (section == nullptr) break;
    const std::size_t first = mistake.find('\''), last = mistake.find('\'', first + 1);
    if (first == std::string::npos || last == std::string::npos) return section->line;
    const yaml::Node* inside = section->value;
    for (const auto& [word, part] :
         {std::pair{"position", "q"}, std::pair{"velocity", "v"}, std::pair{"effort", "effort"}})
      if (mistake.substr(0, first).find(word) != std::string::npos)
        if (const Entry* entry = named(*inside, part))
          if (entry->value->is_map()) inside = entry->value;
    const Entry* entry = named(*inside, mistake.substr(first + 1, last - first - 1));
    return entry == nullptr ? section->line : entry->line;
  }
  return root.line;
}

// With coordinates at the hinges that are cut and that the problem names.
Mechanism with_used_coordinates(const Mechanism& mechanism, const yaml::Node& root,
                                const std::string& file_name) {
  UsedHinges used(mechanism);
  std::vector<Diagnostic> ignored;  // the second reading reports them
  Values values(file_name, ignored);
  MotionProblem problem(used.complete());
  SolverSettings solver;
  ProblemReader(values, used.complete(), "", &used).read(root, problem, solver);
  return used.with_coordinates();
}

}  // namespace

ProblemFile read_problem_file(const std::string& path) {
  std::vector<Diagnostic> diagnostics;
  const std::optional<std::string> text = read_text_file(path, diagnostics);
  if (!text) throw ModelError(std::move(diagnostics));
  return read_problem_text(*text, path);
}

ProblemFile read_problem_text(const std::string& text, const std::string& file_name) {
  static const std::vector<std::string> kKeys{"model", "start",  "duration", "controls", "final",
                                              "cost",  "bounds", "limits",   "grid",     "solver"};
  std::vector<Diagnostic> diagnostics;
  const yaml::Tree tree = yaml::parse(text, file_name, diagnostics);
  const auto fail = [&] {
    for (const Diagnostic& d : diagnostics)
      if (d.severity == Severity::error) throw ModelError(diagnostics);
  };
  fail();
  Values values(file_name, diagnostics);
  const std::string folder = std::filesystem::path(file_name).parent_path().string();
  std::string model;
  if (tree.root == nullptr || !tree.root->is_map()) {
    values.error(1, "a problem is a map with model, duration, controls, ...");
  } else {
    values.unknown_keys(*tree.root, kKeys);
    if (const Entry* entry = tree.root->find("model"))
      values.text(*entry->value, model);
    else
      values.error(tree.root->line, "needs a model: the file of the mechanism");
  }
  fail();
  const std::string path = (std::filesystem::path(folder) / model).lexically_normal().string();
  if (!std::filesystem::exists(path)) {
    values.error(tree.root->find("model")->line, "model: there is no file '" + path + "'");
    fail();
  }
  auto mechanism =
      std::make_unique<Mechanism>(with_used_coordinates(load(path), *tree.root, file_name));
  MotionProblem problem(*mechanism);
  SolverSettings solver;
  ProblemReader(values, *mechanism, folder).read(*tree.root, problem, solver);
  fail();
  for (const std::string& mistake : mistakes(problem))
    values.error(line_of(*tree.root, mistake), mistake);
  for (const std::string& mistake : mistakes(solver)) {
    const Entry* entry = tree.root->find("solver");
    values.error(entry == nullptr ? tree.root->line : entry->line, "solver: " + mistake);
  }
  fail();
  return {std::move(mechanism), path, std::move(problem), solver};
}

}  // namespace catena
