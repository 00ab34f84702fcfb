//! Neighbourhood collectives (MPI 5.0, section 8.6): the blocking, the nonblocking and the persistent forms.
//! Arrays have an element for each neighbour, in the order of the topology.

use postrider_abi::*;
use postrider_engine::collectives::Many;

use crate::collectives::{block, collective, general_blocks, varying_blocks};
use crate::parse::{In, Memory};

collective! {
    /// Section 8.6.1.
    MPI_Neighbor_allgather / MPI_Neighbor_allgather_c,
    MPI_Ineighbor_allgather / MPI_Ineighbor_allgather_c,
    MPI_Neighbor_allgather_init / MPI_Neighbor_allgather_init_c (
        sendbuf: Memory, sendcount: Int, sendtype: MPI_Datatype,
        recvbuf: Memory, recvcount: Int, recvtype: MPI_Datatype, comm: MPI_Comm
    ) on comm |calls| {
        let send = block(calls, (sendbuf, i64::from(sendcount), sendtype))?;
        let receive = block(calls, (recvbuf, i64::from(recvcount), recvtype))?;
        calls.neighbor_allgather(send, Many::equal(receive))
    }

    /// Section 8.6.1.
    MPI_Neighbor_allgatherv / MPI_Neighbor_allgatherv_c,
    MPI_Ineighbor_allgatherv / MPI_Ineighbor_allgatherv_c,
    MPI_Neighbor_allgatherv_init / MPI_Neighbor_allgatherv_init_c (
        sendbuf: Memory, sendcount: Int, sendtype: MPI_Datatype,
        recvbuf: Memory, recvcounts: In<Int>, displs: In<Displacement>, recvtype: MPI_Datatype, comm: MPI_Comm
    ) on comm |calls| {
        let sources = calls.neighbors()?.sources.len();
        let send = block(calls, (sendbuf, i64::from(sendcount), sendtype))?;
        let receive = varying_blocks(calls, sources, (recvbuf, recvcounts, displs, recvtype))?;
        calls.neighbor_allgather(send, receive)
    }

    /// Section 8.6.2.
    MPI_Neighbor_alltoall / MPI_Neighbor_alltoall_c,
    MPI_Ineighbor_alltoall / MPI_Ineighbor_alltoall_c,
    MPI_Neighbor_alltoall_init / MPI_Neighbor_alltoall_init_c (
        sendbuf: Memory, sendcount: Int, sendtype: MPI_Datatype,
        recvbuf: Memory, recvcount: Int, recvtype: MPI_Datatype, comm: MPI_Comm
    ) on comm |calls| {
        let send = block(calls, (sendbuf, i64::from(sendcount), sendtype))?;
        let receive = block(calls, (recvbuf, i64::from(recvcount), recvtype))?;
        calls.neighbor_alltoall(Many::equal(send), Many::equal(receive))
    }

    /// Section 8.6.2.
    MPI_Neighbor_alltoallv / MPI_Neighbor_alltoallv_c,
    MPI_Ineighbor_alltoallv / MPI_Ineighbor_alltoallv_c,
    MPI_Neighbor_alltoallv_init / MPI_Neighbor_alltoallv_init_c (
        sendbuf: Memory, sendcounts: In<Int>, sdispls: In<Displacement>, sendtype: MPI_Datatype,
        recvbuf: Memory, recvcounts: In<Int>, rdispls: In<Displacement>, recvtype: MPI_Datatype, comm: MPI_Comm
    ) on comm |calls| {
        let neighbors = calls.neighbors()?;
        let send = (sendbuf, sendcounts, sdispls, sendtype);
        let send = varying_blocks(calls, neighbors.destinations.len(), send)?;
        let receive = (recvbuf, recvcounts, rdispls, recvtype);
        calls.neighbor_alltoall(send, varying_blocks(calls, neighbors.sources.len(), receive)?)
    }

    /// Section 8.6.2: displacements are addresses in both functions.
    MPI_Neighbor_alltoallw / MPI_Neighbor_alltoallw_c,
    MPI_Ineighbor_alltoallw / MPI_Ineighbor_alltoallw_c,
    MPI_Neighbor_alltoallw_init / MPI_Neighbor_alltoallw_init_c (
        sendbuf: Memory, sendcounts: In<Int>, sdispls: In<MPI_Aint>, sendtypes: In<MPI_Datatype>,
        recvbuf: Memory, recvcounts: In<Int>, rdispls: In<MPI_Aint>, recvtypes: In<MPI_Datatype>, comm: MPI_Comm
    ) on comm |calls| {
        let neighbors = calls.neighbors()?;
        let send = (sendbuf, sendcounts, sdispls, sendtypes);
        let send = general_blocks(calls, neighbors.destinations.len(), send)?;
        let receive = (recvbuf, recvcounts, rdispls, recvtypes);
        calls.neighbor_alltoall(send, general_blocks(calls, neighbors.sources.len(), receive)?)
    }
}
