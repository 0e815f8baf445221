// SPDX-FileCopyrightText: 2026 Tessera authors
// SPDX-License-Identifier: Apache-2.0
#include <array>

#include <fmt/format.h>

#include <tessera/extents/element_type.hpp>

namespace tessera {

std::string to_string(ElementType type) {
  static constexpr std::array names = {
      "opaque",  "bool",    "int8",       "int16",     "int32",      "int64",
      "uint8",   "uint16",  "uint32",     "uint64",    "float16",    "bfloat16",
      "float32", "float64", "longdouble", "complex64", "complex128", "complexlongdouble"};
  if (type.kind == ElementKind::opaque) return fmt::format("opaque({} bytes)", type.size);
  return names[static_cast<std::size_t>(type.kind)];
}

}  // namespace tessera
