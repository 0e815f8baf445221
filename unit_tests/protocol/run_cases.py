# SPDX-FileCopyrightText: 2026 Tessera authors
# SPDX-License-Identifier: Apache-2.0
"""Runs a program once for each of some seeds. Arguments: first seed, number of seeds, the command."""
import os
import subprocess
import sys

first, cases = int(sys.argv[1]), int(sys.argv[2])
for seed in range(first, first + cases):
    result = subprocess.run(sys.argv[3:], env={**os.environ, "TESSERA_TEST_SEED": str(seed)}, capture_output=True, text=True)
    if result.returncode != 0:
        sys.exit(f"TESSERA_TEST_SEED={seed}: exit status {result.returncode}\n{result.stdout}\n{result.stderr}")
print(f"{cases} cases passed")
