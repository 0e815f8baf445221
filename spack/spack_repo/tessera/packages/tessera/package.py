# SPDX-FileCopyrightText: 2026 Tessera authors
# SPDX-License-Identifier: Apache-2.0
from spack_repo.builtin.build_systems.cmake import CMakePackage
from spack_repo.builtin.build_systems.cuda import CudaPackage
from spack_repo.builtin.build_systems.rocm import ROCmPackage

from spack.package import *


class Tessera(CMakePackage, CudaPackage, ROCmPackage):
    """Distributed tensors for scientific codes in C++20, on Kokkos Views and MPI: a mesh of
    ranks, placements (sharded, replicated, partial), and the redistribution between any two."""

    homepage = "https://github.com/tessera-hpc/tessera"
    git = "https://github.com/tessera-hpc/tessera.git"

    test_requires_compiler = True

    license("Apache-2.0")

    # Releases are added here with their tags, as soon as there are any: see CHANGELOG.md.
    version("develop", branch="main")

    variant("shared", default=True, description="Build a shared library")
    variant("serial", default=True, description="Kokkos runs on one host thread")
    variant("openmp", default=True, description="Kokkos runs on host threads of OpenMP")
    variant("blas", default=True, description="Multiply matrices on the host by a BLAS")
    variant(
        "kokkos_kernels", default=False, description="Multiply matrices on devices by Kokkos Kernels"
    )
    variant("tools", default=True, description="Build the program tessera")
    variant("tests", default=False, description="Build the tests, examples and benchmarks")
    variant("docs", default=False, description="Build and install the documentation's site")

    # Kokkos takes one architecture.
    variant(
        "cuda_arch",
        default="none",
        values=("none",) + CudaPackage.cuda_arch_values,
        multi=False,
        sticky=True,
        when="+cuda",
        description="CUDA architecture",
    )
    variant(
        "amdgpu_target",
        default="none",
        values=("none",) + ROCmPackage.amdgpu_targets,
        multi=False,
        sticky=True,
        when="+rocm",
        description="AMD GPU architecture",
    )

    depends_on("c", type="build")
    depends_on("cxx", type="build")
    depends_on("cmake@3.23:", type="build")
    depends_on("cmake@3.25.2:", type="build", when="+cuda")

    # Cray MPICH 8 provides MPI 3, which this range contains.
    depends_on("mpi@3.1:")
    depends_on("kokkos@4.5:")
    depends_on("fmt")

    for backend in ("serial", "openmp"):
        depends_on(f"kokkos+{backend}", when=f"+{backend}")
    # Programs on top stay C++ to CMake, which Kokkos of the languages CUDA and HIP forbids.
    for backend in ("cuda", "rocm"):
        depends_on(f"kokkos+{backend}~cmake_lang", when=f"+{backend}")
    for arch in CudaPackage.cuda_arch_values:
        depends_on(f"kokkos cuda_arch={arch}", when=f"+cuda cuda_arch={arch}")
    for target in ROCmPackage.amdgpu_targets:
        depends_on(f"kokkos amdgpu_target={target}", when=f"+rocm amdgpu_target={target}")
    depends_on("kokkos+wrapper", when="+cuda %gcc")

    depends_on("blas", when="+blas")
    depends_on("kokkos-kernels", when="+kokkos_kernels")
    depends_on("kokkos-kernels+cuda", when="+kokkos_kernels+cuda")
    conflicts("^openblas+ilp64", when="+blas", msg="the BLAS is called with integers of 32 bits")

    depends_on("cli11", when="+tools")
    depends_on("nlohmann-json", when="+tools")

    with when("+tests"):
        depends_on("cli11")
        depends_on("nlohmann-json")
        depends_on("googletest@1.10:")
        depends_on("benchmark")
        depends_on("python@3.10:", type="build")

    with when("+docs"):
        depends_on("doxygen", type="build")
        depends_on("graphviz", type="build")
        depends_on("python@3.10:", type="build")

    requires("platform=linux", msg="Tessera runs on Linux")
    conflicts("%gcc@:11", msg="Tessera needs the C++20 of g++ 12 or later")
    conflicts("%clang@:13", msg="Tessera needs the C++20 of clang++ 14 or later")
    conflicts("~serial ~openmp", msg="Kokkos needs a host backend: +serial, +openmp or both")
    conflicts("+cuda", when="+rocm", msg="Kokkos is for one kind of GPU: +cuda or +rocm, not both")
    conflicts("cuda_arch=none", when="+cuda", msg="+cuda needs a GPU, such as cuda_arch=90")
    conflicts(
        "amdgpu_target=none", when="+rocm", msg="+rocm needs a GPU, such as amdgpu_target=gfx90a"
    )
    conflicts(
        "^kokkos~shared~pic",
        when="+shared",
        msg="a shared library needs ^kokkos+shared or ^kokkos+pic",
    )

    def cmake_args(self):
        args = [
            self.define("MPI_HOME", self.spec["mpi"].prefix),
            self.define_from_variant("BUILD_SHARED_LIBS", "shared"),
            self.define_from_variant("TESSERA_ENABLE_BLAS", "blas"),
            self.define_from_variant("TESSERA_ENABLE_KOKKOS_KERNELS", "kokkos_kernels"),
            self.define_from_variant("TESSERA_BUILD_TOOLS", "tools"),
            self.define_from_variant("TESSERA_BUILD_TESTS", "tests"),
            self.define_from_variant("TESSERA_BUILD_EXAMPLES", "tests"),
            self.define_from_variant("TESSERA_BUILD_PERF", "tests"),
            self.define_from_variant("TESSERA_BUILD_DOCS", "docs"),
        ]
        return args + self.compiler_args()

    def compiler_args(self):
        if self.spec.satisfies("^kokkos+wrapper"):
            return [self.define("CMAKE_CXX_COMPILER", self["kokkos"].kokkos_cxx)]
        if self.spec.satisfies("+rocm"):
            return [self.define("CMAKE_CXX_COMPILER", self.spec["hip"].hipcc)]
        return []

    @property
    def build_targets(self):
        return ["all", "docs"] if self.spec.satisfies("+docs") else []

    @run_after("install", when="+docs")
    def install_docs(self):
        site = join_path(self.stage.source_path, "build", "site", "html")
        install_tree(site, self.prefix.share.doc.tessera.html)

    def check(self):
        """with --test=root: not the tests that need 8 GB, or another build"""
        with working_dir(self.build_directory):
            ctest("--output-on-failure", "-LE", "large|install")

    consumer = join_path("unit_tests", "install", "consumer")

    @run_after("install")
    def keep_consumer(self):
        cache_extra_test_sources(self, self.consumer)

    def test_consumer(self):
        """build and run a program that finds the installed package"""
        cmake = self.spec["cmake"].command
        cmake.add_default_env("NVCC_WRAPPER_DEFAULT_COMPILER", self["cxx"].cxx)
        options = [
            self.define("CMAKE_C_COMPILER", self["c"].cc),
            self.define("CMAKE_CXX_COMPILER", self["cxx"].cxx),
            self.define("CMAKE_PREFIX_PATH", [self.prefix] + get_cmake_prefix_path(self)),
            self.define("MPI_HOME", self.spec["mpi"].prefix),
        ]
        with working_dir(join_path(self.test_suite.current_test_cache_dir, self.consumer)):
            cmake("-S", ".", "-B", "build", *options, *self.compiler_args())
            cmake("--build", "build")
            self.run_on_two_ranks(join_path("build", "consumer"))

    def run_on_two_ranks(self, program):
        mpiexec = which(self.spec["mpi"].prefix.bin.mpiexec)
        if mpiexec is None:
            raise SkipTest("built, but this MPI has no mpiexec to run it")
        mpiexec.add_default_env("OMP_NUM_THREADS", "1")
        flags = ["--oversubscribe"] if self.spec.satisfies("^openmpi") else []
        mpiexec(*flags, "-n", "2", program)

    def test_explain(self):
        """plan a redistribution with the installed program"""
        if self.spec.satisfies("~tools"):
            raise SkipTest("the program is built with +tools")
        tessera = which(self.prefix.bin.tessera, required=True)
        tensor = ["--mesh", "2x2", "--shape", "8,8"]
        text = tessera("explain", *tensor, "--from", "S(0),R", "--to", "R,S(1)", output=str)
        assert "S(0), R -> R, S(1): 1 exchange" in text, text
