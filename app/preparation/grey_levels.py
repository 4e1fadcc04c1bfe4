"""Read the grey levels of an image, by Pillow, which `podium[preparation]` brings."""

from __future__ import annotations

from typing import IO

import numpy as np
import numpy.typing as npt

try:
    from PIL import Image
except ModuleNotFoundError as missing:
    raise ModuleNotFoundError(
        "The answers of this competition are pixels of images. Pillow, which reads them, is not "
        "installed: pip install '.[preparation]' in Podium's checkout."
    ) from missing


def grey_levels(file: IO[bytes]) -> npt.NDArray[np.uint8]:
    """The rows of an image's pixels, from 0 (black) to 255 (white); colours by ITU-R 601-2.

    Raises:
        PIL.UnidentifiedImageError, OSError: it is not an image, or it is damaged.
    """
    with Image.open(file) as image:
        return np.asarray(image.convert("L"))
