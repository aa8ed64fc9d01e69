"""Owns how the sizes of files, blocks and transfers are written in labels: ``1MiB``, ``1.25GiB``, ``512B``.

Tools write the same size exactly in one line and rounded to two decimals in another; a label is the same for
both, so that one series is not taken for two. Refuses to be read back into a number.
"""

_UNITS = (("TiB", 2**40), ("GiB", 2**30), ("MiB", 2**20))


def binary(size: float) -> str:
    """``size`` in bytes with two decimals at most from 1 MiB on, whole below."""
    for unit, factor in _UNITS:
        if size >= factor:
            return f"{size / factor:.2f}".rstrip("0").rstrip(".") + unit
    whole = round(size)
    return f"{whole // 1024}KiB" if whole >= 1024 and whole % 1024 == 0 else f"{whole}B"
