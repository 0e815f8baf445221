// SPDX-FileCopyrightText: 2026 Tessera authors
// SPDX-License-Identifier: Apache-2.0
//
// More than 2^31 elements of one byte, from rows to columns and to every rank.
#include <cstdio>

#include <tessera/tessera.hpp>

#include "../support/tensors.hpp"

namespace tessera::test {

constexpr std::int64_t rows = 46349;
constexpr std::int64_t columns = 46351;

KOKKOS_INLINE_FUNCTION std::uint8_t value(std::int64_t row, std::int64_t column) {
  return static_cast<std::uint8_t>((row * columns + column) % 251);
}

struct Value {
  KOKKOS_FUNCTION std::uint8_t operator()(const Kokkos::Array<std::int64_t, 2>& index) const {
    return value(index[0], index[1]);
  }
};

}  // namespace tessera::test

namespace {

using namespace tessera;
using namespace tessera::test;
using Bytes = Kokkos::View<std::uint8_t**, Kokkos::LayoutRight, TestSpace>;

bool is_right(const DTensor<Bytes>& tensor) {
  const auto view = on_host(tensor.to_local());
  const auto& offset = tensor.global_offset();
  for (std::size_t i = 0; i < view.extent(0); ++i)
    for (std::size_t j = 0; j < view.extent(1); ++j)
      if (view(i, j) !=
          value(offset[0] + static_cast<std::int64_t>(i), offset[1] + static_cast<std::int64_t>(j)))
        return false;
  return true;
}

}  // namespace

int main(int argc, char** argv) {
  const ScopeGuard guard(argc, argv);
  const auto mesh = DeviceMesh::from_comm(MPI_COMM_WORLD);
  static_assert(rows * columns > std::int64_t{1} << 31);
  const auto source = from_function<Bytes>(mesh, {Shard(0)}, {rows, columns}, Value());
  const bool columns_are_right = is_right(redistribute(source, {Shard(1)}));
  const bool whole_is_right = is_right(redistribute(source, {Replicate()}));
  std::printf("rank %d: S(0) -> S(1) %s, S(0) -> R %s\n", mesh.rank(),
              columns_are_right ? "right" : "wrong", whole_is_right ? "right" : "wrong");
  return columns_are_right && whole_is_right ? 0 : 1;
}
