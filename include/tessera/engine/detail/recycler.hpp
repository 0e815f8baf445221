// SPDX-FileCopyrightText: 2026 Tessera authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <typeindex>
#include <vector>

#include <tessera/tensor/detail/view_traits.hpp>

namespace tessera::detail {

/// The last results of some plans, which are given out again once nobody else holds them: fresh
/// memory costs more than what fills it. The oldest go first where together they are too large.
class Recycler {
 public:
  /// Keeps results of at most `limit` bytes in all.
  explicit Recycler(std::int64_t limit) : limit_(limit) {}

  void set_limit(std::int64_t bytes) {
    limit_ = bytes;
    shrink();
  }

  /// The last result of `plan`, if it has this type and shape and nobody else holds it; else null.
  template <class V>
  const V* find(const void* plan, const Extents& shape) {
    const auto entry = std::ranges::find(entries_, plan, &Entry::plan);
    if (entry == entries_.end() || entry->type != typeid(V)) return nullptr;
    const V& view = static_cast<const ViewHolder<V>*>(entry->holder.get())->get();
    if (view.use_count() != 1 || extents_of(view) != shape) return nullptr;
    std::rotate(entry, entry + 1, entries_.end());
    return &view;
  }

  /// Keeps `view` as the last result of `plan`.
  template <class V>
  void keep(const void* plan, const V& view) {
    const auto bytes = static_cast<std::int64_t>(view.span() * sizeof(typename V::value_type));
    std::erase_if(entries_, [plan](const Entry& entry) { return entry.plan == plan; });
    if (bytes == 0 || bytes > limit_) return;
    entries_.push_back({plan, typeid(V), std::make_shared<ViewHolder<V>>(view), bytes});
    shrink();
  }

 private:
  struct Entry {
    const void* plan;
    std::type_index type;
    std::shared_ptr<void> holder;
    std::int64_t bytes;
  };

  void shrink() {
    std::int64_t bytes = 0;
    for (const auto& entry : entries_) bytes += entry.bytes;
    auto oldest = entries_.begin();
    for (; oldest != entries_.end() && bytes > limit_; ++oldest) bytes -= oldest->bytes;
    entries_.erase(entries_.begin(), oldest);
  }

  std::vector<Entry> entries_;  // last used last
  std::int64_t limit_;
};

}  // namespace tessera::detail
