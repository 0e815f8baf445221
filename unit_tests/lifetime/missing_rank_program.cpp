// SPDX-FileCopyrightText: 2026 Tessera authors
// SPDX-License-Identifier: Apache-2.0
//
// A rank that does not come: the others throw Timeout, which names the function and the rank, when
// the time limit is over. Arguments: dead, killed, reported or late, the rank that stays away,
// the number of calls before that (killed, reported: milliseconds, or "some": then at random),
// the number of columns.
//
// dead: it kills itself; the others print what they threw and leave without MPI_Finalize.
// killed: it is killed in the middle of a loop of calls, whatever it does.
// reported: the same, by a transport that reports the death.
// late: it comes when the others have thrown; then all call again.
//
// Host memory only: what others have mapped of a device's goes with the rank that made it.
#include <algorithm>
#include <array>
#include <chrono>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <random>
#include <regex>
#include <string>
#include <thread>

#include <Kokkos_Core.hpp>
#include <mpi.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <unistd.h>

#include <tessera/tessera.hpp>

namespace {

using namespace tessera;
using Matrix = Kokkos::View<double**, Kokkos::LayoutRight, Kokkos::HostSpace>;
using Clock = std::chrono::steady_clock;

constexpr double time_limit = 2;
constexpr double at_most_longer = 1.5;

double seconds_since(Clock::time_point start) {
  return std::chrono::duration<double>(Clock::now() - start).count();
}

/// Turns rows to columns and back, `calls` times.
void turn(DTensor<Matrix>& tensor, int calls) {
  for (int i = 0; i < calls; ++i) {
    const Placement target = tensor.placements()[0] == Placement(Shard(0)) ? Shard(1) : Shard(0);
    tensor = redistribute(tensor, {target});
  }
}

/// The message of the Timeout that comes within the limit; otherwise what happened instead.
std::string timeout_of(DTensor<Matrix>& tensor) {
  const auto start = Clock::now();
  try {
    turn(tensor, 1);
  } catch (const Timeout& error) {
    const double waited = seconds_since(start);
    if (waited < time_limit + at_most_longer) return error.what();
    return "after " + std::to_string(waited) + " s: " + error.what();
  } catch (const std::exception& error) {
    return std::string("another error: ") + error.what();
  }
  return "no error";
}

std::string expected_of(int missing) {
  return "redistribute: waited 2 s for mesh rank " + std::to_string(missing) + " of mesh (4)";
}

/// Goes on as a child. The launcher, which would end the job of a rank that dies, sees the parent.
void hide_from_launcher() {
  const auto child = fork();
  if (child == 0) return;
  int status = 0;
  waitpid(child, &status, 0);
  std::this_thread::sleep_for(std::chrono::seconds(5));
  _exit(0);
}

int survive(DTensor<Matrix>& tensor, int calls, bool is_missing, int missing) {
  if (is_missing) {
    turn(tensor, calls);
    std::raise(SIGKILL);
  }
  turn(tensor, calls);
  const auto message = timeout_of(tensor);
  const bool is_right = message.starts_with(expected_of(missing));
  std::printf("%s: %s\n", is_right ? "right" : "wrong", message.c_str());
  std::fflush(stdout);
  _exit(0);
}

/// Kills this process, from now on at any time.
void kill_after(int milliseconds) {
  std::signal(SIGALRM, [](int) { kill(getpid(), SIGKILL); });
  itimerval timer{};
  timer.it_value.tv_sec = milliseconds / 1000;
  timer.it_value.tv_usec = milliseconds % 1000 * 1000;
  setitimer(ITIMER_REAL, &timer, nullptr);
}

/// The rank that is missing, alone. Where transports report a death, whoever hears of it throws at
/// once and may miss a later call: then with one other, but never with all others.
bool names(const std::string& message, int missing, bool is_reported) {
  const auto rank = std::to_string(missing);
  const auto one_more = is_reported ? "|ranks (" + rank + ", [0-3]|[0-3], " + rank + ")" : "";
  return std::regex_search(message,
                           std::regex("mesh (rank " + rank + one_more + ") of mesh \\(4\\)"));
}

/// All the others: what a rank can say that has heard nobody. A rank that is killed while it writes
/// to the inbox of another one in shared memory leaves that inbox blocked, for all who write to it.
bool names_all_others(const DeviceMesh& mesh, const std::string& message) {
  std::string others;
  for (int rank = 0; rank < mesh.size(); ++rank)
    if (rank != mesh.rank()) others += (others.empty() ? "" : ", ") + std::to_string(rank);
  return message.find("mesh ranks " + others + " of mesh (4)") != std::string::npos;
}

/// Calls that move, reduce and gather, until one throws. Another rank may be a call ahead of this
/// one or behind it, and so has waited longer than the limit when it throws.
int survive_kill(DTensor<Matrix>& tensor, bool is_missing, int missing, int milliseconds,
                 bool is_reported) {
  const auto mesh = tensor.device_mesh();
  const auto partial =
      from_local(tensor.to_local(), mesh, {Partial()}, Extents{2, tensor.shape()[1]});
  turn(tensor, 2);
  reduce_partial(partial);
  if (is_missing) kill_after(milliseconds);
  auto start = Clock::now();
  std::string message = "no error";
  try {
    for (;;) {
      turn(tensor, 1);
      start = Clock::now();
      reduce_partial(partial);
      start = Clock::now();
    }
  } catch (const Timeout& error) {
    message = error.what();
  } catch (const MpiError& error) {
    message = error.what();
  } catch (const std::exception& error) {
    message = std::string("another error: ") + error.what();
  }
  const double waited = seconds_since(start);
  const bool is_in_time =
      (message.starts_with("redistribute: ") || message.starts_with("reduce_partial: ")) &&
      waited < time_limit + at_most_longer;
  const bool is_right = is_in_time && names(message, missing, is_reported);
  const bool is_deaf = is_in_time && names_all_others(mesh, message);
  // In one piece, however many ranks write.
  message = message.substr(0, std::min<std::size_t>(message.find('\n'), 150));
  const char* const judgement = is_right ? "right" : is_deaf ? "deaf" : "wrong";
  std::printf("%s: after %.1f s: %s\n", judgement, waited, message.c_str());
  std::fflush(stdout);
  _exit(0);
}

/// What rank `root` has.
std::string text_of(const std::string& text, int root) {
  std::array<char, 512> buffer{};
  std::snprintf(buffer.data(), buffer.size(), "%s", text.c_str());
  MPI_Bcast(buffer.data(), static_cast<int>(buffer.size()), MPI_CHAR, root, MPI_COMM_WORLD);
  return buffer.data();
}

/// The late rank throws what the others have thrown, unless it needs nothing more from them.
int wait_for_late(DTensor<Matrix>& tensor, int calls, bool is_missing, int missing) {
  turn(tensor, calls);
  const auto before = tensor;
  if (is_missing)
    std::this_thread::sleep_for(std::chrono::duration<double>(time_limit + at_most_longer));
  const auto message = timeout_of(tensor);
  tensor = before;
  turn(tensor, 3);
  const auto full = full_tensor(tensor);
  const auto others = text_of(message, missing == 0 ? 1 : 0);

  const bool is_named = others.starts_with(expected_of(missing));
  const bool is_same = message == others || (is_missing && message == "no error");
  const bool is_right = full(tensor.shape()[0] - 1, 1) == 1.0;
  if (!is_named || !is_same || !is_right)
    std::printf("%s threw \"%s\", the others \"%s\"; afterwards %s\n",
                is_missing ? "late" : "waiting", message.c_str(), others.c_str(),
                is_right ? "right" : "wrong");
  return is_named && is_same && is_right ? 0 : 1;
}

/// "some" is drawn anew in every run.
int milliseconds_of(const std::string& text, bool is_missing) {
  if (text != "some") return std::stoi(text);
  std::random_device device;
  const int milliseconds = std::uniform_int_distribution(1, 1000)(device);
  if (is_missing) std::printf("killed after %d ms\n", milliseconds);
  std::fflush(stdout);
  return milliseconds;
}

}  // namespace

int main(int argc, char** argv) {
  if (argc < 5) return 2;
  setenv("TESSERA_TIMEOUT", "2", 1);
  const std::string mode = argv[1];
  if (mode != "late") hide_from_launcher();
  const ScopeGuard guard(argc, argv);
  const int missing = std::atoi(argv[2]);
  int size = 0;
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  const auto mesh = init_device_mesh(MPI_COMM_WORLD, {size});
  auto tensor = ones<Matrix>(mesh, {Shard(0)}, {2 * size, std::atoi(argv[4])});
  const bool is_missing = mesh.rank() == missing;
  const bool is_reported = mode == "reported";
  const int calls = milliseconds_of(argv[3], is_missing);
  if (mode == "killed" || is_reported)
    return survive_kill(tensor, is_missing, missing, calls, is_reported);
  return mode == "dead" ? survive(tensor, calls, is_missing, missing)
                        : wait_for_late(tensor, calls, is_missing, missing);
}
