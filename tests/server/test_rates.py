"""Native filters hold the rate that was requested, however far they grow, in the memory that was promised.

To one million items, or ten with PERHAPS_TEST_SIZE=long. Items are made and counted by a script inside the server.
"""

import math

from harness import LONG, SharedServerTest, main

MOST = 10_000_000 if LONG else 1_000_000
PROBES = 200_000
MB = 1_000_000

SCRIPT = """
local hits, first, last = 0, tonumber(ARGV[2]), tonumber(ARGV[3])
for start = first, last - 1, 2000 do
    local words, n = {ARGV[1], KEYS[1]}, 2
    if ARGV[4] then n = 3 words[3] = ARGV[4] end
    for i = start, math.min(start + 2000, last) - 1 do n = n + 1 words[n] = string.format('item %d', i) end
    local reply = redis.call(unpack(words))
    for i = 1, #reply do if reply[i] == 1 then hits = hits + 1 end end
end
return hits
"""


class Rates(SharedServerTest):
    def run_over(self, command, key, first, last, *before):
        """How many of the items first..last-1 the command says 1 for."""
        return sum(self.client.ok("EVAL", SCRIPT, 1, key, command, start, min(start + 200_000, last), *before)
                   for start in range(first, last, 200_000))

    def add(self, key, first, last):
        if key.startswith("b"):
            return self.run_over("BF.MADD", key, first, last)
        return self.run_over("CF.INSERT", key, first, last, "ITEMS")

    def query(self, key, first, last):
        return self.run_over("BF.MEXISTS" if key.startswith("b") else "CF.MEXISTS", key, first, last)

    def check_rate(self, key, rate, full):
        """The measured rate is below the requested one; three standard deviations are left to chance."""
        wrong = self.query(key, 10**9, 10**9 + PROBES)
        most = rate * PROBES + 3 * math.sqrt(rate * PROBES)
        print(f"{key}: {full} items, {wrong / PROBES:.4%} false positives, {self.memory(key) / MB:.2f} MB")
        self.assertLessEqual(wrong, most, f"{key} with {full} items")

    def memory(self, key):
        return self.client.ok("MEMORY", "USAGE", key)

    def grow(self, key, rate):
        """From one thousand on, measured at every doubling."""
        full, sizes = 0, []
        for target in self.stops():
            self.add(key, full, target)
            full = target
            if target in (1000, 10_000, 100_000, MOST // 2, MOST) or LONG and target >= MOST // 4:
                self.check_rate(key, rate, full)
            if target >= MOST // 2:
                sizes.append(self.memory(key))
        self.assertEqual(self.query(key, 0, MOST), MOST, "something was forgotten")
        return sizes

    @staticmethod
    def stops():
        stops = [1000, 3000, 10_000, 30_000, 100_000, 200_000]
        while stops[-1] < MOST:
            stops.append(min(MOST, stops[-1] + max(MOST // 20, 50_000)))
        return stops

    def test_bloom(self):
        for rate in (0.01, 0.001) if LONG else (0.01,):
            key = f"b{rate}"
            self.client.ok("BF.RESERVE", key, rate, 1000)
            sizes = self.grow(key, rate)
            if LONG and rate == 0.01:
                self.assertLessEqual(max(sizes), 42 * MB)
                self.assertLessEqual(sum(sizes) / len(sizes), 30 * MB)

    def test_cuckoo(self):
        for rate, expansion in ((0.01, 2), (0.01, 1), (0.001, 2)) if LONG else ((0.01, 2),):
            key = f"c{rate} by {expansion}"
            self.client.ok("CF.RESERVE", key, 1000, "ERROR", rate, "EXPANSION", expansion)
            self.grow(key, rate)

    def test_expansion(self):
        """How much room there is with each further layer."""
        for expansion, rooms in (1, [1000, 2000, 3000, 4000]), (2, [1000, 3000, 7000, 15_000]), (3, [1000, 4000, 13_000]):
            key = f"b{expansion}"
            self.client.ok("BF.RESERVE", key, "0.01", 1000, "EXPANSION", expansion)
            for room in rooms:
                self.assertEqual(self.client.ok("BF.INFO", key, "CAPACITY"), [room])
                self.add(key, 0, room + 100)

    def test_one_that_made_itself(self):
        """A filter that came from its first item, with the defaults, is as good."""
        for key in "b", "c":
            self.add(key, 0, 100_000)
            self.check_rate(key, 0.01, 100_000)
            self.assertEqual(self.query(key, 0, 100_000), 100_000)

    def test_reserved(self):
        self.client.ok("BF.RESERVE", "b", "0.01", 10_000_000)
        self.assertLessEqual(self.memory("b"), 13.0 * MB)
        self.client.ok("CF.RESERVE", "c", 10_000_000)
        self.assertLessEqual(self.memory("c"), 14 * MB)
        if LONG:
            for key, most in ("b", 13.0), ("c", 14):
                self.add(key, 0, 10_000_000)
                self.check_rate(key, 0.01, 10_000_000)
                self.assertLessEqual(self.memory(key), most * MB)
                self.assertEqual(self.query(key, 0, 10_000_000), 10_000_000)

    def test_one_item_many_times(self):
        """Copies do not make a cuckoo filter large or full."""
        self.client.ok("CF.RESERVE", "c", 1000)
        for _ in range(20):
            self.assert_same(self.client.ok("CF.INSERT", "c", "ITEMS", *(["same"] * 5000)), [1] * 5000)
        self.assertEqual(self.client.ok("CF.COUNT", "c", "same"), 100_000)
        self.assertLessEqual(self.memory("c"), 1_000_000)
        self.assert_same(self.client.pipeline(["CF.DEL", "c", "same"] for _ in range(100_000)), [1] * 100_000)
        self.assertEqual(self.client.ok("CF.EXISTS", "c", "same"), 0)


if __name__ == "__main__":
    main()
