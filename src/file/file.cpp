// SPDX-FileCopyrightText: 2026 Tessera authors
// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <cstdlib>
#include <string>
#include <string_view>
#include <utility>

#include <fmt/format.h>

#include <tessera/error/error.hpp>
#include <tessera/file/file.hpp>
#include <tessera/mpi/detail/runtime.hpp>

#include "comm/tuning.hpp"
#include "mpi/check.hpp"

namespace tessera {
namespace {

void check_io(int code, const char* function, const std::filesystem::path& path) {
  require<IoError>(code == MPI_SUCCESS, [&] {
    return fmt::format("File::{}: '{}': {}", function, path.string(), detail::mpi_error_text(code));
  });
}

/// Returns whether MPI-IO is ROMIO: in all MPIs but Open MPI, where a variable asks for it.
bool is_romio() {
#if defined(OPEN_MPI)
  const char* const component = std::getenv("OMPI_MCA_io");
  return component != nullptr && std::string_view(component).starts_with("romio");
#else
  return true;
#endif
}

/// Returns the name by which MPI-IO opens a file. For ROMIO, what comes before a colon is the kind of
/// the file system, and not a part of the name; `ufs` is the kind of all that the kernel serves.
std::string mpi_name(const std::filesystem::path& path) {
  const auto name = path.string();
  const bool is_taken_for_kind = name.find(':') != std::string::npos && is_romio();
  return is_taken_for_kind ? "ufs:" + name : name;
}

/// Open MPI makes a file of a longer name in its own folder, and ends the program where that is too
/// long for the file system.
void require_name_that_mpi_can_extend(const std::filesystem::path& path) {
  constexpr std::size_t longest = 220;
  require<IoError>(is_romio() || path.filename().string().size() <= longest, [&] {
    return fmt::format(
        "File::open: '{}': expected a name of at most {} bytes, for Open MPI, got {}",
        path.string(), longest, path.filename().string().size());
  });
}

/// MPI_File_open duplicates the communicator, and MPICH ends the program where it has none left.
/// Collective over `comm`, as opening is.
void require_free_communicator(MPI_Comm comm, const std::filesystem::path& path) {
  MPI_Comm duplicate = MPI_COMM_NULL;
  const int code = MPI_Comm_dup(comm, &duplicate);
  require<MpiError>(code == MPI_SUCCESS, [&] {
    return fmt::format("File::open: '{}': expected a free communicator, got {}", path.string(),
                       detail::mpi_error_text(code));
  });
  MPI_Comm_free(&duplicate);
}

int open_together(MPI_Comm comm, const std::filesystem::path& path, FileAccess access,
                  MPI_File* file) {
  const int mode = access == FileAccess::read    ? MPI_MODE_RDONLY
                   : access == FileAccess::write ? MPI_MODE_RDWR
                                                 : MPI_MODE_CREATE | MPI_MODE_RDWR;
  const detail::ErrorsReturned returned(comm);
  require_name_that_mpi_can_extend(path);
  require_free_communicator(comm, path);
  const int code = MPI_File_open(comm, mpi_name(path).c_str(), mode, MPI_INFO_NULL, file);
  if (code != MPI_SUCCESS || access != FileAccess::create) return code;
  return MPI_File_set_size(*file, 0);
}

/// Calls access(offset, begin, bytes, status) for segments whose size fits an int, and checks that
/// each was moved completely.
template <class Access>
void in_segments(std::int64_t offset, std::int64_t bytes, const char* function,
                 const std::filesystem::path& path, Access&& access) {
  for (std::int64_t begin = 0; begin < bytes; begin += detail::default_io_limit) {
    const auto size = static_cast<int>(std::min(detail::default_io_limit, bytes - begin));
    MPI_Status status;
    int moved = 0;
    check_io(access(offset + begin, begin, size, &status), function, path);
    check_io(MPI_Get_count(&status, MPI_BYTE, &moved), function, path);
    require<IoError>(moved == size, [&] {
      return fmt::format("File::{}: '{}': expected {} bytes at offset {}, got {}", function,
                         path.string(), size, offset + begin, moved);
    });
  }
}

}  // namespace

File::File(const Group& group, const std::filesystem::path& path)
    : communicator_(group.communicator),
      ranks_(group.ranks.begin(), group.ranks.end()),
      position_(group.position),
      path_(path) {}

File File::open(const Group& group, const std::filesystem::path& path, FileAccess access) {
  File file(group, path);
  check_io(open_together(group.communicator.group(group.ranks), path, access, &file.handle_),
           "open", path);
  return file;
}

File::File(File&& other) noexcept
    : communicator_(std::move(other.communicator_)),
      ranks_(std::move(other.ranks_)),
      position_(other.position_),
      path_(std::move(other.path_)),
      handle_(std::exchange(other.handle_, MPI_FILE_NULL)) {}

File& File::operator=(File&& other) noexcept {
  std::swap(communicator_, other.communicator_);
  std::swap(ranks_, other.ranks_);
  std::swap(position_, other.position_);
  std::swap(path_, other.path_);
  std::swap(handle_, other.handle_);
  return *this;
}

File::~File() {
  if (handle_ != MPI_FILE_NULL && comm::is_usable()) MPI_File_close(&handle_);
}

std::int64_t File::size() const {
  MPI_Offset size = 0;
  check_io(MPI_File_get_size(handle_, &size), "size", path_);
  return size;
}

void File::read_at(std::int64_t offset, std::span<std::byte> data) const {
  const auto read = [&](MPI_Offset at, std::int64_t begin, int bytes, MPI_Status* status) {
    return MPI_File_read_at(handle_, at, data.data() + begin, bytes, MPI_BYTE, status);
  };
  in_segments(offset, static_cast<std::int64_t>(data.size()), "read_at", path_, read);
}

void File::write_at(std::int64_t offset, std::span<const std::byte> data) {
  const auto write = [&](MPI_Offset at, std::int64_t begin, int bytes, MPI_Status* status) {
    return MPI_File_write_at(handle_, at, data.data() + begin, bytes, MPI_BYTE, status);
  };
  in_segments(offset, static_cast<std::int64_t>(data.size()), "write_at", path_, write);
}

void File::close() {
  if (handle_ != MPI_FILE_NULL) check_io(MPI_File_close(&handle_), "close", path_);
}

}  // namespace tessera
