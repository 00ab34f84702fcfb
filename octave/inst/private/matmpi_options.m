function options = matmpi_options()
% MATMPI_OPTIONS  How matmpi_run starts a program, when nothing else is said.
%
% before, after   statements around the program, in each rank
% threads         OMP_NUM_THREADS of the ranks; 0 leaves it as it is
% allocation      the words of a command that allocates hosts and runs the launcher there, or {};
%                 processes_per_node for it
  options = struct('before', '', 'after', '', 'threads', 0, 'allocation', {{}}, 'processes_per_node', 0);
