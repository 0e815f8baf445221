// SPDX-FileCopyrightText: 2026 Tessera authors
// SPDX-License-Identifier: Apache-2.0
#include <mpi.h>

#include "mpi_counters.hpp"

namespace tessera::test {

MpiCounters& mpi_counters() {
  static MpiCounters counters;
  return counters;
}

}  // namespace tessera::test

namespace {

using tessera::test::mpi_counters;

int made_communicator(int code, const MPI_Comm* made) {
  if (code == MPI_SUCCESS && *made != MPI_COMM_NULL) ++mpi_counters().communicators;
  return code;
}

int started_request(int code) {
  if (code == MPI_SUCCESS) ++mpi_counters().requests;
  return code;
}

/// Runs a call that may end `request`.
template <class Call>
int ending(const MPI_Request* request, const Call& call) {
  const auto before = *request;
  const int code = call();
  if (before != MPI_REQUEST_NULL && *request == MPI_REQUEST_NULL) --mpi_counters().requests;
  return code;
}

}  // namespace

extern "C" {

int MPI_Comm_dup(MPI_Comm comm, MPI_Comm* made) {
  return made_communicator(PMPI_Comm_dup(comm, made), made);
}

int MPI_Comm_idup(MPI_Comm comm, MPI_Comm* made, MPI_Request* request) {
  const int code = started_request(PMPI_Comm_idup(comm, made, request));
  if (code == MPI_SUCCESS) ++mpi_counters().communicators;
  return code;
}

int MPI_Comm_create_group(MPI_Comm comm, MPI_Group group, int tag, MPI_Comm* made) {
  ++mpi_counters().groups_made;
  return made_communicator(PMPI_Comm_create_group(comm, group, tag, made), made);
}

int MPI_Comm_create(MPI_Comm comm, MPI_Group group, MPI_Comm* made) {
  return made_communicator(PMPI_Comm_create(comm, group, made), made);
}

int MPI_Comm_split(MPI_Comm comm, int color, int key, MPI_Comm* made) {
  return made_communicator(PMPI_Comm_split(comm, color, key, made), made);
}

int MPI_Comm_split_type(MPI_Comm comm, int type, int key, MPI_Info info, MPI_Comm* made) {
  return made_communicator(PMPI_Comm_split_type(comm, type, key, info, made), made);
}

int MPI_Comm_free(MPI_Comm* comm) {
  const int code = PMPI_Comm_free(comm);
  if (code == MPI_SUCCESS) --mpi_counters().communicators;
  return code;
}

int MPI_Isend(const void* data, int count, MPI_Datatype type, int rank, int tag, MPI_Comm comm,
              MPI_Request* request) {
  return started_request(PMPI_Isend(data, count, type, rank, tag, comm, request));
}

int MPI_Irecv(void* data, int count, MPI_Datatype type, int rank, int tag, MPI_Comm comm,
              MPI_Request* request) {
  return started_request(PMPI_Irecv(data, count, type, rank, tag, comm, request));
}

int MPI_Imrecv(void* data, int count, MPI_Datatype type, MPI_Message* message,
               MPI_Request* request) {
  return started_request(PMPI_Imrecv(data, count, type, message, request));
}

#if MPI_VERSION >= 4
int MPI_Isend_c(const void* data, MPI_Count count, MPI_Datatype type, int rank, int tag,
                MPI_Comm comm, MPI_Request* request) {
  return started_request(PMPI_Isend_c(data, count, type, rank, tag, comm, request));
}

int MPI_Irecv_c(void* data, MPI_Count count, MPI_Datatype type, int rank, int tag, MPI_Comm comm,
                MPI_Request* request) {
  return started_request(PMPI_Irecv_c(data, count, type, rank, tag, comm, request));
}

int MPI_Imrecv_c(void* data, MPI_Count count, MPI_Datatype type, MPI_Message* message,
                 MPI_Request* request) {
  return started_request(PMPI_Imrecv_c(data, count, type, message, request));
}
#endif

int MPI_Test(MPI_Request* request, int* flag, MPI_Status* status) {
  return ending(request, [&] { return PMPI_Test(request, flag, status); });
}

int MPI_Wait(MPI_Request* request, MPI_Status* status) {
  return ending(request, [&] { return PMPI_Wait(request, status); });
}

int MPI_Request_free(MPI_Request* request) {
  return ending(request, [&] { return PMPI_Request_free(request); });
}

}  // extern "C"
