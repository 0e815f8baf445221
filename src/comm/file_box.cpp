// SPDX-FileCopyrightText: 2026 Tessera authors
// SPDX-License-Identifier: BSD-3-Clause
#include <algorithm>
#include <string>

#include <fmt/format.h>

#include <tessera/comm/detail/check.hpp>
#include <tessera/comm/detail/clock.hpp>
#include <tessera/comm/detail/file_blocks.hpp>
#include <tessera/comm/detail/state.hpp>
#include <tessera/error/error.hpp>

namespace tessera {
namespace {

using detail::FileBlock;

struct Rounds {
  std::vector<FileBlock> mine;
  std::int64_t all = 0;  ///< the same on all ranks, at least mine.size()
};

Rounds agree_on_rounds(const Group& group, std::vector<FileBlock> mine, const char* operation) {
  const auto counts = all_gather_value(group, static_cast<std::int64_t>(mine.size()),
                                       TraceKind::agreement, operation);
  return {std::move(mine), *std::ranges::max_element(counts)};
}

/// A rank without a block of its own takes part with zero bytes.
std::string access_block(MPI_File file, const FileBlock* block, auto&& access) {
  const detail::FileType type(block ? *block : FileBlock{0, {{1, 1}}});
  const auto first = block ? block->first_byte : 0;
  const auto bytes = static_cast<int>(block ? block->bytes() : 0);
  MPI_Status status;
  int moved = 0;
  const int view = MPI_File_set_view(file, first, MPI_BYTE, type.handle(), "native", MPI_INFO_NULL);
  const int code = access(bytes, &status);
  if (view != MPI_SUCCESS) return detail::mpi_error_text(view);
  if (code != MPI_SUCCESS) return detail::mpi_error_text(code);
  if (bytes == 0) return "";
  MPI_Get_count(&status, MPI_BYTE, &moved);
  return moved == bytes ? "" : fmt::format("expected {} bytes, got {}", bytes, moved);
}

/// Text of the first error. The number of collective calls is the same on all ranks, with or
/// without one.
std::string access_rounds(MPI_File file, const Rounds& rounds, auto&& access) {
  std::string error;
  std::int64_t begin = 0;
  for (std::int64_t round = 0; round < rounds.all; ++round) {
    const auto i = static_cast<std::size_t>(round);
    const auto* block = i < rounds.mine.size() ? &rounds.mine[i] : nullptr;
    const auto text = access_block(
        file, block, [&](int bytes, MPI_Status* status) { return access(begin, bytes, status); });
    if (error.empty()) error = text;
    if (block) begin += block->bytes();
  }
  const int reset = MPI_File_set_view(file, 0, MPI_BYTE, MPI_BYTE, "native", MPI_INFO_NULL);
  return error.empty() && reset != MPI_SUCCESS ? detail::mpi_error_text(reset) : error;
}

std::vector<FileBlock> blocks(const Group& group, const FileArray& array, const Box& box) {
  if (box.is_empty() || array.element_size == 0) return {};
  return detail::cut(detail::block_of(array, box), group.communicator.state().io_limit);
}

std::int64_t total_bytes(const std::vector<FileBlock>& blocks) {
  std::int64_t result = 0;
  for (const auto& block : blocks) result += block.bytes();
  return result;
}

void check(const std::string& error, const char* function, const std::filesystem::path& path) {
  require<IoError>(error.empty(), [&] {
    return fmt::format("File::{}: '{}': {}", function, path.string(), error);
  });
}

/// Some MPIs fill up what is missing at the end of the file in a collective read.
std::string too_short(MPI_File file, const std::vector<FileBlock>& blocks) {
  if (blocks.empty()) return "";
  MPI_Offset size = 0;
  if (const int code = MPI_File_get_size(file, &size); code != MPI_SUCCESS)
    return detail::mpi_error_text(code);
  if (blocks.back().end_byte() <= size) return "";
  return fmt::format("expected at least {} bytes, got a file of {}", blocks.back().end_byte(),
                     size);
}

}  // namespace

void File::read_box(const FileArray& array, const Box& box, std::byte* data) const {
  constexpr auto operation = "tessera::File::read_box";
  const auto start = detail::seconds();
  auto mine = blocks(group(), array, box);
  const auto bytes = total_bytes(mine);
  auto error = too_short(handle_, mine);
  if (!error.empty()) mine.clear();
  const auto rounds = agree_on_rounds(group(), std::move(mine), operation);
  const auto failure =
      access_rounds(handle_, rounds, [&](std::int64_t begin, int count, MPI_Status* status) {
        return MPI_File_read_at_all(handle_, 0, data + begin, count, MPI_BYTE, status);
      });
  check(error.empty() ? failure : error, "read_box", path_);
  emit({TraceKind::io, operation, group().size(), 0, bytes, 0, 0, detail::seconds() - start});
}

void File::write_box(const FileArray& array, const Box& box, const std::byte* data) {
  constexpr auto operation = "tessera::File::write_box";
  const auto start = detail::seconds();
  const auto rounds = agree_on_rounds(group(), blocks(group(), array, box), operation);
  const auto failure =
      access_rounds(handle_, rounds, [&](std::int64_t begin, int count, MPI_Status* status) {
        return MPI_File_write_at_all(handle_, 0, data + begin, count, MPI_BYTE, status);
      });
  check(failure, "write_box", path_);
  emit({TraceKind::io, operation, group().size(), total_bytes(rounds.mine), 0, 0, 0,
        detail::seconds() - start});
}

}  // namespace tessera
