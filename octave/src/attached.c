/* attached.c: memory for buffered sends (section 3.6), of a communicator, a session or the process.
 *
 * The program says how many bytes it wants; the memory is ours, from MPI_Buffer_attach to MPI_Buffer_detach.
 */
#include "call.h"

#include <stdlib.h>

int attach_memory(MPI_Comm comm, MPI_Session session, MPI_Count bytes)
{
    void *memory = bytes > 0 ? malloc((size_t)bytes) : MPI_BUFFER_AUTOMATIC;
    int code;
    if (!memory)
        return MPI_ERR_NO_MEM;
    if (comm != MPI_COMM_NULL)
        code = MPI_Comm_attach_buffer_c(comm, memory, bytes);
    else if (session != MPI_SESSION_NULL)
        code = MPI_Session_attach_buffer_c(session, memory, bytes);
    else
        code = MPI_Buffer_attach_c(memory, bytes);
    if (code != MPI_SUCCESS && bytes > 0)
        free(memory);
    return code;
}

int detach_memory(MPI_Comm comm, MPI_Session session, MPI_Count *bytes)
{
    void *memory = NULL;
    int code;
    if (comm != MPI_COMM_NULL)
        code = MPI_Comm_detach_buffer_c(comm, &memory, bytes);
    else if (session != MPI_SESSION_NULL)
        code = MPI_Session_detach_buffer_c(session, &memory, bytes);
    else
        code = MPI_Buffer_detach_c(&memory, bytes);
    if (code == MPI_SUCCESS && memory != MPI_BUFFER_AUTOMATIC)
        free(memory);
    return code;
}
