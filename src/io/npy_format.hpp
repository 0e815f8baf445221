// SPDX-FileCopyrightText: 2026 Tessera authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <bit>
#include <string>
#include <string_view>

#include <tessera/io/npy_header.hpp>

/// An .npy file of versions 1.0 to 3.0 holds, one after another: magic, version, length of a text,
/// the text (the literal of a Python dictionary), and the elements.
namespace tessera::detail {

/// NpyElements is what NumPy calls descr.
struct NpyElements {
  ElementType type;
  std::endian byte_order = std::endian::native;
};

/// Returns NumPy's name of these elements, such as "<f8"; empty if NumPy has none.
std::string npy_descr(ElementType type, std::endian byte_order);

/// Returns the elements that NumPy calls `descr`. Takes "=f8" and "f8", too, for native byte order,
/// letters ("<d") and words ("float64"). Errors: IoError.
NpyElements parse_npy_descr(std::string_view descr);

/// Returns the header that a text describes; data_offset stays 0. Takes any order of keys, both
/// kinds of quotes, spaces and trailing commas, but nothing else that Python would evaluate.
///
/// Errors: IoError.
NpyHeader parse_npy_dictionary(std::string_view text);

/// Returns all bytes before the elements of a file of version 1.0 as NumPy writes them, aligned to
/// 64 bytes, for native byte order and C order. Expects a type that npy_descr() names.
std::string npy_header_bytes(ElementType type, const Extents& shape);

/// Reads and checks the header of a file. Local. Errors: IoError, which names `function` and the
/// path.
NpyHeader read_npy_header_here(const char* function, const std::string& path);

}  // namespace tessera::detail
