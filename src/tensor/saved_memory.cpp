// SPDX-FileCopyrightText: 2026 Tessera authors
// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <map>
#include <mutex>

#include <fmt/format.h>

#include <tessera/error/error.hpp>
#include <tessera/tensor/detail/saved_memory.hpp>

#include "tensor/overlap.hpp"

namespace tessera::detail {

std::atomic<std::int64_t> saved_arrays{0};

namespace {

struct SavedArray {
  ArrayRef array;
  std::uintptr_t end;  ///< address behind the last element
  const char* function;
};

/// Holds the saved arrays by the address of their first byte. It is never destroyed, because a tape may have
/// static storage.
class SavedArrays {
 public:
  using Position = std::multimap<std::uintptr_t, SavedArray>::const_iterator;

  static SavedArrays& all() {
    static auto& instance = *new SavedArrays;
    return instance;
  }

  Position add(const ArrayRef& array, const char* function) {
    const auto range = address_range(array);
    const std::scoped_lock lock(mutex_);
    longest_ = std::max(longest_, range.end - range.begin);
    const auto position = arrays_.insert({range.begin, {array, range.end, function}});
    ++saved_arrays;
    return position;
  }

  void remove(Position position) {
    const std::scoped_lock lock(mutex_);
    arrays_.erase(position);
    --saved_arrays;
    if (arrays_.empty()) longest_ = 0;
  }

  /// Returns the function that needs an array which shares memory with `array`; null if there is none.
  const char* function_that_needs(const ArrayRef& array) {
    const auto range = address_range(array);
    const std::scoped_lock lock(mutex_);
    const auto least = range.begin - std::min(range.begin, longest_);
    const auto end = arrays_.lower_bound(range.end);
    for (auto saved = arrays_.lower_bound(least); saved != end; ++saved)
      if (saved->second.end > range.begin && share_elements(saved->second.array, array))
        return saved->second.function;
    return nullptr;
  }

 private:
  /// Returns whether arrays with ranges that overlap share an element. Addresses are those of one space.
  static bool share_elements(ArrayRef saved, const ArrayRef& array) {
    saved.space = array.space;
    return saved.type.size != array.type.size || share_memory(saved, array);
  }

  std::mutex mutex_;
  std::multimap<std::uintptr_t, SavedArray> arrays_;
  std::uintptr_t longest_ = 0;  ///< no saved array has a longer range, bytes
};

bool has_elements(const ArrayRef& array) {
  return array.data != nullptr && array.size() > 0;  // off the mesh, Views of 0 dims have no memory
}

/// Keeps an array saved while it lives.
class SavedMemory {
 public:
  SavedMemory(const ArrayRef& array, const char* function)
      : position_(SavedArrays::all().add(array, function)) {}
  ~SavedMemory() { SavedArrays::all().remove(position_); }
  SavedMemory(const SavedMemory&) = delete;
  SavedMemory& operator=(const SavedMemory&) = delete;

 private:
  SavedArrays::Position position_;
};

}  // namespace

std::shared_ptr<const void> save_memory(const ArrayRef& array, const char* function) {
  if (!has_elements(array)) return nullptr;
  return std::make_shared<const SavedMemory>(array, function);
}

void require_not_saved(const ArrayRef& array) {
  if (!has_elements(array)) return;
  const auto* const function = SavedArrays::all().function_that_needs(array);
  require(function == nullptr, [&] {
    return fmt::format(
        "expected memory that no tape keeps, got some that {} needs for the backward pass: write "
        "to it after backward() or Tape::clear(), or record a clone of it",
        function);
  });
}

}  // namespace tessera::detail
