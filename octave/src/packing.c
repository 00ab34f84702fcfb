/* packing.c: arrays, and parts of them that a datatype describes, as bytes and back (section 5.2). */
#include "call.h"
#include "problem.h"

#include <string.h>

/* What both directions take: external32 needs no communicator. */
struct packing {
    struct call call;
    MPI_Comm comm;
    int external;
};

static const char *begin(struct packing *packing, int nrhs, const mxArray *prhs[], int external, int wanted)
{
    memset(packing, 0, sizeof *packing);
    packing->external = external;
    packing->call.size = 1;
    if (nrhs < wanted)
        return argument_problem("%d arguments are wanted", wanted);
    return external ? NULL : read_communicator(prhs[0], &packing->comm);
}

static const char *pack(mxArray *plhs[], int nrhs, const mxArray *prhs[], int external)
{
    struct packing packing;
    struct buffer buffer = {0};
    MPI_Count room = 0, used = 0;
    mwSize dims[2] = {1, 0};
    mxArray *bytes = NULL;
    const char *wrong = begin(&packing, nrhs, prhs, external, 2 - external);
    if (!wrong)
        wrong = read_sent(&packing.call, prhs[1 - external], 'B', &buffer);
    if (!wrong)
        wrong = mpi_problem(external ? MPI_Pack_external_size_c("external32", buffer.count, buffer.type, &room)
                                     : MPI_Pack_size_c(buffer.count, buffer.type, packing.comm, &room), "MPI_Pack_size");
    if (!wrong) {
        void *to = mxMalloc((size_t)room + 1);
        wrong = mpi_problem(external ? MPI_Pack_external_c("external32", buffer.address, buffer.count, buffer.type, to, room, &used)
                                     : MPI_Pack_c(buffer.address, buffer.count, buffer.type, to, room, &used, packing.comm), "MPI_Pack");
        dims[1] = (mwSize)used;
        bytes = array_of(mxUINT8_CLASS, 0, 2, dims, 0);
        memcpy(mxGetData(bytes), to, (size_t)used);
        mxFree(to);
    }
    plhs[0] = bytes;
    call_release(&packing.call);
    return wrong;
}

/* [array, next] = c.unpack(bytes, like, position): position counts bytes from 0. */
static const char *unpack(int nlhs, mxArray *plhs[], int nrhs, const mxArray *prhs[], int external)
{
    struct packing packing;
    struct buffer buffer = {0};
    MPI_Count at = 0, room;
    const char *wrong = begin(&packing, nrhs, prhs, external, 3 - external);
    const mxArray *bytes = wrong ? NULL : prhs[1 - external];
    if (!wrong && !mxIsUint8(bytes))
        wrong = argument_problem("what is unpacked is an array of uint8");
    if (!wrong && nrhs > 3 - external)
        wrong = read_count(prhs[3 - external], "the position", &at);
    room = wrong ? 0 : (MPI_Count)mxGetNumberOfElements(bytes);
    if (!wrong && (at < 0 || at > room))
        wrong = argument_problem("position %lld is outside of %lld bytes", (long long)at, (long long)room);
    if (!wrong)
        wrong = read_replaced(&packing.call, prhs[2 - external], &buffer);
    if (!wrong && buffer_bytes(&buffer) > room - at)
        wrong = argument_problem("%lld bytes are wanted of the %lld behind the position", (long long)buffer_bytes(&buffer),
                                 (long long)(room - at));
    if (!wrong)
        wrong = mpi_problem(external ? MPI_Unpack_external_c("external32", mxGetData(bytes), room, &at, buffer.address, buffer.count,
                                                             buffer.type)
                                     : MPI_Unpack_c(mxGetData(bytes), room, &at, buffer.address, buffer.count, buffer.type,
                                                    packing.comm), "MPI_Unpack");
    if (!wrong)
        plhs[0] = take_received(&buffer, NULL);
    if (!wrong && nlhs > 1)
        plhs[1] = mxCreateDoubleScalar((double)at);
    call_release(&packing.call);
    return wrong;
}

static const char *comm_pack(int nlhs, mxArray *plhs[], int nrhs, const mxArray *prhs[])
{
    (void)nlhs;
    return pack(plhs, nrhs, prhs, 0);
}

static const char *comm_unpack(int nlhs, mxArray *plhs[], int nrhs, const mxArray *prhs[])
{
    return unpack(nlhs, plhs, nrhs, prhs, 0);
}

static const char *pack_external(int nlhs, mxArray *plhs[], int nrhs, const mxArray *prhs[])
{
    (void)nlhs;
    return pack(plhs, nrhs, prhs, 1);
}

static const char *unpack_external(int nlhs, mxArray *plhs[], int nrhs, const mxArray *prhs[])
{
    return unpack(nlhs, plhs, nrhs, prhs, 1);
}

const struct operation packing_operations[] = {
    {"Comm.pack", comm_pack, 1},
    {"Comm.unpack", comm_unpack, 2},
    {"mpi.packExternal", pack_external, 1},
    {"mpi.unpackExternal", unpack_external, 2},
    {NULL, NULL, 0},
};
