"""Decode bytes to text. A file that is not UTF-8 text is rejected, with its probable format."""

from __future__ import annotations

from app.domain.verdict import Rejection, Violation, ViolationCode

_MAGIC: tuple[tuple[bytes, str], ...] = (
    (b"\x1f\x8b", "gzip-compressed: unpack it, or send it with Content-Encoding: gzip"),
    (b"\x28\xb5\x2f\xfd", "zstd-compressed: unpack it, or send it with Content-Encoding: zstd"),
    (b"BZh", "bzip2-compressed: unpack it first"),
    (b"\xfd7zXZ\x00", "xz-compressed: unpack it first"),
    (b"7z\xbc\xaf\x27\x1c", "a 7z archive: unpack it first"),
    (b"PAR1", "a Parquet file: write it as CSV (in pandas: to_csv(..., index=False))"),
    (b"ARROW1", "an Arrow file: write it as CSV (in pandas: to_csv(..., index=False))"),
    (b"\xd0\xcf\x11\xe0", "an Excel workbook: save it as CSV"),
    (b"\x89HDF", "an HDF5 file: write it as CSV (in pandas: to_csv(..., index=False))"),
    (b"\x93NUMPY", "a NumPy array: write it as CSV with ids and a header"),
    (b"SQLite format 3\x00", "an SQLite database: write it as CSV"),
    (b"%PDF-", "a PDF document: write it as CSV"),
)
_ZIP = b"PK\x03\x04"
_UTF_MARKS: tuple[tuple[bytes, str], ...] = (  # UTF-32's little-endian mark begins with UTF-16's
    (b"\xff\xfe\x00\x00", "UTF-32"),
    (b"\x00\x00\xfe\xff", "UTF-32"),
    (b"\xff\xfe", "UTF-16"),
    (b"\xfe\xff", "UTF-16"),
)
_SAVE = "save it as UTF-8 (in pandas: to_csv(..., encoding='utf-8'))"


def decode_text(data: bytes) -> str:
    """The text of a submission, without a byte order mark.

    Raises:
        Rejection: `empty_file`, `encoding`, or `not_csv` for well-known binary formats.
    """
    for magic, hint in _MAGIC:
        if data.startswith(magic):
            raise _rejection(ViolationCode.NOT_CSV, f"the file is {hint}")
    if data.startswith(_ZIP):
        hint = (
            "an Excel workbook: save it as CSV"
            if b"xl/" in data[:4096] or b"[Content_Types].xml" in data[:4096]
            else "a zip archive: unpack it and send the CSV inside"
        )
        raise _rejection(ViolationCode.NOT_CSV, f"the file is {hint}")
    for mark, name in _UTF_MARKS:
        if data.startswith(mark):
            raise _rejection(ViolationCode.ENCODING, f"the file is {name}, not UTF-8: {_SAVE}")
    zero = data.find(b"\0")
    if zero >= 0:
        raise _rejection(ViolationCode.ENCODING, _about_zero_bytes(data, zero))
    try:
        text = data.decode("utf-8")
    except UnicodeDecodeError as error:
        raise _rejection(
            ViolationCode.ENCODING,
            f"byte 0x{data[error.start]:02x} in line {_line(data, error.start)} is not UTF-8 "
            f"(latin-1 or Windows text?): {_SAVE}",
        ) from None
    text = text.removeprefix("\ufeff")
    if not text or text.isspace():
        problem = "holds nothing but white space" if text else "is empty"
        raise _rejection(
            ViolationCode.EMPTY_FILE,
            f"the file {problem}: it needs a header and one row for every id",
        )
    return text


def _about_zero_bytes(data: bytes, zero: int) -> str:
    sample = data[:2000]
    for width, name in ((4, "UTF-32"), (2, "UTF-16")):
        # ASCII text in wide characters has zeros in all but one of every `width` bytes.
        zeros = [sample[i::width].count(0) * width > 0.8 * len(sample) for i in range(width)]
        if len(sample) >= width and sum(zeros) == width - 1:
            return f"the file looks like {name}, not UTF-8: {_SAVE}"
    return f"line {_line(data, zero)} holds a NUL byte, so the file is not text: write it again"


def _line(data: bytes, position: int) -> int:
    before = data[:position]
    return before.count(b"\n" if b"\n" in before else b"\r") + 1


def _rejection(code: ViolationCode, message: str) -> Rejection:
    return Rejection([Violation(code, message)])
