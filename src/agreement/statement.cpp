// SPDX-FileCopyrightText: 2026 Tessera authors
// SPDX-License-Identifier: Apache-2.0
#include <cstring>
#include <type_traits>

#include <tessera/agreement/detail/statement.hpp>

namespace tessera::detail {
namespace {

/// The ranks of a large group are mostly an arithmetic progression, and it travels in every
/// statement.
bool is_progression(const std::vector<int>& numbers) {
  if (numbers.size() < 2) return false;
  for (std::size_t i = 2; i < numbers.size(); ++i)
    if (numbers[i] - numbers[i - 1] != numbers[1] - numbers[0]) return false;
  return true;
}

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
  void operator()(const std::vector<int>& numbers) {
    const bool is_short = is_progression(numbers);
    (*this)(is_short);
    if (!is_short) return list(numbers);
    (*this)(numbers.size());
    (*this)(numbers[0]);
    (*this)(numbers[1]);
  }

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
  void operator()(std::vector<int>& numbers) {
    bool is_short = false;
    (*this)(is_short);
    if (!is_short) return list(numbers);
    std::size_t size = 0;
    int first = 0, second = 0;
    (*this)(size);
    (*this)(first);
    (*this)(second);
    for (std::size_t i = 0; i < size; ++i)
      numbers.push_back(first + static_cast<int>(i) * (second - first));
  }

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
  archive(statement.conflict);
  archive(statement.same_call);
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
