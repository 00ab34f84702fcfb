function finalize()
% FINALIZE  Ends the use of MPI: no function of it can be called any more.  A program that just ends does the same.
%
% Section 11.2.2 of the MPI standard, MPI_Finalize.
  postrider_call('finish');
end
