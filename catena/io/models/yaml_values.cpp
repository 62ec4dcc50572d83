// SPDX-License-Identifier: BSD-3-Clause
#include "catena/io/models/yaml_values.h"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <numbers>

#include "catena/base/index.h"
#include "catena/base/text.h"
#include "catena/io/models/yaml_keys.h"

namespace catena::yaml {
namespace {

constexpr std::size_t kLongestQuote = 40;  // characters of a wrong text that a message repeats

// A decimal without sign or a `pi`, taken off the front of the text.
std::optional<double> take_factor(std::string_view& text) {
  if (text.starts_with("pi")) {
    text.remove_prefix(2);
    return std::numbers::pi;
  }
  if (text.empty() || !((text[0] >= '0' && text[0] <= '9') || text[0] == '.')) return std::nullopt;
  double value = 0.0;
  const auto [end, code] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (code == std::errc::result_out_of_range) {
    // Too large or too small: told apart by the sign of the exponent.
    const std::string_view digits = text.substr(0, to_size(end - text.data()));
    const bool tiny = digits.find("e-") != digits.npos || digits.find("E-") != digits.npos ||
                      digits.starts_with("0.") || digits.starts_with(".");
    value = tiny ? 0.0 : HUGE_VAL;
  } else if (code != std::errc{}) {
    return std::nullopt;
  }
  text.remove_prefix(to_size(end - text.data()));
  return value;
}

std::string_view without_spaces_around(std::string_view text) {
  while (!text.empty() && text.front() == ' ') text.remove_prefix(1);
  while (!text.empty() && text.back() == ' ') text.remove_suffix(1);
  return text;
}

std::string described(const Node& node) {
  switch (node.kind) {
    case Node::Kind::null:
      return "nothing";
    case Node::Kind::list:
      return "a list of " + std::to_string(node.entries.size());
    case Node::Kind::map:
      return "a map";
    case Node::Kind::scalar:
      break;
  }
  const char quote = node.quoted ? '"' : '\'';
  std::string text = node.text.substr(0, kLongestQuote);
  // Never cut a UTF-8 sequence.
  while (text.size() < node.text.size() && !text.empty() &&
         (static_cast<unsigned char>(node.text[text.size()]) & 0xc0U) == 0x80)
    text.pop_back();
  if (text.size() < node.text.size()) text += "...";
  return quote + text + quote;
}

// A text that YAML cut at a comma, as in {input: max(1, t)}.
std::string cut_hint(std::string_view text) {
  if (std::count(text.begin(), text.end(), '(') == std::count(text.begin(), text.end(), ')'))
    return {};
  return "; a comma ends an entry inside { } and [ ], so quote the whole text: \"...\"";
}

// A number with a unit or with a decimal comma.
std::string unit_hint(std::string_view text) {
  const std::size_t end = text.find_first_not_of("+-0123456789.");
  if (end == 0 || end == text.npos || parse_number(text) || !parse_number(text.substr(0, end)))
    return {};
  const std::string value(text.substr(0, end));
  const std::string_view rest = without_spaces_around(text.substr(end));
  if (rest == "deg" || rest == "degrees" || rest == "\u00b0")
    return "; angles are in radians, write " + value + "*pi/180";
  if (rest.find_first_not_of("0123456789,") != rest.npos)
    return "; numbers are in SI units (m, kg, s, rad, N) and stand alone";
  return "; the decimal sign is a point";
}

bool orthonormal(const Mat3d& m) {
  constexpr double kTolerance = 1e-9;  // that of the model's own check
  const Mat3d p = m * transpose(m);
  for (int i = 0; i < 3; ++i)
    for (int j = 0; j < 3; ++j)
      if (!(std::abs(p(i, j) - (i == j ? 1.0 : 0.0)) <= kTolerance)) return false;
  return determinant(m) > 0.0;
}

}  // namespace

std::optional<double> parse_number(std::string_view text) {
  text = without_spaces_around(text);
  double sign = 1.0;
  if (!text.empty() && (text[0] == '-' || text[0] == '+')) {
    if (text[0] == '-') sign = -1.0;
    text.remove_prefix(1);
  }
  for (const std::string_view infinity : {".inf", ".Inf", ".INF", "inf", "infinity"})
    if (text == infinity) return sign * HUGE_VAL;
  for (const std::string_view nan : {".nan", ".NaN", ".NAN", "nan", "NaN"})
    if (text == nan) return std::nan("");
  std::optional<double> value = take_factor(text);
  if (!value) return std::nullopt;
  *value *= sign;
  while (!text.empty()) {
    text = without_spaces_around(text);
    if (text.empty() || (text[0] != '*' && text[0] != '/')) return std::nullopt;
    const bool times = text[0] == '*';
    text.remove_prefix(1);
    text = without_spaces_around(text);
    const std::optional<double> factor = take_factor(text);
    if (!factor) return std::nullopt;
    *value = times ? *value * *factor : *value / *factor;
  }
  return value;
}

void Values::report(Severity severity, int line, const std::string& message, Loss loss) {
  std::string text;
  for (const std::string& part : path_) text += part + ": ";
  diagnostics_.push_back({severity, source(line), text + message});
  if (severity == Severity::warning) return;
  ++errors_;
  if (thing_line_ > 0 && loss == Loss::something) wrong_things_.insert(thing_line_);
}

bool Values::mismatch(const Node& node, std::string_view needs) {
  std::string hint;
  if (node.is_scalar()) {
    hint = cut_hint(node.text);
    if (hint.empty() && needs.find("number") != needs.npos) hint = unit_hint(node.text);
  }
  error(node.line, "needs " + std::string(needs) + ", not " + described(node) + hint);
  return false;
}

bool Values::map(const Node& node, std::string_view needs) {
  return node.is_map() || mismatch(node, needs);
}

bool Values::list(const Node& node, std::string_view needs) {
  return node.is_list() || mismatch(node, needs);
}

bool Values::number(const Node& node, double& result, Range range) {
  const std::optional<double> value = node.is_scalar() ? parse_number(node.text) : std::nullopt;
  if (!value) return mismatch(node, "a number");
  if (std::isnan(*value)) return mismatch(node, "a number");
  if (range == Range::finite && std::isinf(*value)) return mismatch(node, "a finite number");
  result = *value;
  return true;
}

bool Values::integer(const Node& node, int& result) {
  int value = 0;
  const char* end = node.text.data() + node.text.size();
  const auto [stop, code] = std::from_chars(node.text.data(), end, value);
  if (!node.is_scalar() || node.quoted || code != std::errc{} || stop != end)
    return mismatch(node, "a whole number");
  result = value;
  return true;
}

bool Values::boolean(const Node& node, bool& result) {
  if (node.is_scalar() && !node.quoted && (node.text == "true" || node.text == "false")) {
    result = node.text == "true";
    return true;
  }
  return mismatch(node, "true or false");
}

bool Values::text(const Node& node, std::string& result) {
  if (!node.is_scalar()) return mismatch(node, "a text");
  result = node.text;
  return true;
}

bool Values::choice(const Node& node, std::span<const std::string> words, std::size_t& index) {
  if (node.is_scalar()) {
    for (std::size_t i = 0; i < words.size(); ++i) {
      if (words[i] != node.text) continue;
      index = i;
      return true;
    }
  }
  std::string hint = node.is_scalar() ? did_you_mean(node.text, words) : std::string{};
  if (hint.empty()) hint = "; it is one of " + listed(words);
  error(node.line, "cannot be " + described(node) + hint);
  return false;
}

bool Values::numbers(const Node& node, std::span<double> result, Range range) {
  const std::string needs = "a list of " + std::to_string(result.size()) + " numbers";
  if (!node.is_list() || node.entries.size() != result.size()) return mismatch(node, needs);
  bool right = true;
  std::array<double, 16> values{};
  for (std::size_t i = 0; i < result.size(); ++i)
    right = number(*node.entries[i].value, values[i], range) && right;
  if (right)
    for (std::size_t i = 0; i < result.size(); ++i) result[i] = values[i];
  return right;
}

bool Values::vector(const Node& node, Vec3d& result) {
  std::array<double, 3> values{};
  if (!numbers(node, values)) return false;
  result = {values[0], values[1], values[2]};
  return true;
}

bool Values::number_or_list(const Node& node, std::vector<double>& result) {
  if (!node.is_list()) {
    if (!node.is_scalar()) return mismatch(node, "a number or a list of numbers");
    double value = 0.0;
    if (!number(node, value)) return false;
    result = {value};
    return true;
  }
  std::vector<double> values(node.entries.size());
  bool right = true;
  for (std::size_t i = 0; i < values.size(); ++i)
    right = number(*node.entries[i].value, values[i]) && right;
  if (right) result = std::move(values);
  return right;
}

bool Values::axis(const Node& node, Vec3d& result) {
  if (node.is_scalar()) {
    std::string_view word = node.text;
    const double sign = word.starts_with('-') ? -1.0 : 1.0;
    if (word.starts_with('-')) word.remove_prefix(1);
    if (word == "x" || word == "y" || word == "z") {
      result = {};
      result[word[0] - 'x'] = sign;
      return true;
    }
  }
  if (!node.is_list()) return mismatch(node, "three numbers, or x, y, z, -x, -y or -z");
  return vector(node, result);
}

bool Values::inertia(const Node& node, SymMat3d& result) {
  if (node.is_list()) {
    Vec3d diagonal;
    if (!vector(node, diagonal)) return false;
    result = SymMat3d::diagonal(diagonal.x, diagonal.y, diagonal.z);
    return true;
  }
  if (!map(node, "[xx, yy, zz] or a map of xx, yy, zz, xy, xz, yz")) return false;
  const int before = errors();
  unknown_keys(node, keys_of("inertia"));
  SymMat3d value{};
  const auto element = [&](const char* key, double& target, bool needed) {
    if (const Entry* entry = node.find(key)) {
      const Within within(*this, key);
      number(*entry->value, target);
    } else if (needed) {
      error(node.line, std::string("needs ") + key);
    }
  };
  element("xx", value.xx, true);
  element("yy", value.yy, true);
  element("zz", value.zz, true);
  element("xy", value.xy, false);
  element("xz", value.xz, false);
  element("yz", value.yz, false);
  if (errors() > before) return false;
  result = value;
  return true;
}

bool Values::orientation(const Node& node, Rotationd& result) {
  const Entry* rpy = node.find("rpy");
  const Entry* quaternion = node.find("quaternion");
  const Entry* matrix = node.find("rotation");
  if ((rpy != nullptr) + (quaternion != nullptr) + (matrix != nullptr) > 1) {
    error(node.line, "rpy, quaternion and rotation say the same; give one of them");
    return false;
  }
  if (rpy != nullptr) {
    const Within within(*this, "rpy");
    Vec3d angles;
    if (!vector(*rpy->value, angles)) return false;
    result = Rotationd::from_rpy(angles.x, angles.y, angles.z);
  }
  if (quaternion != nullptr) {
    const Within within(*this, "quaternion");
    std::array<double, 4> q{};
    if (!numbers(*quaternion->value, q)) return false;
    constexpr double kTolerance = 1e-6;  // a quaternion typed with seven digits
    const Quaterniond value{q[0], q[1], q[2], q[3]};
    const double length = std::sqrt(value.squared_norm());
    if (!(std::abs(length - 1.0) <= kTolerance)) {
      error(quaternion->line, "(w, x, y, z) needs length 1, not " + catena::number(length));
      return false;
    }
    result = Rotationd::from_quaternion(normalized(value));
  }
  if (matrix != nullptr) {
    const Within within(*this, "rotation");
    Mat3d m;
    const Node& rows = *matrix->value;
    if (!rows.is_list() || rows.entries.size() != 3)
      return mismatch(rows, "three rows of three numbers");
    for (std::size_t i = 0; i < 3; ++i)
      if (!numbers(*rows.entries[i].value, m.m[i])) return false;
    if (!orthonormal(m)) {
      error(matrix->line, "is not a rotation: its rows must be orthonormal and right-handed");
      return false;
    }
    result = {m};
  }
  return true;
}

bool Values::rotation(const Node& node, Rotationd& result) {
  if (!map(node, "a map with rpy, quaternion or rotation")) return false;
  const int before = errors();
  unknown_keys(node, keys_of("rotation"));
  return orientation(node, result) && errors() == before;
}

bool Values::pose(const Node& node, Transformd& result) {
  if (node.is_list()) {
    Vec3d position;
    if (!vector(node, position)) return false;
    result = Transformd::from_translation(position);
    return true;
  }
  if (!map(node, "[x, y, z] or a map with xyz and rpy, quaternion or rotation")) return false;
  const int before = errors();
  unknown_keys(node, keys_of("pose"));
  Transformd value;
  if (const Entry* xyz = node.find("xyz")) {
    const Within within(*this, "xyz");
    vector(*xyz->value, value.translation);
  }
  if (!orientation(node, value.rotation) || errors() > before) return false;
  result = value;
  return true;
}

bool Values::pose_coordinates(const Node& node, std::span<double> q) {
  constexpr std::size_t kSpherical = 4, kFree = 7;
  if (q.size() != kSpherical && q.size() != kFree)
    return mismatch(node, "a number or a list of numbers (xyz and rpy are for free joints)");
  const int before = errors();
  unknown_keys(node, keys_of(q.size() == kFree ? "pose" : "rotation"));
  Rotationd rotation;
  if (!orientation(node, rotation)) return false;
  Vec3d place;
  const Entry* xyz = q.size() == kFree ? node.find("xyz") : nullptr;
  if (xyz != nullptr) {
    const Within within(*this, "xyz");
    vector(*xyz->value, place);
  }
  if (errors() > before) return false;
  if (node.find("rpy") || node.find("quaternion") || node.find("rotation")) {
    const Quaterniond turn = to_quaternion(rotation);
    q[0] = turn.w, q[1] = turn.x, q[2] = turn.y, q[3] = turn.z;
  }
  if (xyz != nullptr) q[4] = place.x, q[5] = place.y, q[6] = place.z;
  return true;
}

void Values::unknown_keys(const Node& node, std::span<const std::string> known,
                          std::initializer_list<const char*> expected) {
  const bool whole = std::all_of(expected.begin(), expected.end(),
                                 [&](const char* key) { return node.find(key) != nullptr; });
  for (const Entry& entry : node.entries) {
    bool found = false;
    for (const std::string& key : known) found = found || key == entry.key;
    if (found) continue;
    std::string hint = cut_hint(entry.key);
    if (hint.empty()) hint = did_you_mean(entry.key, known);
    // A key of the thing itself, not of a value in it.
    const Loss loss = hint.empty() && whole && path_.size() == 1 ? Loss::nothing : Loss::something;
    if (hint.empty()) hint = "; the keys here are " + listed(known);
    report(Severity::error, entry.line, "unknown key '" + entry.key + "'" + hint, loss);
  }
}

}  // namespace catena::yaml
