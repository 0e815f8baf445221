// SPDX-FileCopyrightText: 2026 Tessera authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

#include <tessera/agreement/detail/operation.hpp>
#include <tessera/extents/box.hpp>
#include <tessera/placement/placement.hpp>
#include <tessera/redistribute/pending.hpp>
#include <tessera/redistribute/redistributor.hpp>
#include <tessera/tensor/detail/saved_memory.hpp>
#include <tessera/tensor/dtensor.hpp>
#include <tessera/tensor/execution.hpp>

/// Every rank names a box of global indices, another one than the other ranks do, or none. fetch()
/// brings the values there to the rank, whoever owns them; accumulate() adds a patch of the rank to
/// them. Both take one exchange.
namespace tessera {

/// Describes how boxes are read.
struct FetchOptions {
  /// Lists the tensor dims along which indices are taken modulo the extent, so that a box may reach
  /// beyond the tensor. A negative dim counts from the last one.
  std::vector<int> periodic = {};
  /// Limits the memory of a rank for messages, see RedistributeOptions.
  std::int64_t extra_memory = 0;
};

namespace detail {

struct FetcherAccess;

/// Holds what a fetch needs to know of a tensor and of the patch of a rank.
struct TensorAndPatch {
  const DeviceMesh& mesh;
  const DTensorSpec& spec;
  ArrayRef piece;
  ArrayRef patch;
};

template <class V, class W>
TensorAndPatch tensor_and_patch(const DTensor<V>& tensor, const W& patch) {
  static_assert(std::is_same_v<typename W::non_const_value_type, typename V::non_const_value_type>,
                "expected a patch with the element type of the tensor");
  static_assert(W::rank() == V::rank(), "expected a patch with as many dims as the tensor");
  return {tensor.device_mesh(), tensor.spec(), array_ref(tensor.to_local()), array_ref(patch)};
}

}  // namespace detail

/// A Fetcher holds the boxes of all ranks, and how their elements travel: for loops that fetch or
/// accumulate the same boxes again and again, such as halos and panels of matrices. make_fetch()
/// makes it. It is a shared handle; one execution at a time.
class Fetcher {
 public:
  /// Returns the box of this rank.
  const Box& box() const;
  /// Returns the spec of the tensors that it works on.
  const DTensorSpec& spec() const;
  /// Describes in one line what this rank exchanges when it fetches. Local.
  std::string explain() const;

  /// Copies the values in the box of this rank to `patch`, a View of the box's shape.
  ///
  /// `patch` and the local piece of the tensor may share memory if each element that the rank owns
  /// lies there where the patch has it, as in an array with ghost cells; it stays as it is.
  ///
  /// Collective over the mesh. With an execution space instance, work is ordered on it; without one,
  /// the patch is complete on return. Allocates nothing after the first call. Off the mesh it
  /// returns at once.
  /// Errors: InvalidArgument for a tensor of another spec or element type, a patch of another shape,
  /// or one whose own elements share memory; MeshMismatch; MpiError.
  template <LocalView V, LocalView W>
  void fetch(const DTensor<V>& tensor, const W& patch) const {
    fetch(Execution(), tensor, patch);
  }
  /// Orders the work on `exec`.
  template <LocalView V, LocalView W>
  void fetch(const Execution& exec, const DTensor<V>& tensor, const W& patch) const;

  /// Starts fetch() in the background. Pending::wait() returns the patch.
  template <LocalView V, LocalView W>
  Pending<W> fetch_async(const DTensor<V>& tensor, const W& patch) const {
    return fetch_async(Execution(), tensor, patch);
  }
  /// Starts fetch() in the background, ordered on `exec`.
  template <LocalView V, LocalView W>
  Pending<W> fetch_async(const Execution& exec, const DTensor<V>& tensor, const W& patch) const;

