# SPDX-FileCopyrightText: 2026 Tessera authors
# SPDX-License-Identifier: Apache-2.0
"""Checks that all links and pictures within a folder of HTML files lead somewhere. Argument: the folder."""
import html
import pathlib
import re
import sys
import urllib.parse

LINK = re.compile(r"""\b(?:href|src|data)=["']([^"']+)["']""")
NAME = re.compile(r"""\b(?:id|name)=["']([^"']+)["']""")


def main(folder):
    names = {}
    links = set()
    for page in sorted(folder.rglob("*.html")):
        text = re.sub(r"<script.*?</script>", "", page.read_text(), flags=re.S)
        names[page] = {html.unescape(name) for name in NAME.findall(text)}
        for target in LINK.findall(text):
            target = html.unescape(target)
            if not re.match(r"[a-z]+:|//", target):
                links.add((page, target))
    if not links:
        print(f"{folder}: no pages with links")
        return 1
    count = 0
    for page, target in sorted(links):
        name, _, anchor = urllib.parse.unquote(target).partition("#")
        file = (page.parent / name).resolve() if name else page
        if not file.exists():
            problem = "which is not there"
        elif anchor and file in names and anchor not in names[file]:
            problem = "which has no such place"
        else:
            continue
        print(f"{page.relative_to(folder)}: links to {target}, {problem}")
        count += 1
    return 1 if count else 0


if __name__ == "__main__":
    sys.exit(main(pathlib.Path(sys.argv[1]).resolve()))
