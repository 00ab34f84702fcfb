/* More elements than there are addresses are an error of the count, and not of the memory (MPI 5.0, section 2.5.8). */
#include "../check.h"

int main(int argc, char **argv)
{
    const MPI_Count many = (MPI_Count)1 << 61;
    long in[2] = {0}, out[2] = {0};
    MPI_Count counts[1] = {many};
    MPI_Aint zero[1] = {0};
    MPI_Comm self = MPI_COMM_SELF;
    check_begin(&argc, &argv);
    FAILS(MPI_ERR_COUNT, MPI_Send_c(in, many, MPI_LONG, 0, 0, self));
    FAILS(MPI_ERR_COUNT, MPI_Recv_c(in, many, MPI_LONG, 0, 0, self, MPI_STATUS_IGNORE));
    FAILS(MPI_ERR_COUNT, MPI_Bcast_c(in, many, MPI_LONG, 0, self));
    FAILS(MPI_ERR_COUNT, MPI_Gather_c(in, many, MPI_LONG, out, many, MPI_LONG, 0, self));
    FAILS(MPI_ERR_COUNT, MPI_Allgatherv_c(in, 1, MPI_LONG, out, counts, zero, MPI_LONG, self));
    FAILS(MPI_ERR_COUNT, MPI_Alltoall_c(in, many, MPI_LONG, out, many, MPI_LONG, self));
    FAILS(MPI_ERR_COUNT, MPI_Allreduce_c(in, out, many, MPI_LONG, MPI_SUM, self));
    FAILS(MPI_ERR_COUNT, MPI_Scan_c(in, out, many, MPI_LONG, MPI_SUM, self));
    FAILS(MPI_ERR_COUNT, MPI_Reduce_scatter_block_c(in, out, many, MPI_LONG, MPI_SUM, self));
    OK(MPI_Barrier(MPI_COMM_WORLD));
    return check_end();
}
