// SPDX-FileCopyrightText: 2026 Tessera authors
// SPDX-License-Identifier: Apache-2.0
#include "programs.hpp"

class Model {
 public:
  Model() { module_.register_module("layer", layer_); }
  const nn::Module& registry() const { return module_; }
  template <class X>
  auto operator()(const X& a) const {
    return module_.forward([&] { return layer_(a); });
  }

 private:
  nn::Linear<Matrix> layer_{4, 3};
  nn::Module module_{"Model"};
};

extern const Model model;

#ifdef MISTAKE_distribute_module_of_no_module
// expect: distribute_module takes an object whose function registry() const returns its nn::Module
void program() {
  auto m = nn::distribute_module(view, mesh);
}
#endif

#ifdef MISTAKE_partition_function_of_two_arguments
// expect: distribute_module: partition_fn takes (name, module, mesh)
void program() {
  auto m = nn::distribute_module(model, mesh, [](const std::string&, nn::Module&) {});
}
#endif

#ifdef MISTAKE_partition_function_of_a_const_module_that_is_placed
// expect: passing 'const tessera::nn::Module' as 'this' argument discards qualifiers
void program() {
  auto m = nn::distribute_module(model, mesh,
                                 [](const std::string&, const nn::Module& part, const DeviceMesh&) {
                                   part.place("weight", Shard(0));
                                 });
}
#endif

#ifdef MISTAKE_placements_for_the_partition_function
// expect: distribute_module: partition_fn takes (name, module, mesh)
void program() {
  auto m = nn::distribute_module(model, mesh, Shard(0));
}
#endif

#ifdef MISTAKE_input_hook_of_one_argument
// expect: distribute_module: input_fn and output_fn take (module, inputs or outputs, mesh)
void program() {
  auto m = nn::distribute_module(model, mesh, {}, [](const std::tuple<DTensor<Matrix>>&) {});
}
#endif

#ifdef MISTAKE_output_hook_of_four_arguments
// expect: distribute_module: input_fn and output_fn take (module, inputs or outputs, mesh)
void program() {
  const auto hook = [](const Model&, const grad::Variable<Matrix>&, const DeviceMesh&, int) {};
  auto m = nn::distribute_module(model, mesh, {}, {}, hook);
}
#endif

#ifdef MISTAKE_generic_hook_of_one_argument
// expect: distribute_module: input_fn takes (module, inputs, mesh), where inputs is a std::tuple
void program() {
  auto m = nn::distribute_module(model, mesh, {}, [](const auto&) {});
  auto z = m(x);
}
#endif

#ifdef MISTAKE_hook_of_a_tensor_for_its_inputs
// expect: distribute_module: input_fn takes (module, inputs, mesh), where inputs is a std::tuple
void program() {
  auto m = nn::distribute_module(model, mesh, {},
                                 [](const Model&, const DTensor<Matrix>&, const DeviceMesh&) {});
  auto z = m(x);
}
#endif

#ifdef MISTAKE_linear_layer_of_a_vector
// expect: expected a View type of 2 dims: nn::Linear<Kokkos::View<double**>>
void program() {
  nn::Linear<Vector> layer(4, 3);
}
#endif

#ifdef MISTAKE_linear_layer_of_integers
// expect: nn::Linear holds numbers of type float or double, or complex numbers of these
void program() {
  nn::Linear<Kokkos::View<int**>> layer(4, 3);
}
#endif

#ifdef MISTAKE_layer_called_with_a_view
// expect: a layer takes a tensor, or a variable of one
void program() {
  auto z = nn::Linear<Matrix>(4, 3)(view);
}
#endif

#ifdef MISTAKE_layer_called_with_integers
// expect: a layer takes elements of the type of its parameters
void program() {
  auto z = nn::Linear<Matrix>(4, 3)(n);
}
#endif

#ifdef MISTAKE_layer_norm_called_with_a_view
// expect: a layer takes a tensor, or a variable of one
void program() {
  auto z = nn::LayerNorm<Matrix>(4)(view);
}
#endif

#ifdef MISTAKE_layer_norm_called_with_another_type
// expect: a layer takes elements of the type of its parameters
void program() {
  auto z = nn::LayerNorm<Matrix>(4)(f);
}
#endif

#ifdef MISTAKE_layer_norm_of_integers
// expect: nn::LayerNorm computes with float or double
void program() {
  nn::LayerNorm<Kokkos::View<int**>> layer(4);
}
#endif

#ifdef MISTAKE_parameter_with_static_extents
// expect: a module takes parameters in Views without static extents
void program() {
  nn::Module module("Model");
  module.register_parameter("weight", Kokkos::View<double* [3]>("weight", 4));
}
#endif

#ifdef MISTAKE_parameter_in_an_unmanaged_view
// expect: expected a managed, non-const Kokkos::View in LayoutLeft or LayoutRight
void program() {
  using Unmanaged = Kokkos::View<double**, Kokkos::MemoryTraits<Kokkos::Unmanaged>>;
  nn::Module module("Model");
  module.register_parameter("weight", Unmanaged(nullptr, 4, 3));
}
#endif

