# SPDX-FileCopyrightText: 2026 Tessera authors
# SPDX-License-Identifier: Apache-2.0
"""For scripts/docs. Arguments: a page or a header, to print it as Doxygen is to read it, on the same lines; or `layout`, to print
the navigation: the pages as docs/index.md lists them.

Pages: headings get names and links lead to them, as on GitHub; links to files that are no pages become text.
Headers: the labels of docstrings ("Errors: …") become titles, examples that are code are shown as such, private members are left out.
"""
import html
import pathlib
import re
import sys

DOCS = pathlib.Path(__file__).resolve().parent
INDEX = DOCS / "index.md"
FENCED = re.compile(r"(^```.*?^```\s*?$)", re.M | re.S)
CODE = re.compile(r"(^```.*?^```\s*?$|`[^`\n]*`)", re.M | re.S)
LINK = re.compile(r"(!?)\[((?:[^][`]|`[^`]*`)*)\]\(([^()\s]+)\)")
LABEL = re.compile(r"^( *///) (Example|Errors|Result|Collective|Shapes|Source|in|out):( *)(.*)$")
# Words of the text that are types, too: no links to them.
WORDS = re.compile(r"(?<![\w:%])(Block|Box|Error|File|Group|Interval|Keep|None|Operation|Part|Partial|Pending|Phase|Placement|"
                   r"Placements|Progress|Random|Replicate|Shard|Simulation|Step|Timeout)(?![\w:(])")

# Of the pages of types, of the namespace and of headers: what it is first, then a list of the members, then one after another.
PARTS = """<class>
<includes visible="$SHOW_HEADERFILE"/><detaileddescription title="Description"/><inheritancegraph visible="$CLASS_GRAPH"/>
<memberdecl>
<nestedclasses visible="yes" title=""/><publictypes title=""/><publicmethods title=""/><publicstaticmethods title=""/>
<publicattributes title=""/><publicstaticattributes title=""/><friends title=""/><related title="" subtitle=""/>
</memberdecl>
<memberdef>
<inlineclasses title=""/><typedefs title=""/><enums title=""/><constructors title=""/><functions title=""/><related title=""/>
<variables title=""/>
</memberdef>
</class>
<namespace>
<memberdecl>
<functions title=""/><enums title=""/><typedefs title=""/><variables title=""/><concepts visible="yes" title=""/>
<classes visible="yes" title=""/><nestednamespaces visible="yes" title=""/>
</memberdecl>
<memberdef>
<functions title=""/><enums title=""/><typedefs title=""/><variables title=""/>
</memberdef>
</namespace>
<file>
<detaileddescription title="Description"/><includes visible="$SHOW_INCLUDE_FILES"/><includegraph visible="$INCLUDE_GRAPH"/>
<memberdecl>
<classes visible="yes" title=""/><concepts visible="yes" title=""/><typedefs title=""/><enums title=""/><functions title=""/>
<variables title=""/>
</memberdecl>
</file>"""


def page_name(page):
    return "page_" + re.sub(r"\W", "_", str(page.relative_to(DOCS).with_suffix("")))


def heading_name(page, heading):
    heading = re.sub(r"\[([^]]*)\]\([^)]*\)", r"\1", heading).strip().lower()
    return page_name(page) + "_" + re.sub(r"[^\w\- ]", "", heading).replace(" ", "-")


def target_of(page, target):
    name, _, anchor = target.partition("#")
    return (page.parent / name).resolve() if name else page, anchor


def is_page(file):
    return file.suffix == ".md" and DOCS in file.parents


def link(page, match):
    is_picture, text, target = match.groups()
    text = text.replace("%", "")
    if re.match(r"[a-z]+:", target):
        return match.group(0)
    file, anchor = target_of(page, target)
    if is_picture:
        return f"![{text}]({file.name})"
    if not is_page(file):
        return text if text.strip("`") in (file.name, file.stem) else f"{text} (`{file.relative_to(DOCS.parent)}`)"
    if file == INDEX:
        return f"[{text}](index.html)"
    text = text.replace("`", "")
    return f"[{text}](@ref {heading_name(file, anchor) if anchor else page_name(file)})"