  /// Combines the values of the tensor in the boxes with the patches of all ranks: each element x
  /// becomes ((x op p₀) op p₁) …, where p₀, p₁, … are what the ranks have of it, in their order. If a
  /// box covers an element several times, their order is that of the box. All replicas change alike.
  ///
  /// Collective over the mesh. Errors: those of fetch(); InvalidArgument for ReduceOp::avg, an op
  /// the element type cannot reduce, a tensor whose own elements share memory, and a patch that
  /// shares memory with the tensor.
  template <LocalView V, LocalView W>
  void accumulate(const DTensor<V>& tensor, const W& patch, ReduceOp op = ReduceOp::sum) const {
    accumulate(Execution(), tensor, patch, op);
  }
  /// Orders the work on `exec`.
  template <LocalView V, LocalView W>
  void accumulate(const Execution& exec, const DTensor<V>& tensor, const W& patch,
                  ReduceOp op = ReduceOp::sum) const;

  /// Starts accumulate() in the background. Pending::wait() returns the tensor.
  template <LocalView V, LocalView W>
  Pending<DTensor<V>> accumulate_async(const DTensor<V>& tensor, const W& patch,
                                       ReduceOp op = ReduceOp::sum) const {
    return accumulate_async(Execution(), tensor, patch, op);
  }
  /// Starts accumulate() in the background, ordered on `exec`.
  template <LocalView V, LocalView W>
  Pending<DTensor<V>> accumulate_async(const Execution& exec, const DTensor<V>& tensor,
                                       const W& patch, ReduceOp op = ReduceOp::sum) const;

 private:
  friend detail::FetcherAccess;
  struct State;
  explicit Fetcher(std::shared_ptr<State> state) : state_(std::move(state)) {}

  std::shared_ptr<State> state_;
};

namespace detail {

/// Describes boxes of a tensor: what all ranks pass alike.
struct FetchCall {
  const char* function;
  const DTensorSpec& spec;
  ElementType type;
  const PlanSettings& settings;
  const std::vector<int>& periodic;
  const ReduceOp* op = nullptr;  ///< null to fetch

  std::string operator()() const;
  std::uint64_t hash() const;
};

/// Gives the functions of this header a Fetcher without static types. All of them are parts of a
/// call around them.
struct FetcherAccess {
  using State = Fetcher::State;

  /// Makes a Fetcher, in a call that the ranks agree on here.
  static Fetcher make(Operation& operation, const DeviceMesh& mesh, const Box& box,
                      const FetchCall& call);

