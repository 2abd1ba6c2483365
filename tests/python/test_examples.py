"""The examples, with what they print; and the duplicate filter of Scrapy."""

import os
import pathlib
import socket
import subprocess
import sys
import time

import pytest
from support import PERHAPS

SOURCE = pathlib.Path(os.environ["PERHAPS_SOURCE"])
EXAMPLES = SOURCE / "bindings" / "python" / "examples"


def run(name, *arguments):
    made = subprocess.run([sys.executable, EXAMPLES / name, *map(str, arguments)], capture_output=True, text=True)
    assert made.returncode == 0, made.stderr
    return made.stdout.splitlines()


def test_dedup_frame():
    pytest.importorskip("pandas")
    assert run("dedup_frame.py") == ["2500 users; new on each day: [1000, 500, 500, 500]"]


def test_cache_guard():
    assert run("cache_guard.py") == [
        "10000 of 30000 exist; the database was asked less than 10300 times",
        "product 300: None - product 303: product 101",
    ]


def server(tmp_path):
    """A server with the module; None where there is none."""
    module = os.environ.get("PERHAPS_MODULE")
    if not module or not os.path.exists(module):
        return None, None
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port = probe.getsockname()[1]
    options = ["--port", str(port), "--bind", "127.0.0.1", "--save", "", "--dir", tmp_path, "--loadmodule", module]
    process = subprocess.Popen(["redis-server", *options], stdout=subprocess.DEVNULL)
    for _ in range(200):
        try:
            socket.create_connection(("127.0.0.1", port)).close()
            return process, port
        except OSError:
            time.sleep(0.05)
    process.kill()
    raise AssertionError("the server does not start")


def test_one_file(tmp_path):
    program = tmp_path / "one_file"
    sources = [EXAMPLES / "one_file.c", os.environ["PERHAPS_LIBRARY"]]
    subprocess.run(["cc", "-I", SOURCE / "include", *sources, "-lm", "-pthread", "-o", program], check=True)
    process, port = server(tmp_path)
    try:
        lines = run("one_file.py", PERHAPS, program, *([port] if port else []))
    finally:
        if process:
            process.kill()
            process.wait()
    expected = ["the command line finds: 13800130007", "C finds: 13800130007", "the server finds: 13800130007"]
    assert lines == (expected if port else expected[:2])


def test_every_example_is_run():
    names = {path.name for path in EXAMPLES.iterdir()}
    assert names == {"dedup_frame.py", "cache_guard.py", "one_file.py", "one_file.c"}


SPIDER = """
import scrapy
from scrapy.crawler import CrawlerProcess

class Spider(scrapy.Spider):
    name = "test"

    def start_requests(self):
        for i in [*range(50), *range(50)]:
            yield scrapy.Request(f"data:,{i}", callback=self.parse, dont_filter=False)

    def parse(self, response):
        print("crawled", response.url)

settings = {
    "DUPEFILTER_CLASS": "perhaps.scrapy.DupeFilter", "JOBDIR": "job", "LOG_LEVEL": "ERROR",
    "REQUEST_FINGERPRINTER_IMPLEMENTATION": "2.7", "TELNETCONSOLE_ENABLED": False,
}
process = CrawlerProcess(settings)
process.crawl(Spider)
process.start()
"""


def test_scrapy(tmp_path):
    """Each page is crawled once, also in the next run."""
    pytest.importorskip("scrapy")
    for crawled in (50, 0):
        made = subprocess.run([sys.executable, "-W", "ignore", "-c", SPIDER], cwd=tmp_path, capture_output=True, text=True)
        assert made.stdout.count("crawled") == crawled, made.stderr
        assert (tmp_path / "job" / "requests.seen.ph").exists()


def test_dupefilter_saves_meanwhile(tmp_path):
    pytest.importorskip("scrapy")
    from scrapy.http import Request

    from perhaps.scrapy import DupeFilter

    path = tmp_path / "seen.ph"
    seen = DupeFilter(path, save_every=0)
    assert not seen.request_seen(Request("http://localhost/a")) and path.exists()
    again = DupeFilter(path)
    assert again.request_seen(Request("http://localhost/a")) and not again.request_seen(Request("http://localhost/b"))
    assert DupeFilter(path).filter.keys == "bytes"
    without = DupeFilter()
    assert not without.request_seen(Request("http://localhost/a"))
    without.close("finished")
