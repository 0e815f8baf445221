// SPDX-FileCopyrightText: 2026 Tessera authors
// SPDX-License-Identifier: Apache-2.0
//
// The functions by which ScaLAPACK receives stand in front of MPI's own, by MPI's profiling interface.
// They count while received_by_scalapack() runs.
#include <cstdint>
#include <functional>
#include <memory>

#include <mpi.h>

#include <tessera/movement/scalapack.hpp>

#include "../../unit_tests/support/scalapack.hpp"
#include "peers.hpp"

extern "C" void pdgemm_(const char* form_a, const char* form_b, const int* m, const int* n,
                        const int* k, const double* alpha, const double* a, const int* ia,
                        const int* ja, const int* descriptor_a, const double* b, const int* ib,
                        const int* jb, const int* descriptor_b, const double* beta, double* c,
                        const int* ic, const int* jc, const int* descriptor_c);

namespace tessera::perf {

const bool has_scalapack = true;

namespace {

Received* counted = nullptr;  // global, because MPI's functions have no context; null: do not count

void count(int items, MPI_Datatype type) {
  if (counted == nullptr) return;
  int size = 0;
  MPI_Type_size(type, &size);
  counted->bytes += std::int64_t{items} * size;
  ++counted->messages;
}

/// Counts a message to the root if `is_to_root`, or else one to each rank but the root.
void count_collective(bool is_to_root, int root, MPI_Comm comm, int items, MPI_Datatype type) {
  if (counted == nullptr) return;
  int rank = 0, ranks = 0;
  MPI_Comm_rank(comm, &rank);
  MPI_Comm_size(comm, &ranks);
  if (ranks > 1 && (rank == root) == is_to_root) count(items, type);
}

}  // namespace

std::function<void()> pdgemm(const DTensor<ColumnMajor>& a, const DTensor<ColumnMajor>& b,
                             const DTensor<ColumnMajor>& c) {
  const auto& mesh = c.device_mesh().shape();
  const auto grid = std::make_shared<test::ProcessGrid>(mesh[0], mesh[1]);
  return [a, b, c, grid, m = static_cast<int>(c.shape()[0]), n = static_cast<int>(c.shape()[1]),
          k = static_cast<int>(a.shape()[1]), of_a = descriptor(a, grid->context()),
          of_b = descriptor(b, grid->context()), of_c = descriptor(c, grid->context())] {
    constexpr double zero = 0, one = 1;
    constexpr int first = 1;
    pdgemm_("N", "N", &m, &n, &k, &one, a.to_local().data(), &first, &first, of_a.data(),
            b.to_local().data(), &first, &first, of_b.data(), &zero, c.to_local().data(), &first,
            &first, of_c.data());
  };
}

Received received_by_scalapack(const std::function<void()>& call) {
  Received result;
  counted = &result;
  call();
  counted = nullptr;
  return result;
}

}  // namespace tessera::perf

extern "C" {

int MPI_Recv(void* data, int items, MPI_Datatype type, int rank, int tag, MPI_Comm comm,
             MPI_Status* status) {
  tessera::perf::count(items, type);
  return PMPI_Recv(data, items, type, rank, tag, comm, status);
}

int MPI_Irecv(void* data, int items, MPI_Datatype type, int rank, int tag, MPI_Comm comm,
              MPI_Request* request) {
  tessera::perf::count(items, type);
  return PMPI_Irecv(data, items, type, rank, tag, comm, request);
}

int MPI_Sendrecv(const void* from, int sent, MPI_Datatype sent_type, int to_rank, int sent_tag,
                 void* data, int items, MPI_Datatype type, int rank, int tag, MPI_Comm comm,
                 MPI_Status* status) {
  tessera::perf::count(items, type);
  return PMPI_Sendrecv(from, sent, sent_type, to_rank, sent_tag, data, items, type, rank, tag, comm,
                       status);
}

int MPI_Bcast(void* data, int items, MPI_Datatype type, int root, MPI_Comm comm) {
  tessera::perf::count_collective(false, root, comm, items, type);
  return PMPI_Bcast(data, items, type, root, comm);
}

int MPI_Reduce(const void* from, void* to, int items, MPI_Datatype type, MPI_Op op, int root,
               MPI_Comm comm) {
  tessera::perf::count_collective(true, root, comm, items, type);
  return PMPI_Reduce(from, to, items, type, op, root, comm);
}

int MPI_Allreduce(const void* from, void* to, int items, MPI_Datatype type, MPI_Op op,
                  MPI_Comm comm) {
  constexpr int no_root = -1;
  tessera::perf::count_collective(false, no_root, comm, items, type);
  return PMPI_Allreduce(from, to, items, type, op, comm);
}

}  // extern "C"
