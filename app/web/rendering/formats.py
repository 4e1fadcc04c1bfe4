"""How pages write numbers, times and addresses: the filters of the templates."""

from __future__ import annotations

from datetime import UTC, datetime
from urllib.parse import quote

from app.reports.success_rates import improvement_in_percent

NONE = "–"
MINUTE, HOUR = 60, 3600
WRITTEN_OUT = 1e6  # larger improvements are written with an exponent
KILOBYTE = 1000


def percent(value: float | None) -> str:
    """A number in percent, with one decimal.

    >>> percent(33.333), percent(None)
    ('33.3', '–')
    """
    return NONE if value is None else f"{value:.1f}"


def interval(value: tuple[float, float] | None) -> str:
    """An interval in percent.

    >>> interval((1.26, 20.0))
    '1.3 to 20.0'
    """
    return NONE if value is None else f"{value[0]:.1f} to {value[1]:.1f}"


def signed(value: float | None) -> str:
    """A difference in percentage points, with its sign.

    >>> signed(3.21), signed(-0.5), signed(0.0), signed(-0.04)
    ('+3.2', '-0.5', '0.0', '0.0')
    """
    return NONE if value is None else _without_sign_of_zero(f"{value:+.1f}")


def improvement(share: float) -> str:
    """An improvement in percent, with its sign; a large one with four digits.

    >>> improvement(0.0321), improvement(-1.7e308)
    ('+3.2', '-1.700e+310')
    """
    return signed(100 * share) if abs(share) < WRITTEN_OUT else improvement_in_percent(share)


def logit(value: float | None) -> str:
    """A logit, a slope or a correlation, with its sign and two decimals.

    >>> logit(1.234), logit(-0.001), logit(None)
    ('+1.23', '0.00', '–')
    """
    return NONE if value is None else _without_sign_of_zero(f"{value:+.2f}")


def _without_sign_of_zero(text: str) -> str:
    return text if float(text) else text[1:]


def number(value: float | None) -> str:
    """A score or another number, to six significant digits. The JSON has all of them.

    >>> number(0.123456789), number(12), number(None)
    ('0.123457', '12', '–')
    """
    return NONE if value is None else f"{value:.6g}"


def count(value: int | None) -> str:
    """A whole number, with commas between thousands.

    >>> count(3242)
    '3,242'
    """
    return NONE if value is None else f"{value:,}"


def counted(value: int, noun: str) -> str:
    """A whole number with its noun, in the singular or plural.

    >>> counted(1, "seed"), counted(3242, "seed")
    ('1 seed', '3,242 seeds')
    """
    return f"{count(value)} {noun}" if value == 1 else f"{count(value)} {noun}s"


def dollars(value: float | None) -> str:
    """An amount of money.

    >>> dollars(1234.5)
    '1,234.50'
    """
    return NONE if value is None else f"{value:,.2f}"


def when(value: datetime | None) -> str:
    """A time, in UTC, to the second.

    >>> when(datetime(2026, 1, 2, 3, 4, 5, tzinfo=UTC))
    '2026-01-02 03:04:05'
    """
    return NONE if value is None else value.astimezone(UTC).strftime("%Y-%m-%d %H:%M:%S")


def duration(seconds: float | None) -> str:
    """A time span in the two largest units.

    >>> duration(3725), duration(61.2), duration(0.25)
    ('1 h 2 min', '1 min 1 s', '0.2 s')
    """
    if seconds is None:
        return NONE
    if seconds < MINUTE:
        return f"{seconds:.1f} s"
    if seconds < HOUR:
        return f"{int(seconds // MINUTE)} min {int(seconds % MINUTE)} s"
    return f"{int(seconds // HOUR):,} h {int(seconds % HOUR // MINUTE)} min"


def size(value: float) -> str:
    """A number of bytes.

    >>> size(999), size(12_300), size(5_200_000_000)
    ('999 B', '12.3 kB', '5.2 GB')
    """
    for unit in ("B", "kB", "MB", "GB"):
        if value < KILOBYTE or unit == "GB":
            return f"{value:.0f} {unit}" if unit == "B" else f"{value:,.1f} {unit}"
        value /= KILOBYTE
    raise AssertionError("the loop returns")


def place(better: int | None) -> str:
    """The place of a score on the board.

    >>> place(11)
    '12'
    """
    return NONE if better is None else f"{better + 1:,}"


def words(value: str) -> str:
    """A name of the API as words.

    >>> words("above_median")
    'above median'
    """
    return value.replace("_", " ")


def segment(value: str) -> str:
    """A text as one segment of a path.

    >>> segment("a b/c")
    'a%20b%2Fc'
    """
    return quote(value, safe="")


FILTERS = {
    function.__name__: function
    for function in (
        percent, interval, signed, improvement, logit, number, count, counted, dollars, when,
        duration, size, place, words, segment,
    )
}  # fmt: skip
