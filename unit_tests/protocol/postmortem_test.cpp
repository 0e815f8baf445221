// SPDX-FileCopyrightText: 2026 Tessera authors
// SPDX-License-Identifier: Apache-2.0
// One rank leaves the common program somewhere: all ranks throw in time, and their flight records say
// which rank and which call. The case follows from TESSERA_TEST_SEED.
#include <chrono>
#include <ctime>
#include <filesystem>
#include <thread>

#include <gmock/gmock.h>
#include <unistd.h>

#include <tessera/tessera.hpp>

#include "../../tools/postmortem.hpp"
#include "../support/generator.hpp"
#include "../support/meshes.hpp"
#include "../support/tensors.hpp"
#include "../support/variable.hpp"

namespace tessera::test {
namespace {

namespace fs = std::filesystem;

/// One call of the program; what it does follows from these alone.
struct Step {
  enum Kind { across, back, full, sum, slice, kinds };
  Kind kind = across;
  int rows = 120;  ///< a piece for every rank of 3, 4, 5 and 8: all need all others
  bool is_float = false;
  bool goes_to_replicas = false;
  bool is_on_other_mesh = false;
};

enum class Deviation {
  skipped,
  extra,
  other_order,
  other_shape,
  other_placements,
  other_type,
  other_mesh,
  count
};

const char* function_of(const Step& step) {
  return step.kind == Step::full ? "full_tensor" : "redistribute";
}

template <class View>
void run(const DeviceMesh& mesh, const Step& step) {
  const auto all = [&](const Placement& placement) {
    return Placements(std::vector<Placement>(static_cast<std::size_t>(mesh.ndim()), placement));
  };
  const auto source = step.kind == Step::back    ? all(Shard(1))
                      : step.kind == Step::sum   ? all(Partial())
                      : step.kind == Step::slice ? all(Replicate())
                                                 : all(Shard(0));
  const Extents shape{step.rows, 120};
  const auto held = step.kind == Step::sum ? all(Replicate()) : source;
  const auto view = empty<View>(mesh, held, shape).to_local();
  const auto tensor = from_local(view, mesh, source, shape);
  if (step.kind == Step::full)
    full_tensor(tensor);
  else if (step.goes_to_replicas || step.kind == Step::sum)
    redistribute(tensor, all(Replicate()));
  else
    redistribute(tensor, step.kind == Step::across ? all(Shard(1)) : all(Shard(0)));
}

struct Meshes {
  DeviceMesh usual;
  DeviceMesh other;  ///< of the same ranks
};

void run(const Meshes& meshes, const Step& step) {
  const auto& mesh = step.is_on_other_mesh ? meshes.other : meshes.usual;
  if (step.is_float)
    run<Kokkos::View<float**, Kokkos::LayoutRight, TestSpace>>(mesh, step);
  else
    run<Matrix>(mesh, step);
}

/// Of different kinds where they are neighbours.
std::vector<Step> random_program(Generator& generator) {
  constexpr int steps = 7;
  std::vector<Step> program;
  while (std::ssize(program) < steps) {
    const auto kind = static_cast<Step::Kind>(generator() % Step::kinds);
    if (program.empty() || program.back().kind != kind) program.push_back({kind});
  }
  return program;
}

/// The program of the rank that deviates from its step `at` on.
std::vector<Step> deviating(std::vector<Step> program, std::size_t at, Deviation deviation) {
  const auto here = program.begin() + static_cast<std::ptrdiff_t>(at);
  switch (deviation) {
    case Deviation::skipped:
      program.erase(here);
      break;
    case Deviation::extra:
      program.insert(here, Step{here->kind, 180});
      break;
    case Deviation::other_order:
      std::iter_swap(here, here + 1);
      break;
    case Deviation::other_shape:
      here->rows = 140;
      break;
    case Deviation::other_placements:
      here->kind = here->kind == Step::across ? Step::back : Step::across;
      break;
    case Deviation::other_type:
      here->is_float = true;
      break;
    default:
      here->is_on_other_mesh = true;
  }
  return program;
}

/// Until the first exception: "" where there was none.
std::string run_all(const Meshes& meshes, const std::vector<Step>& program) {
  try {
    for (const auto& step : program) run(meshes, step);
  } catch (const Error& error) {
    return error.what();
  }
  return "";
}

double now() {
  return std::chrono::duration<double>(std::chrono::system_clock::now().time_since_epoch()).count();
}

/// The clock of the records advances by some milliseconds at a time.
double start_of_records() {
  std::this_thread::sleep_for(std::chrono::milliseconds(15));
  MPI_Barrier(MPI_COMM_WORLD);
  double start = now();
  MPI_Bcast(&start, 1, MPI_DOUBLE, 0, MPI_COMM_WORLD);
  std::this_thread::sleep_for(std::chrono::milliseconds(15));
  MPI_Barrier(MPI_COMM_WORLD);
  return start;
}

struct Case {
  unsigned seed;
  std::vector<Step> program;
  int rank;
  std::size_t at;
  Deviation deviation;
  bool is_warm;
};

Case random_case(unsigned seed) {
  Generator generator(seed);
  Case result{seed, random_program(generator), 0, 0, {}, false};
  result.rank = static_cast<int>(generator() % static_cast<unsigned>(world_size()));
  result.at = generator() % (result.program.size() - 2);
  result.deviation = static_cast<Deviation>(generator() % static_cast<unsigned>(Deviation::count));
  result.is_warm = generator() % 2 == 0;
  return result;
}

std::string to_string(const Case& test_case) {
  auto text = "seed " + std::to_string(test_case.seed) + ": rank " +
              std::to_string(test_case.rank) + ", deviation " +
              std::to_string(static_cast<int>(test_case.deviation)) + " at " +
              std::to_string(test_case.at) + (test_case.is_warm ? ", warm:" : ", cold:");
  for (const auto& step : test_case.program) text += " " + std::to_string(step.kind);
  return text;
}

/// What the records of the case say, on rank 0.
void expect_found(const Case& test_case, const fs::path& folder, double start) {
  const auto found = tools::postmortem(tools::since(tools::read_records(folder), start));

  ASSERT_TRUE(found.divergence) << to_string(found);
  const auto& sides = found.divergence->sides;
  EXPECT_EQ(sides.size(), 2U) << to_string(found);
  EXPECT_THAT(sides.back().processes, testing::ElementsAre(test_case.rank)) << to_string(found);
  EXPECT_EQ(sides.front().entry->function, function_of(test_case.program[test_case.at]))
      << to_string(found);
}

TEST(Postmortem, names_the_rank_that_deviates_and_the_call) {
  const int n = world_size();
  int process = getpid();
  MPI_Bcast(&process, 1, MPI_INT, 0, MPI_COMM_WORLD);
  const fs::path folder =
      fs::temp_directory_path() / ("tessera-postmortem-" + std::to_string(process));
  const Variable variable("TESSERA_FLIGHT_RECORDER", folder.string());
  const auto test_case = random_case(seed());
  SCOPED_TRACE(to_string(test_case));
  const Meshes meshes{mesh_of({n}), mesh_of({1, n})};
  set_agreement(meshes.usual, {.timeout = 2, .patience = 0.05});
  if (test_case.is_warm) {
    EXPECT_EQ(run_all(meshes, test_case.program), "");
  }
  const double start = start_of_records();

  const bool deviates = world_rank() == test_case.rank;
  const auto program = deviates ? deviating(test_case.program, test_case.at, test_case.deviation)
                                : test_case.program;
  const auto error = run_all(meshes, program);

  EXPECT_NE(error, "");
  EXPECT_LT(now() - start, 3.5);
  MPI_Barrier(MPI_COMM_WORLD);
  if (world_rank() == 0) {
    expect_found(test_case, folder, start);
    fs::remove_all(folder);
  }
}

}  // namespace
}  // namespace tessera::test
