// SPDX-FileCopyrightText: 2026 Tessera authors
// SPDX-License-Identifier: Apache-2.0
#include <cerrno>
#include <fstream>
#include <optional>
#include <random>
#include <system_error>
#include <vector>

#include <fmt/format.h>

#include <tessera/extents/hash.hpp>
#include <tessera/io/detail/npy_pieces.hpp>

#include "comm/agree_on_error.hpp"
#include "io/npy_format.hpp"
#include "io/shared_errors.hpp"
#include "kernels/pack.hpp"

namespace tessera::detail {
namespace {

constexpr auto label = "tessera::write_npy";

void require_writable(const DeviceMesh& mesh, const DTensorSpec& spec, ElementType type) {
  require(!mesh.is_null(), "expected a tensor, got a DTensor without a mesh");
  require(!spec.placements().has_partial(), [&] {
    return "expected Shard and Replicate placements (see reduce_partial), got " +
           to_string(spec.placements());
  });
  require(!npy_descr(type, std::endian::native).empty(),
          [&] { return "expected an element type of the .npy format, got " + to_string(type); });
}

/// Returns a new name next to `path`, the same on all ranks.
std::string temporary_name(const Group& group, const std::string& path) {
  std::uint64_t number = 0;
  if (group.position == 0) number = std::random_device()();
  broadcast(group, std::as_writable_bytes(std::span(&number, 1)), 0, TraceKind::metadata, label);
  return fmt::format("{}.tmp-{:08x}", path, number);
}

/// Creates the file on the first rank alone, where failures have a clear text.
void create_file(const Group& group, const std::string& temporary, const std::string& path) {
  std::string error;
  errno = 0;
  if (group.position == 0 && !std::ofstream(temporary))
    error = fmt::format("write_npy: '{}': {}", path, std::generic_category().message(errno));
  throw_error_of_first(group, std::move(error), label);
}

/// Returns whether this rank writes its piece. Of the ranks that hold a piece, one writes it.
bool is_first_replica(const DeviceMesh& mesh, const Placements& placements) {
  for (std::size_t d = 0; d < placements.size(); ++d)
    if (placements[d].is_replicate() && (*mesh.coordinate())[d] != 0) return false;
  return true;
}

/// Returns `shape`, or one dim of one element in place of no dims: a box of no dims cannot be
/// empty.
Extents with_a_dim(const Extents& shape) {
  return shape.empty() ? Extents{1} : shape;
}

Box box_to_write(const DeviceMesh& mesh, const DTensorSpec& spec) {
  Box box = spec.piece(*mesh.coordinate());
  box = {spec.shape().empty() ? Extents{0} : box.offset, with_a_dim(box.shape)};
  if (!is_first_replica(mesh, spec.placements())) box.shape = Extents::filled(box.shape.size(), 0);
  return box;
}

/// Calls `action` and keeps the first error instead of throwing it, because collective calls
/// follow.
template <class Action>
void attempt(std::string& first_error, Action&& action) {
  auto error = error_of(action);
  if (first_error.empty()) first_error = std::move(error);
}

/// Writes the file and returns the text of the first error on this rank.
std::string write_file(const DeviceMesh& mesh, const std::string& path, const DTensorSpec& spec,
                       ElementType type, const std::byte* elements) {
  const auto header = npy_header_bytes(type, spec.shape());
  const FileArray array{static_cast<std::int64_t>(header.size()), type.size,
                        with_a_dim(spec.shape()), StorageOrder::row_major};
  std::optional<File> file;
  auto error = error_of([&] { file = File::open(mesh.group(), path, FileAccess::create); });
  if (!file) return error;
  if (mesh.rank() == 0)
    attempt(error, [&] { file->write_at(0, std::as_bytes(std::span(header))); });
  attempt(error, [&] { file->write_box(array, box_to_write(mesh, spec), elements); });
  attempt(error, [&] { file->close(); });
  return error;
}

/// Gives the file its name, or removes it if a rank failed.
void finish_file(const Group& group, const std::string& temporary, const std::string& path,
                 const std::string& error) {
  const bool is_first = group.position == 0;
  auto failure = agree_on_error(group, error, label);
  if (is_first && !failure) failure = error_of([&] { rename_file(temporary, path); });
  if (is_first && !failure.value_or("").empty()) error_of([&] { remove_file(temporary); });
  throw_error_of_first(group, failure.value_or(""), label);
}

}  // namespace

void write_pieces(Operation& operation, const Execution& execution, const std::string& path,
                  const DeviceMesh& mesh, const DTensorSpec& spec, const ArrayRef& piece) {
  require_writable(mesh, spec, piece.type);
  if (!mesh.coordinate()) return;
  const auto group = mesh.group();
  auto arguments = hash_combine(hash_range(0, path), spec.hash());
  arguments = hash_combine(arguments, piece.type);
  const auto call = [&] {
    return fmt::format("write_npy of '{}': {} {}", path, to_string(piece.type), to_string(spec));
  };
  operation.agree_always(arguments, call);
  execution.fence("tessera::write_npy: before reading the pieces");
  const auto temporary = temporary_name(group, path);
  create_file(group, temporary, path);
  const bool is_direct = piece.is_row_major() && piece.space == MemorySpace::host;
  std::vector<std::byte> packed(is_direct ? 0 : static_cast<std::size_t>(piece.bytes()));
  if (!is_direct) {
    copy(execution, piece, row_major(packed.data(), piece.type, piece.extents, MemorySpace::host));
    execution.fence("tessera::write_npy: before writing the file");
  }
  const auto* const elements = is_direct ? piece.data : packed.data();
  finish_file(group, temporary, path, write_file(mesh, temporary, spec, piece.type, elements));
}

}  // namespace tessera::detail
