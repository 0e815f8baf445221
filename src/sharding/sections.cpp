// SPDX-FileCopyrightText: 2026 Tessera authors
// SPDX-License-Identifier: Apache-2.0
#include <algorithm>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <tessera/sharding/sections.hpp>

namespace tessera {

namespace {

std::int64_t global_of(const Section& section, std::int64_t local) {
  return section.begin + local / section.block * section.period + local % section.block;
}

std::optional<std::int64_t> local_of(const Section& section, std::int64_t global) {
  if (global < section.begin || global >= section.end()) return {};
  const auto distance = global - section.begin;
  const auto within = distance % section.period;
  if (within >= section.block) return {};
  return distance / section.period * section.block + within;
}

std::int64_t count_below_of(const Section& section, std::int64_t global) {
  if (global <= section.begin) return 0;
  if (global >= section.end()) return section.size();
  const auto distance = global - section.begin;
  return distance / section.period * section.block +
         std::min(distance % section.period, section.block);
}

Section moved(Section section, std::int64_t distance) {
  section.begin += distance;
  return section;
}

}  // namespace

void Sections::push_back(const Section& section) {
  if (section.is_empty()) return;
  const bool is_interval = section.count == 1 || section.block == section.period;
  const auto added = is_interval ? section_of({section.begin, section.end()}) : section;
  if (count_ > 0) {
    auto& before = sections_[count_ - 1];
    if (before.is_interval() && added.is_interval() && before.end() == added.begin) {
      before = section_of({before.begin, added.end()});
      return;
    }
  }
  sections_.at(count_++) = added;
}

std::int64_t Sections::extent() const {
  return sections_[0].size() + sections_[1].size();
}

Interval Sections::hull() const {
  if (count_ == 0) return {sections_[0].begin, sections_[0].begin};
  const auto& last = sections_[count_ - 1];
  return {std::min(sections_[0].begin, last.begin), std::max(sections_[0].end(), last.end())};
}

std::int64_t Sections::global_index(std::int64_t local) const {
  const auto first = sections_[0].size();
  return local < first ? global_of(sections_[0], local) : global_of(sections_[1], local - first);
}

std::optional<std::int64_t> Sections::local_index(std::int64_t global) const {
  std::int64_t before = 0;
  for (const auto& section : *this) {
    if (const auto local = local_of(section, global)) return before + *local;
    before += section.size();
  }
  return {};
}

std::int64_t Sections::count_below(std::int64_t global) const {
  std::int64_t result = 0;
  for (const auto& section : *this) result += count_below_of(section, global);
  return result;
}

Sections Sections::in(Interval range) const {
  Sections result(Interval{range.size(), range.size()});
  for (const auto& section : *this) {
    if (range.is_empty() || section.end() <= range.begin || range.end <= section.begin) continue;
    auto first = std::max<std::int64_t>(0, (range.begin - section.begin) / section.period);
    if (first < section.count && section.interval(first).end <= range.begin) ++first;
    const auto last = std::min(section.count - 1, (range.end - 1 - section.begin) / section.period);
    const auto add = [&](const Section& part) { result.push_back(moved(part, -range.begin)); };
    if (first <= last && section.interval(first).begin < range.begin)
      add(section_of(intersect(section.interval(first++), range)));
    if (first > last) continue;
    const auto end = intersect(section.interval(last), range);
    if (first == last)
      add(section_of(end));
    else
      add({section.interval(first).begin, section.block, section.period, last - first + 1,
           end.size()});
  }
  return result;
}

bool operator==(const Sections& a, const Sections& b) {
  return std::ranges::equal(a, b);
}

std::string to_string(const Sections& sections) {
  if (sections.empty()) return fmt::format("{0}:{0}", sections.hull().begin);
  constexpr std::int64_t most_listed = 3;
  std::vector<std::string> texts;
  for (const auto& section : sections) {
    const auto block = [&](std::int64_t i) {
      const auto [begin, end] = section.interval(i);
      return fmt::format("{}:{}", begin, end);
    };
    const bool are_all_listed = section.count <= most_listed;
    for (std::int64_t i = 0; i < (are_all_listed ? section.count : most_listed - 1); ++i)
      texts.push_back(block(i));
    if (are_all_listed) continue;
    texts.emplace_back("…");
    texts.push_back(block(section.count - 1));
  }
  return fmt::format("{}", fmt::join(texts, "|"));
}

Extents Piece::shape() const {
  Extents result;
  for (const auto& list : sections) result.push_back(list.extent());
  return result;
}

bool Piece::is_box() const {
  return std::ranges::all_of(sections, &Sections::is_interval);
}

std::string to_string(const Piece& piece) {
  std::vector<std::string> texts;
  for (const auto& list : piece.sections) texts.push_back(to_string(list));
  return fmt::format("[{}]", fmt::join(texts, ", "));
}

}  // namespace tessera
