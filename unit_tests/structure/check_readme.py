# SPDX-FileCopyrightText: 2026 Tessera authors
# SPDX-License-Identifier: Apache-2.0
"""Checks that the program in README.md is examples/readme/readme.cpp. Argument: the project's root."""
import pathlib
import re
import sys

root = pathlib.Path(sys.argv[1])
shown = re.search(r"```cpp\n(.*?)```", (root / "README.md").read_text(), re.S).group(1)
built = (root / "examples/readme/readme.cpp").read_text()
lines = (root / "README.md").read_text().count("\n")
if lines > 120:
    sys.exit(f"README.md has {lines} lines, at most 120 are read")
sys.exit(0 if built.endswith(shown) else "README.md shows another program than examples/readme/readme.cpp")
