"""The package, once around, with the standard library alone."""

import array
import os
import pickle
import tempfile

import perhaps

folder = tempfile.mkdtemp()
path = os.path.join(folder, "f.ph")
f = perhaps.Filter(items=1000, fpr=0.001)
assert f.add("Grüße") and "Grüße" in f and "Grüße".encode() in f and "other" not in f
assert f.add_many([str(i) for i in range(500)]) > 490
assert all(f.contains_many([str(i) for i in range(500)])) and f.query_many(("x", "y", "z")) < 3
f.save(path)
for g in (perhaps.Filter.open(path), perhaps.Filter.open(path, mmap=True), pickle.loads(pickle.dumps(f)), f.copy()):
    assert g == f and "7" in g
with perhaps.Filter.open(path, "r+") as g:
    g.add("new")
assert "new" in perhaps.Filter.open(path, mmap=True)
n = perhaps.Filter(kind="bitmap", items=1000)
n.add_many(array.array("I", [3, 14, 159]))
assert list(n.members()) == [3, 14, 159] and len(n) == 3
c = perhaps.Filter(10, 1e-6, kind="cuckoo", grow=False)
try:
    c.add_many(range(100))
except perhaps.Full as error:
    assert "nothing was added" in str(error)
else:
    raise AssertionError("it is not full")
assert perhaps.plan(1000, 0.01).best.kind == "blocked"
s = perhaps.build_static(["a", "b"], 0.01)
assert "a" in s
os.remove(path)
os.rmdir(folder)
print("fine", perhaps.__version__)