#ifdef MISTAKE_parameter_of_integers
// expect: register_buffer takes others
void program() {
  nn::Module module("Model");
  module.register_parameter("counts", Kokkos::View<int*>("counts", 4));
}
#endif

#ifdef MISTAKE_tensor_as_a_parameter
// expect: register_parameter takes a View of this rank
void program() {
  nn::Module module("Model");
  module.register_parameter("weight", x);
}
#endif

#ifdef MISTAKE_view_as_a_submodule
// expect: has no member named 'registry'
void program() {
  nn::Module module("Model");
  module.register_module("layer", view);
}
#endif

#ifdef MISTAKE_number_as_the_place_of_a_parameter
// expect: cannot convert 'int' to 'const tessera::Target&'
void program() {
  nn::Module module("Model");
  module.place("weight", 0);
}
#endif

#ifdef MISTAKE_optimizer_of_no_module
// expect: nn::SGD takes an object whose function registry() const returns its nn::Module
void program() {
  nn::SGD optimizer(view, {.lr = 0.1});
}
#endif

#ifdef MISTAKE_adam_of_variables
// expect: nn::Adam takes an object whose function registry() const returns its nn::Module
void program() {
  nn::Adam optimizer(std::vector{variable});
}
#endif

#ifdef MISTAKE_watch_of_no_module
// expect: nn::watch takes an object whose function registry() const returns its nn::Module
void program() {
  grad::Tape tape;
  nn::watch(x, tape);
}
#endif

#ifdef MISTAKE_forward_pass_that_returns_nothing
// expect: Module::forward takes a function that returns the outputs
void program() {
  model.registry().forward([] { ops::exp(x); });
}
#endif

#ifdef MISTAKE_attention_of_three_dims
// expect: scaled_dot_product_attention takes tensors of 4 dims: batch, head, sequence, column
void program() {
  extern const DTensor<Kokkos::View<double***>> q;
  auto z = nn::scaled_dot_product_attention(q, q, q);
}
#endif

#ifdef MISTAKE_attention_of_integers
// expect: scaled_dot_product_attention takes tensors of one element type, float or double
void program() {
  extern const DTensor<Kokkos::View<int****>> q;
  auto z = nn::scaled_dot_product_attention(q, q, q);
}
#endif

#ifdef MISTAKE_attention_of_two_types
// expect: scaled_dot_product_attention takes tensors of one element type, float or double
void program() {
  extern const DTensor<Kokkos::View<double****>> q;
  extern const DTensor<Kokkos::View<float****>> k;
  auto z = nn::scaled_dot_product_attention(q, k, k, {.causal = true});
}
#endif

#ifdef MISTAKE_attention_of_views
// expect: scaled_dot_product_attention takes tensors or Variables
void program() {
  const Kokkos::View<double****> q("q", 1, 2, 3, 4);
  auto z = nn::scaled_dot_product_attention(q, q, q);
}
#endif

#ifdef MISTAKE_context_of_a_view
// expect: ContextParallel: expected std::ref(x) of a DTensor x that is not const
void program() {
  Matrix buffer = view;
  const nn::ContextParallel cp(mesh, {.buffers = {std::ref(buffer)}, .buffer_seq_dims = {0}});
}
#endif

#ifdef MISTAKE_context_of_a_const_tensor
// expect: ContextParallel: expected std::ref(x) of a DTensor x that is not const
void program() {
  const nn::ContextParallel cp(mesh, {.buffers = {std::ref(x)}, .buffer_seq_dims = {0}});
}
#endif

#ifdef MISTAKE_context_of_a_tensor_without_a_reference
// expect: ContextParallel: expected std::ref(x) of a DTensor x that is not const
void program() {
  const nn::ContextParallel cp(mesh, {.buffers = {x}, .buffer_seq_dims = {0}});
}
#endif

#ifdef MISTAKE_modules_as_meant
// expect: compiles
void program() {
  const auto partition = [](const std::string& name, nn::Module& module, const DeviceMesh& on) {
    if (name == "layer") module.place("weight", Shard(0));
    if (name == "other") nn::column_parallel(module, on);
  };
  Model a = nn::distribute_module(model, mesh, partition);
  auto b = nn::distribute_module(
      model, mesh, partition,
      [](const Model&, const std::tuple<DTensor<Matrix>>& inputs, const DeviceMesh&) {
        return std::tuple(redistribute(std::get<0>(inputs), {Shard(0)}));
      },
      [](const auto& outputs, const DeviceMesh&) { return outputs.detach(); }, {.each_rank = true});
  auto c = a(x);
  auto d = b(x);
  auto gradient = c.grad();
  grad::Tape tape;
  nn::watch(a, tape);
  nn::watch(b, tape);
  nn::SGD one(a, {.lr = 0.1});
  nn::Adam two(b.registry());
  nn::SGD three = one;
  DTensor<Matrix> buffer = x;
  const nn::ContextParallel cp(mesh, {.buffers = {std::ref(buffer)}, .buffer_seq_dims = {0}});
  auto local = d.to_local();
}
#endif