def heading(page, match):
    level, text = match[1], match[2].replace("%", "")
    if page == INDEX:  # no sections: the navigation has them
        return f"<h{len(level)}>{text}</h{len(level)}>"
    return f"{level} {text} {{#{heading_name(page, text)}}}"


def page_text(page):
    parts = CODE.split(page.read_text())
    text = "".join(part if i % 2 else WORDS.sub(r"%\1", part) for i, part in enumerate(parts))
    parts = FENCED.split(text)
    for i in range(0, len(parts), 2):
        part = LINK.sub(lambda match: link(page, match), parts[i])
        parts[i] = re.sub(r"^(##+) +(.*)$", lambda match: heading(page, match), part, flags=re.M)
    text = "".join(parts)
    if page == INDEX:
        return text
    title, _, rest = text.partition("\n")
    title = re.sub(r"^# (\d+\.) ", "# \\1\u00a0", title.replace("`", "").replace("%", ""))  # not a list
    return f"{title} {{#{page_name(page)}}}\n{rest}"


def indent_of(text):
    return len(text) - len(text.lstrip())


def header_text(header):
    lines = header.read_text().split("\n")
    is_private = False
    for i, line in enumerate(lines):
        if line == " private:":
            is_private = True
            lines[i] += " /** @cond private */"
        elif line == "};" and is_private:
            is_private = False
            lines[i] = "/** @endcond */ " + line
        if line == "namespace tessera {":  # what stands before it is about the header
            first = i
            while lines[first - 1].startswith("///"):
                first -= 1
            if first < i:
                lines[first] = lines[first].replace("///", "/// @header", 1)
        label = LABEL.match(line)
        if not label:
            continue
        start, name, space, text = label.groups()
        last = i
        while last + 1 < len(lines) and lines[last + 1].startswith(start + "   "):
            last += 1
        lines[i] = f"{start} @label{{{name}}}{text}"
        if name == "Example" and (last > i and not text or lines[last].endswith(";")):
            lines[i] = f"{start} @label{{Example}}@code{{.cpp}}{text}"
            more = range(i + 1, last + 1)
            column = min((len(start) + indent_of(lines[k][len(start):]) for k in more), default=0)
            for k in more:
                lines[k] = f"{start} {lines[k][column:]}"
            lines[last] += " @endcode"
    return "\n".join(lines)


def layout():
    """The sections of the index, and the pages that they link to."""
    print('<doxygenlayout version="1.0">\n<navindex>\n<tab type="mainpage" visible="yes" title="Tessera"/>')
    for section in re.split(r"^## +", INDEX.read_text(), flags=re.M)[1:]:
        title, _, rest = section.partition("\n")
        print(f'<tab type="usergroup" visible="yes" url="[none]" title="{html.escape(title)}">')
        for _, _, target in LINK.findall(rest):
            file, _ = target_of(INDEX, target)
            if is_page(file):
                title = re.match(r"# +(.*)", file.read_text()).group(1).replace("`", "")
                print(f'<tab type="user" visible="yes" url="@ref {page_name(file)}" title="{html.escape(title)}"/>')
        print("</tab>")
    print('<tab type="usergroup" visible="yes" url="[none]" title="Interface">\n'
          '<tab type="user" visible="yes" url="@ref tessera" title="Functions"/>\n'
          '<tab type="classlist" visible="yes" title="Types"/>\n'
          '<tab type="filelist" visible="yes" title="Headers"/>\n'
          "</tab>\n</navindex>")
    print(PARTS)
    print("</doxygenlayout>")


def main(argument):
    if argument == "layout":
        layout()
    else:
        file = pathlib.Path(argument).resolve()
        sys.stdout.write(page_text(file) if file.suffix == ".md" else header_text(file))


if __name__ == "__main__":
    main(sys.argv[1])
