% MPI_PROBE  Lists the messages that wait to be received, without waiting.
%
%   [rank, numeric_tag] = MPI_Probe(source, tag, comm)
%   [rank, numeric_tag, string_tag] = MPI_Probe(source, tag, comm)
%
% source, tag     numbers, texts, or patterns as of file names: '*', 'tag-?', '[12]*'
% rank            column with the source of each message, in the order of arrival; empty if there is
%                 none
% numeric_tag     column with the tags; NaN for texts that are no numbers, but with two outputs such
%                 messages are left out
% string_tag      column cell array with the tags as texts
%
% Example:
%   [rank, tag] = MPI_Probe('*', '*', comm);
%   if ~isempty(rank)
%     value = MPI_Recv(rank(1), tag(1), comm);
%   end
%
% The function is in the MEX file of this name; this file holds its help.

%!test
%! MPI_Init;
%! comm = MPI_COMM_WORLD;
%! assert(isempty(MPI_Probe('*', '*', comm)));
%! MPI_Send(0, 3, comm, 'x');
%! MPI_Send(0, 'three', comm, 'y');
%! [rank, numeric_tag, string_tag] = MPI_Probe('*', '*', comm);
%! assert(rank, [0; 0]);
%! assert(numeric_tag, [3; NaN]);
%! assert(string_tag, {'3'; 'three'});
%! MPI_Recv(0, 3, comm);
%! MPI_Recv(0, 'three', comm);
