// SPDX-FileCopyrightText: 2026 Tessera authors
// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <exception>
#include <span>
#include <string>

#include <fmt/format.h>

#include <tessera/comm/progress.hpp>
#include <tessera/error/error.hpp>

#include "comm/communicator_state.hpp"
#include "file/file_blocks.hpp"
#include "mpi/check.hpp"
#include "mpi/clock.hpp"

namespace tessera {
namespace {

using detail::FileBlock;

/// Protocol is what the ranks agree on before the first collective call, so that each rank makes
/// the same calls, whatever its box.
struct Protocol {
  std::int64_t rounds = 0;
  bool has_views = false;  ///< some rank has a block of more than one run
};

Protocol agree(const Group& group, const std::vector<FileBlock>& mine, const char* operation) {
  Protocol own{static_cast<std::int64_t>(mine.size()), false};
  for (const auto& block : mine) own.has_views = own.has_views || block.repeats.size() > 1;
  Protocol result;
  for (const auto& [rounds, has_views] :
       all_gather_value(group, own, TraceKind::agreement, operation)) {
    result.rounds = std::max(result.rounds, rounds);
    result.has_views = result.has_views || has_views;
  }
  return result;
}

std::string error_text(int code) {
  return code == MPI_SUCCESS ? "" : detail::mpi_error_text(code);
}

int set_view(MPI_File file, std::int64_t first_byte, MPI_Datatype type) {
  return MPI_File_set_view(file, first_byte, MPI_BYTE, type, "native", MPI_INFO_NULL);
}

/// Makes one collective access by access(offset in the view, bytes, status), and returns the text
/// of its error, "" if none. A block without runs takes part with zero bytes.
std::string access_block(MPI_File file, const FileBlock& block, bool has_views, auto&& access) {
  const auto bytes = static_cast<int>(block.repeats.empty() ? 0 : block.bytes());
  const detail::FileType type(block);
  const int view = has_views ? set_view(file, block.first_byte, type.handle()) : MPI_SUCCESS;
  MPI_Status status;
  int moved = 0;
  const int code = access(has_views ? 0 : block.first_byte, bytes, &status);
  if (view != MPI_SUCCESS || code != MPI_SUCCESS)
    return error_text(view != MPI_SUCCESS ? view : code);
  if (bytes > 0) MPI_Get_count(&status, MPI_BYTE, &moved);
  return moved == bytes ? "" : fmt::format("expected {} bytes, got {}", bytes, moved);
}

std::int64_t total_bytes(const std::vector<FileBlock>& blocks) {
  std::int64_t result = 0;
  for (const auto& block : blocks) result += block.bytes();
  return result;
}

/// Makes all rounds of accesses, also after an error, and returns the text of the first error, ""
/// if none.
std::string access_rounds(MPI_File file, const std::vector<FileBlock>& mine,
                          const Protocol& protocol, const char* operation, auto&& access) {
  ProgressMeter meter(operation, total_bytes(mine));
  std::exception_ptr thrown;  // the observer's; kept, because the other ranks come to all rounds
  std::string error;
  std::int64_t begin = 0;
  for (std::int64_t round = 0; round < protocol.rounds; ++round) {
    const auto i = static_cast<std::size_t>(round);
    const auto block = i < mine.size() ? mine[i] : FileBlock{};
    const auto text = access_block(
        file, block, protocol.has_views,
        [&](MPI_Offset at, int bytes, MPI_Status* s) { return access(at, begin, bytes, s); });
    if (error.empty()) error = text;
    if (!block.repeats.empty()) begin += block.bytes();
    try {
      if (!thrown && meter.is_on()) meter.reach(begin);
    } catch (...) {
      thrown = std::current_exception();
    }
  }
  // The view is reset: offsets of read_at and write_at count from its first byte.
  const auto text = error_text(protocol.has_views ? set_view(file, 0, MPI_BYTE) : MPI_SUCCESS);
  if (thrown) std::rethrow_exception(thrown);
  if (error.empty()) meter.finish();
  return error.empty() ? text : error;
}

std::vector<FileBlock> blocks_of(const FileArray& array, const Box& box) {
  if (box.is_empty() || array.element_size == 0) return {};
  return {detail::block_of(array, box)};
}

/// Returns the blocks in segments that one MPI call can access.
std::vector<FileBlock> segments(const Group& group, std::span<const FileBlock> blocks) {
  std::vector<FileBlock> result;
  for (const auto& block : blocks) {
    const auto parts = detail::segments_of(block, group.communicator.state().io_limit);
    result.insert(result.end(), parts.begin(), parts.end());
  }
  return result;
}

void check(const std::string& error, const char* function, const std::filesystem::path& path) {
  require<IoError>(error.empty(), [&] {
    return fmt::format("File::{}: '{}': {}", function, path.string(), error);
  });
}

/// Returns an error text if the file ends before the end of a block, else "". Some MPI libraries do
/// not report that in a collective read, but fill up what is missing.
std::string too_short(MPI_File file, const std::vector<FileBlock>& blocks) {
  if (blocks.empty()) return "";
  MPI_Offset size = 0;
  if (const int code = MPI_File_get_size(file, &size); code != MPI_SUCCESS)
    return detail::mpi_error_text(code);
  std::int64_t end = 0;
  for (const auto& block : blocks) end = std::max(end, block.end_byte());
  if (end <= size) return "";
  return fmt::format("expected at least {} bytes, got a file of {}", end, size);
}

}  // namespace

void detail::BlockFile::read(const File& file, std::span<const FileBlock> blocks, std::byte* data,
                             const char* function) {
  constexpr auto operation = "tessera::File::read_box";
  const auto start = detail::seconds();
  auto mine = segments(file.group(), blocks);
  const auto bytes = total_bytes(mine);
  auto error = too_short(file.handle_, mine);
  if (!error.empty()) mine.clear();
  const auto protocol = agree(file.group(), mine, operation);
  const auto failure = access_rounds(
      file.handle_, mine, protocol, operation,
      [&](MPI_Offset at, std::int64_t begin, int count, MPI_Status* status) {
        return MPI_File_read_at_all(file.handle_, at, data + begin, count, MPI_BYTE, status);
      });
  check(error.empty() ? failure : error, function, file.path_);
  emit({TraceKind::io, operation, file.group().size(), 0, bytes, 0, 0, detail::seconds() - start});
}

void detail::BlockFile::write(File& file, std::span<const FileBlock> blocks, const std::byte* data,
                              const char* function) {
  constexpr auto operation = "tessera::File::write_box";
  const auto start = detail::seconds();
  const auto mine = segments(file.group(), blocks);
  const auto protocol = agree(file.group(), mine, operation);
  const auto failure = access_rounds(
      file.handle_, mine, protocol, operation,
      [&](MPI_Offset at, std::int64_t begin, int count, MPI_Status* status) {
        return MPI_File_write_at_all(file.handle_, at, data + begin, count, MPI_BYTE, status);
      });
  check(failure, function, file.path_);
  emit({TraceKind::io, operation, file.group().size(), total_bytes(mine), 0, 0, 0,
        detail::seconds() - start});
}

void File::read_box(const FileArray& array, const Box& box, std::byte* data) const {
  detail::BlockFile::read(*this, blocks_of(array, box), data, "read_box");
}

void File::write_box(const FileArray& array, const Box& box, const std::byte* data) {
  detail::BlockFile::write(*this, blocks_of(array, box), data, "write_box");
}

}  // namespace tessera
