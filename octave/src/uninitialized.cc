// uninitialized.cc: full arrays whose elements are open, for what is received into them (dense_array() in mex_shared.c).
//
// Functions of the MEX interface and of the language write all elements of an array that they make, which takes as long as a message
// of its size.  The constructors of Octave's own classes do not.  This is the only file in C++, and has to fit the
// Octave that loads it; with another Octave the MEX file does without.
#include <octave/oct.h>

#include <cstdint>
#include <sys/mman.h>

// Memory that is used for the first time comes in pages of 2 MiB, where the system has them for who asks.
static void prefer_huge_pages(const void *start, size_t bytes)
{
#ifdef MADV_HUGEPAGE
    const size_t page = 4096, least = size_t(4) << 20;
    const uintptr_t first = (reinterpret_cast<uintptr_t>(start) + page - 1) / page * page;
    const uintptr_t end = (reinterpret_cast<uintptr_t>(start) + bytes) / page * page;
    if (bytes >= least)
        madvise(reinterpret_cast<void *>(first), end - first, MADV_HUGEPAGE);
#endif
}

template <typename ARRAY> static ARRAY array_of(const dim_vector& dims)
{
    ARRAY array(dims);
    prefer_huge_pages(array.data(), sizeof(*array.data()) * size_t(array.numel()));
    return array;
}

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
        return octave_value(array_of<FloatNDArray>(dims));
    return octave_value(array_of<NDArray>(dims));
}
