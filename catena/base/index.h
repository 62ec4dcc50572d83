// SPDX-License-Identifier: BSD-3-Clause
// Subscripts. Indices of the library are int or Eigen::Index, with −1 for "none"; those of the
// standard containers are std::size_t. All conversions between the two are here.
#pragma once

#include <cstddef>
#include <type_traits>

namespace catena {

// A subscript for a standard container; `i` must not be negative.
constexpr std::size_t index(std::ptrdiff_t i) { return static_cast<std::size_t>(i); }

// An enumerator as the subscript of a table.
template <class Enum>
requires std::is_enum_v<Enum>
constexpr std::size_t index(Enum e) { return static_cast<std::size_t>(e); }

// A number of elements, for resize() and the like; `n` must not be negative.
constexpr std::size_t to_size(std::ptrdiff_t n) { return static_cast<std::size_t>(n); }

// container[i].
template <class Container>
constexpr auto& at(Container&& container, std::ptrdiff_t i) {
  return container[static_cast<std::size_t>(i)];
}

}  // namespace catena
