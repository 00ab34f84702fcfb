/*
 * Contiguous copies of sections of arrays, and what else a request uses until it is complete.
 *
 * A copy exists twice: as MPI has it, and as it was. Only bytes that differ go back into the section, so that nobody has to know which
 * ones MPI writes, and the others may be written by the program meanwhile. A call that may complete requests takes what they use out of the list
 * first: the number of a request may belong to another one as soon as it is complete.
 */
#include "mpifort.h"

#include <pthread.h>

struct Kept {
    Kept *next;
    int request, persistent;
    /* Where the request stands in the array of the call that has taken it. */
    MPI_Count at;
    /* What MPI uses, and, of a copy, what it was when it was made; or a datatype. */
    char *memory, *before;
    MPI_Datatype datatype;
    CFI_cdesc_t section;
};

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static Kept *list;
int number_kept;

/* ---- Copies ---- */

typedef void Move(char *element, char *copy, char *before, size_t length);

static void into_copy(char *element, char *copy, char *before, size_t length)
{
    memcpy(copy, element, length);
    memcpy(before, element, length);
}

static void from_copy(char *element, char *copy, char *before, size_t length)
{
    for (size_t i = 0; i < length; i++) {
        if (copy[i] != before[i]) element[i] = before[i] = copy[i];
    }
}

/* Moves all elements of the first `rank` dimensions; returns how many bytes they have. */
static size_t all_elements(Kept *copy, Move *move, int rank, char *element, size_t offset)
{
    if (rank == 0) {
        move(element, copy->memory + offset, copy->before + offset, copy->section.elem_len);
        return copy->section.elem_len;
    }
    const CFI_dim_t *dimension = &copy->section.dim[rank - 1];
    size_t bytes = 0;
    for (ptrdiff_t i = 0; i < dimension->extent; i++) {
        bytes += all_elements(copy, move, rank - 1, element + i * dimension->sm, offset + bytes);
    }
    return bytes;
}

static void moved(Kept *copy, Move *move)
{
    if (copy->before) all_elements(copy, move, copy->section.rank, copy->section.base_addr, 0);
}

int copied(Section *section, const CFI_cdesc_t *array)
{
    size_t described = sizeof *array + (size_t)array->rank * sizeof *array->dim, bytes = array->elem_len;
    for (int i = 0; i < array->rank; i++) bytes *= (size_t)array->dim[i].extent;
    Kept *copy = calloc(1, sizeof *copy + (size_t)array->rank * sizeof *array->dim);
    char *memory = malloc(bytes + 1), *before = malloc(bytes + 1);
    if (!copy || !memory || !before) abort();
    memcpy(&copy->section, array, described);
    copy->memory = memory;
    copy->before = before;
    moved(copy, into_copy);
    section->address = memory;
    section->copy = copy;
    return MPI_SUCCESS;
}

static void end(Kept *kept)
{
    if (kept->datatype) MPI_Type_free(&kept->datatype);
    free(kept->memory);
    free(kept->before);
    free(kept);
}

void end_copy(Kept *copy)
{
    if (!copy) return;
    moved(copy, from_copy);
    end(copy);
}

/* ---- What requests use ---- */

Kept *kept_memory(void *memory)
{
    Kept *kept = calloc(1, sizeof *kept);
    if (!kept) abort();
    kept->memory = memory;
    return kept;
}

Kept *kept_datatype(MPI_Datatype datatype)
{
    Kept *kept = kept_memory(NULL);
    kept->datatype = datatype;
    return kept;
}

static void add(Kept *kept)
{
    pthread_mutex_lock(&lock);
    kept->next = list;
    list = kept;
    __atomic_add_fetch(&number_kept, 1, __ATOMIC_RELEASE);
    pthread_mutex_unlock(&lock);
}

void keep(Kept *kept, int failed, MPI_Request request, int persistent)
{
    if (!kept) return;
    if (failed || request == MPI_REQUEST_NULL) {
        end_copy(kept);
        return;
    }
    kept->request = int_of_request(request);
    kept->persistent = persistent;
    add(kept);
}

/* Where a request stands among others, or -1. */
static MPI_Count place_among(int request, const int *requests, MPI_Count count)
{
    for (MPI_Count i = 0; i < count; i++) {
        if (requests[i] == request) return i;
    }
    return -1;
}

Kept *take(const int *requests, MPI_Count count)
{
    Kept *taken = NULL;
    pthread_mutex_lock(&lock);
    for (Kept **place = &list; *place;) {
        Kept *kept = *place;
        kept->at = place_among(kept->request, requests, count);
        if (kept->at < 0) {
            place = &kept->next;
            continue;
        }
        *place = kept->next;
        kept->next = taken;
        taken = kept;
        __atomic_sub_fetch(&number_kept, 1, __ATOMIC_RELEASE);
    }
    pthread_mutex_unlock(&lock);
    return taken;
}

void put_back(Kept *taken, const MPI_Request *requests)
{
    while (taken) {
        Kept *kept = taken;
        taken = taken->next;
        int complete = requests[kept->at] == MPI_REQUEST_NULL;
        if (complete || kept->persistent) moved(kept, from_copy);
        complete ? end(kept) : add(kept);
    }
}

static void move_those_of(const int *requests, MPI_Count count, Move *move)
{
    pthread_mutex_lock(&lock);
    for (Kept *kept = list; kept; kept = kept->next) {
        if (place_among(kept->request, requests, count) >= 0) moved(kept, move);
    }
    pthread_mutex_unlock(&lock);
}

void fill(const int *requests, MPI_Count count)
{
    move_those_of(requests, count, into_copy);
}

void empty(const int *requests, MPI_Count count)
{
    move_those_of(requests, count, from_copy);
}

void mpi_request_free_(int *request, int *ierror)
{
    MPI_Request handle = request_of(*request);
    Kept *used = taken(request, 1);
    int complete = 0;
    if (used && used->persistent) MPI_Request_get_status(handle, &complete, MPI_STATUS_IGNORE);
    int result = MPI_Request_free(&handle);
    if (result == MPI_SUCCESS) *request = int_of_request(handle);
    /* On what an active request has, MPI works on: it stays for good. */
    while (used) {
        Kept *kept = used;
        used = used->next;
        if (complete) end_copy(kept);
    }
    RETURN(result);
}
NAMES(request_free)
