// uninitialized.cc: full arrays whose elements are open, for what is received into them (dense_array() in mex_shared.c).
//
// Functions of the MEX interface and of the language write all elements of an array that they make, which takes as long as a message
// of its size.  The constructors of Octave's own classes do not.  This is the only file in C++, and has to fit the
// Octave that loads it; with another Octave the MEX file does without.
#include <octave/oct.h>

DEFUN_DLD(uninitialized, args, ,
          "-*- texinfo -*-\n"
          "@deftypefn {} {@var{array} =} postrider.uninitialized (@var{like}, @var{dims})\n"
          "A real array of the class of @var{like}, whose elements are open; for the package itself.\n"
          "@end deftypefn")
{
    const Array<octave_idx_type> extents = args(1).octave_idx_type_vector_value();
    dim_vector dims = dim_vector::alloc(int(extents.numel()));
    for (octave_idx_type i = 0; i < extents.numel(); i++)
        dims.xelem(int(i)) = extents(i);
    dims.chop_trailing_singletons();
    if (args(0).is_single_type())
        return octave_value(FloatNDArray(dims));
    return octave_value(NDArray(dims));
}
