// SPDX-License-Identifier: BSD-3-Clause
#include "apps/catena/model_options.h"

#include <cmath>
#include <cstdio>
#include <filesystem>

#include "apps/catena/assignments.h"
#include "catena/base/text.h"
#include "catena/closure/mobility.h"
#include "catena/model/validation.h"
#include "catena/sensitivity/parameters.h"
#include "catena/simulation/used_hinges.h"

namespace catena::app {

Option ModelOptions::add(Command& command, bool required) {
  Option file = command.option("FILE", file_, "The mechanism: .yaml, .urdf, .sdf or .world")
                    .required(required);
  command
      .option("--base", base_,
              "Fix root bodies that have no joint to the world, or let them float: fixed or free "
              "(default: as the format says)")
      .one_of({"fixed", "free"});
  command.option("--gravity", gravity_, "Gravity in m/s², instead of the file's")
      .values(3)
      .placeholder("X Y Z");
  command
      .option(
          "--set", changes_,
          "Change a parameter of the model: body.NAME.mass=3, rod.NAME.length=0.2 (or mass.NAME); "
          "may be repeated")
      .placeholder("NAME=VALUE")
      .repeatable();
  command.flag("--strict", strict_, "Treat impossible inertias and doubtful tags as errors");
  return file;
}

LoadSettings ModelOptions::settings() const {
  namespace fs = std::filesystem;
  std::error_code code;
  if (!fs::exists(file_, code)) {
    std::vector<std::string> names;
    const fs::path folder = fs::path(file_).has_parent_path() ? fs::path(file_).parent_path() : ".";
    for (const auto& entry : fs::directory_iterator(folder, code))
      names.push_back(entry.path().filename().string());
    throw UsageError(file_ + ": error: there is no such file" +
                     did_you_mean(fs::path(file_).filename().string(), names));
  }
  LoadSettings settings;
  if (!base_.empty()) settings.base = base_ == "free" ? Base::free : Base::fixed;
  if (!gravity_.empty()) settings.gravity = Vec3d{gravity_[0], gravity_[1], gravity_[2]};
  for (const double g : gravity_)
    if (!std::isfinite(g))
      throw UsageError("error: --gravity needs three finite numbers, not " + number(g));
  settings.strict = strict_;
  return settings;
}

Reading ModelOptions::read() const {
  Reading reading = read_description(file_, settings());
  if (changes_.empty() || has_error(reading.diagnostics)) return reading;
  const Mechanism given =
      MechanismBuilder(reading.description).finish({.strict = false, .idle_hinges = true});
  std::vector<std::string> names;
  std::vector<double> values;
  for (const auto& [text, value] : numbers_by_name(changes_, "", "--set")) {
    names.push_back(ParameterSet::full_name(given, text));
    values.push_back(value);
  }
  const ParameterSet parameters(given, names);
  reading.description = parameters.changed(
      Eigen::Map<const Eigen::VectorXd>(values.data(), static_cast<Eigen::Index>(values.size())));
  return reading;
}

Mechanism ModelOptions::load(const NamedHinges& named) const {
  Reading reading = read();
  if (has_error(reading.diagnostics)) throw ModelError(std::move(reading.diagnostics));
  const Mechanism mechanism =
      MechanismBuilder(std::move(reading.description))
          .finish({.strict = reading.strict, .notes = std::move(reading.diagnostics)});
  UsedHinges used(mechanism);
  used.add(named.freedoms);
  used.add_signals(named.signals);
  if (!named.state_file.empty()) used.add_state_file(named.state_file);
  return used.with_coordinates();
}

Mechanism ModelOptions::load_to_describe() const {
  Reading reading = read();
  if (has_error(reading.diagnostics)) throw ModelError(std::move(reading.diagnostics));
  return MechanismBuilder(std::move(reading.description))
      .finish(
          {.strict = reading.strict, .notes = std::move(reading.diagnostics), .idle_hinges = true});
}

void print_warnings(const Mechanism& mechanism) {
  for (const Diagnostic& warning : mechanism.warnings())
    std::fprintf(stderr, "%s\n", warning.text().c_str());
}

void close_loops_and_say(const Mechanism& mechanism, StateInput& input) {
  if (const std::string moved = close_loops(mechanism, input); !moved.empty())
    std::fprintf(stderr, "warning: %s\n", moved.c_str());
}

void print_loop_warnings(const Mechanism& mechanism, const Eigen::VectorXd& q) {
  constexpr int kMostFreedoms = 300;  // it takes a while
  if (mechanism.freedoms() > kMostFreedoms) return;
  for (const LoopMobility& loop : analyse_mobility(mechanism, q).loops)
    if (!loop.trouble.empty()) std::fprintf(stderr, "warning: %s\n", loop.trouble.c_str());
}

}  // namespace catena::app
