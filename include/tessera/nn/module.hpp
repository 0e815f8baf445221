// SPDX-FileCopyrightText: 2026 Tessera authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <concepts>
#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
#include <vector>

#include <tessera/error/detail/never.hpp>
#include <tessera/grad/detail/module_path.hpp>
#include <tessera/nn/detail/any_parameter.hpp>
#include <tessera/redistribute/convert.hpp>
#include <tessera/redistribute/distribute_tensor.hpp>

/// A module is an object with parameters that computes outputs from inputs, as in PyTorch: Linear, LayerNorm,
/// and what users make of them.
namespace tessera {

namespace nn {
class Module;
}

namespace detail {
struct ModuleState;
struct ModuleAccess;

/// Returns whether a module can hold parameters in Views of type V. If not, it stops the compiler with a sentence.
template <class V>
consteval bool expect_parameter() {
  if constexpr (expect_allocatable<V>()) {
    constexpr bool is_dynamic = V::rank() == V::rank_dynamic();
    static_assert(is_dynamic, "a module takes parameters in Views without static extents");
    return is_dynamic;
  }
  return false;
}

/// Returns the parameter of a name in the module or, for "fc1.weight", in a submodule. Errors: InvalidArgument.
AnyParameter& parameter_of(const nn::Module& module, std::string_view name);
/// Throws InvalidArgument: the parameter has another View type.
[[noreturn]] void throw_other_view(const AnyParameter& parameter, ElementType asked,
                                   std::size_t rank);

/// Returns the parameter as one in Views of type V. Errors: InvalidArgument if it has another View type.
template <class V>
ParameterOf<V>& parameter_as(AnyParameter& parameter) {
  auto* const result = dynamic_cast<ParameterOf<V>*>(&parameter);
  if (result == nullptr)
    throw_other_view(parameter, element_type<typename V::value_type>(), V::rank());
  return *result;
}
}  // namespace detail

namespace nn {

/// Describes a parameter or a buffer of a module.
struct ParameterInfo {
  std::string name;  ///< name, after those of submodules, as "fc1.weight"
  DTensorSpec spec;  ///< spec of the tensor; before distribute_module() a default one, of no mesh
  Extents shape;     ///< global shape; before distribute_module() that of this rank's View
  ElementType type;
  bool trainable;  ///< whether watch() and optimizers take it; false for buffers
  bool is_buffer;
};

/// Is a parameter or a buffer that a module computes with. Copies share it.
template <LocalView V>
class Parameter {
 public:
  /// Takes what Module::register_parameter() has made.
  explicit Parameter(std::shared_ptr<detail::ParameterOf<V>> state) : state_(std::move(state)) {}

  /// Returns it as an operand of operators: a variable that a tape records, if it is watched, and
  /// otherwise one that no tape records. Errors: InvalidArgument before distribute_module().
  const grad::Variable<V>& variable() const { return state_->variable(); }
  /// Returns the tensor. Errors: InvalidArgument before distribute_module().
  const DTensor<V>& tensor() const { return state_->variable().detach(); }

 private:
  std::shared_ptr<detail::ParameterOf<V>> state_;
};

struct NamedModule;

/// A Module lists the parameters, buffers and submodules that an object computes with. The object
/// has a Module as a member, which its function registry() returns. Copies of a Module share all: what is
/// done to one is done to the others.
///
/// Example:
///   class Mlp {
///    public:
///     Mlp() { module_.register_module("fc1", fc1_), module_.register_module("fc2", fc2_); }
///     const nn::Module& registry() const { return module_; }
///     template <class X>
///     auto operator()(const X& x) const {
///       return module_.forward([&] { return fc2_(ops::relu(fc1_(x))); });
///     }
///    private:
///     nn::Linear<Matrix> fc1_{64, 32}, fc2_{32, 10};
///     nn::Module module_{"Mlp"};
///   };
/// All members are local, except forward(), which is collective as its function and its hooks are.
class Module {
 public:
  /// Takes the kind of the module, such as "Linear". It is the name of its region until the module is
  /// registered in another one.
  explicit Module(std::string kind);

  /// Returns the name that it was registered by, or its kind.
  const std::string& name() const;

  /// Adds a parameter. Each rank has a View of it until distribute_module() makes it a tensor. One that is
  /// not `trainable` is not watched, and optimizers leave it alone. Errors: InvalidArgument for a
  /// name that is taken, is empty or has a dot, and after distribute_module().
  template <LocalView V>
  Parameter<V> register_parameter(const std::string& name, const V& values, bool trainable = true) {
    static_assert(detail::is_differentiable<typename V::value_type>,
                  "register_parameter takes floating-point or complex numbers; register_buffer "
                  "takes others");
    return add(name, values, trainable, false);
  }
  /// Stops the compiler: a parameter begins as a View.
  template <class T>
  requires(!LocalView<T>) detail::Unusable
      register_parameter(const std::string&, const T&, bool = true) {
    static_assert(detail::never<T>,
                  "register_parameter takes a View of this rank; distribute_module makes a tensor "
                  "of it, or module.set(name, tensor) in its partition_fn");
    return {};
  }
  /// Adds a buffer: values that belong to the module, and are not trained. Errors: as above.
  template <LocalView V>
  Parameter<V> register_buffer(const std::string& name, const V& values) {
    return add(name, values, false, true);
  }
  /// Adds a submodule, or an object that has one as its registry(). A module that several modules share
  /// keeps the name() that it got first, also in traces. Errors: InvalidArgument for a name that
  /// is taken, is empty or has a dot, a module that has this one, and after distribute_module().
  void register_module(const std::string& name, const Module& module);
  template <class M>
  requires(!std::same_as<M, Module>) void register_module(const std::string& name,
                                                          const M& module) {
    register_module(name, module.registry());
  }

