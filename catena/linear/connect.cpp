// SPDX-License-Identifier: BSD-3-Clause
#include "catena/linear/connect.h"

#include <algorithm>
#include <cctype>
#include <cmath>
#include <map>
#include <set>

#include "catena/base/error.h"
#include "catena/base/index.h"
#include "catena/base/text.h"
#include "catena/linear/algebra.h"

namespace catena {
namespace {

using Eigen::MatrixXd;

struct Wiring {
  StateSpace all;                           // side by side
  std::vector<std::string> sinks, sources;  // names of all inputs and outputs, before append
  std::map<std::string, int> source_of;     // index among the outputs
};

Wiring side_by_side(std::span<const StateSpace> systems) {
  if (systems.empty()) throw Error("connect: no systems");
  Wiring wiring;
  std::vector<StateSpace> named;
  for (const StateSpace& system : systems) {
    StateSpace next = system.is_discrete() && system.has_delay() ? absorb_delays(system) : system;
    next.validate();
    next.fill_names();
    for (const std::string& name : next.inputs) wiring.sinks.push_back(name);
    for (const std::string& name : next.outputs) {
      const bool first =
          wiring.source_of.emplace(name, static_cast<int>(wiring.sources.size())).second;
      if (!first)
        throw Error("connect: the signal '" + name +
                    "' is the output of two systems; rename one or add them by summing_junction()");
      wiring.sources.push_back(name);
    }
    named.push_back(std::move(next));
  }
  wiring.all = append(named);
  return wiring;
}

// A continuous delay may stand only at an input driven from outside or an output nobody uses
// inside.
void require_outer_delays(const Wiring& wiring) {
  const StateSpace& all = wiring.all;
  for (Eigen::Index j = 0; j < all.input_delay.size(); ++j)
    if (all.input_delay[j] > 0.0 && wiring.source_of.contains(at(wiring.sinks, j)))
      throw Error(
          "connect: the delay of " + number(all.input_delay[j]) + " s at input '" +
          at(wiring.sinks, j) +
          "' would stand inside the connection; approximate it by pade() or sample by c2d()");
  for (Eigen::Index i = 0; i < all.output_delay.size(); ++i)
    if (all.output_delay[i] > 0.0 && std::find(wiring.sinks.begin(), wiring.sinks.end(),
                                               at(wiring.sources, i)) != wiring.sinks.end())
      throw Error(
          "connect: the delay of " + number(all.output_delay[i]) + " s at output '" +
          at(wiring.sources, i) +
          "' would stand inside the connection; approximate it by pade() or sample by c2d()");
}

void require_driven(const Wiring& wiring, const std::vector<std::string>& inputs) {
  std::vector<std::string> candidates = inputs;
  candidates.insert(candidates.end(), wiring.sources.begin(), wiring.sources.end());
  for (const std::string& name : wiring.sinks)
    if (std::find(candidates.begin(), candidates.end(), name) == candidates.end())
      throw NameError("connect: nothing drives the input '" + name + "'" +
                      did_you_mean(name, candidates) +
                      "; give it a source, list it among the inputs, or set allow_open_inputs");
}

}  // namespace

StateSpace connect(std::span<const StateSpace> systems, const std::vector<std::string>& inputs,
                   const std::vector<std::string>& outputs, const ConnectSettings& settings) {
  const Wiring wiring = side_by_side(systems);
  const StateSpace& all = wiring.all;
  if (!settings.allow_open_inputs) require_driven(wiring, inputs);
  require_outer_delays(wiring);

  const Eigen::Index m = all.input_count(), p = all.output_count();
  MatrixXd F = MatrixXd::Zero(m, p), W = MatrixXd::Zero(m, std::ssize(inputs));
  Eigen::VectorXd input_delay = Eigen::VectorXd::Zero(W.cols());
  std::vector<std::string> input_units(inputs.size());
  for (Eigen::Index j = 0; j < m; ++j) {
    const auto found = wiring.source_of.find(at(wiring.sinks, j));
    if (found != wiring.source_of.end()) F(j, found->second) = 1.0;
  }
  for (Eigen::Index r = 0; r < W.cols(); ++r) {
    const std::string& name = at(inputs, r);
    if (wiring.source_of.contains(name))
      throw Error("connect: '" + name +
                  "' is listed as an input from outside, but a system has it "
                  "for an output; rename one of them");
    bool used = false;
    for (Eigen::Index j = 0; j < m; ++j) {
      if (at(wiring.sinks, j) != name) continue;
      W(j, r) = 1.0;
      const double delay = all.input_delay.size() > 0 ? all.input_delay[j] : 0.0;
      if (used && std::abs(delay - input_delay[r]) > 1e-12 * delay)
        throw Error("connect: the input '" + name + "' drives inputs with different delays (" +
                    number(input_delay[r]) + " s and " + number(delay) +
                    " s); give them different names");
      input_delay[r] = delay;
      if (!all.input_units.empty()) at(input_units, r) = at(all.input_units, j);
      used = true;
    }
    if (!used && std::find(outputs.begin(), outputs.end(), name) == outputs.end())
      throw NameError("connect: no system has an input '" + name + "'" +
                      did_you_mean(name, wiring.sinks));
  }

  MatrixXd S = MatrixXd::Zero(std::ssize(outputs), p), V = MatrixXd::Zero(S.rows(), W.cols());
  Eigen::VectorXd output_delay = Eigen::VectorXd::Zero(S.rows());
  std::vector<std::string> output_units(outputs.size());
  for (Eigen::Index i = 0; i < S.rows(); ++i) {
    const std::string& name = at(outputs, i);
    const auto found = wiring.source_of.find(name);
    const auto outside = std::find(inputs.begin(), inputs.end(), name);
    if (found != wiring.source_of.end()) {
      S(i, found->second) = 1.0;
      if (all.output_delay.size() > 0) output_delay[i] = all.output_delay[found->second];
      if (!all.output_units.empty()) at(output_units, i) = at(all.output_units, found->second);
    } else if (outside != inputs.end()) {
      V(i, outside - inputs.begin()) = 1.0;
    } else {
      throw NameError("connect: no system has an output '" + name + "'" +
                      did_you_mean(name, wiring.sources));
    }
  }

  StateSpace result = close_loops(all, F, W, S, V);
  result.inputs = inputs;
  result.outputs = outputs;
  if (!all.input_units.empty()) result.input_units = input_units;
  if (!all.output_units.empty()) result.output_units = output_units;
  if (input_delay.size() > 0 && input_delay.maxCoeff() > 0.0) result.input_delay = input_delay;
  if (output_delay.size() > 0 && output_delay.maxCoeff() > 0.0) result.output_delay = output_delay;
  result.validate();
  return result;
}

StateSpace connect(std::initializer_list<StateSpace> systems,
                   const std::vector<std::string>& inputs, const std::vector<std::string>& outputs,
                   const ConnectSettings& settings) {
  return connect(std::span<const StateSpace>(systems.begin(), systems.size()), inputs, outputs,
                 settings);
}

StateSpace summing_junction(const std::string& formula, int width) {
  const auto wrong = [&](const std::string& why) {
    throw Error("summing_junction: '" + formula + "': " + why +
                "; write for example \"e = r - y\"");
  };
  const std::size_t equals = formula.find('=');
  if (equals == std::string::npos) wrong("there is no '='");
  if (width < 1) wrong("the width must be at least 1");
  const auto trimmed = [](std::string text) {
    text.erase(0, text.find_first_not_of(" \t"));
    text.erase(text.find_last_not_of(" \t") + 1);
    return text;
  };
  const std::string output = trimmed(formula.substr(0, equals));
  if (output.empty()) wrong("no name before '='");

  std::vector<std::string> names;
  std::vector<double> signs;
  double sign = 1.0;
  std::string word;
  bool signed_yet = false;
  const auto finish_word = [&](bool at_end) {
    word = trimmed(word);
    if (word.empty()) {
      if (at_end || signed_yet) wrong("a name is missing");
      return;
    }
    if (word.find_first_of(" \t") != std::string::npos) wrong("no sign between two names");
    names.push_back(word);
    signs.push_back(sign);
    word.clear();
  };
  for (const char c : formula.substr(equals + 1)) {
    if (c == '+' || c == '-') {
      finish_word(false);
      sign = c == '-' ? -1.0 : 1.0;
      signed_yet = true;
    } else {
      word += c;
    }
  }
  finish_word(true);

  const auto numbered = [&](const std::string& name, int i) {
    return width == 1 ? name : name + std::to_string(i + 1);
  };
  const int terms = static_cast<int>(names.size());
  StateSpace result = ss(MatrixXd::Zero(width, width * terms));
  result.inputs.clear();
  result.outputs.clear();
  for (int t = 0; t < terms; ++t)
    for (int i = 0; i < width; ++i) {
      result.D(i, t * width + i) = at(signs, t);
      result.inputs.push_back(numbered(at(names, t), i));
    }
  for (int i = 0; i < width; ++i) result.outputs.push_back(numbered(output, i));
  result.validate();
  return result;
}

}  // namespace catena
