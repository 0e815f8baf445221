// SPDX-FileCopyrightText: 2026 Tessera authors
// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <complex>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "io/npy_format.hpp"

namespace tessera::detail {
namespace {

struct NamedType {
  std::string_view name;
  ElementType type;
};

constexpr bool has_wide_long_double = sizeof(long double) == 16;

constexpr NamedType named_types[] = {
    {"b1", element_type<bool>()},
    {"i1", element_type<std::int8_t>()},
    {"i2", element_type<std::int16_t>()},
    {"i4", element_type<std::int32_t>()},
    {"i8", element_type<std::int64_t>()},
    {"u1", element_type<std::uint8_t>()},
    {"u2", element_type<std::uint16_t>()},
    {"u4", element_type<std::uint32_t>()},
    {"u8", element_type<std::uint64_t>()},
    {"f2", {ElementKind::float16, 2}},
    {"f4", element_type<float>()},
    {"f8", element_type<double>()},
    {has_wide_long_double ? "f16" : "", element_type<long double>()},
    {"c8", element_type<std::complex<float>>()},
    {"c16", element_type<std::complex<double>>()},
    {has_wide_long_double ? "c32" : "", element_type<std::complex<long double>>()},
};

/// The other names that NumPy takes: letters, which a file may hold with a sign of the byte order,
/// and words.
constexpr NamedType other_names[] = {
    {"?", element_type<bool>()},
    {"bool", element_type<bool>()},
    {"b", element_type<std::int8_t>()},
    {"int8", element_type<std::int8_t>()},
    {"h", element_type<std::int16_t>()},
    {"int16", element_type<std::int16_t>()},
    {"i", element_type<std::int32_t>()},
    {"int32", element_type<std::int32_t>()},
    {"l", element_type<std::int64_t>()},
    {"q", element_type<std::int64_t>()},
    {"int64", element_type<std::int64_t>()},
    {"B", element_type<std::uint8_t>()},
    {"uint8", element_type<std::uint8_t>()},
    {"H", element_type<std::uint16_t>()},
    {"uint16", element_type<std::uint16_t>()},
    {"I", element_type<std::uint32_t>()},
    {"uint32", element_type<std::uint32_t>()},
    {"L", element_type<std::uint64_t>()},
    {"Q", element_type<std::uint64_t>()},
    {"uint64", element_type<std::uint64_t>()},
    {"e", {ElementKind::float16, 2}},
    {"float16", {ElementKind::float16, 2}},
    {"f", element_type<float>()},
    {"float32", element_type<float>()},
    {"d", element_type<double>()},
    {"float64", element_type<double>()},
    {has_wide_long_double ? "g" : "", element_type<long double>()},
    {has_wide_long_double ? "float128" : "", element_type<long double>()},
    {"F", element_type<std::complex<float>>()},
    {"complex64", element_type<std::complex<float>>()},
    {"D", element_type<std::complex<double>>()},
    {"complex128", element_type<std::complex<double>>()},
    {has_wide_long_double ? "G" : "", element_type<std::complex<long double>>()},
    {has_wide_long_double ? "complex256" : "", element_type<std::complex<long double>>()},
};

/// Null if there is none.
const NamedType* find_name(std::string_view name) {
  if (name.empty()) return nullptr;
  const auto* found = std::ranges::find(named_types, name, &NamedType::name);
  if (found != std::end(named_types)) return found;
  found = std::ranges::find(other_names, name, &NamedType::name);
  return found != std::end(other_names) ? found : nullptr;
}

char order_sign(ElementType type, std::endian byte_order) {
  if (type.size == 1) return '|';
  return byte_order == std::endian::little ? '<' : '>';
}

std::endian byte_order_of(std::string_view descr) {
  if (descr.starts_with('<')) return std::endian::little;
  if (descr.starts_with('>')) return std::endian::big;
  return std::endian::native;
}

/// Returns a shape as Python writes it: "()", "(3,)", "(3, 4)".
std::string tuple_text(const Extents& shape) {
  return fmt::format("({}{})", fmt::join(shape.begin(), shape.end(), ", "),
                     shape.size() == 1 ? "," : "");
}

/// Returns spaces that leave room for the first extent to grow to 21 digits.
std::string room_to_grow(const Extents& shape) {
  if (shape.empty()) return "";
  return std::string(21 - fmt::formatted_size("{}", shape[0]), ' ');
}

}  // namespace

std::string npy_descr(ElementType type, std::endian byte_order) {
  const auto* found = std::ranges::find(named_types, type, &NamedType::type);
  if (found == std::end(named_types) || found->name.empty()) return "";
  return order_sign(type, byte_order) + std::string(found->name);
}

NpyElements parse_npy_descr(std::string_view descr) {
  auto name = descr;
  if (name.find_first_of("<>|=") == 0) name.remove_prefix(1);
  const auto* found = find_name(name);
  require<IoError>(found != nullptr, [&] {
    return fmt::format(
        "expected elements of b1, i1 to i8, u1 to u8, f2 to f16 or c8 to c32, got {}",
        descr.substr(0, 40));
  });
  const auto byte_order = found->type.size == 1 ? std::endian::native : byte_order_of(descr);
  return {found->type, byte_order};
}

std::string npy_header_bytes(ElementType type, const Extents& shape) {
  constexpr std::size_t alignment = 64;
  constexpr std::size_t prefix = 10;
  auto text =
      fmt::format("{{'descr': '{}', 'fortran_order': False, 'shape': {}, }}{}",
                  npy_descr(type, std::endian::native), tuple_text(shape), room_to_grow(shape));
  const auto padding = alignment - (prefix + text.size() + 1) % alignment;
  text += std::string(padding, ' ') + '\n';
  const auto length = text.size();
  return std::string("\x93NUMPY\x01\0", 8) + static_cast<char>(length & 0xff) +
         static_cast<char>(length >> 8) + text;
}

}  // namespace tessera::detail
