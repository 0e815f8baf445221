# SPDX-FileCopyrightText: 2026 Tessera authors
# SPDX-License-Identifier: Apache-2.0
"""Fails where object files have instructions that multiply and add at once. Arguments: objdump, the files."""
import re
import subprocess
import sys

FUSED = re.compile(r"\bvfn?m(?:add|sub)\w+")


def main(objdump, files):
    problems = 0
    for file in files:
        code = subprocess.run([objdump, "--disassemble", file], capture_output=True, text=True, check=True).stdout
        if "vmulpd" not in code:
            print(f"{file}: multiplies nothing in vectors: not compiled as meant?")
            problems += 1
        for name in sorted(set(FUSED.findall(code))):
            print(f"{file}: {name}")
            problems += 1
    return 1 if problems else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1], sys.argv[2:]))
