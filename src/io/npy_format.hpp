// SPDX-FileCopyrightText: 2026 Tessera authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <bit>
#include <string>
#include <string_view>

#include <tessera/io/npy_header.hpp>

/// NumPy's .npy format, versions 1.0 to 3.0: magic, version, length of a text, the text (the
/// literal of a Python dictionary), then the elements.
namespace tessera::detail {

/// What NumPy calls descr.
struct NpyElements {
  ElementType type;
  std::endian byte_order = std::endian::native;
};

/// NumPy's name of these elements, such as "<f8"; empty where it has none.
std::string npy_descr(ElementType type, std::endian byte_order);

/// The inverse; also of "=f8" and "f8", in native byte order. Errors: IoError.
NpyElements parse_npy_descr(std::string_view descr);

/// The header in a text; data_offset stays 0. Takes any order of keys, both kinds of quotes, spaces
/// and trailing commas, nothing else that Python would evaluate.
///
/// Errors: IoError.
NpyHeader parse_npy_dictionary(std::string_view text);

/// All bytes before the elements of a file of version 1.0 as NumPy writes them, aligned to 64
/// bytes: native byte order, C order. Expects a type with a name.
std::string npy_header_bytes(ElementType type, const Extents& shape);

/// Reads and checks the header of a file. Local. Errors: IoError.
NpyHeader read_npy_header_here(const std::string& path);

}  // namespace tessera::detail
