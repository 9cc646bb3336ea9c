#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-2-Clause
"""random_profile.py SEED N_FUNCS [FLAGS]: prints a random sample profile in text form.

FLAGS, separated by commas: shuffle (lines and functions in any order, some twice), probe
(checksums and attributes), nouniq (no unique-name suffixes), calm (no odd names).
"""
import random
import sys

ODD_NAMES = [
    "main", "a", "B", "_ZN3foo3barEv", "ns::cls<int, char>::method", "operator()(int)",
    "std::vector<std::pair<int, int> >::push_back", "x.cold", "y.llvm.1234", "z.part.0",
    "-[Class method:arg]", "name with blanks", "0starts.with.digit", "\u00fcml\u00e4ut",
    "a::b::c:d", "lambda{}()#1", "vtables", "!mark",
]


class Generator:
    def __init__(self, seed, n_funcs, flags):
        self.rng = random.Random(seed)
        self.flags = flags
        self.names = []
        for i in range(n_funcs):
            name = "_Z%d%s" % (i, "".join(self.rng.choices("abcxyz_AZ09", k=self.rng.randint(1, 30))))
            if "nouniq" not in flags and self.rng.random() < 0.1:
                name += ".__uniq.%d" % self.rng.getrandbits(60)
            self.names.append(name)
        if "calm" not in flags:
            self.names += ODD_NAMES
        self.n_counts = 0

    def count(self):
        # Sums of all counts stay below 2^64, beyond which llvm-profdata's summary wraps.
        kind = self.rng.random()
        if kind < 0.2:
            return 0
        if kind < 0.8:
            return self.rng.randint(1, 40)
        if kind < 0.97:
            return self.rng.randint(1, 10**6)
        return self.rng.getrandbits(self.rng.choice([33, 40, 44]))

    def locations(self, n):
        found = set()
        for _ in range(n):
            offset = self.rng.choice([self.rng.randint(0, 60), self.rng.randint(0, 65535)])
            disc = 0 if self.rng.random() < 0.6 else self.rng.choice(
                [self.rng.randint(1, 40), self.rng.getrandbits(32)])
            found.add((offset, disc))
        found = sorted(found)
        if "shuffle" in self.flags:
            self.rng.shuffle(found)
            # llvm-profdata forgets attributes when a callee occurs twice.
            if found and "probe" not in self.flags and self.rng.random() < 0.2:
                found.append(found[0])
        return found

    @staticmethod
    def place(loc):
        return "%d.%d" % loc if loc[1] else "%d" % loc[0]

    def targets(self):
        if self.rng.random() < 0.75:
            return ""
        names = self.rng.sample(self.names, min(len(self.names), self.rng.choice([1, 1, 2, 3, 30])))
        return "".join(" %s:%d" % (n, self.count()) for n in names if not n[0].isdigit())

    def body(self, depth):
        indent = " " * (depth + 1)
        for loc in self.locations(self.rng.choice([0, 1, 3, 8, 40])):
            yield "%s%s: %d%s" % (indent, self.place(loc), self.count(), self.targets())
        n_calls = self.rng.choice([0, 0, 0, 1, 2, 3]) if depth < 8 else 0
        for loc in self.locations(n_calls):
            for name in self.rng.sample(self.names, self.rng.choice([1, 1, 2])):
                if name[0].isdigit() or name[0] == "!":
                    continue
                yield "%s%s: %s:%d" % (indent, self.place(loc), name, self.count())
                yield from self.body(depth + 1)
        if "probe" in self.flags:
            yield "%s!CFGChecksum: %d" % (indent, self.rng.getrandbits(64) | 1)
            if self.rng.random() < 0.5:
                yield "%s!Attributes: %d" % (indent, self.rng.choice([1, 2, 3]))

    def profile(self):
        names = list(self.names)
        self.rng.shuffle(names)
        if "shuffle" in self.flags and "probe" not in self.flags:
            names += names[:3]
        for name in names:
            if name[0] in "!" or name[0].isdigit():
                continue
            yield "%s:%d:%d" % (name, self.count(), self.count())
            yield from self.body(0)


def main():
    flags = sys.argv[3].split(",") if len(sys.argv) > 3 else []
    out = open(sys.stdout.fileno(), "w", encoding="utf-8", newline="\n")
    for line in Generator(int(sys.argv[1]), int(sys.argv[2]), flags).profile():
        print(line, file=out)


if __name__ == "__main__":
    main()
