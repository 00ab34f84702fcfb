function p = start_pmatlab()
% START_PMATLAB starts MPI and returns the first value of the global variable pMATLAB.
%
%   p = postrider.start_pmatlab()
%
% pMatlab_Init describes its fields. Outside a launcher there is one process, with rank 0.
MPI_Init;
p.comm = MPI_COMM_WORLD;
p.comm_size = MPI_Comm_size(p.comm);
p.my_rank = MPI_Comm_rank(p.comm);
p.leader = 0;
p.host = MatMPI_Host_rank(p.comm);
p.pList = 0:p.comm_size - 1;
p.tag_num = 0;
p.tag = 'tag-0';
