// SPDX-License-Identifier: BSD-3-Clause
// Small text helpers for messages: nearest names, numbers as people write them.
#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace catena {

// The candidate nearest to the word (edit distance, letter case ignored), or "" when none is near
// enough.
std::string nearest_name(std::string_view word, std::span<const std::string> candidates);

// "; did you mean 'elbow'?", or "" if no candidate is near.
std::string did_you_mean(std::string_view word, std::span<const std::string> candidates);

// The shortest decimal that reads back as the same double.
std::string number(double value);

// The number with so many significant digits, in the format %g.
std::string short_number(double value, int digits = 3);

// "a, b and c".
std::string listed(std::span<const std::string> words);

}  // namespace catena
