"""Builds the wheel of the judgec that runs, so that a registered model brings the code that it was compiled with."""

import base64
import csv
import hashlib
import io
import zipfile
from functools import cache
from importlib.metadata import distribution
from pathlib import Path

import judgec

EPOCH = (1980, 1, 1, 0, 0, 0)  # of every file: the same code gives the same wheel
TAG = "py3-none-any"


@cache
def wheel() -> tuple[str, bytes]:
    """File name and content of a wheel of this package, from the files that are imported, however it was installed."""
    package, found = Path(judgec.__file__).parent, distribution("judgec")
    info = f"judgec-{found.version}.dist-info"
    files = {
        f"judgec/{path.relative_to(package).as_posix()}": path.read_bytes()
        for path in sorted(package.rglob("*"))
        if path.is_file() and "__pycache__" not in path.parts
    }
    for name in ("METADATA", "entry_points.txt"):
        if text := found.read_text(name):
            files[f"{info}/{name}"] = text.encode()
    files[f"{info}/WHEEL"] = f"Wheel-Version: 1.0\nGenerator: judgec\nRoot-Is-Purelib: true\nTag: {TAG}\n".encode()
    record = io.StringIO()
    rows = csv.writer(record, lineterminator="\n")
    rows.writerows([name, f"sha256={_digest(content)}", len(content)] for name, content in files.items())
    rows.writerow([f"{info}/RECORD", "", ""])
    files[f"{info}/RECORD"] = record.getvalue().encode()
    packed = io.BytesIO()
    with zipfile.ZipFile(packed, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, content in files.items():
            archive.writestr(zipfile.ZipInfo(name, EPOCH), content, zipfile.ZIP_DEFLATED)
    return f"judgec-{found.version}-{TAG}.whl", packed.getvalue()


def _digest(content: bytes) -> str:
    return base64.urlsafe_b64encode(hashlib.sha256(content).digest()).rstrip(b"=").decode()
