//! Passes a growing message around all ranks and back, on whatever MPI library is preloaded:
//! `postrider run -n 4 env LD_PRELOAD=.../libmpi_abi.so.1 ring`. Rank 0 prints the length that came back: the number of ranks.

use postrider_client::{Mpi, Result};

fn main() -> Result<()> {
    let mpi = Mpi::find()?;
    mpi.initialize()?;
    let world = mpi.world();
    let (rank, size) = (world.rank()?, world.size()?);
    let (next, before) = ((rank + 1) % size, (rank + size - 1) % size);
    let mut message = vec![0; size as usize];
    if rank == 0 {
        world.send(&[7], next, 1)?;
        println!("{}", world.receive(&mut message, before, 1)?);
    } else {
        let length = world.receive(&mut message, before, 1)?;
        world.send(&message[..=length], next, 1)?;
    }
    mpi.finalize()
}
