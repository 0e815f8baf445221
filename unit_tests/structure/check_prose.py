# SPDX-FileCopyrightText: 2026 Tessera authors
# SPDX-License-Identifier: Apache-2.0
"""Checks how docstrings are written: each begins with a sentence that has a verb, and not with words that lean on another docstring.

Arguments: the project's root; then, for a count by folder instead of a list, --count. Rules:
  - The first sentence has a verb: "Returns the piece that ...", "A block travels in ...".
  - No docstring begins with "The same", "Of", "Those", "That" or "As".
  - The comment that trails a field does not begin with a preposition.
What will be replaced is exempt: EXEMPT lists it.
"""
import collections
import pathlib
import re
import sys

# The engine and the agreement between ranks will be replaced; until then they stay as they are.
EXEMPT = re.compile(r"^(src|include/tessera)/(engine|agreement)/|^(src|include/tessera)/(.*/)?(window|node_window|shared_memory|store_choice|timed_write|device_slots)\.[ch]pp$")
DOCSTRING = re.compile(r"^( *)///(?!<)(.*(?:\n\1///(?!<).*)*)", re.M)
TRAILING = re.compile(r"///<[ ]*(\S.*)")
LEANING = re.compile(r"(The same|Of|Those|That|As|Its|Their)\b")
PREPOSITION = re.compile(r"(of|for|by|in|at|on|to|from|with|without|as|after|before|between|within|into|since|until|per|over|under)\b", re.I)
# Verbs by their forms; what else ends in s is a plural.
VERBS = set("""
is are was were be been being has have had having does do did can could may might must shall should will would cannot
returns makes gives takes sets gets adds removes calls throws waits sends receives reads writes copies moves packs unpacks reduces runs starts
stops ends begins holds keeps knows says tells asks checks finds looks counts measures compares computes converts creates constructs builds opens
closes frees allocates fills scales divides multiplies maps unmaps pins registers announces publishes releases posts completes tests handles
describes represents names identifies stores records registers lists shows prints draws formats parses joins splits cuts merges sorts drops
wraps unwraps replaces resets clears rewinds repeats prepares plans chooses decides prefers needs wants uses serves works lies lives comes goes
travels arrives leaves stays belongs applies exists happens means counts costs saves limits bounds covers contains includes excludes allows
forbids requires expects accepts rejects refuses ignores skips fails succeeds matches differs equals depends follows precedes owns shares
borrows lends passes hands delivers transfers exchanges distributes gathers scatters broadcasts redistributes collects accumulates combines
performs executes launches fences synchronizes orders schedules binds attaches detaches installs restores saves loads initializes finalizes initialises finalises
consists reverses renames take return
enables disables turns selects derives infers guesses estimates predicts rounds clips clamps truncates pads aligns shifts rotates
transposes permutes simplifies merges normalizes resolves translates encodes decodes hashes serializes reports warns logs traces notes marks
labels tags claims reserves enters visits iterates walks loops searches locates reaches gives provides offers supplies supports ensures
guarantees promises proves confirms verifies validates detects notices remembers forgets recycles reuses ends bring brings let lets put puts
acts behaves serves tries try appears looks becomes remains stands sits fits corresponds refers points asserts raises catches propagates
swaps grows shrinks doubles halves sums averages spans extends advances proceeds progresses continues resumes pauses cancels aborts kills
delays unblocks locks unlocks signals wakes sleeps yields spends spreads concerns affects changes alters modifies edits updates
overrides hides exposes declares defines specifies states assumes treats considers interprets renders displays
evaluates calculates determines generates produces yields emits streams buffers stages flushes drains empties
""".split())
SOURCES = ("include", "src", "tools", "perf", "examples")


def docstrings_of(text):
    """The docstrings with the numbers of their lines."""
    for match in DOCSTRING.finditer(text):
        lines = [line.strip()[3:].strip() if line.strip().startswith("///") else line.strip() for line in match[0].splitlines()]
        yield text.count("\n", 0, match.start()) + 1, " ".join(filter(None, lines[:lines.index("")] if "" in lines else lines))


def first_sentence(text):
    return re.split(r"(?<=[.:;!?])\s", text + " ", maxsplit=1)[0]


def problem_of(text):
    text = text.strip()
    if not text or text.startswith(("@", "\\", "Example", "#")):
        return ""
    if match := LEANING.match(text):
        return f"begins with \"{match[0]}\""
    words = re.findall(r"[A-Za-z']+", first_sentence(re.sub(r"`[^`]*`", "name", text)))
    if not any(word.lower() in VERBS for word in words):
        return "has no verb in its first sentence"
    return ""


def problems_of(text):
    for line, docstring in docstrings_of(text):
        if problem := problem_of(docstring):
            yield line, f"docstring {problem}: {docstring[:80]}"
    for line, content in enumerate(text.splitlines(), 1):
        if (match := TRAILING.search(content)) and PREPOSITION.match(match[1]):
            yield line, f"comment of a field begins with a preposition: {match[1][:80]}"


def main():
    root = pathlib.Path(sys.argv[1])
    counts = collections.Counter()
    checked = 0
    for folder in SOURCES:
        for file in sorted((root / folder).rglob("*.[ch]pp")):
            name = str(file.relative_to(root))
            if EXEMPT.match(name):
                continue
            text = file.read_text()
            checked += len(list(docstrings_of(text))) + len(TRAILING.findall(text))
            for line, problem in problems_of(text):
                counts[str(pathlib.Path(name).parent)] += 1
                if "--count" not in sys.argv:
                    print(f"{name}:{line}: {problem}")
    if "--count" in sys.argv:
        for name, number in sorted(counts.items()):
            print(f"{number:5} {name}")
        print(f"{sum(counts.values())} of {checked}")
    return 1 if counts else 0


if __name__ == "__main__":
    sys.exit(main())
