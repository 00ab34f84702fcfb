classdef Comm < handle
% COMM  A communicator: a group of processes and a context for their messages.
%
%   c = mpi.world                      all processes of the job
%   c.rank, c.size                     this process, from 0, and how many there are
%   d = c.split(color, key)            and dup, create, createGroup, createIntercomm, merge, spawn, accept, connect
%
% Functions in lower case move values of any kind: send recv isend irecv sendrecv bcast gather scatter allgather alltoall reduce
% allreduce scan exscan neighborAllgather neighborAlltoall.  Functions with a capital move full arrays of numbers, logical values or characters without encoding them:
% Send Recv Sendrecv Bcast Gather Scatter Allgather Alltoall Reduce Allreduce Scan Exscan ReduceScatter, with I in front nonblocking
% (Isend), with Init behind persistent (SendInit), with v and w for parts of different sizes (Gatherv, Alltoallw), and on the
% neighbourhood of a topology (NeighborAllgather).
%
% What is received has the class and the size of the array that is passed for it, and is returned:
%
%   A = c.Recv(zeros(1000, 1), source, tag);
%
% A source or tag that is left out, [] or '*' matches all.  Datatypes, counts and displacements stand beside the array in a cell,
% {A, type}, {A, counts, displacements}; memory that stays in its place is an mpi.Buffer.
%
% Errors of MPI are exceptions with the identifiers of its error classes, mpi:rank, mpi:truncate and so on; mpi:argument says
% that an argument cannot be used.
%
% Example:
%   c = mpi.world;
%   if c.rank == 0, c.send({'a name', magic(4)}, 1, 7), elseif c.rank == 1, x = c.recv(0, 7); end
%
% The MPI standard, chapters 3, 6, 7 and 8; the names are those of mpi4py where it has them.
  properties (SetAccess = private)
    handle
    rank
    size
  end
  methods
    % Values of any kind.  Sends do not wait; the value is kept until it is received.
    send(c, value, dest, tag)
    request = isend(c, value, dest, tag)
    [value, status] = recv(c, source, tag)
    request = irecv(c, source, tag)
    [value, status] = sendrecv(c, value, dest, sendtag, source, recvtag)
    value = bcast(c, value, root)
    cell = gather(c, value, root)
    value = scatter(c, cell, root)
    cell = allgather(c, value)
    cell = alltoall(c, cell)
    % On the neighbourhood of a topology: a value for each neighbour, [] where there is none.
    cell = neighborAllgather(c, value)
    cell = neighborAlltoall(c, cell)
    result = reduce(c, value, op, root)
    result = allreduce(c, value, op)
    result = scan(c, value, op)
    result = exscan(c, value, op)

    % Messages of arrays.
    Send(c, array, dest, tag)
    Ssend(c, array, dest, tag)
    Rsend(c, array, dest, tag)
    Bsend(c, array, dest, tag)
    [array, status] = Recv(c, like, source, tag)
    [array, status] = Sendrecv(c, array, dest, sendtag, like, source, recvtag)
    [array, status] = SendrecvReplace(c, array, dest, sendtag, source, recvtag)
    request = Isend(c, array, dest, tag)
    request = Issend(c, array, dest, tag)
    request = Irsend(c, array, dest, tag)
    request = Ibsend(c, array, dest, tag)
    request = Irecv(c, like, source, tag)
    request = Isendrecv(c, array, dest, sendtag, like, source, recvtag)
    request = IsendrecvReplace(c, array, dest, sendtag, source, recvtag)
    request = SendInit(c, buffer, dest, tag)
    request = SsendInit(c, buffer, dest, tag)
    request = RsendInit(c, buffer, dest, tag)
    request = BsendInit(c, buffer, dest, tag)
    request = RecvInit(c, buffer, source, tag)
    request = PsendInit(c, buffer, partitions, dest, tag, info)
    request = PrecvInit(c, buffer, partitions, source, tag, info)
    attachBuffer(c, bytes)
    bytes = detachBuffer(c)
    flushBuffer(c)
    request = iflushBuffer(c)
    bytes = pack(c, array)
    [array, next] = unpack(c, bytes, like, position)
    status = probe(c, source, tag)
    [found, status] = iprobe(c, source, tag)
    [message, status] = mprobe(c, source, tag)
    [found, message, status] = improbe(c, source, tag)

    % Collectives of arrays.  Without `like`, Allgather and Gather put one array beside the other along a new last dimension, Scatter and
    % ReduceScatterBlock divide the last dimension, and all others give what they take.  parts is {array, counts, displacements} in
    % elements, and for w {array, counts, displacements in bytes, {datatypes}}, one for each process.
    barrier(c)
    request = ibarrier(c)
    request = barrierInit(c, info)
    result = Bcast(c, array, root)
    request = Ibcast(c, array, root)
    request = BcastInit(c, array, root, info)
    result = Gather(c, array, root, like)
    request = Igather(c, array, root, like)
    request = GatherInit(c, array, root, like, info)
    result = Gatherv(c, array, root, parts)
    request = Igatherv(c, array, root, parts)
    request = GathervInit(c, array, root, parts, info)
    result = Scatter(c, array, root, like)
    request = Iscatter(c, array, root, like)
    request = ScatterInit(c, array, root, like, info)
    result = Scatterv(c, parts, root, like)
    request = Iscatterv(c, parts, root, like)
    request = ScattervInit(c, parts, root, like, info)
    result = Allgather(c, array, like)
    request = Iallgather(c, array, like)
    request = AllgatherInit(c, array, like, info)
    result = Allgatherv(c, array, parts)
    request = Iallgatherv(c, array, parts)
    request = AllgathervInit(c, array, parts, info)
    result = Alltoall(c, array, like)
    request = Ialltoall(c, array, like)
    request = AlltoallInit(c, array, like, info)
    result = Alltoallv(c, parts, likeparts)
    request = Ialltoallv(c, parts, likeparts)
    request = AlltoallvInit(c, parts, likeparts, info)
    result = Alltoallw(c, parts, likeparts)
    request = Ialltoallw(c, parts, likeparts)
    request = AlltoallwInit(c, parts, likeparts, info)
    result = Reduce(c, array, op, root, like)
    request = Ireduce(c, array, op, root, like)
    request = ReduceInit(c, array, op, root, like, info)
    result = Allreduce(c, array, op, like)
    request = Iallreduce(c, array, op, like)
    request = AllreduceInit(c, array, op, like, info)
    result = Scan(c, array, op, like)
    request = Iscan(c, array, op, like)
    request = ScanInit(c, array, op, like, info)
    result = Exscan(c, array, op, like)
    request = Iexscan(c, array, op, like)
    request = ExscanInit(c, array, op, like, info)
    result = ReduceScatter(c, array, counts, op, like)
    request = IreduceScatter(c, array, counts, op, like)
    request = ReduceScatterInit(c, array, counts, op, like, info)
    result = ReduceScatterBlock(c, array, op, like)
    request = IreduceScatterBlock(c, array, op, like)
    request = ReduceScatterBlockInit(c, array, op, like, info)
    result = NeighborAllgather(c, array, like)
    request = IneighborAllgather(c, array, like)
    request = NeighborAllgatherInit(c, array, like, info)
    result = NeighborAllgatherv(c, array, parts)
    request = IneighborAllgatherv(c, array, parts)
    request = NeighborAllgathervInit(c, array, parts, info)
    result = NeighborAlltoall(c, array, like)
    request = IneighborAlltoall(c, array, like)
    request = NeighborAlltoallInit(c, array, like, info)
    result = NeighborAlltoallv(c, parts, likeparts)
    request = IneighborAlltoallv(c, parts, likeparts)
    request = NeighborAlltoallvInit(c, parts, likeparts, info)
    result = NeighborAlltoallw(c, parts, likeparts)
    request = IneighborAlltoallw(c, parts, likeparts)
    request = NeighborAlltoallwInit(c, parts, likeparts, info)

    % Communicators and groups.
    d = dup(c)
    d = dupWithInfo(c, info)
    request = idup(c)
    request = idupWithInfo(c, info)
    d = split(c, color, key)
    d = splitType(c, type, key, info)
    d = create(c, group)
    d = createGroup(c, group, tag)
    d = createIntercomm(c, localleader, peer, remoteleader, tag)
    d = merge(c, high)
    result = compare(c, d)
    yes = isInter(c)
    n = remoteSize(c)
    group = remoteGroup(c)
    group = getGroup(c)
    n = getSize(c)
    rank = getRank(c)
    name = getName(c)
    setName(c, name)
    info = getInfo(c)
    setInfo(c, info)
    setAttr(c, key, value)
    value = getAttr(c, key)
    deleteAttr(c, key)
    abort(c, code)
    callErrhandler(c, code)

    % Other processes: command and arguments (a cell of texts), how many, an mpi.Info or a struct.
    [inter, codes] = spawn(c, command, arguments, processes, info, root)
    [inter, codes] = spawnMultiple(c, commands, arguments, processes, info, root)
    inter = accept(c, port, info, root)
    inter = connect(c, port, info, root)

    % Topologies.
    d = createCart(c, dims, periods, reorder)
    rank = cartMap(c, dims, periods)
    d = cartSub(c, remaining)
    rank = cartRank(c, coordinates)
    coordinates = cartCoords(c, rank)
    n = cartDim(c)
    [dims, periods, coordinates] = cartGet(c)
    [source, dest] = cartShift(c, dimension, displacement)
    kind = topology(c)
    d = createGraph(c, index, edges, reorder)
    rank = graphMap(c, index, edges)
    [nodes, edges] = graphDims(c)
    [index, edges] = graphGet(c)
    ranks = graphNeighbors(c, rank)
    n = graphNeighborsCount(c, rank)
    d = createDistGraph(c, sources, degrees, destinations, weights, info, reorder)
    d = createDistGraphAdjacent(c, sources, destinations, sourceweights, destweights, info, reorder)
    [sources, destinations, sourceweights, destweights] = distGraphNeighbors(c)
    [sources, destinations, weighted] = distGraphNeighborsCount(c)
  end
  methods
    function c = Comm(handle, rank, size)
      c.handle = handle;
      c.rank = rank;
      c.size = size;
    end
    function free(c)
      % Frees the communicator, collectively (MPI_Comm_free).
      postrider_call('release', c);
      c.handle = 0;
    end
    function disconnect(c)
      % Waits for all pending communication and frees the communicator (MPI_Comm_disconnect).
      postrider_call('disconnect', c);
      c.handle = 0;
    end
    function disp(c)
      fprintf('  mpi.Comm: rank %d of %d\n', c.rank, c.size);
    end
  end
end

%!test    % Values of any kind.
%! c = mpi.world;
%! c.send({'a name', sparse(2)}, 0, 7);
%! [value, status] = c.recv('*', 7);
%! assert(value, {'a name', sparse(2)});
%! assert([status.source, status.tag], [0 7]);

%!test    % Arrays into arrays.
%! c = mpi.world;
%! assert(c.Sendrecv([1 2 3], 0, 1, zeros(1, 3), 0, 1), [1 2 3]);
%! assert(c.Allreduce([1 2 3], '+'), [1 2 3]);

%!test
%! c = mpi.world;
%! d = c.split(0, c.rank);
%! assert(d.allgather('all'), {'all'});
%! d.free();

%!error id=mpi:rank c = mpi.world; c.send(1, 5)
%!error id=mpi:argument c = mpi.world; c.Send(sparse(1), 0)
