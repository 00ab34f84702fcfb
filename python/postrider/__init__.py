"""Postrider for Python: messages of values that Octave and MATLAB read and write too."""
