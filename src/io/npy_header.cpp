// SPDX-FileCopyrightText: 2026 Tessera authors
// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <cerrno>
#include <filesystem>
#include <fstream>
#include <system_error>

#include <fmt/format.h>

#include <tessera/extents/hash.hpp>
#include <tessera/io/detail/npy_pieces.hpp>
#include <tessera/tensor/device_mesh_scope.hpp>

#include "comm/agree_on_error.hpp"
#include "io/convert.hpp"
#include "io/npy_format.hpp"
#include "io/shared_errors.hpp"

namespace tessera {
namespace detail {
namespace {

constexpr std::size_t magic_bytes = 6;
constexpr std::int64_t longest_text = std::int64_t{1} << 20;

void require_file(const std::string& path) {
  std::error_code error;
  const auto status = std::filesystem::status(path, error);
  require<IoError>(!error, [&] { return error.message(); });
  require<IoError>(std::filesystem::is_regular_file(status), "expected a regular file");
}

std::ifstream open(const std::string& path) {
  require_file(path);
  errno = 0;
  std::ifstream file(path, std::ios::binary);
  require<IoError>(file.is_open(), [] { return std::generic_category().message(errno); });
  return file;
}

std::string read_bytes(std::ifstream& file, std::int64_t count, const char* what) {
  std::string bytes(static_cast<std::size_t>(count), '\0');
  file.read(bytes.data(), count);
  require<IoError>(file.gcount() == count, [&] {
    return fmt::format("expected {} bytes of {}, got the end of the file after {}", count, what,
                       file.gcount());
  });
  return bytes;
}

/// Returns the size of the number that follows the version, bytes.
std::int64_t length_bytes(const std::string& magic_and_version) {
  const bool is_archive =
      magic_and_version.starts_with("PK\3\4") || magic_and_version.starts_with("PK\5\6");
  require<IoError>(!is_archive,
                   "expected an .npy file, got an .npz archive: unzip it, it holds .npy files");
  require<IoError>(magic_and_version.starts_with("\x93NUMPY"),
                   "expected an .npy file, which begins with \\x93NUMPY, got other bytes");
  const int major = static_cast<unsigned char>(magic_and_version[magic_bytes]);
  const int minor = static_cast<unsigned char>(magic_and_version[magic_bytes + 1]);
  require<IoError>(1 <= major && major <= 3 && minor == 0, [&] {
    return fmt::format("expected version 1.0, 2.0 or 3.0 of the .npy format, got {}.{}", major,
                       minor);
  });
  return major == 1 ? 2 : 4;
}

std::int64_t little_endian(const std::string& bytes) {
  std::int64_t value = 0;
  for (std::size_t i = bytes.size(); i-- > 0;)
    value = value * 256 + static_cast<unsigned char>(bytes[i]);
  return value;
}

NpyHeader read_header(std::ifstream& file) {
  const auto digits = length_bytes(read_bytes(file, magic_bytes + 2, "magic and version"));
  const auto length = little_endian(read_bytes(file, digits, "header length"));
  require<IoError>(length <= longest_text, [&] {
    return fmt::format("expected a header of at most {} bytes, got {}", longest_text, length);
  });
  auto header = parse_npy_dictionary(read_bytes(file, length, "header"));
  header.data_offset = static_cast<std::int64_t>(file.tellg());
  return header;
}

/// Returns the size of the elements, bytes. Checks that it is below 2^63 with extents of 0 counted
/// as 1, so that the strides are, too.
std::int64_t data_bytes(const NpyHeader& header) {
  std::int64_t bytes = header.type.size;
  for (const auto extent : header.shape)
    require<IoError>(!__builtin_mul_overflow(bytes, std::max<std::int64_t>(extent, 1), &bytes),
                     [&] {
                       return fmt::format("expected a shape of fewer than 2^63 bytes, got {}",
                                          to_string(header.shape));
                     });
  return product(header.shape) == 0 ? 0 : bytes;
}

void require_data(const NpyHeader& header) {
  const auto expected = data_bytes(header);
  const auto found = header.file_bytes - header.data_offset;
  require<IoError>(expected <= found, [&] {
    return fmt::format("expected {} bytes of data, as shape {} says, got {}", expected,
                       to_string(header.shape), found);
  });
}

NpyHeader read_on_first_rank(const Operation& operation, const std::string& path,
                             const DeviceMesh& mesh) {
  const auto group = mesh.group();
  NpyHeader header;
  SharedError error;
  if (group.position == 0)
    error = error_of([&] { header = read_npy_header_here(operation.name(), path); });
  throw_error_of_first(group, error.text, operation.name());
  broadcast(group, std::as_writable_bytes(std::span(&header, 1)), 0, TraceKind::metadata,
            operation.name());
  return header;
}

void require_convertible(const std::string& path, const NpyHeader& header, std::size_t tensor_dims,
                         ElementType type) {
  require<IoError>(header.shape.size() == tensor_dims, [&] {
    return fmt::format("read_npy: '{}': expected {} dims, those of the View, got shape {}", path,
                       tensor_dims, to_string(header.shape));
  });
  require<IoError>(can_convert(header.type.kind, type.kind), [&] {
    return fmt::format("read_npy: '{}': expected elements that fit {}, those of the View, got {}",
                       path, to_string(type), to_string(header.type));
  });
}

}  // namespace

NpyHeader read_npy_header_here(const char* function, const std::string& path) {
  try {
    auto file = open(path);
    auto header = read_header(file);
    std::error_code error;
    header.file_bytes = static_cast<std::int64_t>(std::filesystem::file_size(path, error));
    require_data(header);
    return header;
  } catch (const IoError& error) {
    throw IoError(fmt::format("{}: '{}': {}", function, path, error.what()));
  }
}

NpyHeader header_for(Operation& operation, const std::string& path, const DeviceMesh& mesh,
                     const Target& target, std::size_t tensor_dims, ElementType type) {
  require_path(path);
  const auto placements = target.placements(mesh.ndim());
  require(!placements.has_partial(),
          [&] { return "expected Shard and Replicate placements, got " + to_string(placements); });
  if (!mesh.coordinate()) return {.type = type, .shape = Extents::filled(tensor_dims, 0)};
  auto arguments = hash_combine(hash_range(0, path), hash_of(target, mesh.ndim()));
  arguments = hash_combine(arguments, type);
  arguments = hash_combine(arguments, tensor_dims);
  const auto call = [&] {
    return fmt::format("read_npy of '{}' into {}-d {} as {}", path, tensor_dims, to_string(type),
                       to_string(target, mesh.ndim()));
  };
  operation.agree_always(arguments, call);
  const auto header = read_on_first_rank(operation, path, mesh);
  common([&] { require_convertible(path, header, tensor_dims, type); });
  return header;
}

}  // namespace detail

NpyHeader read_npy_header(const std::string& path, const DeviceMesh& mesh) {
  if (!mesh.coordinate()) return {};
  return collectively(mesh, "read_npy_header", [&](Operation& operation) {
    detail::require_path(path);
    const auto call = [&] { return fmt::format("read_npy_header of '{}'", path); };
    operation.agree_always(hash_range(0, path), call);
    return detail::read_on_first_rank(operation, path, mesh);
  });
}

NpyHeader read_npy_header(const std::string& path) {
  return read_npy_header(path, detail::named("read_npy_header", detail::mesh_of_scope));
}

}  // namespace tessera