  /// Checks the arrays, on this rank. `op` is null to fetch.
  static void check(const Fetcher& fetcher, const TensorAndPatch& arrays, const ReduceOp* op);
  /// Checks the arrays, and states the call to the other ranks.
  static void agree(const Fetcher& fetcher, Operation& operation, const TensorAndPatch& arrays,
                    const ReduceOp* op);
  static void fetch(const Fetcher& fetcher, const Execution& execution,
                    const TensorAndPatch& arrays, const char* label);
  static void accumulate(const Fetcher& fetcher, const Execution& execution,
                         const TensorAndPatch& arrays, ReduceOp op, const char* label);
  /// Returns either as the work of a call in the background. `views` owns the memory of the arrays.
  static PendingWork work(const Fetcher& fetcher, const Execution& execution,
                          const TensorAndPatch& arrays, const ReduceOp* op,
                          std::shared_ptr<void> views, const char* label);
  static const DeviceMesh& mesh(const Fetcher& fetcher);
  /// Returns what must live until messages that failing calls leave under way are complete.
  static std::shared_ptr<void> memory(const Fetcher& fetcher) { return fetcher.state_; }
};

/// Makes a Fetcher for tensors in Views of type V and patches in Views of type W, in a call that the
/// ranks agree on here. `op` is null to fetch.
template <class V, class W>
Fetcher agreed_fetcher(Operation& operation, const DeviceMesh& mesh, const DTensorSpec& spec,
                       const Box& box, const FetchOptions& options, const ReduceOp* op = nullptr) {
  const auto settings = settings_for<V, W>(options.extra_memory);
  const FetchCall call{
      operation.name(), spec, element_type<typename V::non_const_value_type>(), settings,
      options.periodic, op};
  return FetcherAccess::make(operation, mesh, box, call);
}

/// Returns the shape of a patch; zeros for no box. Errors: InvalidArgument for a box that a View
/// with these static extents (0: dynamic) cannot hold.
Extents patch_shape(const Box& box, std::size_t tensor_dims, const Extents& static_extents);

/// Runs body(), and keeps tensor and patch if it leaves messages under way.
template <class V, class W, class Body>
void keeping_patch(const Fetcher& fetcher, const DTensor<V>& tensor, const W& patch,
                   const Body& body) {
  keeping(FetcherAccess::mesh(fetcher).communicator(), body, [&] {
    return std::make_shared<std::pair<std::shared_ptr<void>, std::shared_ptr<void>>>(
        held_with(tensor, patch), FetcherAccess::memory(fetcher));
  });
}

/// Fetches into `patch`, a part of a call that the ranks have agreed on.
template <class V, class W>
void fetch_into(const Fetcher& fetcher, const Execution& execution, const DTensor<V>& tensor,
                const W& patch, const char* label) {
  keeping_patch(fetcher, tensor, patch, [&] {
    FetcherAccess::fetch(fetcher, execution, tensor_and_patch(tensor, patch), label);
  });
}

template <class V, class W>
void accumulate_from(const Fetcher& fetcher, const Execution& execution, const DTensor<V>& tensor,
                     const W& patch, ReduceOp op, const char* label) {
  keeping_patch(fetcher, tensor, patch, [&] {
    FetcherAccess::accumulate(fetcher, execution, tensor_and_patch(tensor, patch), op, label);
  });
}

/// Starts a call in the background. prepare(operation) returns the Fetcher, after checks; then
/// `result` is what the Pending gives. `op`: null to fetch.
template <class V, class W, class Result, class Prepare>
Pending<Result> start_fetch(FunctionName function, const Execution& execution,
                            const DTensor<V>& tensor, const W& patch, const ReduceOp* op,
                            const Result& result, const Prepare& prepare) {
  return start_call(function, tensor.device_mesh(), [&](Operation& operation) {
    std::pair<Result, std::optional<PendingWork>> started(result, std::nullopt);
    if (!tensor.device_mesh().coordinate()) return started;
    const Fetcher fetcher = prepare(operation);
    auto views = std::make_shared<std::pair<std::shared_ptr<void>, std::shared_ptr<void>>>(
        held_with(tensor, patch), FetcherAccess::memory(fetcher));
    started.second = FetcherAccess::work(fetcher, execution, tensor_and_patch(tensor, patch), op,
                                         std::move(views), "tessera::fetch");
    return started;
  });
}

}  // namespace detail

/// Copies the values in the box, see the class. It stands here because it needs FetcherAccess.
template <LocalView V, LocalView W>
void Fetcher::fetch(const Execution& exec, const DTensor<V>& tensor, const W& patch) const {
  static_assert(!std::is_const_v<typename W::value_type>, "expected a patch that can be written");
  collectively(detail::FetcherAccess::mesh(*this), "Fetcher::fetch", [&](Operation& operation) {
    if (!tensor.device_mesh().coordinate()) return;
    detail::FetcherAccess::agree(*this, operation, detail::tensor_and_patch(tensor, patch),
                                 nullptr);
    detail::fetch_into(*this, exec, tensor, patch, "tessera::fetch");
  });
}

/// Starts fetch(), see the class.
template <LocalView V, LocalView W>
Pending<W> Fetcher::fetch_async(const Execution& exec, const DTensor<V>& tensor,
                                const W& patch) const {
  static_assert(!std::is_const_v<typename W::value_type>, "expected a patch that can be written");
  return detail::start_fetch(
      "Fetcher::fetch_async", exec, tensor, patch, nullptr, patch, [&](Operation& operation) {
        detail::FetcherAccess::agree(*this, operation, detail::tensor_and_patch(tensor, patch),
                                     nullptr);
        return *this;
      });
}

/// Adds the patches, see the class.
template <LocalView V, LocalView W>
void Fetcher::accumulate(const Execution& exec, const DTensor<V>& tensor, const W& patch,
                         ReduceOp op) const {
  collectively(detail::FetcherAccess::mesh(*this), "Fetcher::accumulate",
               [&](Operation& operation) {
                 if (!tensor.device_mesh().coordinate()) return;
                 detail::FetcherAccess::agree(*this, operation,
                                              detail::tensor_and_patch(tensor, patch), &op);
                 detail::accumulate_from(*this, exec, tensor, patch, op, "tessera::accumulate");
               });
}

/// Starts accumulate(), see the class.
template <LocalView V, LocalView W>
Pending<DTensor<V>> Fetcher::accumulate_async(const Execution& exec, const DTensor<V>& tensor,
                                              const W& patch, ReduceOp op) const {
  return detail::start_fetch("Fetcher::accumulate_async", exec, tensor, patch, &op, tensor,
                             [&](Operation& operation) {
                               detail::FetcherAccess::agree(
                                   *this, operation, detail::tensor_and_patch(tensor, patch), &op);
                               return *this;
                             });
}

/// Makes a Fetcher for tensors of `spec` on `mesh` in Views of type V, and patches in Views of type
/// W. `box` is what this rank asks for; Box() is nothing. The ranks tell one another their boxes
/// here, and not again.
///
/// Collective over the mesh. Errors: InvalidArgument for a box with another number of dims than the
/// tensor, one that reaches beyond the tensor along a dim that is not periodic, or a spec with a
/// Partial (see reduce_partial()); MeshMismatch for a spec on another mesh.
template <LocalView V, LocalView W = redistributed_view_t<V>>
Fetcher make_fetch(const DeviceMesh& mesh, const DTensorSpec& spec, const Box& box,
                   const FetchOptions& options = {}) {
  return collectively(mesh, "make_fetch", [&](Operation& operation) {
    return detail::agreed_fetcher<V, W>(operation, mesh, spec, box, options);
  });
}
/// Makes a Fetcher for tensors that are distributed as `tensor` is.
template <LocalView V>
Fetcher make_fetch(const DTensor<V>& tensor, const Box& box, const FetchOptions& options = {}) {
  return make_fetch<V>(tensor.device_mesh(), tensor.spec(), box, options);
}

/// Returns the values in a box of global indices, which every rank chooses for itself: a View of the
/// box's shape. Box() asks for nothing.
///
/// Example: fetch(t, Box{{10, 0}, {2, 5}}) returns rows 10 and 11, columns 0 to 4.
/// The ranks first tell one another their boxes; make_fetch() does so once for many calls.
///
/// Collective over the mesh. Off the mesh it returns an empty View. Errors: those of make_fetch();
/// InvalidArgument for a box that does not have the static extents of the View type.
template <LocalView V>
redistributed_view_t<V> fetch(const DTensor<V>& tensor, const Box& box,
                              const FetchOptions& options = {}) {
  return fetch(Execution(), tensor, box, options);
}
/// Orders the work on `exec`.
template <LocalView V>
redistributed_view_t<V> fetch(const Execution& exec, const DTensor<V>& tensor, const Box& box,
                              const FetchOptions& options = {}) {
  using Patch = redistributed_view_t<V>;
  const auto& mesh = tensor.device_mesh();
  return collectively(mesh, "fetch", [&](Operation& operation) {
    const auto fetcher =
        detail::agreed_fetcher<V, Patch>(operation, mesh, tensor.spec(), box, options);
    if (!mesh.coordinate()) return Patch();
    const auto shape = detail::patch_shape(box, V::rank(), detail::static_extents<V>());
    auto patch = detail::allocate<Patch>(shape, "tessera::fetch");
    detail::fetch_into(fetcher, exec, tensor, patch, "tessera::fetch");
    return patch;
  });
}

/// Starts fetch() in the background. The ranks tell one another their boxes in this call.
template <LocalView V>
Pending<redistributed_view_t<V>> fetch_async(const DTensor<V>& tensor, const Box& box,
                                             const FetchOptions& options = {}) {
  return fetch_async(Execution(), tensor, box, options);
}
/// Starts fetch() in the background, ordered on `exec`.
template <LocalView V>
Pending<redistributed_view_t<V>> fetch_async(const Execution& exec, const DTensor<V>& tensor,
                                             const Box& box, const FetchOptions& options = {}) {
  using Patch = redistributed_view_t<V>;
  Patch patch;
  if (tensor.device_mesh().coordinate())
    patch = detail::named("fetch_async", [&] {
      const auto shape = detail::patch_shape(box, V::rank(), detail::static_extents<V>());
      return detail::allocate<Patch>(shape, "tessera::fetch_async");
    });
  return detail::start_fetch("fetch_async", exec, tensor, patch, nullptr, patch,
                             [&](Operation& operation) {
                               return detail::agreed_fetcher<V, Patch>(
                                   operation, tensor.device_mesh(), tensor.spec(), box, options);
                             });
}

/// Combines the values of `tensor` in a box of global indices with those of `patch`, see
/// Fetcher::accumulate(). Every rank chooses its box; Box() and an empty View add nothing.
///
/// Collective over the mesh. Errors: those of make_fetch() and of Fetcher::accumulate().
template <LocalView V, LocalView W>
void accumulate(const DTensor<V>& tensor, const Box& box, const W& patch,
                ReduceOp op = ReduceOp::sum, const FetchOptions& options = {}) {
  accumulate(Execution(), tensor, box, patch, op, options);
}
/// Orders the work on `exec`.
template <LocalView V, LocalView W>
void accumulate(const Execution& exec, const DTensor<V>& tensor, const Box& box, const W& patch,
                ReduceOp op = ReduceOp::sum, const FetchOptions& options = {}) {
  const auto& mesh = tensor.device_mesh();
  collectively(mesh, "accumulate", [&](Operation& operation) {
    detail::require_writable(array_ref(tensor.to_local()));
    const auto fetcher =
        detail::agreed_fetcher<V, W>(operation, mesh, tensor.spec(), box, options, &op);
    if (!mesh.coordinate()) return;
    detail::FetcherAccess::check(fetcher, detail::tensor_and_patch(tensor, patch), &op);
    detail::accumulate_from(fetcher, exec, tensor, patch, op, "tessera::accumulate");
  });
}

/// Starts accumulate() in the background. Pending::wait() returns the tensor.
template <LocalView V, LocalView W>
Pending<DTensor<V>> accumulate_async(const DTensor<V>& tensor, const Box& box, const W& patch,
                                     ReduceOp op = ReduceOp::sum,
                                     const FetchOptions& options = {}) {
  return accumulate_async(Execution(), tensor, box, patch, op, options);
}
/// Starts accumulate() in the background, ordered on `exec`.
template <LocalView V, LocalView W>
Pending<DTensor<V>> accumulate_async(const Execution& exec, const DTensor<V>& tensor,
                                     const Box& box, const W& patch, ReduceOp op = ReduceOp::sum,
                                     const FetchOptions& options = {}) {
  return detail::start_fetch(
      "accumulate_async", exec, tensor, patch, &op, tensor, [&](Operation& operation) {
        detail::require_writable(array_ref(tensor.to_local()));
        auto fetcher = detail::agreed_fetcher<V, W>(operation, tensor.device_mesh(), tensor.spec(),
                                                    box, options, &op);
        detail::FetcherAccess::check(fetcher, detail::tensor_and_patch(tensor, patch), &op);
        return fetcher;
      });
}

}  // namespace tessera
