// SPDX-FileCopyrightText: 2026 Tessera authors
// SPDX-License-Identifier: Apache-2.0
//
// Trains a network that recognises handwritten digits. The ranks form a mesh (dp, tp): along "dp" each of them
// has a part of each batch (data parallel), along "tp" a part of the network (tensor parallel). One
// row in five is held out, and tells in the end how well the network does. Reductions have a fixed order, so
// that two runs on one mesh give the same bits; other meshes give the same numbers up to rounding.
//
// All ranks in "dp":    mpiexec -n 4 train
// Two and two of them:  mpiexec -n 4 train --tp 2
#include <algorithm>
#include <cmath>
#include <cstdint>
#include <cstdio>
#include <string>
#include <vector>

#include <CLI/CLI.hpp>
#include <fmt/format.h>

#include <tessera/tessera.hpp>

#include "curve.hpp"
#include "digits.hpp"
#include "network.hpp"

namespace {

using namespace tessera;
using train::Epoch, train::Network;

constexpr int failed = 1;
constexpr int cannot_run = 2;
constexpr double wanted = 95;  ///< percent of the held-out digits
constexpr std::int64_t printed_losses = 10;

struct Options {
  int dp = 0;  ///< ranks along "dp"; 0: all, divided by those along "tp"
  int tp = 0;  ///< ranks along "tp"; 0: all, divided by those along "dp", or 1
  int epochs = 30;
  std::int64_t batch = 64;
  std::int64_t hidden = 128;
  double lr = 0;  ///< 0: that of the optimizer
  std::string optimizer = "sgd";
  std::uint64_t seed = 0;
  std::string input = TRAIN_DEFAULT_INPUT;
  std::string labels = TRAIN_DEFAULT_LABELS;
  std::string output = "curve.svg";
  bool print_losses = false;
};

DeviceMesh make_mesh(const Options& options) {
  const int all = DeviceMesh::from_comm(MPI_COMM_WORLD).size();
  const int tp = options.tp > 0 ? options.tp : options.dp > 0 ? std::max(all / options.dp, 1) : 1;
  const int dp = options.dp > 0 ? options.dp : std::max(all / tp, 1);
  require(std::int64_t{dp} * tp == all, [&] {
    return fmt::format("expected --dp times --tp to be the number of ranks, {}, got {} x {}", all,
                       dp, tp);
  });
  return init_device_mesh(MPI_COMM_WORLD, {dp, tp}, {"dp", "tp"});
}

/// Prints the losses of the first steps with all their bits.
class LossPrinter {
 public:
  explicit LossPrinter(bool is_wanted) : is_wanted_(is_wanted) {}

  template <class V>
  void operator()(const DTensor<V>& loss) {
    if (!is_wanted_ || step_ == printed_losses) return;
    ++step_;
    const double value = item(loss);
    if (loss.device_mesh().rank() == 0) fmt::print("step {}: loss {:a}\n", step_, value);
  }

