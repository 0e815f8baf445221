// SPDX-FileCopyrightText: 2026 Tessera authors
// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <utility>

#include <tessera/engine/detail/recycler.hpp>

namespace tessera::detail {

const void* Recycler::find_free(const void* plan, std::type_index type, const Extents& shape) {
  for (auto entry = entries_.begin(); entry != entries_.end(); ++entry) {
    if (entry->plan != plan || entry->type != type || !entry->is_free(entry->view, shape)) continue;
    const void* view = entry->view;
    std::rotate(entry, entry + 1, entries_.end());
    return view;
  }
  return nullptr;
}

bool Recycler::keeps(const void* data) const {
  return std::ranges::any_of(
      entries_, [data](const Entry& entry) { return entry.plan == nullptr && entry.data == data; });
}

void Recycler::forget(const void* plan) {
  std::erase_if(entries_, [plan](const Entry& entry) { return entry.plan == plan; });
}

void Recycler::add(Entry entry) {
  if (entry.bytes == 0 || entry.bytes > limit_) return;
  const auto is_for_any = [](const Entry& each) { return each.plan == nullptr; };
  if (is_for_any(entry) && std::ranges::count_if(entries_, is_for_any) >= most_for_any)
    entries_.erase(std::ranges::find_if(entries_, is_for_any));
  entries_.push_back(std::move(entry));
  shrink();
}

void Recycler::shrink() {
  std::int64_t bytes = 0;
  for (const auto& entry : entries_) bytes += entry.bytes;
  auto oldest = entries_.begin();
  for (; oldest != entries_.end() && bytes > limit_; ++oldest) bytes -= oldest->bytes;
  entries_.erase(entries_.begin(), oldest);
}

}  // namespace tessera::detail
