// SPDX-FileCopyrightText: 2026 Tessera authors
// SPDX-License-Identifier: Apache-2.0
#include <memory>

#include <fmt/format.h>

#include <tessera/io/detail/npy_pieces.hpp>

#include "comm/agree_on_error.hpp"
#include "io/convert.hpp"
#include "io/npy_format.hpp"
#include "io/piece_in_file.hpp"
#include "io/shared_errors.hpp"

namespace tessera::detail {
namespace {

constexpr auto operation = "tessera::read_npy";

using Buffer = std::unique_ptr<std::byte[]>;

Buffer make_buffer(std::int64_t bytes) {
  return std::make_unique_for_overwrite<std::byte[]>(static_cast<std::size_t>(bytes));
}

bool is_converted(const NpyHeader& header, ElementType type) {
  return header.type != type || type.kind == ElementKind::boolean;
}

/// Reads the elements of `parts`, `count` in all, into `data`, as `type` in native byte order, in
/// the order of the file. `raw` has room for those of the file, if they are converted.
void read_elements(const File& file, const NpyHeader& header, const std::vector<PartInFile>& parts,
                   std::int64_t count, ElementType type, std::byte* raw, std::byte* data) {
  auto* const arrived = is_converted(header, type) ? raw : data;
  BlockFile::read(file, blocks_of(parts), arrived, "read_box");
  if (header.byte_order != std::endian::native) swap_bytes(header.type, arrived, count);
  if (is_converted(header, type)) convert(header.type.kind, arrived, type.kind, data, count);
}

std::string in_words(const NpyHeader& header) {
  return fmt::format("{} {}, {}{}, data at byte {} of {}", to_string(header.type),
                     to_string(header.shape),
                     header.order == StorageOrder::row_major ? "C order" : "Fortran order",
                     header.byte_order == std::endian::native ? "" : ", other byte order",
                     header.data_offset, header.file_bytes);
}

/// A relative path may lead to another file on each rank.
void require_same_file(const std::string& path, const NpyHeader& of_first) {
  const auto mine = read_npy_header_here("read_npy", path);
  require<IoError>(mine == of_first, [&] {
    return fmt::format(
        "read_npy: '{}': expected the file that mesh rank 0 has ({}), got another one ({}); do all "
        "ranks see the same folder?",
        path, in_words(of_first), in_words(mine));
  });
}

}  // namespace

void read_piece(const Execution& execution, const std::string& path, const NpyHeader& header,
                const DeviceMesh& mesh, const DTensorSpec& spec, const ArrayRef& piece) {
  if (!mesh.coordinate()) return;
  const auto parts =
      parts_in_file({header.data_offset, header.type.size, header.shape, header.order},
                    spec.sections(*mesh.coordinate()), piece);
  const bool is_direct = is_as_in_file(parts);
  const auto landing = is_direct ? nullptr : make_buffer(piece.bytes());
  auto* const data = landing ? landing.get() : piece.data;
  // What may fail on one rank alone comes before the others open the file.
  const auto raw =
      is_converted(header, piece.type) ? make_buffer(piece.size() * header.type.size) : nullptr;
  SharedError error;
  if (mesh.rank() != 0) error = error_of([&] { require_same_file(path, header); });
  throw_together(mesh.group(), error, operation);
  error = error_of([&] {
    auto file = File::open(mesh.group(), path, FileAccess::read);
    read_elements(file, header, parts, piece.size(), piece.type, raw.get(), data);
  });
  throw_together(mesh.group(), error, operation);
  if (is_direct) return;
  unpack(execution, parts, data);
  execution.fence("tessera::read_npy: before the buffer is freed");
}

}  // namespace tessera::detail
