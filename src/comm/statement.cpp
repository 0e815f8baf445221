// SPDX-FileCopyrightText: 2026 Tessera authors
// SPDX-License-Identifier: BSD-3-Clause
#include <cstring>
#include <type_traits>

#include <tessera/comm/detail/statement.hpp>

namespace tessera::detail {
namespace {

class Writer {
 public:
  template <class T>
  requires std::is_trivially_copyable_v<T>
  void operator()(const T& value) {
    const auto* data = reinterpret_cast<const std::byte*>(&value);
    bytes.insert(bytes.end(), data, data + sizeof value);
  }
  template <class Range>
  void list(const Range& values) {
    (*this)(values.size());
    for (const auto& value : values) (*this)(value);
  }
  void operator()(const std::string& text) { list(text); }
  void operator()(const std::vector<int>& numbers) { list(numbers); }

  std::vector<std::byte> bytes;
};

class Reader {
 public:
  explicit Reader(std::span<const std::byte> bytes) : rest_(bytes) {}

  template <class T>
  requires std::is_trivially_copyable_v<T>
  void operator()(T& value) {
    std::memcpy(&value, rest_.data(), sizeof value);
    rest_ = rest_.subspan(sizeof value);
  }
  template <class Range>
  void list(Range& values) {
    std::size_t size = 0;
    (*this)(size);
    values.resize(size);
    for (auto& value : values) (*this)(value);
  }
  void operator()(std::string& text) { list(text); }
  void operator()(std::vector<int>& numbers) { list(numbers); }

 private:
  std::span<const std::byte> rest_;
};

template <class Archive, class S>
void visit(Archive& archive, S& statement) {
  archive(statement.about);
  archive(statement.standing);
  archive(statement.call.id);
  archive(statement.call.fingerprint);
  archive(statement.call.name);
  archive(statement.call.text);
  archive(statement.call.group_name);
  archive(statement.call.group);
  archive(statement.problem.kind);
  archive(statement.problem.text);
  archive(statement.has_agreed);
  archive(statement.conflict);
  archive(statement.tag);
  archive(statement.messages);
}

}  // namespace

std::vector<std::byte> to_bytes(const Statement& statement) {
  Writer writer;
  visit(writer, statement);
  return std::move(writer.bytes);
}

Statement statement_from(std::span<const std::byte> bytes) {
  Statement result;
  Reader reader(bytes);
  visit(reader, result);
  return result;
}

}  // namespace tessera::detail
