"""A filter in front of SQLite: who asks for what does not exist never gets to the database.

python3 cache_guard.py
"""

import sqlite3

import perhaps

database = sqlite3.connect(":memory:")
database.execute("CREATE TABLE products (id INTEGER PRIMARY KEY, name TEXT)")
database.executemany("INSERT INTO products VALUES (?, ?)", ((i * 3, f"product {i}") for i in range(10_000)))

# Products go too, so the filter must forget.
guard = perhaps.Filter(items=20_000, fpr=0.01, needs={"remove"})
guard.update(row[0] for row in database.execute("SELECT id FROM products"))
asked = 0


def find(product):
    """The name of a product, or None."""
    global asked
    if product not in guard:
        return None
    asked += 1
    row = database.execute("SELECT name FROM products WHERE id = ?", (product,)).fetchone()
    return row and row[0]


found = sum(find(i) is not None for i in range(30_000))
print(f"{found} of 30000 exist; the database was asked {'less than 10300' if asked < 10_300 else asked} times")

database.execute("DELETE FROM products WHERE id = 300")
guard.remove(300)
print("product 300:", find(300), "- product 303:", find(303))
