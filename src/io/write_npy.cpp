// SPDX-FileCopyrightText: 2026 Tessera authors
// SPDX-License-Identifier: Apache-2.0
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include <tessera/extents/hash.hpp>
#include <tessera/io/detail/npy_pieces.hpp>

#include "comm/agree_on_error.hpp"
#include "io/new_file.hpp"
#include "io/npy_format.hpp"
#include "io/piece_in_file.hpp"
#include "io/shared_errors.hpp"

namespace tessera::detail {
namespace {

constexpr auto label = "tessera::write_npy";

void require_writable(const std::string& path, const DeviceMesh& mesh, const DTensorSpec& spec,
                      ElementType type) {
  require_path(path);
  require(!mesh.is_null(), "expected a tensor on a mesh, got a null handle");
  require(!spec.placements().has_partial(), [&] {
    return "expected Shard and Replicate placements (see reduce_partial), got " +
           to_string(spec.placements());
  });
  require(!npy_descr(type, std::endian::native).empty(),
          [&] { return "expected an element type of the .npy format, got " + to_string(type); });
}

/// Makes the file on the first rank alone, where failures have a clear text; null on the others.
std::unique_ptr<NewFile> make_file(const Group& group, const std::string& path) {
  std::unique_ptr<NewFile> file;
  SharedError error;
  if (group.position == 0) error = error_of([&] { file = std::make_unique<NewFile>(path); });
  throw_error_of_first(group, error.text, label);
  return file;
}

/// Returns whether this rank writes its piece. Of the ranks that hold a piece, one writes it.
bool is_first_replica(const DeviceMesh& mesh, const Placements& placements) {
  for (std::size_t d = 0; d < placements.size(); ++d)
    if (placements[d].is_replicate() && (*mesh.coordinate())[d] != 0) return false;
  return true;
}

/// Calls `action` and keeps the first error instead of throwing it, because collective calls
/// follow.
template <class Action>
void attempt(SharedError& first_error, Action&& action) {
  auto error = error_of(action);
  if (first_error.text.empty()) first_error = std::move(error);
}

/// Returns `error` with the path that the user gave.
SharedError naming(const std::string& path, const std::string& temporary, SharedError error) {
  const auto at = error.text.find(temporary);
  if (at != std::string::npos) error.text.replace(at, temporary.size(), path);
  return error;
}

/// Describes the file of a tensor.
struct FileContent {
  std::string header;
  FileArray array;

  FileContent(const DTensorSpec& spec, ElementType type)
      : header(npy_header_bytes(type, spec.shape())),
        array{static_cast<std::int64_t>(header.size()), type.size, spec.shape(),
              StorageOrder::row_major} {}

  std::int64_t bytes() const { return array.offset + product(array.shape) * array.element_size; }
};

/// Writes the file and returns the first error on this rank. `elements` follow one another as in
/// `blocks`.
SharedError write_file(const DeviceMesh& mesh, const std::string& path, const FileContent& content,
                       const std::vector<FileBlock>& blocks, const std::byte* elements) {
  std::optional<File> file;
  auto error = error_of([&] { file = File::open(mesh.group(), path, FileAccess::write); });
  if (!file) {
    if (!error.is_of_mpi)
      error.text += "; the first rank has made the file: do all ranks see the same folder?";
    return error;
  }
  if (mesh.rank() == 0)
    attempt(error, [&] { file->write_at(0, std::as_bytes(std::span(content.header))); });
  attempt(error, [&] { BlockFile::write(*file, blocks, elements, "write_box"); });
  attempt(error, [&] { file->close(); });
  return error;
}

/// Gives the file its name unless a rank failed.
void finish_file(const Group& group, NewFile* file, std::int64_t bytes, const SharedError& error) {
  throw_together(group, error, label);
  SharedError failure;
  if (file != nullptr) failure = error_of([&] { file->finish(bytes); });
  throw_error_of_first(group, failure.text, label);
}

}  // namespace

void write_pieces(Operation& operation, const Execution& execution, const std::string& path,
                  const DeviceMesh& mesh, const DTensorSpec& spec, const ArrayRef& piece) {
  require_writable(path, mesh, spec, piece.type);
  if (!mesh.coordinate()) return;
  const auto group = mesh.group();
  auto arguments = hash_combine(hash_range(0, path), spec.hash());
  arguments = hash_combine(arguments, piece.type);
  const auto call = [&] {
    return fmt::format("write_npy of '{}': {} {}", path, to_string(piece.type), to_string(spec));
  };
  execution.fence("tessera::write_npy: before reading the pieces");
  // What may fail on one rank alone comes before the others open the file.
  const FileContent content(spec, piece.type);
  std::vector<PartInFile> parts;
  if (is_first_replica(mesh, spec.placements()))
    parts = parts_in_file(content.array, spec.sections(*mesh.coordinate()), piece);
  const bool is_direct = is_as_in_file(parts);
  std::vector<std::byte> packed(is_direct ? 0 : static_cast<std::size_t>(piece.bytes()));
  if (!is_direct) {
    pack(execution, parts, packed.data());
    execution.fence("tessera::write_npy: before writing the file");
  }
  operation.agree_always(arguments, call);
  auto file = make_file(group, path);
  const auto temporary =
      text_of_first(group, file ? file->temporary() : std::string(), TraceKind::metadata, label);
  const auto* const elements = is_direct ? piece.data : packed.data();
  const auto error = write_file(mesh, temporary, content, blocks_of(parts), elements);
  finish_file(group, file.get(), content.bytes(), naming(path, temporary, error));
}

}  // namespace tessera::detail
