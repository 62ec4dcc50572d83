// SPDX-License-Identifier: BSD-3-Clause
// Reads numbers, vectors and poses from nodes of a YAML tree and reports every value of a wrong
// kind. A message starts with the thing and the key: "hinge 'knee': limits ...".
#pragma once

#include <array>
#include <initializer_list>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "catena/base/error.h"
#include "catena/io/models/yaml_tree.h"
#include "catena/spatial/inertia.h"

namespace catena::yaml {

// A number: a decimal, or a product of decimals and `pi` such as `-pi/2`, `2*pi/3`, `1/12`.
// Nothing if it is not one. NaN and infinities as YAML writes them (.nan, .inf) are numbers here.
std::optional<double> parse_number(std::string_view text);

enum class Range { finite, infinite_allowed };

class Values {
 public:
  Values(std::string file, std::vector<Diagnostic>& diagnostics)
      : file_(std::move(file)), diagnostics_(diagnostics) {}

  const std::string& file() const { return file_; }
  Source source(int line) const { return {file_, line}; }
  void error(int line, const std::string& message) { report(Severity::error, line, message); }
  void warning(int line, const std::string& message) { report(Severity::warning, line, message); }
  // Errors so far.
  int errors() const { return errors_; }
  // True if part of the entry that begins in this line was lost.
  bool wrong_thing(int line) const { return wrong_things_.contains(line); }

  // Puts a name in front of the messages while it lives.
  class Within {
   public:
    Within(Values& values, std::string name) : values_(values) {
      values_.path_.push_back(std::move(name));
    }
    Within(const Within&) = delete;
    Within& operator=(const Within&) = delete;
    ~Within() { values_.path_.pop_back(); }

   private:
    Values& values_;
  };
  // The same for a whole thing (body, hinge, ...), whose errors are counted as its own.
  class Thing {
   public:
    Thing(Values& values, std::string name, int line)
        : values_(values), within_(values, std::move(name)) {
      values_.thing_line_ = line;
    }
    Thing(const Thing&) = delete;
    Thing& operator=(const Thing&) = delete;
    ~Thing() { values_.thing_line_ = 0; }

   private:
    Values& values_;
    Within within_;
  };

  // f(entry) of a key of a map, if it is there; messages from in there name the key.
  template <class F>
  void with(const Node& map, const char* key, F f) {
    if (const Entry* entry = map.find(key)) {
      const Within within(*this, key);
      f(*entry);
    }
  }
  // f(entry) of everything in a map by name that stands under a key.
  template <class F>
  void each(const Node& node, const char* key, F f) {
    with(node, key, [&](const Entry& by_name) {
      if (!map(*by_name.value, "a map by name")) return;
      for (const Entry& entry : by_name.value->entries) {
        const Within within(*this, entry.key);
        f(entry);
      }
    });
  }

  // Each returns false after reporting a mistake, and then does not change its result.
  bool number(const Node& node, double& result, Range range = Range::finite);
  bool integer(const Node& node, int& result);
  bool boolean(const Node& node, bool& result);
  bool text(const Node& node, std::string& result);
  bool choice(const Node& node, std::span<const std::string> words, std::size_t& index);
  bool numbers(const Node& node, std::span<double> result, Range range = Range::finite);
  bool vector(const Node& node, Vec3d& result);
  // One number, or a list of any length.
  bool number_or_list(const Node& node, std::vector<double>& result);
  // A direction: three numbers, or x, y, z, -x, -y, -z.
  bool axis(const Node& node, Vec3d& result);
  // [xx, yy, zz], or a map of xx, yy, zz, xy, xz, yz.
  bool inertia(const Node& node, SymMat3d& result);
  // {rpy} or {quaternion} or {rotation}.
  bool rotation(const Node& node, Rotationd& result);
  // The same with {xyz}; or three numbers: a position.
  bool pose(const Node& node, Transformd& result);

  // The same as coordinates of a hinge, quaternion first: 4 of a spherical one, 7 of a free one.
  // Those that are not given stay.
  bool pose_coordinates(const Node& node, std::span<double> q);

  bool map(const Node& node, std::string_view needs);
  bool list(const Node& node, std::string_view needs);
  // Reports every key that is not among the known ones, with the nearest. If all of these keys are
  // given, an unknown key without a near one does not make the entry incomplete.
  void unknown_keys(const Node& map, std::span<const std::string> known,
                    std::initializer_list<const char*> expected = {});
  // "needs <what>, not <what it is>"
  bool mismatch(const Node& node, std::string_view needs);

 private:
  // Whether the entry being read is incomplete after an error.
  enum class Loss { something, nothing };
  void report(Severity severity, int line, const std::string& message, Loss loss = Loss::something);
  bool orientation(const Node& map, Rotationd& result);

  std::string file_;
  std::vector<Diagnostic>& diagnostics_;
  std::vector<std::string> path_;
  int errors_ = 0;
  int thing_line_ = 0;
  std::set<int> wrong_things_;
};

}  // namespace catena::yaml
