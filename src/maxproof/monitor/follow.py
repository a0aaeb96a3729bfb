"""Following files that grow: what is new goes into the sums, whatever happens to the files.

A file is read on from where it ended, whole lines only. At each look its first line and the last bytes that were read
are compared with what they were:

    other last bytes, or none there   the writer cut the file and goes on, as a resumed training run does: all files are
                                      read again from the start, so that the report says what they hold
    another first line                it was rotated, or a new run writes to it: go on with the new file from its
                                      start; what was read before stays in the sums
    no file, or no whole line         (yet, or between two files of a rotation) wait

In a folder, files that appear later are followed too. A file that does not grow line by line (Parquet, compressed,
torch) is read once, when its size rests between two looks.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from maxproof.monitor.features import add_features
from maxproof.monitor.fields import FieldMap, detect_map, parse_map
from maxproof.monitor.phrases import Phrases
from maxproof.monitor.read import Batch, Skipped, Tail, add_skipped, read_batches, rollout_files, top_fields
from maxproof.monitor.stats import Stats
from maxproof.problems.errors import InputError

COMPARED_BYTES = 4096
GROWING = (".jsonl", ".ndjson")


@dataclass(slots=True)
class _Followed:
    """A JSONL file: where its reading goes on, its first line and the last bytes before that place, each as far as it
    is compared."""

    tail: Tail
    head: bytes
    last: bytes = b""


class Follower:
    """Reads what is new in files and folders into `stats`.

    Args:
        paths: JSONL files, which need not exist yet, and folders.
        map: entries as of `fields.parse_map`, on top of what the first file that has a line tells.
        note: is told in one line what happened to a file.
        stopped: asked after each batch; a look ends early when it says so.
    """

    def __init__(
        self,
        paths: Sequence[Path],
        map: Sequence[str],
        phrases: Phrases,
        note: Callable[[str], None],
        stopped: Callable[[], bool] = lambda: False,
    ) -> None:
        self._paths, self._map, self._phrases = tuple(paths), tuple(map), phrases
        self._note, self._stopped = note, stopped
        self._fields: FieldMap | None = None
        self._growing: dict[Path, _Followed] = {}
        self._whole: dict[Path, int | None] = {}
        self._missing: set[Path] = set()
        self._start_over()

    @property
    def stats(self) -> Stats:
        """The sums over all that was read."""
        return self._stats

    @property
    def skipped(self) -> Mapping[str, Skipped]:
        """Lines that could not be used, by reason."""
        return self._skipped

    def look(self) -> bool:
        """Reads what is new; whether there was anything. Raises InputError for what no later look would mend."""
        found = False
        for path in self._files():
            if self._stopped():
                break
            found |= self._look_at_growing(path) if path.suffix in GROWING else self._look_at_whole(path)
        return found

    def _start_over(self) -> None:
        self._stats = Stats()
        self._skipped: dict[str, Skipped] = {}
        self._growing.clear()
        self._whole.clear()

    def _files(self) -> list[Path]:
        files: list[Path] = []
        for path in self._paths:
            if path.is_dir():
                try:
                    files += rollout_files([path])
                except InputError:  # nothing in it yet
                    self._wait_for(path)
                    continue
            elif path.exists():
                files.append(path)
            else:
                self._wait_for(path)
                continue
            self._missing.discard(path)
        return files

    def _wait_for(self, path: Path) -> None:
        if path not in self._missing:
            self._missing.add(path)
            self._note(f"{path}: nothing there yet, waiting for it")

    def _look_at_whole(self, path: Path) -> bool:
        size = path.stat().st_size
        if path in self._whole and self._whole[path] is None:
            return False
        if self._whole.get(path) != size:
            self._whole[path] = size
            return False
        self._whole[path] = None
        return self._take(read_batches([path], self._fields_of(path)))

    def _look_at_growing(self, path: Path) -> bool:
        known = self._growing.get(path)
        head = _first_line(path)
        if head is None:
            return False
        if known is None or head != known.head:
            if known is not None:
                self._note(f"{path}: begins with another line now; going on with it, what was read before stays")
            known = self._growing[path] = _Followed(Tail(path, self._fields_of(path)), head)
        elif _bytes_before(path, known.tail.offset) != known.last:
            self._note(f"{path}: was cut and goes on; reading everything again")
            self._start_over()
            return self.look()
        found = self._take(known.tail.read())
        known.last = _bytes_before(path, known.tail.offset)
        return found

    def _fields_of(self, path: Path) -> FieldMap:
        if self._fields is None:
            self._fields = fields_of(path, self._map)
        return self._fields

    def _take(self, batches: Iterable[Batch]) -> bool:
        found = False
        for batch in batches:
            take(batch, self._stats, self._skipped, self._phrases)
            found |= batch.frame.height > 0 or bool(batch.skipped)
            if self._stopped():
                break
        return found


def fields_of(path: Path, map: Sequence[str]) -> FieldMap:
    """The map of a file: entries as of `fields.parse_map`, on top of the ready map that fits. Raises InputError."""
    present = top_fields(path)
    if not map:
        return detect_map(present)
    try:
        base = detect_map(present)
    except InputError:  # the entries say it all
        base = None
    return parse_map(map, base)


def take(batch: Batch, stats: Stats, skipped: dict[str, Skipped], phrases: Phrases) -> None:
    """Adds a batch to the sums, and what could not be used of it to `skipped`."""
    stats.add(add_features(batch.frame, phrases))
    add_skipped(skipped, batch.skipped)


def _first_line(path: Path) -> bytes | None:
    """The first COMPARED_BYTES of it at most; None while neither is there, and between two files of a rotation."""
    try:
        with path.open("rb") as file:
            line = file.readline(COMPARED_BYTES)
    except FileNotFoundError:
        return None
    return line if line.endswith(b"\n") or len(line) == COMPARED_BYTES else None


def _bytes_before(path: Path, offset: int) -> bytes:
    """The last COMPARED_BYTES before `offset` at most; fewer in a shorter file, none if it is gone."""
    start = max(0, offset - COMPARED_BYTES)
    try:
        with path.open("rb") as file:
            file.seek(start)
            return file.read(offset - start)
    except FileNotFoundError:
        return b""
