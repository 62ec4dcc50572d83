// SPDX-License-Identifier: BSD-3-Clause
#include "apps/catena/json.h"

#include <algorithm>

#include <nlohmann/json.hpp>

namespace catena::app {
namespace {

using Text = nlohmann::ordered_json;

Text to_text(const Json& json) {
  return std::visit(
      [](const auto& value) -> Text {
        using T = std::decay_t<decltype(value)>;
        if constexpr (std::is_same_v<T, Json::Array>) {
          Text::array_t items;
          items.reserve(value.size());
          for (const Json& item : value) items.push_back(to_text(item));
          return items;
        } else if constexpr (std::is_same_v<T, Json::Object>) {
          Text::object_t entries;
          entries.reserve(value.size());
          for (const auto& [key, entry] : value) entries.emplace_back(key, to_text(entry));
          return entries;
        } else {
          return value;
        }
      },
      json.value());
}

Json from_text(const Text& text) {
  switch (text.type()) {
    case Text::value_t::boolean:
      return text.get<bool>();
    case Text::value_t::number_integer:
      return text.get<std::int64_t>();
    case Text::value_t::number_unsigned:
      return text.get<std::uint64_t>();
    case Text::value_t::number_float:
      return text.get<double>();
    case Text::value_t::string:
      return text.get<std::string>();
    case Text::value_t::array: {
      Json json = Json::array();
      for (const Text& item : text) json.push_back(from_text(item));
      return json;
    }
    case Text::value_t::object: {
      Json json = Json::object();
      for (const auto& [key, entry] : text.items()) json[key] = from_text(entry);
      return json;
    }
    default:
      return nullptr;
  }
}

bool is_pair(const Json& json) {
  const auto* const items = std::get_if<Json::Array>(&json.value());
  return items != nullptr && items->size() == 2 &&
         std::holds_alternative<std::string>((*items)[0].value());
}

}  // namespace

Json::Json() : value_(nullptr) {}
Json::Json(bool value) : value_(value) {}
Json::Json(double value) : value_(value) {}
Json::Json(std::string value) : value_(std::move(value)) {}
Json::Json(Integer value) : value_(value.value) {}
Json::Json(Natural value) : value_(value.value) {}

Json::Json(std::initializer_list<Json> entries) {
  if (!std::all_of(entries.begin(), entries.end(), is_pair)) {
    value_ = Array(entries);
    return;
  }
  Object object;
  object.reserve(entries.size());
  for (const Json& entry : entries) {
    const Array& pair = std::get<Array>(entry.value_);
    object.emplace_back(std::get<std::string>(pair[0].value_), pair[1]);
  }
  value_ = std::move(object);
}

Json::Json(const Json&) = default;
Json::Json(Json&&) noexcept = default;
Json& Json::operator=(const Json&) = default;
Json& Json::operator=(Json&&) noexcept = default;
Json::~Json() = default;

Json Json::array() {
  Json json;
  json.value_ = Array{};
  return json;
}

Json Json::object() {
  Json json;
  json.value_ = Object{};
  return json;
}

std::optional<Json> Json::parse(const std::string& text) {
  const Text parsed = Text::parse(text, nullptr, false);
  if (parsed.is_discarded()) return std::nullopt;
  return from_text(parsed);
}

Json& Json::operator[](const std::string& key) {
  if (std::holds_alternative<std::nullptr_t>(value_)) value_ = Object{};
  Object& object = std::get<Object>(value_);
  for (auto& [name, entry] : object)
    if (name == key) return entry;
  return object.emplace_back(key, Json()).second;
}

void Json::push_back(Json value) {
  if (std::holds_alternative<std::nullptr_t>(value_)) value_ = Array{};
  std::get<Array>(value_).push_back(std::move(value));
}

bool Json::contains(const std::string& key) const {
  const auto* const object = std::get_if<Object>(&value_);
  return object != nullptr && std::any_of(object->begin(), object->end(),
                                          [&](const auto& entry) { return entry.first == key; });
}

void Json::erase(const std::string& key) {
  if (auto* const object = std::get_if<Object>(&value_))
    std::erase_if(*object, [&](const auto& entry) { return entry.first == key; });
}

const Json::Array& Json::items() const { return std::get<Array>(value_); }

const std::string& Json::text() const { return std::get<std::string>(value_); }

std::string Json::dump(int indent) const { return to_text(*this).dump(indent); }

std::string Json::dump_ascii() const {
  return to_text(*this).dump(-1, ' ', true, Text::error_handler_t::replace);
}

}  // namespace catena::app
