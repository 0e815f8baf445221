# SPDX-FileCopyrightText: 2026 Tessera authors
# SPDX-License-Identifier: Apache-2.0
"""This test lets check_surface.py count declarations in texts that are written for it."""
import unittest

import check_surface


def names(text):
    return [name for name in map(check_surface.function_name, check_surface.declarations(text)) if name]


class Surface(unittest.TestCase):
    def test_counts_declarations_and_definitions_at_namespace_scope(self):
        text = """
        #include <a>
        namespace tessera {
        /// Does not count f() in a comment.
        int f(int x = 3, const A& a = {});
        template <class V> requires(is_view<V>) DTensor<V> f(const V& v) { return g(v, {1, 2}); }
        inline constexpr int value = h(3);
        struct S { int member(); friend bool operator==(S, S); };
        using Alias = int (*)(int);
        template <class Out = void, class V>
        Pending<DTensor<view_t<V, Out>>> f(const V&, const Target& target = all) { if (a) { b(); } }
        std::ostream& operator<<(std::ostream& out, const S& s);
        int S::member() { return 1; }
        }  // namespace tessera
        """
        self.assertEqual(names(text), ["f", "f", "f", "operator<<"])

    def test_leaves_out_what_is_the_librarys_own(self):
        text = "namespace tessera { namespace detail { int f(); } int g(); }\nnamespace Kokkos { int h(); }"
        self.assertEqual(names(text), ["g"])

    def test_names_what_has_too_many_declarations(self):
        counts = {"redistribute": 5, "clone": 3, "to_string": 20, "from_local": 6, "item": 2}
        self.assertEqual([problem.split()[0] for problem in check_surface.problems(counts)], ["clone", "redistribute"])


if __name__ == "__main__":
    unittest.main()