  /// Returns the parameters and buffers, those of submodules after its own, in the order of registration.
  std::vector<ParameterInfo> parameters() const;
  /// Returns the module itself, with the name "", and all submodules, each before its own submodules.
  std::vector<NamedModule> named_modules() const;

  /// Returns the tensor of a parameter or buffer: get<View>("weight"), get<View>("fc1.weight"). Errors:
  /// InvalidArgument for a name that is none, another View type, and before distribute_module().
  template <LocalView V>
  const DTensor<V>& get(std::string_view name) const {
    return detail::named("Module::get", [&]() -> const DTensor<V>& {
      return detail::parameter_as<V>(detail::parameter_of(*this, name)).variable().detach();
    });
  }
  /// Says how distribute_module() places a parameter or buffer; its partition function calls this.
  /// Errors: InvalidArgument for a name that is none, and after distribute_module().
  void place(std::string_view name, const Target& target);
  /// Replaces a parameter or buffer by a tensor. distribute_module() leaves it alone. One that was watched
  /// has to be watched again. Errors: InvalidArgument for a name that is none, and another View type.
  template <LocalView V>
  void set(std::string_view name, const DTensor<V>& tensor) {
    detail::named("Module::set",
                  [&] { detail::parameter_as<V>(detail::parameter_of(*this, name)).set(tensor); });
  }

  /// Calls `hook` with the module before each forward pass. Hooks run in the order of registration.
  void register_forward_pre_hook(std::function<void(const Module&)> hook);
  /// Calls `hook` with the module after each forward pass.
  void register_forward_hook(std::function<void(const Module&)> hook);

  /// Returns function(), as the forward pass of the module: hooks run before and after it, and Kokkos'
  /// tools and CommDebugMode see all this in a region of the module's name. They see what its backward pass
  /// does in the same region within "backward".
  template <std::invocable F>
  std::remove_cvref_t<std::invoke_result_t<F>> forward(F function) const {
    constexpr bool has_outputs = !std::is_void_v<std::invoke_result_t<F>>;
    static_assert(has_outputs, "Module::forward takes a function that returns the outputs");
    if constexpr (has_outputs) {
      const detail::ForwardScope scope(name(), state_.get());
      before_forward();
      auto result = function();
      after_forward();
      return result;
    }
  }

 private:
  friend detail::ModuleAccess;

  template <LocalView V>
  Parameter<V> add(const std::string& name, const V& values, bool trainable, bool is_buffer) {
    if constexpr (detail::expect_parameter<V>()) {
      auto parameter = std::make_shared<detail::ParameterOf<V>>(name, values, trainable, is_buffer);
      add(name, parameter);
      return Parameter<V>(std::move(parameter));
    } else {
      return Parameter<V>(nullptr);
    }
  }
  void add(const std::string& name, const std::shared_ptr<detail::AnyParameter>& parameter);
  void before_forward() const;
  void after_forward() const;

  std::shared_ptr<detail::ModuleState> state_;
};

/// A NamedModule is a module with its name: the names of submodules joined by dots, "" for the root.
struct NamedModule {
  std::string name;
  Module module;
};

/// Is satisfied by objects that list their parameters in a Module.
template <class M>
concept HasRegistry = requires(const M& module) {
  { module.registry() } -> std::convertible_to<const Module&>;
};

}  // namespace nn

namespace detail {

/// Returns the parameters and buffers of the module and its submodules that are trainable, each once.
std::vector<std::shared_ptr<AnyParameter>> trainable_parameters(const nn::Module& module);
/// Returns all parameters and buffers.
std::vector<std::shared_ptr<AnyParameter>> all_parameters(const nn::Module& module);
/// Returns the address that tells a module from others; copies share it.
const void* identity(const nn::Module& module);

}  // namespace detail

namespace nn {

/// Makes the trainable parameters of a module variables of a tape, so that backward passes compute their
/// gradients. Local. Errors: InvalidArgument before distribute_module().
///
/// Example: nn::watch(model, tape);
///          tape.backward(ops::cross_entropy(model(x), targets));
template <class M>
void watch(const M& module, grad::Tape& tape) {
  constexpr bool fits = HasRegistry<M>;
  static_assert(fits,
                "nn::watch takes an object whose function registry() const returns its "
                "nn::Module; a tensor is watched by tape.watch(tensor)");
  if constexpr (fits)
    detail::named("nn::watch", [&] {
      for (const auto& parameter : detail::trainable_parameters(module.registry()))
        parameter->watch(tape);
    });
}

}  // namespace nn
}  // namespace tessera
