// SPDX-License-Identifier: BSD-3-Clause
// A JSON value, the output of subcommands for machines. Keys keep their order of insertion.
//
//   Json json;
//   json["closed"] = true;
//   json["loops"].push_back({{"residual", 1e-12}, {"size", 3}});
//   json.dump(2);
//
// nlohmann/json reads and writes the text. It takes seconds to compile in every file that includes
// it, so that json.cpp alone does.
#pragma once

#include <array>
#include <concepts>
#include <cstddef>
#include <cstdint>
#include <initializer_list>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

namespace catena::app {

class Json {
 public:
  using Array = std::vector<Json>;
  using Object = std::vector<std::pair<std::string, Json>>;
  using Value = std::variant<std::nullptr_t, bool, std::int64_t, std::uint64_t, double, std::string,
                             Array, Object>;

  // Implicit, so that values of all kinds can stand in lists.
  Json();
  Json(std::nullptr_t) : Json() {}
  Json(bool value);
  Json(double value);
  Json(std::string value);
  Json(std::string_view value) : Json(std::string(value)) {}
  Json(const char* value) : Json(std::string(value)) {}
  template <std::signed_integral T>
  Json(T value) : Json(Integer{value}) {}
  template <std::unsigned_integral T>
  Json(T value) : Json(Natural{value}) {}
  template <class T>
  Json(const std::vector<T>& values) : Json(array()) {
    for (const T& value : values) push_back(value);
  }
  template <class T, std::size_t N>
  Json(const std::array<T, N>& values) : Json(array()) {
    for (const T& value : values) push_back(value);
  }
  // An object if every entry is a pair {"key", value}, otherwise an array.
  Json(std::initializer_list<Json> entries);

  Json(const Json&);
  Json(Json&&) noexcept;
  Json& operator=(const Json&);
  Json& operator=(Json&&) noexcept;
  ~Json();

  static Json array();
  static Json object();
  // Nothing if the text is not JSON.
  static std::optional<Json> parse(const std::string& text);

  // Null becomes an object or an array; an unknown key is added.
  Json& operator[](const std::string& key);
  void push_back(Json value);
  bool contains(const std::string& key) const;
  void erase(const std::string& key);

  // Of an array, and of a text; throw if it is neither.
  const Array& items() const;
  const std::string& text() const;

  // `indent` < 0: in one line. Numbers that are not finite become null.
  std::string dump(int indent = -1) const;
  // In one line of ASCII, other characters escaped: for HTML pages.
  std::string dump_ascii() const;

  const Value& value() const { return value_; }

 private:
  struct Integer {
    std::int64_t value;
  };
  struct Natural {
    std::uint64_t value;
  };
  Json(Integer value);
  Json(Natural value);

  Value value_;
};

}  // namespace catena::app
