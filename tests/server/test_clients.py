"""Clients that people use, with their own calls for these commands: python3-redis, and redis of npm."""

import filecmp
import os
import shutil
import subprocess

import redis

from harness import ROOT, SharedServerTest, main

HERE = os.path.join(os.path.dirname(os.path.abspath(__file__)), "npm")
NPM_FOLDER = os.environ.get("PERHAPS_NPM_FOLDER", os.path.join(ROOT, "build/npm"))
LAYOUTS = "native", "redisbloom"


class Python(SharedServerTest):
    def setUp(self):
        super().setUp()
        self.redis = redis.Redis(port=self.shared.port)
        self.addCleanup(self.redis.close)

    def in_each_layout(self, check):
        for layout in LAYOUTS:
            with self.subTest(layout=layout):
                self.client.ok("FLUSHALL")
                self.client.ok("CONFIG", "SET", "perhaps.layout", layout)
                check()

    def test_bloom(self):
        self.in_each_layout(self.check_bloom)

    def check_bloom(self):
        bf = self.redis.bf()
        self.assertTrue(bf.create("b", 0.01, 1000, expansion=4))
        self.assertTrue(bf.create("fixed", 0.01, 1000, noScale=True))
        self.assertRaises(redis.ResponseError, bf.create, "b", 0.01, 1000)
        self.assertEqual(bf.add("b", "one"), 1)
        self.assertEqual(bf.add("b", "one"), 0)
        self.assertEqual(bf.madd("b", "one", "two"), [0, 1])
        self.assertEqual(bf.insert("b", ["two", "three"], capacity=10, error=0.1, expansion=2), [0, 1])
        self.assertEqual(bf.insert("new", ["x"], capacity=10, noScale=True), [1])
        self.assertRaises(redis.ResponseError, bf.insert, "none", ["x"], noCreate=True)
        self.assertEqual(bf.exists("b", "one"), 1)
        self.assertEqual(bf.exists("b", "absent"), 0)
        self.assertEqual(bf.mexists("b", "one", "absent"), [1, 0])
        info = bf.info("b")
        self.assertEqual([info.insertedNum, info.filterNum, info.expansionRate], [3, 1, 4])
        self.assertGreaterEqual(info.capacity, 1000)
        self.assertGreater(info.size, 100)
        self.assertIsNone(bf.info("fixed").expansionRate)
        self.carry("BF", "b", "b2")
        self.assertEqual(bf.mexists("b2", "one", "two", "three", "absent"), [1, 1, 1, 0])

    def test_cuckoo(self):
        self.in_each_layout(self.check_cuckoo)

    def check_cuckoo(self):
        cf = self.redis.cf()
        self.assertTrue(cf.create("c", 1000, expansion=2, bucket_size=4, max_iterations=30))
        self.assertEqual(cf.add("c", "one"), 1)
        self.assertEqual(cf.addnx("c", "one"), 0)
        self.assertEqual(cf.insert("c", ["one", "two"], capacity=100), [1, 1])
        self.assertEqual(cf.insertnx("c", ["two", "three"]), [0, 1])
        self.assertEqual(cf.count("c", "one"), 2)
        self.assertEqual(cf.delete("c", "one"), 1)
        self.assertEqual(cf.exists("c", "one"), 1)
        self.assertEqual(cf.mexists("c", "one", "absent"), [1, 0])
        info = cf.info("c")
        self.assertEqual([info.bucketSize, info.expansionRate, info.maxIteration], [4, 2, 30])
        self.assertEqual([info.insertedNum, info.deletedNum, info.filterNum], [3, 1, 1])
        self.carry("CF", "c", "c2")
        self.assertEqual(cf.mexists("c2", "one", "two", "three", "absent"), [1, 1, 1, 0])

    def carry(self, family, old, new):
        """In the client's own words, scandump, this is refused where hiredis reads for it."""
        cursor = 0
        while True:
            cursor, piece = self.redis.execute_command(f"{family}.SCANDUMP", old, cursor)
            if cursor == 0:
                return
            verbs = self.redis.bf() if family == "BF" else self.redis.cf()
            self.assertTrue(verbs.loadchunk(new, cursor, piece))


class Npm(SharedServerTest):
    @classmethod
    def setUpClass(cls):
        super().setUpClass()
        cls.install()

    @staticmethod
    def install():
        """Fetches the client as package-lock.json says, unless it is there already."""
        os.makedirs(NPM_FOLDER, exist_ok=True)
        lock = os.path.join(NPM_FOLDER, "package-lock.json")
        there = os.path.exists(os.path.join(NPM_FOLDER, "node_modules/.package-lock.json"))
        if there and filecmp.cmp(lock, os.path.join(HERE, "package-lock.json"), shallow=False):
            return
        for name in "package.json", "package-lock.json":
            shutil.copy(os.path.join(HERE, name), NPM_FOLDER)
        try:
            done = subprocess.run(["npm", "ci", "--no-audit", "--no-fund"], cwd=NPM_FOLDER, stdout=subprocess.PIPE,
                                  stderr=subprocess.STDOUT, text=True, timeout=120)
        except (OSError, subprocess.TimeoutExpired) as error:
            raise AssertionError(f"the npm client cannot be tested, since npm does not run: {error}") from error
        if done.returncode:
            raise AssertionError(f"the npm client cannot be tested, since npm ci failed (no network?):\n{done.stdout}")

    def test_its_bloom_commands(self):
        for layout in LAYOUTS:
            for protocol in "2", "3":
                with self.subTest(layout=layout, protocol=protocol):
                    environment = dict(os.environ, NODE_PATH=os.path.join(NPM_FOLDER, "node_modules"))
                    words = ["node", os.path.join(HERE, "bloom.js"), str(self.shared.port), protocol, layout]
                    done = subprocess.run(words, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True,
                                          timeout=60, env=environment)
                    self.assertEqual(done.returncode, 0, done.stdout)


if __name__ == "__main__":
    main()
