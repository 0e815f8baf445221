# SPDX-FileCopyrightText: 2026 Tessera authors
# SPDX-License-Identifier: Apache-2.0
"""This test gives check_prose.py docstrings that keep its rules and docstrings that break one each."""
import unittest

import check_prose


def problems(text):
    return [problem for _, problem in check_prose.problems_of(text)]


class Prose(unittest.TestCase):
    def test_accepts_sentences(self):
        self.assertEqual(problems("/// Returns the shard of `rank`.\nint f();\n"), [])
        self.assertEqual(problems("/// A block travels in chunks. Of many, some wait.\nint f();\n"), [])
        self.assertEqual(problems("/// Describes a copy\n/// of one block.\n///\n/// Of no interest.\nstruct A {};\n"), [])
        self.assertEqual(problems("int bytes;  ///< length of the header, bytes\n"), [])

    def test_rejects_what_leans_on_another_docstring(self):
        for beginning in ("The same", "Of", "Those", "That", "As"):
            self.assertEqual(len(problems(f"  /// {beginning} is returned.\n  int f();\n")), 1, beginning)

    def test_rejects_a_first_sentence_without_a_verb(self):
        self.assertIn("no verb", problems("/// The bytes of a chunk. It is short.\nint f();\n")[0])
        self.assertIn("no verb", problems("/// The largest piece,\n/// dim by dim.\nint f();\n")[0])

    def test_rejects_a_field_whose_comment_begins_with_a_preposition(self):
        self.assertIn("preposition", problems("int bytes;  ///< of its first byte\n")[0])

    def test_exempts_what_will_be_replaced(self):
        for name in ("src/engine/run.cpp", "include/tessera/agreement/options.hpp", "src/node/window.cpp"):
            self.assertTrue(check_prose.EXEMPT.match(name), name)
        for name in ("src/node/nodes.cpp", "src/plan/plan.cpp", "include/tessera/tensor/dtensor.hpp"):
            self.assertFalse(check_prose.EXEMPT.match(name), name)


if __name__ == "__main__":
    unittest.main()
