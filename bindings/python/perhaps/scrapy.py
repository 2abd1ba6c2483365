"""A duplicate filter for Scrapy, in a few bits per request:

    DUPEFILTER_CLASS = "perhaps.scrapy.DupeFilter"
    PERHAPS_DUPEFILTER_FPR = 0.0001      # the chance that a new page is taken for a known one
    PERHAPS_DUPEFILTER_FILE = "seen.ph"  # kept between runs; by default requests.seen.ph in JOBDIR

It grows with the crawl, and the rate holds. The file is written when the spider closes, and at most
PERHAPS_DUPEFILTER_SAVE_EVERY seconds (60) after it was written last, while requests come; after a
crash the requests since then are crawled again.
"""

from __future__ import annotations

import logging
import os
import time
from typing import Any

from . import Filter

try:
    from scrapy.dupefilters import BaseDupeFilter
except ImportError:  # for those who only read or check it
    BaseDupeFilter = object

_logger = logging.getLogger(__name__)

_FIRST_GUESS = 100_000  # requests that the first layer is for


class DupeFilter(BaseDupeFilter):  # type: ignore[misc]
    """Tells Scrapy which requests are perhaps known."""

    def __init__(
        self,
        path: str | os.PathLike[str] | None = None,
        fpr: float = 0.0001,
        save_every: float = 60,
        debug: bool = False,
        fingerprinter: Any = None,
    ) -> None:
        self.path, self.save_every, self.debug, self.fingerprinter = path, save_every, debug, fingerprinter
        if path is not None and os.path.exists(path):
            self.filter = Filter.open(path)
        else:
            self.filter = Filter(_FIRST_GUESS, fpr, grow=True, keys="bytes")
        self._saved = time.monotonic()
        self._told = False

    @classmethod
    def from_crawler(cls, crawler: Any) -> DupeFilter:
        """What Scrapy calls."""
        return cls._of(crawler.settings, getattr(crawler, "request_fingerprinter", None))

    @classmethod
    def from_settings(cls, settings: Any) -> DupeFilter:
        """What Scrapy calls where there is no crawler."""
        return cls._of(settings, None)

    @classmethod
    def _of(cls, settings: Any, fingerprinter: Any) -> DupeFilter:
        path = settings.get("PERHAPS_DUPEFILTER_FILE")
        if not path and settings.get("JOBDIR"):
            os.makedirs(settings["JOBDIR"], exist_ok=True)
            path = os.path.join(settings["JOBDIR"], "requests.seen.ph")
        return cls(
            path or None,
            settings.getfloat("PERHAPS_DUPEFILTER_FPR", 0.0001),
            settings.getfloat("PERHAPS_DUPEFILTER_SAVE_EVERY", 60),
            settings.getbool("DUPEFILTER_DEBUG"),
            fingerprinter,
        )

    def request_fingerprint(self, request: Any) -> bytes:
        """The key of a request: Scrapy's fingerprint."""
        if self.fingerprinter is not None:
            return bytes(self.fingerprinter.fingerprint(request))
        from scrapy.utils.request import fingerprint

        return bytes(fingerprint(request))

    def request_seen(self, request: Any) -> bool:
        """Notes a request. Whether it is perhaps known."""
        seen = not self.filter.add(self.request_fingerprint(request))
        if self.path is not None and time.monotonic() - self._saved >= self.save_every:
            self._save()
        return seen

    def open(self) -> None:
        """Nothing to do: the state was read when this was made."""

    def close(self, reason: str = "") -> None:
        """Keeps the state for the next run."""
        if self.path is not None:
            self._save()

    def log(self, request: Any, spider: Any) -> None:
        """Logs the first duplicate, or all with DUPEFILTER_DEBUG."""
        if self.debug:
            _logger.debug("Filtered duplicate request: %(request)s", {"request": request}, extra={"spider": spider})
        elif not self._told:
            self._told = True
            _logger.debug(
                "Filtered duplicate request: %(request)s - no more duplicates will be shown "
                "(see DUPEFILTER_DEBUG to show all duplicates)",
                {"request": request},
                extra={"spider": spider},
            )
        spider.crawler.stats.inc_value("dupefilter/filtered", spider=spider)

    def _save(self) -> None:
        assert self.path is not None
        self.filter.save(self.path)
        self._saved = time.monotonic()
