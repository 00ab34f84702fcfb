% DELETEFILE  Deletes a file; mpi.File.remove is the same.
%
%   mpi.deleteFile(name, info)
%
% Errors: mpi:noSuchFile if there is none.
%
% Example: if c.rank == 0, mpi.deleteFile('matrix.bin'); end
%
% Section 14.2.3 of the MPI standard, MPI_File_delete.
%
% See also: mpi.File.
%
% The function is in the MEX file of this name; this file holds its help.

%!test
%! mpi.world();
%! name = tempname();
%! fclose(fopen(name, 'w'));
%! mpi.deleteFile(name);
%! assert(exist(name, 'file'), 0);

%!error id=mpi:noSuchFile mpi.world(); mpi.deleteFile(tempname())
