// SPDX-FileCopyrightText: 2026 Tessera authors
// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <set>
#include <tuple>

#include "postmortem.hpp"

namespace tessera::tools {
namespace {

using Set = std::vector<int>;

bool is_same_call(const std::optional<Entry>& a, const std::optional<Entry>& b) {
  if (!a || !b) return a.has_value() == b.has_value();
  return std::tie(a->mesh, a->function, a->fingerprint) ==
         std::tie(b->mesh, b->function, b->fingerprint);
}

std::vector<Side> sides_of(const Set& set, std::uint64_t sequence,
                           const std::vector<Record>& records) {
  std::vector<Side> sides;
  for (const auto& record : records) {
    const auto on_set = record.by_set.find(set);
    if (std::ranges::find(set, record.process) == set.end()) continue;
    std::optional<Entry> entry;
    if (on_set != record.by_set.end())
      if (const auto call = on_set->second.calls.find(sequence); call != on_set->second.calls.end())
        entry = call->second;
    const auto side = std::ranges::find_if(
        sides, [&](const Side& other) { return is_same_call(other.entry, entry); });
    if (side == sides.end())
      sides.push_back({{record.process}, entry});
    else
      side->processes.push_back(record.process);
  }
  std::ranges::stable_sort(sides, std::greater(),
                           [](const Side& side) { return side.processes.size(); });
  return sides;
}

std::uint64_t last_call(const Record& record, const Set& set) {
  const auto found = record.by_set.find(set);
  const bool has_none = found == record.by_set.end() || found->second.calls.empty();
  return has_none ? 0 : found->second.calls.rbegin()->first;
}

const Record& record_of(const std::vector<Record>& records, int process) {
  return *std::ranges::find(records, process, &Record::process);
}

/// Returns whether the processes of a set differ in the call with this number. A process that did
/// not make the call differs only if it has made later ones, or if others wait for it; otherwise it
/// may have written its record earlier.
bool differ(const std::vector<Side>& sides, std::uint64_t sequence, const Set& set,
            const std::vector<Record>& records) {
  const auto is_absent = [](const Side& side) { return !side.entry; };
  const auto made =
      std::ranges::count_if(sides, [&](const Side& side) { return !is_absent(side); });
  if (made > 1) return true;
  const auto absent = std::ranges::find_if(sides, is_absent);
  if (absent == sides.end() || made == 0) return false;
  const auto present = std::ranges::find_if_not(sides, is_absent);
  const bool is_awaited = std::ranges::any_of(present->processes, [&](int process) {
    const auto& calls = record_of(records, process).by_set.at(set).calls;
    return calls.at(sequence).state != "completed";
  });
  return is_awaited || std::ranges::any_of(absent->processes, [&](int process) {
           return last_call(record_of(records, process), set) > sequence;
         });
}

std::set<Set> all_sets(const std::vector<Record>& records) {
  std::set<Set> result;
  for (const auto& record : records)
    for (const auto& [set, calls] : record.by_set)
      if (set.size() > 1) result.insert(set);
  return result;
}

std::optional<Divergence> first_divergence(const Set& set, const std::vector<Record>& records) {
  std::set<std::uint64_t> numbers;
  std::uint64_t forgotten = 0;
  for (const auto& record : records)
    if (const auto found = record.by_set.find(set); found != record.by_set.end()) {
      forgotten = std::max(forgotten, found->second.forgotten);
      for (const auto& [number, entry] : found->second.calls) numbers.insert(number);
    }
  for (auto number = numbers.upper_bound(forgotten); number != numbers.end(); ++number) {
    auto sides = sides_of(set, *number, records);
    if (differ(sides, *number, set, records)) return Divergence{set, *number, std::move(sides)};
  }
  return std::nullopt;
}

double begin_of(const Divergence& divergence) {
  double earliest = 0;
  for (const auto& side : divergence.sides)
    if (side.entry && (earliest == 0 || side.entry->time < earliest)) earliest = side.entry->time;
  return earliest;
}

/// Returns the earliest divergence; of several that begin together, the one on the fewest
/// processes.
std::optional<Divergence> first_divergence(const std::vector<Record>& records) {
  std::vector<Divergence> all;
  for (const auto& set : all_sets(records))
    if (auto found = first_divergence(set, records)) all.push_back(std::move(*found));
  const auto first = std::ranges::min_element(all, {}, [](const Divergence& divergence) {
    return std::tuple(begin_of(divergence), divergence.set.size());
  });
  return first == all.end() ? std::nullopt : std::optional(*first);
}

std::optional<Side> first_failure(const std::vector<Record>& records) {
  std::optional<Side> first;
  for (const auto& record : records)
    for (const auto& [set, on_set] : record.by_set)
      for (const auto& [number, entry] : on_set.calls)
        if (entry.state == "failed" && (!first || entry.time < first->entry->time))
          first = Side{{record.process}, entry};
  return first;
}

}  // namespace

std::vector<Record> since(std::vector<Record> records, double time) {
  std::map<Set, std::uint64_t> last_before;
  for (const auto& record : records)
    for (const auto& [set, on_set] : record.by_set)
      for (const auto& [number, entry] : on_set.calls)
        if (entry.time < time) last_before[set] = std::max(last_before[set], number);
  for (auto& record : records)
    for (auto& [set, on_set] : record.by_set)
      std::erase_if(on_set.calls,
                    [&, last = last_before[set]](const auto& call) { return call.first <= last; });
  return records;
}

Postmortem postmortem(const std::vector<Record>& records) {
  Postmortem result;
  std::set<int> named;
  for (const auto& record : records) {
    result.recorded.push_back(record.process);
    for (const auto& [set, calls] : record.by_set) named.insert(set.begin(), set.end());
  }
  std::ranges::sort(result.recorded);
  std::ranges::set_difference(named, result.recorded, std::back_inserter(result.missing));
  result.divergence = first_divergence(records);
  if (!result.divergence) result.failure = first_failure(records);
  return result;
}

}  // namespace tessera::tools
