// SPDX-FileCopyrightText: 2026 Tessera authors
// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <bit>
#include <deque>
#include <map>
#include <numeric>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <tessera/error/error.hpp>
#include <tessera/extents/hash.hpp>
#include <tessera/mesh/device_mesh.hpp>

#include "comm/communicator_state.hpp"
#include "mpi/check.hpp"
#include "node/nodes.hpp"

namespace tessera {

struct DeviceMesh::State {
  Communicator communicator;
  MeshLayout layout;
  int rank;
  std::optional<std::vector<int>> coordinate;
  detail::OperationLog* calls;
  std::map<std::vector<int>, DeviceMesh> subs;
  /// Holds the meshes of the last names, by mesh dims and name: there may be any number of names.
  std::deque<std::pair<std::pair<std::vector<int>, std::string>, DeviceMesh>> flats;
  std::map<std::type_index, std::shared_ptr<void>> attachments;
  std::optional<Extents> ranks_per_node;  ///< empty until it is first asked for
  std::shared_ptr<DeviceMesh> on_node;
};

DeviceMesh::DeviceMesh(Communicator communicator, MeshLayout layout) {
  const int rank = layout.position_of(communicator.rank());
  std::optional<std::vector<int>> coordinate;
  if (rank >= 0) coordinate = layout.coordinate(rank);
  state_ = std::make_shared<State>(State{std::move(communicator),
                                         std::move(layout),
                                         rank,
                                         std::move(coordinate),
                                         nullptr,
                                         {},
                                         {},
                                         {},
                                         {},
                                         {}});
}

const DeviceMesh::State& DeviceMesh::state() const {
  require(!is_null(), "DeviceMesh: expected a mesh, got a null handle");
  return *state_;
}

static Communicator communicator_of(const char* function, MPI_Comm user) {
  return detail::named(function, [&] { return detail::communicator_on_nodes(user); });
}

/// Returns the log of the calls that all ranks of a communicator make together.
static detail::OperationLog& common_calls(const Communicator& communicator) {
  auto& state = communicator.state();
  constexpr std::uint64_t key = 1;
  return state.control->log(key, state.all_ranks,
                            fmt::format("of all {} ranks of the communicator", state.size));
}

/// Makes a mesh in one call of all ranks of the communicator. They pass equal arguments unless
/// `arguments_differ`: then each rank may list the ranks of a mesh of its own.
template <class MakeLayout>
DeviceMesh DeviceMesh::make(const Communicator& communicator, FunctionName function,
                            bool arguments_differ, const MakeLayout& make_layout) {
  return collectively(&common_calls(communicator), function, [&](Operation& operation) {
    const MeshLayout layout = make_layout();
    auto arguments = layout.hash();
    for (const auto& name : layout.dim_names()) arguments = hash_range(arguments, name);
    const auto call = [&] { return fmt::format("{} of {}", function.text, to_string(layout)); };
    operation.agree_always(arguments_differ ? 0 : arguments, call);
    detail::learn_device_path(communicator);
    return DeviceMesh(communicator, layout);
  });
}

DeviceMesh DeviceMesh::from_ranks(MPI_Comm comm, std::vector<int> ranks, std::vector<int> shape,
                                  std::vector<std::string> dim_names) {
  const auto communicator = communicator_of("from_ranks", comm);
  return make(communicator, "from_ranks", true, [&] {
    auto layout = MeshLayout::from_ranks(std::move(ranks), std::move(shape), std::move(dim_names));
    const int largest = *std::ranges::max_element(layout.ranks());
    require(largest < communicator.size(), [&] {
      return fmt::format("DeviceMesh: expected ranks of a communicator of {} ranks, got rank {}",
                         communicator.size(), largest);
    });
    return layout;
  });
}

DeviceMesh DeviceMesh::from_comm(MPI_Comm comm) {
  const auto communicator = communicator_of("from_comm", comm);
  return make(communicator, "from_comm", false,
              [&] { return MeshLayout(std::vector<int>{communicator.size()}); });
}

DeviceMesh DeviceMesh::from_cart(MPI_Comm cart_comm) {
  const auto communicator = communicator_of("from_cart", cart_comm);
  return make(communicator, "from_cart", false, [&] {
    int topology = MPI_UNDEFINED;
    detail::check_mpi(MPI_Topo_test(cart_comm, &topology), "MPI_Topo_test");
    require(topology == MPI_CART,
            "from_cart: expected a Cartesian communicator, got one without such a topology");
    int ndim = 0;
    detail::check_mpi(MPI_Cartdim_get(cart_comm, &ndim), "MPI_Cartdim_get");
    std::vector<int> shape(static_cast<std::size_t>(ndim));
    auto periods = shape;
    auto coordinate = shape;
    detail::check_mpi(
        MPI_Cart_get(cart_comm, ndim, shape.data(), periods.data(), coordinate.data()),
        "MPI_Cart_get");
    return MeshLayout(shape);
  });
}

DeviceMesh init_device_mesh(MPI_Comm comm, const std::vector<int>& shape,
                            std::vector<std::string> dim_names) {
  const auto communicator = communicator_of("init_device_mesh", comm);
  return DeviceMesh::make(communicator, "init_device_mesh", false, [&] {
    MeshLayout layout(shape, std::move(dim_names));
    require(layout.size() <= communicator.size(), [&] {
      return fmt::format(
          "init_device_mesh: expected at most {} ranks, those of the communicator, got mesh {}",
          communicator.size(), to_string(layout));
    });
    return layout;
  });
}

const AgreementOptions& agreement(const DeviceMesh& mesh) {
  return detail::named("agreement", [&]() -> const AgreementOptions& {
    return mesh.communicator().state().control->options;
  });
}

void set_agreement(const DeviceMesh& mesh, const AgreementOptions& options) {
  const auto& communicator =
      detail::named("set_agreement", [&]() -> const Communicator& { return mesh.communicator(); });
  collectively(&common_calls(communicator), "set_agreement", [&](Operation& operation) {
    require(options.timeout >= detail::least_timeout, [&] {
      return fmt::format("set_agreement: expected a time limit of {:g} s or more, got {:g} s",
                         detail::least_timeout, options.timeout);
    });
    require(options.patience >= detail::least_patience, [&] {
      return fmt::format("set_agreement: expected a patience of {:g} s or more, got {:g} s",
                         detail::least_patience, options.patience);
    });
    const auto level = static_cast<int>(options.level);
    const auto call = [&] {
      return fmt::format("set_agreement to level {}, {:g} s and {:g} s", level, options.timeout,
                         options.patience);
    };
    auto hash = hash_combine(static_cast<std::uint64_t>(level),
                             std::bit_cast<std::uint64_t>(options.timeout));
    hash = hash_combine(hash, std::bit_cast<std::uint64_t>(options.patience));
    operation.agree_always(hash, call);
    auto& control = *mesh.communicator().state().control;
    control.options = options;
    control.forget_agreements();
  });
}

const MeshLayout& DeviceMesh::layout() const {
  return state().layout;
}
int DeviceMesh::rank() const {
  return state().rank;
}
const std::optional<std::vector<int>>& DeviceMesh::coordinate() const {
  return state().coordinate;
}
const Communicator& DeviceMesh::communicator() const {
  return state().communicator;
}

int DeviceMesh::local_rank(const MeshDim& mesh_dim) const {
  const int index = layout().index(mesh_dim);
  require(coordinate().has_value(),
          "local_rank: expected a rank of the mesh, got one off the mesh");
  return (*coordinate())[static_cast<std::size_t>(index)];
}

std::optional<int> DeviceMesh::neighbour(const MeshDim& mesh_dim, int distance,
                                         bool periodic) const {
  return detail::named("neighbour", [&]() -> std::optional<int> {
    layout().index(mesh_dim);
    if (rank() < 0) return {};
    return layout().neighbour(rank(), mesh_dim, distance, periodic);
  });
}

MPI_Comm DeviceMesh::comm(const MeshDims& mesh_dims) const {
  const auto part = detail::named("comm", [&] { return sub(mesh_dims); });
  if (!coordinate()) return MPI_COMM_NULL;
  const auto& ranks = part.layout().ranks();
  if (communicator().has_group(ranks)) return communicator().group(ranks);
  return collectively(part, "comm", [&](Operation& operation) {
    const auto call = [&] { return fmt::format("comm of ranks {}", ranks); };
    operation.agree_always(part.layout().hash(), call);
    return communicator().group(ranks);
  });
}

DeviceMesh DeviceMesh::sub(const MeshDims& mesh_dims) const {
  const auto indices = layout().indices(mesh_dims);
  if (const auto found = state().subs.find(indices); found != state().subs.end())
    return found->second;
  const auto through = coordinate().value_or(std::vector<int>(shape().size(), 0));
  return state_->subs.emplace(indices, DeviceMesh(communicator(), layout().sub(indices, through)))
      .first->second;
}

DeviceMesh DeviceMesh::flatten(const MeshDims& mesh_dims, std::string dim_name) const {
  constexpr std::size_t most_kept = 16;
  const std::pair key(layout().indices(mesh_dims), std::move(dim_name));
  auto& flats = state_->flats;
  const auto found = std::ranges::find(flats, key, [](const auto& flat) { return flat.first; });
  if (found != flats.end()) return found->second;
  const DeviceMesh flat(communicator(), sub(mesh_dims).layout().flattened(key.second));
  if (flats.size() == most_kept) flats.pop_front();
  return flats.emplace_back(key, flat).second;
}

const Extents& DeviceMesh::ranks_per_node() const {
  auto& found = state().ranks_per_node;
  if (!found) {
    const auto blocks =
        tessera::ranks_per_node(layout(), detail::nodes_of(communicator()).map.node);
    const bool is_on_one_node = blocks == shape() || ndim() > max_tensor_dims;
    state_->ranks_per_node = is_on_one_node ? Extents() : Extents(blocks);
  }
  return *found;
}

DeviceMesh DeviceMesh::on_node() const {
  if (ranks_per_node().empty()) return *this;
  if (!state().on_node) {
    const std::vector<int> shape(ranks_per_node().begin(), ranks_per_node().end());
    const auto through = coordinate().value_or(std::vector<int>(shape.size(), 0));
    const MeshLayout positions(shape);
    std::vector<int> ranks;
    for (int position = 0; position < positions.size(); ++position) {
      auto place = positions.coordinate(position);
      for (std::size_t d = 0; d < place.size(); ++d) place[d] += through[d] / shape[d] * shape[d];
      ranks.push_back(layout().ranks()[static_cast<std::size_t>(layout().mesh_rank(place))]);
    }
    state_->on_node = std::make_shared<DeviceMesh>(
        DeviceMesh(communicator(), MeshLayout::from_ranks(std::move(ranks), shape, dim_names())));
  }
  return *state().on_node;
}

Group DeviceMesh::group() const {
  communicator().handle();
  return {communicator(), layout().ranks(), rank()};
}

detail::OperationLog* detail::MeshAccess::calls(const DeviceMesh& mesh) {
  auto& control = *mesh.communicator().state().control;
  if (!mesh.coordinate()) return nullptr;
  const auto& layout = mesh.layout();
  auto& calls = mesh.state_->calls;
  if (calls == nullptr) calls = &control.log(layout.hash(), layout.ranks(), to_string(layout));
  return calls;
}

detail::RandomState& detail::MeshAccess::random_state(const DeviceMesh& mesh) {
  return calls(mesh)->random;
}

bool detail::MeshAccess::is_part(const DeviceMesh& part, const DeviceMesh& mesh) {
  // An equal mesh of the user's is the same one on all ranks.
  const auto is_it = [&](const auto& made) {
    const bool is_whole = made.second.size() == mesh.size();
    return !is_whole && (made.second.state_ == part.state_ || is_part(part, made.second));
  };
  return std::ranges::any_of(mesh.state().subs, is_it) ||
         std::ranges::any_of(mesh.state().flats, is_it);
}

std::pair<std::string, std::string> detail::told_apart(const DeviceMesh& a, const DeviceMesh& b) {
  if (a.is_null() || b.is_null()) {
    const auto name = [](const DeviceMesh& mesh) {
      return mesh.is_null() ? std::string("(null handle)") : to_string(mesh);
    };
    return {name(a), name(b)};
  }
  auto names = told_apart(a.layout(), b.layout());
  if (a.layout() == b.layout()) names = {to_string(a), to_string(b) + " of another communicator"};
  return names;
}

std::shared_ptr<void>& DeviceMesh::attachment_slot(std::type_index type) const {
  state();
  return state_->attachments[type];
}

bool operator==(const DeviceMesh& a, const DeviceMesh& b) {
  if (a.state_ == b.state_) return true;
  return !a.is_null() && !b.is_null() && a.communicator() == b.communicator() &&
         a.layout() == b.layout();
}

}  // namespace tessera
