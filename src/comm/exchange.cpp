// SPDX-FileCopyrightText: 2026 Tessera authors
// SPDX-License-Identifier: BSD-3-Clause
#include <algorithm>
#include <limits>

#include <tessera/comm/detail/check.hpp>
#include <tessera/comm/detail/clock.hpp>
#include <tessera/comm/detail/message_limit.hpp>
#include <tessera/comm/detail/state.hpp>
#include <tessera/comm/detail/tags.hpp>
#include <tessera/comm/detail/wait.hpp>
#include <tessera/comm/exchange.hpp>
#include <tessera/comm/runtime.hpp>

namespace tessera {
namespace {

constexpr double drain_seconds = 10;

#ifdef TESSERA_HAVE_MPI_LARGE_COUNT
constexpr auto largest_message = std::numeric_limits<std::int64_t>::max();

int post(MPI_Comm comm, const std::byte* data, std::int64_t bytes, int peer, int tag,
         MPI_Request* request) {
  return MPI_Isend_c(data, bytes, MPI_BYTE, peer, tag, comm, request);
}

int post(MPI_Comm comm, std::byte* data, std::int64_t bytes, int peer, int tag,
         MPI_Request* request) {
  return MPI_Irecv_c(data, bytes, MPI_BYTE, peer, tag, comm, request);
}
#else
constexpr auto largest_message = std::int64_t{1} << 30;

int post(MPI_Comm comm, const std::byte* data, std::int64_t bytes, int peer, int tag,
         MPI_Request* request) {
  return MPI_Isend(data, static_cast<int>(bytes), MPI_BYTE, peer, tag, comm, request);
}

int post(MPI_Comm comm, std::byte* data, std::int64_t bytes, int peer, int tag,
         MPI_Request* request) {
  return MPI_Irecv(data, static_cast<int>(bytes), MPI_BYTE, peer, tag, comm, request);
}
#endif

template <class Byte>
std::int64_t post_in_messages(const Communicator& communicator, Byte* data, std::int64_t bytes,
                              int peer, int tag, const char* what,
                              std::vector<MPI_Request>& requests) {
  const auto& state = communicator.state();
  std::int64_t messages = 0;
  for (; bytes > 0; ++messages) {
    const auto size = std::min(state.message_limit, bytes);
    auto& request = requests.emplace_back(MPI_REQUEST_NULL);
    detail::check_mpi(post(state.handle, data, size, peer, tag, &request), what);
    data += size;
    bytes -= size;
  }
  return messages;
}

}  // namespace

namespace detail {

std::int64_t default_message_limit() {
  return largest_message;
}

}  // namespace detail

Exchange::Exchange(const Communicator& communicator, TraceKind kind, const char* operation,
                   int group_size)
    : Exchange(communicator, kind, operation, group_size, detail::exchange_tag) {}

Exchange::Exchange(const Communicator& communicator, TraceKind kind, const char* operation,
                   int group_size, int tag)
    : communicator_(communicator),
      tag_(tag),
      event_{kind, operation, group_size, 0, 0, 0, 0, 0.0},
      start_(detail::seconds()) {}

Exchange::~Exchange() {
  if ((receives_.empty() && sends_.empty()) || !comm::is_usable()) return;
  for (auto& request : receives_)
    if (request != MPI_REQUEST_NULL) MPI_Cancel(&request);
  detail::drain(receives_, drain_seconds);
  detail::drain(sends_, drain_seconds);
}

void Exchange::receive(std::byte* data, std::int64_t bytes, int source) {
  event_.messages_received +=
      post_in_messages(communicator_, data, bytes, source, tag_, "MPI_Irecv", receives_);
  event_.bytes_received += bytes;
}

void Exchange::send(const std::byte* data, std::int64_t bytes, int destination) {
  event_.messages_sent +=
      post_in_messages(communicator_, data, bytes, destination, tag_, "MPI_Isend", sends_);
  event_.bytes_sent += bytes;
}

void Exchange::wait() {
  const bool oversubscribed = communicator_.is_oversubscribed();
  detail::wait_all(receives_, oversubscribed);
  detail::wait_all(sends_, oversubscribed);
  receives_.clear();
  sends_.clear();
}

void Exchange::finish() {
  wait();
  event_.seconds = detail::seconds() - start_;
  emit(event_);
}

}  // namespace tessera
