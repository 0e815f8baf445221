// SPDX-FileCopyrightText: 2026 Tessera authors
// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <charconv>
#include <optional>
#include <vector>

#include <fmt/format.h>

#include "io/npy_format.hpp"

namespace tessera::detail {
namespace {

bool is_printable(char c) {
  return c >= ' ' && c <= '~';
}

/// Reads the few kinds of Python literals that a header holds.
class Literal {
 public:
  explicit Literal(std::string_view text) : text_(text) {}

  /// Skips `token` if it comes next, and returns whether it did.
  bool accept(std::string_view token) {
    skip_spaces();
    if (!text_.substr(position_).starts_with(token)) return false;
    position_ += token.size();
    return true;
  }

  void expect(std::string_view token) {
    if (!accept(token)) fail(fmt::format("'{}'", token));
  }

  void expect_end() {
    skip_spaces();
    if (position_ != text_.size()) fail("the end");
  }

  /// Python 2 may write a u before the quote.
  std::string_view string(const char* what) {
    if (skip_spaces();
        text_.substr(position_).starts_with("u'") || text_.substr(position_).starts_with("u\""))
      ++position_;
    const bool is_single = accept("'");
    if (!is_single && !accept("\"")) fail(what);
    const auto begin = position_;
    while (position_ < text_.size() && is_printable(text_[position_]) && text_[position_] != '\\') {
      if (text_[position_] == (is_single ? '\'' : '"'))
        return text_.substr(begin, position_++ - begin);
      ++position_;
    }
    fail("a quote that closes the string");
  }

  bool boolean() {
    if (accept("True")) return true;
    if (!accept("False")) fail("True or False");
    return false;
  }

  /// Reads an extent. Skips the L that Python 2 wrote after long integers.
  std::int64_t integer() {
    skip_spaces();
    const auto* const begin = text_.data() + position_;
    const auto* const end = text_.data() + text_.size();
    std::int64_t value = 0;
    const auto [last, error] = std::from_chars(begin, end, value);
    if (error == std::errc::result_out_of_range) fail("an extent below 2^63");
    if (error != std::errc() || value < 0) fail("an extent >= 0");
    if (*begin == '0' && last - begin > 1) fail("an extent without leading zeros");
    position_ += static_cast<std::size_t>(last - begin);
    if (text_.substr(position_).starts_with('L')) ++position_;
    return value;
  }

  std::vector<std::int64_t> tuple() {
    std::vector<std::int64_t> result;
    expect("(");
    while (!accept(")")) {
      result.push_back(integer());
      if (accept(",")) continue;
      if (result.size() == 1) fail("','");
      expect(")");
      break;
    }
    return result;
  }

 private:
  void skip_spaces() {
    position_ = std::min(text_.find_first_not_of(" \t\r\n", position_), text_.size());
  }

  std::string found() const {
    if (position_ >= text_.size()) return "its end";
    const char c = text_[position_];
    if (is_printable(c)) return fmt::format("'{}'", c);
    return fmt::format("byte {:#04x}", static_cast<unsigned char>(c));
  }

  [[noreturn]] void fail(std::string_view expected) const {
    throw IoError(fmt::format("expected {} at position {} of the header, got {}", expected,
                              position_, found()));
  }

  std::string_view text_;
  std::size_t position_ = 0;
};

struct Fields {
  std::optional<std::string_view> descr;
  std::optional<bool> is_fortran_order;
  std::optional<std::vector<std::int64_t>> shape;
};

template <class T>
void set_once(std::optional<T>& field, std::string_view key, T value) {
  require<IoError>(
      !field, [&] { return fmt::format("expected key '{}' once in the header, got two", key); });
  field = std::move(value);
}

void read_value(Literal& literal, std::string_view key, Fields& fields) {
  if (key == "descr")
    set_once(fields.descr, key, literal.string("the name of a plain element type"));
  else if (key == "fortran_order")
    set_once(fields.is_fortran_order, key, literal.boolean());
  else if (key == "shape")
    set_once(fields.shape, key, literal.tuple());
  else
    throw IoError(
        fmt::format("expected keys 'descr', 'fortran_order' and 'shape' in the header, got '{}'",
                    key.substr(0, 40)));
}

Fields read_fields(std::string_view text) {
  Literal literal(text);
  Fields fields;
  literal.expect("{");
  while (!literal.accept("}")) {
    const auto key = literal.string("a key in quotes");
    literal.expect(":");
    read_value(literal, key, fields);
    if (literal.accept(",")) continue;
    literal.expect("}");
    break;
  }
  literal.expect_end();
  return fields;
}

void require_field(bool is_there, const char* key) {
  require<IoError>(is_there,
                   [&] { return fmt::format("expected key '{}' in the header, got none", key); });
}

}  // namespace

NpyHeader parse_npy_dictionary(std::string_view text) {
  const auto fields = read_fields(text);
  require_field(fields.descr.has_value(), "descr");
  require_field(fields.is_fortran_order.has_value(), "fortran_order");
  require_field(fields.shape.has_value(), "shape");
  require<IoError>(fields.shape->size() <= max_tensor_dims, [&] {
    return fmt::format("expected at most {} dims, got {}", max_tensor_dims, fields.shape->size());
  });
  const auto [type, byte_order] = parse_npy_descr(*fields.descr);
  const auto order =
      *fields.is_fortran_order ? StorageOrder::column_major : StorageOrder::row_major;
  return {type, byte_order, order, *fields.shape, 0};
}

}  // namespace tessera::detail
