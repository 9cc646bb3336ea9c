#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-2-Clause
"""random_raw.py OBJDUMP BINARY SEED N: an unsymbolised profile of N random ranges and branches.

The ranges are straight lines of the binary's own code and the branches lead where its instructions
lead, so that llvm-profgen and edgeprof have no reason to refuse any of them."""
import random
import re
import subprocess
import sys

LEAVES = re.compile(
    r"^(jmp|jmpq|ret|retq|call|callq|ud2|hlt|b|br|bl|blr|ret|udf|brk)$")
BRANCH = re.compile(r"^(j[a-z]+|loop\w*|b\.\w+|cbn?z|tbn?z)$")


def base_of(objdump, binary):
    """The page of the first executable segment."""
    out = subprocess.run([objdump, "-p", binary], check=True, capture_output=True, text=True).stdout
    for m in re.finditer(r"LOAD\s+off\s+\S+\s+vaddr\s+(\S+).*\n.*flags (\S+)", out):
        if "x" in m[2]:
            return int(m[1], 16) & ~0xFFF
    sys.exit("no executable segment")


def disassemble(objdump, binary):
    """Instructions (address, mnemonic, operands) and starts of symbols."""
    out = subprocess.run([objdump, "-d", "--no-show-raw-insn", binary], check=True,
                         capture_output=True, text=True).stdout
    insns, symbols, section, named = [], [], "", False
    for line in out.splitlines():
        m = re.match(r"Disassembly of section (\S+):", line)
        if m:
            section, named = m[1], False
            continue
        m = re.match(r"([0-9a-f]+) <([^>]+)>:", line)
        if m:
            named = not m[2].startswith(".")
            if named and section == ".text":
                symbols.append(int(m[1], 16))
            continue
        m = re.match(r"\s*([0-9a-f]+):\s+(.*)", line)
        if m and named and section == ".text":
            words = [w for w in m[2].split()
                     if w not in ("bnd", "notrack", "rep", "repz", "repne", "lock", "data16")]
            insns.append((int(m[1], 16), words[0] if words else "?", " ".join(words[1:])))
    return insns, symbols


def target_of(operands):
    m = re.search(r"(?:^|\s|,)(?:0x)?([0-9a-f]+)(?: <[^>]*>)?$", operands)
    return int(m[1], 16) if m and "*" not in operands else None


def main():
    objdump, binary, seed, n = sys.argv[1], sys.argv[2], int(sys.argv[3]), int(sys.argv[4])
    rng = random.Random(seed)
    insns, symbols = disassemble(objdump, binary)
    index = {insn[0]: i for i, insn in enumerate(insns)}
    base = base_of(objdump, binary)
    ranges, branches = {}, {}
    # A few functions are hot, most are never seen.
    focus = rng.sample(symbols, max(1, len(symbols) // 3))
    for _ in range(n):
        start = rng.choice(focus)
        i = index.get(start, 0) + rng.choice((0, 0, rng.randrange(0, 40)))
        if i >= len(insns):
            continue
        first, count = i, int(rng.paretovariate(0.5)) % 1000000 + 1
        while i + 1 < len(insns) and not LEAVES.match(insns[i][1]):
            if BRANCH.match(insns[i][1]) and rng.random() < 0.4:
                break
            i += 1
        key = (insns[first][0] - base, insns[i][0] - base)
        ranges[key] = ranges.get(key, 0) + count
        to = target_of(insns[i][2])
        if to not in index:
            to = rng.choice(symbols) if rng.random() < 0.7 else None
        if to is not None and to in index:
            edge = (insns[i][0] - base, to - base)
            branches[edge] = branches.get(edge, 0) + count
        if rng.random() < 0.05:
            edge = ((1 - base) & (2**64 - 1), rng.choice(symbols) - base)
            branches[edge] = branches.get(edge, 0) + count
    print(len(ranges))
    for (lo, hi), count in sorted(ranges.items()):
        print(f"{lo:x}-{hi:x}:{count}")
    print(len(branches))
    for (lo, hi), count in sorted(branches.items()):
        print(f"{lo:x}->{hi:x}:{count}")


main()
