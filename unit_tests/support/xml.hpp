// SPDX-FileCopyrightText: 2026 Tessera authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cctype>
#include <string>
#include <string_view>
#include <vector>

namespace tessera::test {

/// Checks XML as far as it matters for SVG: elements nest and end, attributes are quoted and occur
/// once, entities are known, control characters are absent.
class XmlReader {
 public:
  explicit XmlReader(std::string_view text) : rest_(text), size_(text.size()) {}

  /// Returns what is wrong with the document and where; "" if nothing is.
  std::string problem() {
    skip_spaces();
    if (rest_.empty() || rest_[0] != '<') fail("no root element");
    while (problem_.empty() && !rest_.empty()) {
      if (take("<!--"))
        skip_past("-->");
      else if (take("</"))
        read_end();
      else if (take("<"))
        read_start();
      else
        read_text();
    }
    if (problem_.empty() && !open_.empty()) fail("no end of " + open_.back());
    return problem_;
  }

  /// Returns how many elements with this name were read.
  int count(std::string_view name) const {
    int result = 0;
    for (const auto& element : names_) result += element == name;
    return result;
  }

 private:
  void fail(const std::string& what) {
    if (problem_.empty()) problem_ = what + " at byte " + std::to_string(size_ - rest_.size());
  }

  bool take(std::string_view start) {
    if (rest_.substr(0, start.size()) != start) return false;
    rest_.remove_prefix(start.size());
    return true;
  }

  void skip_past(std::string_view end) {
    const auto found = rest_.find(end);
    if (found == rest_.npos) return fail("no " + std::string(end));
    rest_.remove_prefix(found + end.size());
  }

  void skip_spaces() {
    while (!rest_.empty() && (rest_[0] == ' ' || rest_[0] == '\n')) rest_.remove_prefix(1);
  }

  std::string read_name() {
    std::size_t length = 0;
    const auto is_of_name = [](char c) {
      return std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '-' || c == ':' || c == '_';
    };
    while (length < rest_.size() && is_of_name(rest_[length])) ++length;
    const std::string name(rest_.substr(0, length));
    if (name.empty() || std::isdigit(static_cast<unsigned char>(name[0])) != 0) fail("no name");
    rest_.remove_prefix(length);
    return name;
  }

  void read_end() {
    const auto name = read_name();
    if (open_.empty() || open_.back() != name)
      return fail("end of " + name + ", which is not open");
    open_.pop_back();
    skip_spaces();
    if (!take(">")) fail("no > of an end");
  }

  void read_start() {
    const auto name = read_name();
    if (open_.empty() && !names_.empty()) fail("second root " + name);
    names_.push_back(name);
    std::vector<std::string> attributes;
    while (problem_.empty()) {
      const bool is_apart = !rest_.empty() && (rest_[0] == ' ' || rest_[0] == '\n');
      skip_spaces();
      if (take("/>")) return;
      if (take(">")) return open_.push_back(name);
      if (!is_apart) return fail("no space before an attribute of " + name);
      read_attribute(attributes);
    }
  }

  void read_attribute(std::vector<std::string>& attributes) {
    const auto name = read_name();
    for (const auto& other : attributes)
      if (other == name) return fail("attribute " + name + " stands twice");
    attributes.push_back(name);
    if (!take("=\"")) return fail("attribute " + name + " is not quoted");
    const auto end = rest_.find('"');
    if (end == rest_.npos) return fail("no end of attribute " + name);
    check_characters(rest_.substr(0, end));
    rest_.remove_prefix(end + 1);
  }

  void read_text() {
    const auto text = rest_.substr(0, rest_.find('<'));
    if (open_.empty() && text.find_first_not_of(" \n") != text.npos) fail("text outside the root");
    check_characters(text);
    rest_.remove_prefix(text.size());
  }

  void check_characters(std::string_view text) {
    for (std::size_t i = 0; i < text.size(); ++i) {
      const auto c = static_cast<unsigned char>(text[i]);
      if (c < ' ' && c != '\n') return fail("control character");
      if (c == '<') return fail("< in an attribute");
      if (c == '&' && !is_entity(text.substr(i))) return fail("unknown entity");
    }
  }

  static bool is_entity(std::string_view text) {
    for (const std::string_view known : {"&amp;", "&lt;", "&gt;", "&quot;", "&apos;", "&#39;"})
      if (text.substr(0, known.size()) == known) return true;
    return false;
  }

  std::string_view rest_;
  std::size_t size_;
  std::vector<std::string> open_;
  std::vector<std::string> names_;
  std::string problem_;
};

/// Returns what is wrong with a document; "" if nothing is.
inline std::string xml_problem(std::string_view text) {
  return XmlReader(text).problem();
}

/// Returns how often `part` occurs in `text`.
inline int occurrences(std::string_view text, std::string_view part) {
  int result = 0;
  for (auto i = text.find(part); i != text.npos; i = text.find(part, i + 1)) ++result;
  return result;
}

}  // namespace tessera::test
