// SPDX-FileCopyrightText: 2026 Tessera authors
// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <array>
#include <charconv>
#include <complex>
#include <optional>
#include <vector>

#include <fmt/format.h>

#include "parse.hpp"

namespace tessera::tools {
namespace {

struct NamedType {
  const char* name;
  ElementType type;
};

constexpr std::array<NamedType, 13> types = {{{"f32", element_type<float>()},
                                              {"f64", element_type<double>()},
                                              {"c64", element_type<std::complex<float>>()},
                                              {"c128", element_type<std::complex<double>>()},
                                              {"i8", element_type<std::int8_t>()},
                                              {"i16", element_type<std::int16_t>()},
                                              {"i32", element_type<std::int32_t>()},
                                              {"i64", element_type<std::int64_t>()},
                                              {"u8", element_type<std::uint8_t>()},
                                              {"u16", element_type<std::uint16_t>()},
                                              {"u32", element_type<std::uint32_t>()},
                                              {"u64", element_type<std::uint64_t>()},
                                              {"bool", element_type<bool>()}}};

[[noreturn]] void fail(const std::string& option, const char* expected, std::string_view given) {
  throw InvalidArgument(fmt::format("{}: expected {}, got \"{}\"", option, expected, given));
}

std::vector<std::string_view> parts_of(std::string_view text, char separator) {
  std::vector<std::string_view> parts;
  for (;;) {
    const auto end = std::min(text.find(separator), text.size());
    parts.push_back(text.substr(0, end));
    if (end == text.size()) return parts;
    text.remove_prefix(end + 1);
  }
}

template <class Number>
std::optional<Number> number_of(std::string_view text) {
  Number value{};
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc() || end != text.data() + text.size()) return {};
  return value;
}

}  // namespace

std::string without_function(std::string_view message) {
  const auto end = message.find(": ");
  return std::string(end == message.npos ? message : message.substr(end + 2));
}

MeshLayout mesh_of(const std::string& option, std::string_view text) {
  constexpr auto expected = "sizes such as 4x2 or 4x2:dp,tp";
  const auto colon = std::min(text.find(':'), text.size());
  std::vector<int> sizes;
  std::int64_t ranks = 1;
  for (const auto part : parts_of(text.substr(0, colon), 'x')) {
    const auto size = number_of<int>(part);
    if (!size || *size < 1) fail(option, expected, text);
    sizes.push_back(*size);
    ranks *= *size;
    if (ranks > most_ranks) fail(option, "at most 1048576 ranks", text);
  }
  std::vector<std::string> names;
  if (colon < text.size())
    for (const auto name : parts_of(text.substr(colon + 1), ',')) {
      if (name.empty()) fail(option, expected, text);
      names.emplace_back(name);
    }
  return in_option(option, [&] { return MeshLayout(sizes, names); });
}

Extents shape_of(std::string_view text) {
  constexpr auto expected = "up to 8 extents such as 16,24";
  Extents shape;
  const auto parts = parts_of(text, ',');
  if (parts.size() > max_tensor_dims) fail("--shape", expected, text);
  for (const auto part : parts) {
    const auto extent = number_of<std::int64_t>(part);
    if (!extent || *extent < 0) fail("--shape", expected, text);
    shape.push_back(*extent);
  }
  if (detail::named("--shape", [&] { return checked_product(shape); }) > most_elements)
    fail("--shape", "at most 2^50 elements", text);
  return shape;
}

ElementType type_of(std::string_view text) {
  for (const auto& [name, type] : types)
    if (name == text) return type;
  fail("--dtype", "f32, f64, c64, c128, i8, i16, i32, i64, u8, u16, u32, u64 or bool", text);
}

DTensorSpec spec_on(const MeshLayout& layout, const Extents& shape, const char* option,
                    const std::string& placements) {
  const auto parsed = in_option(option, [&] { return parse_placements(placements); });
  return detail::named(option, [&] { return detail::make_spec(layout, parsed, shape); });
}

}  // namespace tessera::tools
