% MPI_Send: Sends the values to the process dest as one message, and returns at once.
%
%   MPI_Send (dest, tag, comm, var1, var2, ...)
%
% The message carries the values as they are now; the variables may be changed
% afterwards.  Messages to one process with one tag arrive in the order in which
% they were sent.  tag is an integer from 0.  All values can be sent but function
% handles and objects.
%
% The function is in the MEX file of this name; this file holds its help.
