/* problem.c: see problem.h. */
#include "problem.h"

#include <mpi.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

static char problem_text[640];
static const char *identifier;

/* The standard's error classes (section 9.4) in lower case, without MPI_ERR_. */
static const struct { int error_class; const char *identifier; } CLASSES[] = {
    {MPI_ERR_BUFFER, "mpi:buffer"},
    {MPI_ERR_COUNT, "mpi:count"},
    {MPI_ERR_TYPE, "mpi:type"},
    {MPI_ERR_TAG, "mpi:tag"},
    {MPI_ERR_COMM, "mpi:comm"},
    {MPI_ERR_RANK, "mpi:rank"},
    {MPI_ERR_REQUEST, "mpi:request"},
    {MPI_ERR_ROOT, "mpi:root"},
    {MPI_ERR_GROUP, "mpi:group"},
    {MPI_ERR_OP, "mpi:op"},
    {MPI_ERR_TOPOLOGY, "mpi:topology"},
    {MPI_ERR_DIMS, "mpi:dims"},
    {MPI_ERR_ARG, "mpi:arg"},
    {MPI_ERR_TRUNCATE, "mpi:truncate"},
    {MPI_ERR_INTERN, "mpi:intern"},
    {MPI_ERR_PENDING, "mpi:pending"},
    {MPI_ERR_IN_STATUS, "mpi:inStatus"},
    {MPI_ERR_ACCESS, "mpi:access"},
    {MPI_ERR_AMODE, "mpi:amode"},
    {MPI_ERR_ASSERT, "mpi:assert"},
    {MPI_ERR_BAD_FILE, "mpi:badFile"},
    {MPI_ERR_BASE, "mpi:base"},
    {MPI_ERR_CONVERSION, "mpi:conversion"},
    {MPI_ERR_DISP, "mpi:disp"},
    {MPI_ERR_DUP_DATAREP, "mpi:dupDatarep"},
    {MPI_ERR_FILE_EXISTS, "mpi:fileExists"},
    {MPI_ERR_FILE_IN_USE, "mpi:fileInUse"},
    {MPI_ERR_FILE, "mpi:file"},
    {MPI_ERR_INFO_KEY, "mpi:infoKey"},
    {MPI_ERR_INFO_NOKEY, "mpi:infoNokey"},
    {MPI_ERR_INFO_VALUE, "mpi:infoValue"},
    {MPI_ERR_INFO, "mpi:info"},
    {MPI_ERR_IO, "mpi:io"},
    {MPI_ERR_KEYVAL, "mpi:keyval"},
    {MPI_ERR_LOCKTYPE, "mpi:locktype"},
    {MPI_ERR_NAME, "mpi:name"},
    {MPI_ERR_NO_MEM, "mpi:noMem"},
    {MPI_ERR_NOT_SAME, "mpi:notSame"},
    {MPI_ERR_NO_SPACE, "mpi:noSpace"},
    {MPI_ERR_NO_SUCH_FILE, "mpi:noSuchFile"},
    {MPI_ERR_PORT, "mpi:port"},
    {MPI_ERR_QUOTA, "mpi:quota"},
    {MPI_ERR_READ_ONLY, "mpi:readOnly"},
    {MPI_ERR_RMA_ATTACH, "mpi:rmaAttach"},
    {MPI_ERR_RMA_CONFLICT, "mpi:rmaConflict"},
    {MPI_ERR_RMA_RANGE, "mpi:rmaRange"},
    {MPI_ERR_RMA_SHARED, "mpi:rmaShared"},
    {MPI_ERR_RMA_SYNC, "mpi:rmaSync"},
    {MPI_ERR_SERVICE, "mpi:service"},
    {MPI_ERR_SIZE, "mpi:size"},
    {MPI_ERR_SPAWN, "mpi:spawn"},
    {MPI_ERR_UNSUPPORTED_DATAREP, "mpi:unsupportedDatarep"},
    {MPI_ERR_UNSUPPORTED_OPERATION, "mpi:unsupportedOperation"},
    {MPI_ERR_WIN, "mpi:win"},
    {MPI_ERR_RMA_FLAVOR, "mpi:rmaFlavor"},
    {MPI_ERR_PROC_ABORTED, "mpi:procAborted"},
    {MPI_ERR_VALUE_TOO_LARGE, "mpi:valueTooLarge"},
    {MPI_ERR_SESSION, "mpi:session"},
    {MPI_ERR_ERRHANDLER, "mpi:errhandler"},
};

const char *mpi_problem(int code, const char *call)
{
    char text[MPI_MAX_ERROR_STRING + 1];
    int length = 0, error_class = MPI_ERR_OTHER;
    size_t i;
    if (code == MPI_SUCCESS)
        return NULL;
    if (MPI_Error_string(code, text, &length) != MPI_SUCCESS)
        length = 0;
    text[length] = 0;
    MPI_Error_class(code, &error_class);
    identifier = "mpi:other";
    for (i = 0; i < sizeof CLASSES / sizeof CLASSES[0]; i++)
        if (CLASSES[i].error_class == error_class)
            identifier = CLASSES[i].identifier;
    snprintf(problem_text, sizeof problem_text, "%s failed: %.500s", call, text);
    return problem_text;
}

const char *argument_problem(const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(problem_text, sizeof problem_text, format, arguments);
    va_end(arguments);
    identifier = "mpi:argument";
    return problem_text;
}

const char *rank_problem(int rank, int size)
{
    snprintf(problem_text, sizeof problem_text, "%d is no rank of the communicator, which has 0 to %d", rank, size - 1);
    identifier = "mpi:rank";
    return problem_text;
}

const char *state_problem(const char *text)
{
    snprintf(problem_text, sizeof problem_text, "%s", text);
    identifier = "mpi:state";
    return problem_text;
}

const char *interrupt_problem(void)
{
    snprintf(problem_text, sizeof problem_text, "interrupted while waiting; what is waited for can still come");
    identifier = "mpi:interrupt";
    return problem_text;
}

const char *identifier_of(const char *text)
{
    return text == problem_text ? identifier : "mpi:other";
}
