/* mpitb_call.c: the MEX file of the folder mpitb.
 *
 * MPI-TB's functions have names that MatlabMPI's have as well, and a MEX file knows the name by which it was called, not the folder.  So this
 * file stands in that folder, and hands every call on to the MEX file of all others, where the state is.
 */
#include "../mpitb.h"

#ifdef POSTRIDER_OCTAVE
/* Octave looks for this name to know that complex arrays are interleaved. */
extern const int __mx_has_interleaved_complex__;
const int __mx_has_interleaved_complex__ = 1;
#endif

void mexFunction(int nlhs, mxArray *plhs[], int nrhs, const mxArray *prhs[])
{
    mpitb_function(nlhs, plhs, nrhs, prhs);
}
