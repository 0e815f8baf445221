# SPDX-FileCopyrightText: 2026 Tessera authors
# SPDX-License-Identifier: Apache-2.0
"""Stands in for the parts of Spack that the recipe uses and keeps what the recipe declares."""
import contextlib
import dataclasses
import importlib.util
import os
import sys
import types


@dataclasses.dataclass
class Declared:
    """The calls of each directive, as (arguments, keywords); `when` is that of the call and of the blocks around it."""

    version: list = dataclasses.field(default_factory=list)
    variant: list = dataclasses.field(default_factory=list)
    depends_on: list = dataclasses.field(default_factory=list)
    conflicts: list = dataclasses.field(default_factory=list)
    requires: list = dataclasses.field(default_factory=list)
    license: list = dataclasses.field(default_factory=list)
    run_after: list = dataclasses.field(default_factory=list)


class Node:
    """A dependency of a concrete spec."""

    def __init__(self, name):
        self.prefix = f"/{name}"
        self.kokkos_cxx = f"/{name}/nvcc_wrapper"
        self.hipcc = f"/{name}/hipcc"


class Spec:
    """A concrete spec, compiled by gcc: Kokkos has the wrapper with +cuda."""

    def __init__(self, variants):
        self.variants = variants

    def satisfies(self, text):
        text = text.replace("^kokkos+wrapper", "+cuda")
        assert text[0] in "+~" and text[1:] in self.variants, text
        return self.variants[text[1:]] == (text[0] == "+")

    def __getitem__(self, name):
        return Node(name)


class CMakePackage:
    def __init__(self, variants):
        self.spec = Spec(variants)

    def __getitem__(self, name):
        return self.spec[name]

    def define(self, name, value):
        if isinstance(value, bool):
            value = "ON" if value else "OFF"
        return f"-D{name}={value}"

    def define_from_variant(self, name, variant):
        return self.define(name, self.spec.variants[variant])


class CudaPackage:
    cuda_arch_values = ("80", "90")


class ROCmPackage:
    amdgpu_targets = ("gfx90a", "gfx942")


def directives(declared):
    blocks = []

    @contextlib.contextmanager
    def when(condition):
        blocks.append(condition)
        yield
        blocks.pop()

    def directive(name):
        def keep(*arguments, **keywords):
            conditions = blocks + ([keywords["when"]] if "when" in keywords else [])
            getattr(declared, name).append((arguments, {**keywords, "when": " ".join(conditions)}))
            return lambda method: method

        return keep

    return {"when": when, **{field.name: directive(field.name) for field in dataclasses.fields(declared)}}


def module(name, **members):
    made = types.ModuleType(name)
    made.__dict__.update(members)
    made.__path__ = []
    sys.modules[name] = made


def load(path):
    """The recipe at `path` as a module, and what it declares."""
    declared = Declared()
    # Names that only methods use.
    later = "cache_extra_test_sources get_cmake_prefix_path install_tree which working_dir SkipTest".split()
    module("spack")
    module("spack.package", join_path=os.path.join, **directives(declared), **{name: object() for name in later})
    for name in ("spack_repo", "spack_repo.builtin", "spack_repo.builtin.build_systems"):
        module(name)
    for name, base in (("cmake", CMakePackage), ("cuda", CudaPackage), ("rocm", ROCmPackage)):
        module(f"spack_repo.builtin.build_systems.{name}", **{base.__name__: base})

    spec = importlib.util.spec_from_file_location("recipe", path)
    recipe = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(recipe)
    return recipe, declared