 private:
  bool is_wanted_;
  std::int64_t step_ = 0;
};

struct Measured {
  double loss;             ///< mean over the steps
  std::int64_t exchanges;  ///< number in one step
  double seconds;          ///< time of all steps together
};

/// Makes a training step for each batch.
template <class Optimizer>
Measured trained_once(const Network& network, grad::Tape& tape, Optimizer& optimizer,
                      const train::Batches& batches, LossPrinter& print) {
  const Kokkos::Timer timer;
  std::int64_t exchanges = 0;
  auto sum = zeros<train::Number>(batches.labels.device_mesh(), all_replicate, {});
  for (std::int64_t i = 0; i < batches.size(); ++i) {
    const CommDebugMode mode;
    const auto loss = training_step(network, tape, optimizer,
                                    slice(batches.pictures, i, tessera::all, tessera::all),
                                    slice(batches.labels, i, tessera::all));
    exchanges = mode.get_total_counts();
    sum = sum + loss;  // each rank adds its contributions
    print(loss);
  }
  return {item(sum) / static_cast<double>(batches.size()), exchanges, timer.seconds()};
}

/// Trains the network, and returns how it went. The learning rate falls from epoch to epoch, and would be 0 after
/// the last one. Errors: InvalidArgument where the loss is no finite number any more.
template <class Optimizer>
std::vector<Epoch> trained(const Network& network, Optimizer optimizer, const train::Digits& digits,
                           const Options& options) {
  const bool prints = digits.labels.device_mesh().rank() == 0;
  const auto held_out = train::held_out(digits);
  LossPrinter print(options.print_losses);
  grad::Tape tape;
  nn::watch(network, tape);
  const double lr = optimizer.options().lr;
  std::vector<Epoch> result;
  for (int epoch = 1; epoch <= options.epochs; ++epoch) {
    optimizer.set_lr(lr * (options.epochs + 1 - epoch) / options.epochs);
    const auto seed = options.seed + static_cast<std::uint64_t>(epoch);
    const auto batches = train::shuffled(digits, options.batch, seed);
    const auto [loss, exchanges, seconds] = trained_once(network, tape, optimizer, batches, print);
    require(std::isfinite(loss), [&, epoch = epoch] {
      return fmt::format("the loss is no finite number in epoch {}: take a smaller --lr", epoch);
    });
    result.push_back({loss, accuracy(network, held_out)});
    if (!prints) continue;
    const auto text =
        options.print_losses ? fmt::format("{:a}", loss) : fmt::format("{:.6f}", loss);
    fmt::print("epoch {:2}: loss {}, held out {:.2f} % right, exchanges per step {}, {:.1f} ms\n",
               epoch, text, result.back().accuracy, exchanges, 1e3 * seconds);
    std::fflush(
        stdout);  // the launcher reads it through a pipe: without this, lines would come late
  }
  return result;
}

std::vector<Epoch> trained(const Network& network, const train::Digits& digits,
                           const Options& options) {
  const double lr = options.lr;
  if (options.optimizer == "adam")
    return trained(network, nn::Adam(network, {.lr = lr > 0 ? lr : 5e-3}), digits, options);
  return trained(network, nn::SGD(network, {.lr = lr > 0 ? lr : 0.1, .momentum = 0.9}), digits,
                 options);
}

/// Writes the picture. Returns whether that went well.
bool report(const std::vector<Epoch>& epochs, const Network& network, const DeviceMesh& mesh,
            const Options& options) {
  const auto layers = fmt::format("{} x {} x {}", network.registry().parameters()[0].shape[1],
                                  options.hidden, train::classes);
  const auto title =
      fmt::format("Handwritten digits, network {}, {}, batches of {}, mesh {}", layers,
                  options.optimizer, options.batch, to_string(mesh.layout()));
  const auto svg = train::curve_svg(epochs, title, wanted);
  const bool is_written = train::write_text(options.output, svg);
  if (!is_written) fmt::print(stderr, "train: cannot write '{}'\n", options.output);
  const double accuracy = epochs.back().accuracy;
  fmt::print("{:.2f} % of the held-out digits are right, {} at least {} %\n", accuracy,
             accuracy >= wanted ? "as expected:" : "NOT as expected:", wanted);
  return is_written;
}

int run(const DeviceMesh& mesh, const Options& options) {
  require(std::isfinite(options.lr), "--lr: expected a finite number, got nan");
  const auto digits = train::read_digits(mesh, options.input, options.labels);
  const auto to_train =
      static_cast<std::int64_t>(train::split_rows(digits.labels.extent(0), false).size());
  require(options.batch <= to_train, [&] {
    return fmt::format("--batch: expected at most the number of digits to train with, {}, got {}",
                       to_train, options.batch);
  });
  const auto network =
      train::distributed(Network(digits.pictures.extent(1), options.hidden, options.seed), mesh);
  if (mesh.rank() == 0) {
    fmt::print("{} digits to train with, {} held out\n", to_train,
               digits.labels.extent(0) - to_train);
    for (const auto& parameter : network.registry().parameters())
      fmt::print("{}: {}\n", parameter.name, to_string(parameter.spec));
  }
  const auto epochs = trained(network, digits, options);
  int is_wrong = 0;
  if (mesh.rank() == 0) is_wrong = report(epochs, network, mesh, options) ? 0 : 1;
  is_wrong = all_reduce(is_wrong, ReduceOp::sum, mesh);
  return is_wrong == 0 && epochs.back().accuracy >= wanted ? 0 : failed;
}

void add_options(CLI::App& app, Options& options) {
  const auto number = [&](const char* name, auto& value, const char* help, auto least) {
    app.add_option(name, value, help)->check(CLI::Range(least, 1000000))->capture_default_str();
  };
  number("--dp", options.dp, "Ranks that share each batch; 0: all, divided by --tp", 0);
  number("--tp", options.tp, "Ranks that share the network; 0: all, divided by --dp, or 1", 0);
  number("--epochs", options.epochs, "Passes over the digits", 1);
  number("--batch", options.batch, "Digits of a training step", 1);
  number("--hidden", options.hidden, "Numbers between the two layers", 1);
  number("--seed", options.seed, "Selects the first weights and the order of the digits", 0);
  app.add_option("--lr", options.lr,
                 "First learning rate, which falls by equal steps; 0: 0.1 for sgd, 0.005 for adam")
      ->check(CLI::Range(0.0, 1e300))
      ->capture_default_str();
  app.add_option("--optimizer", options.optimizer, "sgd (with momentum 0.9) or adam")
      ->check(CLI::IsMember({"sgd", "adam"}))
      ->capture_default_str();
  app.add_option("--input", options.input, "2-d .npy file of real numbers, one picture per row")
      ->capture_default_str();
  app.add_option("--labels", options.labels, "1-d .npy file with the digit of each row")
      ->capture_default_str();
  app.add_option("--output", options.output, "SVG file for loss and accuracy over the epochs")
      ->capture_default_str();
  app.add_flag("--print-losses", options.print_losses,
               "Print the losses of the first 10 steps and of all epochs with all bits");
}

}  // namespace

int main(int argc, char** argv) {
  const ScopeGuard guard(argc, argv);
  const bool prints = DeviceMesh::from_comm(MPI_COMM_WORLD).rank() == 0;
  Options options;
  CLI::App app("Trains a network of two layers to recognise handwritten digits");
  add_options(app, options);
  try {
    app.parse(argc, argv);
    return run(make_mesh(options), options);
  } catch (const CLI::Success& help) {
    return prints ? app.exit(help) : 0;
  } catch (const CLI::ParseError& error) {
    if (prints) fmt::print(stderr, "train: {}\n", error.what());
    return cannot_run;
  } catch (const Error& error) {
    if (prints) fmt::print(stderr, "train: {}\n", error.what());
    return cannot_run;
  }
}
