// SPDX-License-Identifier: BSD-3-Clause
#include "catena/robust/uncertainty.h"

#include <algorithm>
#include <cmath>
#include <cstdlib>

#include <fmt/core.h>

#include "catena/base/error.h"
#include "catena/base/text.h"
#include "catena/io/models/yaml_tree.h"
#include "catena/io/text_file.h"

namespace catena {
namespace {

std::string trimmed(const std::string& text) {
  const char* blanks = " \t\r\n";
  const std::size_t first = text.find_first_not_of(blanks);
  if (first == std::string::npos) return {};
  return text.substr(first, text.find_last_not_of(blanks) - first + 1);
}

[[noreturn]] void refuse(const std::string& name, const std::string& range,
                         const std::string& what) {
  throw Error(fmt::format(
      "the uncertainty of '{}' is \"{}\": {}; write LOW..HIGH, LOW..NOMINAL..HIGH, ±X or ±X%", name,
      range, what));
}

double number_in(const std::string& name, const std::string& range, const std::string& text) {
  const std::string word = trimmed(text);
  char* end = nullptr;
  const double value = std::strtod(word.c_str(), &end);
  if (word.empty() || *end != '\0' || !std::isfinite(value))
    refuse(name, range, "\"" + word + "\" is no number");
  return value;
}

// Fills kind, target and mode by the name.
void classify(Uncertainty& u) {
  const std::size_t dot = u.name.find('.');
  const std::string first = u.name.substr(0, dot);
  const std::string rest = dot == std::string::npos ? "" : u.name.substr(dot + 1);
  u.target = u.name;
  if (first == "gain" || first == "delay") {
    u.kind = first == "gain" ? Uncertainty::Kind::gain : Uncertainty::Kind::delay;
    u.target = rest;
    if (rest.empty()) throw Error("'" + u.name + "' names no signal; write " + first + ".SIGNAL");
  } else if (first == "friction") {
    u.target = "damping." + rest;
  } else if (first == "mode") {
    const std::size_t last = rest.find('.');
    const std::string what = last == std::string::npos ? "" : rest.substr(last + 1);
    char* end = nullptr;
    const std::string word = rest.substr(0, last);
    u.mode = static_cast<int>(std::strtol(word.c_str(), &end, 10));
    if (word.empty() || *end != '\0' || u.mode < 1 || (what != "frequency" && what != "damping"))
      throw Error("'" + u.name +
                  "' is no uncertainty of a mode; write mode.1.frequency or mode.1.damping");
    u.kind =
        what == "frequency" ? Uncertainty::Kind::mode_frequency : Uncertainty::Kind::mode_damping;
  }
}

Uncertainty from_range(const std::string& name, const std::string& given) {
  Uncertainty u;
  u.name = name;
  classify(u);
  std::string range = trimmed(given);
  if (range.empty()) refuse(name, range, "there is no range");
  bool about = false;
  for (const std::string sign : {"±", "+-", "+/-"})
    if (range.starts_with(sign)) {
      range = trimmed(range.substr(sign.size()));
      about = true;
      break;
    }
  const bool percent = range.ends_with("%");
  if (percent) range.pop_back();
  if (about || (percent && range.find("..") == std::string::npos)) {
    const double x = number_in(name, given, range);
    if (!(x > 0.0)) refuse(name, given, "it must be positive");
    u.form = percent ? Uncertainty::Form::relative : Uncertainty::Form::difference;
    u.high = percent ? 0.01 * x : x;
    u.low = -u.high;
    return u;
  }
  std::vector<double> values;
  for (std::size_t from = 0; from <= range.size();) {
    const std::size_t to = std::min(range.find("..", from), range.size());
    values.push_back(number_in(name, given, range.substr(from, to - from)));
    from = to + 2;
  }
  if (values.size() < 2 || values.size() > 3)
    refuse(name, given, "it has " + std::to_string(values.size()) + " numbers");
  u.low = values.front();
  u.high = values.back();
  if (percent) {
    u.form = Uncertainty::Form::relative;
    u.low *= 0.01;
    u.high *= 0.01;
  }
  if (values.size() == 3) u.nominal = values[1];
  if (percent && u.nominal) refuse(name, given, "a range in percent has no nominal value");
  if (!(u.low < u.high)) refuse(name, given, "its ends are not in ascending order");
  return u;
}

}  // namespace

UncertainParameter Uncertainty::range(double model_value) const {
  UncertainParameter p;
  p.name = name;
  p.nominal = nominal.value_or(model_value);
  p.low = low;
  p.high = high;
  if (form == Form::relative) {
    if (p.nominal == 0.0)
      throw Error(
          fmt::format("'{}' is 0 in the model, so a range in percent is empty; write "
                      "LOW..HIGH or ±X",
                      name));
    p.low = p.nominal * (1.0 + (p.nominal > 0.0 ? low : high));
    p.high = p.nominal * (1.0 + (p.nominal > 0.0 ? high : low));
  } else if (form == Form::difference) {
    p.low = p.nominal + low;
    p.high = p.nominal + high;
  } else if (!nominal && !(low < model_value && model_value < high)) {
    p.nominal = 0.5 * (low + high);
  }
  p.validate();
  return p;
}

std::vector<Uncertainty> parse_uncertainties(const std::string& text) {
  std::vector<Uncertainty> list;
  for (std::size_t from = 0; from <= text.size();) {
    const std::size_t to = std::min(text.find(',', from), text.size());
    const std::string entry = trimmed(text.substr(from, to - from));
    from = to + 1;
    if (entry.empty()) continue;
    const std::size_t colon = entry.find(':');
    if (colon == std::string::npos || trimmed(entry.substr(0, colon)).empty())
      throw Error("the uncertainty \"" + entry +
                  "\" has no range; write NAME:LOW..HIGH or NAME:±X%");
    list.push_back(from_range(trimmed(entry.substr(0, colon)), entry.substr(colon + 1)));
  }
  for (std::size_t i = 0; i < list.size(); ++i)
    for (std::size_t j = 0; j < i; ++j)
      if (list[i].name == list[j].name)
        throw Error("'" + list[i].name + "' has two ranges; leave one out");
  return list;
}

std::vector<Uncertainty> load_uncertainties(const std::string& path) {
  std::vector<Diagnostic> problems;
  const std::optional<std::string> text = read_text_file(path, problems);
  std::vector<Uncertainty> list;
  if (text) {
    const yaml::Tree tree = yaml::parse(*text, path, problems);
    const yaml::Entry* map =
        tree.root != nullptr && tree.root->is_map() ? tree.root->find("uncertain") : nullptr;
    if (map == nullptr || !map->value->is_map()) {
      problems.push_back({Severity::error,
                          {path, map == nullptr ? 0 : map->line},
                          "there is no map `uncertain` of names and ranges"});
    } else {
      for (const yaml::Entry& e : map->value->entries) {
        std::string range = e.value->text;
        for (const yaml::Entry& part : e.value->entries)
          range += (range.empty() ? "" : "..") + part.value->text;
        try {
          list.push_back(from_range(e.key, range));
        } catch (const Error& error) {
          problems.push_back({Severity::error, {path, e.line}, error.what()});
        }
      }
    }
  }
  if (std::any_of(problems.begin(), problems.end(),
                  [](const Diagnostic& d) { return d.severity == Severity::error; }))
    throw ModelError(std::move(problems));
  return list;
}

}  // namespace catena
