"""Draws the Mandelbrot set: picture.py COUNTS PNG.

COUNTS holds a byte for each point of a square, column by column, from the lower left corner.  Four by four points
become one of the picture, which smooths the edge of the set.
"""

import sys
from math import isqrt

import matplotlib
import matplotlib.image
import numpy as np


def main(source, target):
    counts = np.fromfile(source, np.uint8)
    size = isqrt(counts.size)
    counts = counts.reshape(size, size).T[::-1]
    # The colours follow the logarithm, since most of the region has small counts; the set itself is black.
    shade = np.log1p(counts) / np.log1p(counts.max())
    colours = matplotlib.colormaps["twilight_shifted"](shade, bytes=True)[..., :3]
    colours[counts == counts.max()] = 0
    fold = 4 if size % 4 == 0 else 1
    side = size // fold
    smooth = colours.reshape(side, fold, side, fold, 3).mean(axis=(1, 3)).astype(np.uint8)
    matplotlib.image.imsave(target, smooth)


main(*sys.argv[1:])
