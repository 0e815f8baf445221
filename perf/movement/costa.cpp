// SPDX-FileCopyrightText: 2026 Tessera authors
// SPDX-License-Identifier: Apache-2.0
#include <memory>
#include <numeric>
#include <vector>

#include <costa/grid2grid/transform.hpp>
#include <costa/layout.hpp>

#include "../in_turns.hpp"
#include "peer.hpp"

namespace tessera::perf {

const bool has_costa = true;

namespace {

using Layout = costa::grid_layout<double>;

/// Returns the layout of a square matrix that is cut into one block of rows or columns per rank.
Layout layout(const PeerMatrix& local, int edge, bool by_rows) {
  const int ranks = world().size();
  std::vector<int> cuts;
  for (int rank = 0; rank < ranks; ++rank) cuts.push_back(rank * ((edge + ranks - 1) / ranks));
  cuts.push_back(edge);
  std::vector<int> whole{0, edge};
  std::vector<int> owners(static_cast<std::size_t>(ranks));
  std::iota(owners.begin(), owners.end(), 0);
  const int self = world().rank();
  costa::block_t block{local.data(), static_cast<int>(local.extent(1)), by_rows ? self : 0,
                       by_rows ? 0 : self};
  auto& rows = by_rows ? cuts : whole;
  auto& columns = by_rows ? whole : cuts;
  return costa::custom_layout<double>(static_cast<int>(rows.size()) - 1,
                                      static_cast<int>(columns.size()) - 1, rows.data(),
                                      columns.data(), owners.data(), 1, &block, 'R');
}

}  // namespace

std::function<void()> costa_scaled(const PeerMatrix& from, const PeerMatrix& to, double alpha,
                                   double beta) {
  const auto edge = static_cast<int>(from.extent(1));
  const auto source = std::make_shared<Layout>(layout(from, edge, true));
  const auto target = std::make_shared<Layout>(layout(to, edge, false));
  return [source, target, alpha, beta] {
    costa::transform<double>(*source, *target, 'N', alpha, beta, MPI_COMM_WORLD);
  };
}

}  // namespace tessera::perf
