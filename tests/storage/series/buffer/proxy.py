"""A way to a PostgreSQL server that can be cut, stalled and mended, as networks are."""

import socket
import tempfile
import threading
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

from psycopg.conninfo import conninfo_to_dict, make_conninfo


class Way:
    """A socket that passes on whatever comes to the server, while it is open and flowing."""

    def __init__(self, folder: Path, dsn: str) -> None:
        self._dsn = dsn
        self._path = folder / ".s.PGSQL.5432"
        self._flowing = threading.Event()
        self._flowing.set()
        self._sockets: list[socket.socket] = []
        self._listening: socket.socket | None = None
        self.dsn = make_conninfo(dsn, host=str(folder), port=5432)

    def mend(self) -> None:
        """Let connections be made."""
        self._flowing.set()
        self._listening = socket.socket(socket.AF_UNIX)
        self._listening.bind(str(self._path))
        self._listening.listen()
        threading.Thread(target=self._accept, args=(self._listening,), daemon=True).start()

    def cut(self) -> None:
        """Break every connection off, and let no new one be made."""
        assert self._listening is not None
        self._path.unlink()
        # Closing alone would not wake the thread that accepts.
        self._listening.shutdown(socket.SHUT_RDWR)
        self._listening.close()
        for one in self._sockets:
            with suppress(OSError):
                one.shutdown(socket.SHUT_RDWR)
        self._sockets.clear()
        self._flowing.set()

    def stall(self) -> None:
        """Keep connections, and pass nothing on."""
        self._flowing.clear()

    def flow(self) -> None:
        """Pass on again, and what was held back first."""
        self._flowing.set()

    def _accept(self, listening: socket.socket) -> None:
        while True:
            try:
                near, _ = listening.accept()
            except OSError:
                return
            far = self._reached()
            self._sockets += [near, far]
            for pair in ((near, far), (far, near)):
                threading.Thread(target=self._pass, args=pair, daemon=True).start()

    def _reached(self) -> socket.socket:
        named = conninfo_to_dict(self._dsn)
        host, port = str(named["host"]), int(named.get("port") or 5432)
        if not host.startswith("/"):
            return socket.create_connection((host, port))
        far = socket.socket(socket.AF_UNIX)
        far.connect(f"{host}/.s.PGSQL.{port}")
        return far

    def _pass(self, source: socket.socket, target: socket.socket) -> None:
        with suppress(OSError):
            while piece := source.recv(65_536):
                self._flowing.wait()
                target.sendall(piece)
        for one in (source, target):
            with suppress(OSError):
                one.shutdown(socket.SHUT_RDWR)
        source.close()


@contextmanager
def way_to(dsn: str) -> Iterator[Way]:
    """Open a way to a server, and cut it at the end."""
    with tempfile.TemporaryDirectory(prefix="way-") as folder:
        way = Way(Path(folder), dsn)
        way.mend()
        try:
            yield way
        finally:
            with suppress(OSError):
                way.cut()
