// SPDX-FileCopyrightText: 2026 Tessera authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include <tessera/error/error.hpp>
#include <tessera/extents/element_type.hpp>
#include <tessera/sharding/spec.hpp>

namespace tessera::tools {

inline constexpr int most_ranks = 1 << 20;
inline constexpr std::int64_t most_elements = std::int64_t{1} << 50;

/// Parses a mesh layout: "4x2" or "4x2:dp,tp".
///
/// Errors (all of this file): InvalidArgument that begins with the option: "--mesh: expected sizes
/// such as 4x2 or 4x2:dp,tp, got "4y2"".
MeshLayout mesh_of(const std::string& option, std::string_view text);
/// Parses a shape: "16,24".
Extents shape_of(std::string_view text);
/// Parses an element type: "f64".
ElementType type_of(std::string_view text);
/// Makes a spec from placements in text: "S(0),R".
DTensorSpec spec_on(const MeshLayout& layout, const Extents& shape, const char* option,
                    const std::string& placements);

/// Returns the message of an error without the function that it begins with.
std::string without_function(std::string_view message);

/// Returns what make() returns. An InvalidArgument names the option instead of the function.
template <class Make>
auto in_option(const std::string& option, const Make& make) {
  try {
    return make();
  } catch (const InvalidArgument& error) {
    throw InvalidArgument(option + ": " + without_function(error.what()));
  }
}

}  // namespace tessera::tools
