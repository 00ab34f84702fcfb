/*
 * Attributes, which C has as pointers and Fortran as integers (section 19.3.7 of the standard): what Fortran sets C sees as a pointer to the
 * integer, which therefore has a place of its own; what C sets Fortran sees as the pointer's bits.
 */
#include "mpifort.h"

#include <pthread.h>

/* ---- Places of integers ---- */

#define SHELF 1000

/* Places that are given out, and how they are known again: they lie on shelves. A free one has the next free one in it. */
typedef struct Shelf {
    struct Shelf *next;
    MPI_Aint places[SHELF];
} Shelf;

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static Shelf *shelves;
static MPI_Aint *free_places;

static void give_back(MPI_Aint *place)
{
    *place = (MPI_Aint)free_places;
    free_places = place;
}

static MPI_Aint *place_for(MPI_Aint value)
{
    pthread_mutex_lock(&lock);
    if (!free_places) {
        Shelf *shelf = malloc(sizeof *shelf);
        if (!shelf) abort();
        shelf->next = shelves;
        shelves = shelf;
        for (int i = SHELF; i > 0; i--) give_back(&shelf->places[i - 1]);
    }
    MPI_Aint *place = free_places;
    free_places = (MPI_Aint *)*place;
    *place = value;
    pthread_mutex_unlock(&lock);
    return place;
}

/* Whether Fortran has set an attribute, by the value that C has. */
static int is_place(const void *value)
{
    pthread_mutex_lock(&lock);
    const Shelf *shelf = shelves;
    while (shelf && ((uintptr_t)value < (uintptr_t)shelf->places || (uintptr_t)value >= (uintptr_t)(shelf + 1)))
        shelf = shelf->next;
    pthread_mutex_unlock(&lock);
    return shelf != NULL;
}

static MPI_Aint value_of(void *value)
{
    return is_place(value) ? *(MPI_Aint *)value : (MPI_Aint)value;
}

/* ---- Keys ---- */

/* The record of a key that Fortran has made; `old` if its integers are default ones. It stays, since attributes outlive their key. */
typedef struct {
    void (*copy)(void);
    void (*delete)(void);
    MPI_Aint extra;
    int extra_of_old, is_old;
} Key;

static int copy_one(Key *key, int object, int keyval, void *in, void *out, int *flag)
{
    int code = MPI_SUCCESS;
    MPI_Aint value = value_of(in), new = 0;
    if (key->is_old) {
        int old_value = (int)value, old_new = 0;
        ((void (*)(int *, int *, int *, int *, int *, int *, int *))key->copy)(
            &object, &keyval, &key->extra_of_old, &old_value, &old_new, flag, &code);
        new = old_new;
    } else {
        ((void (*)(int *, int *, MPI_Aint *, MPI_Aint *, MPI_Aint *, int *, int *))key->copy)(
            &object, &keyval, &key->extra, &value, &new, flag, &code);
    }
    if (code == MPI_SUCCESS && *flag) *(void **)out = place_for(new);
    *flag = *flag != 0;
    return code;
}

static int delete_one(Key *key, int object, int keyval, void *in)
{
    int code = MPI_SUCCESS;
    MPI_Aint value = value_of(in);
    if (key->is_old) {
        int old_value = (int)value;
        ((void (*)(int *, int *, int *, int *, int *))key->delete)(&object, &keyval, &old_value,
                                                                   &key->extra_of_old, &code);
    } else {
        ((void (*)(int *, int *, MPI_Aint *, MPI_Aint *, int *))key->delete)(&object, &keyval, &value,
                                                                             &key->extra, &code);
    }
    if (code == MPI_SUCCESS && is_place(in)) {
        pthread_mutex_lock(&lock);
        give_back(in);
        pthread_mutex_unlock(&lock);
    }
    return code;
}

/* What an attribute that MPI itself has points to. */
static MPI_Aint predefined(int keyval, void *value)
{
    switch (keyval) {
    case MPI_TAG_UB: case MPI_IO: case MPI_HOST: case MPI_WTIME_IS_GLOBAL: case MPI_APPNUM:
    case MPI_LASTUSEDCODE: case MPI_UNIVERSE_SIZE: case MPI_WIN_DISP_UNIT: case MPI_WIN_CREATE_FLAVOR:
    case MPI_WIN_MODEL:
        return *(int *)value;
    case MPI_WIN_SIZE:
        return *(MPI_Aint *)value;
    default:
        return value_of(value);
    }
}

#define ATTRIBUTES(word, type, Type, Name)                                                                  \
    static int word##_copied(Type object, int keyval, void *key, void *in, void *out, int *flag)            \
    {                                                                                                       \
        return copy_one(key, int_of_##type(object), keyval, in, out, flag);                                   \
    }                                                                                                       \
    static int word##_deleted(Type object, int keyval, void *value, void *key)                              \
    {                                                                                                       \
        return delete_one(key, int_of_##type(object), keyval, value);                                          \
    }                                                                                                       \
    void mpi_##word##_create_keyval_(void (*copy)(void), void (*delete)(void), int *keyval,                 \
                                     MPI_Aint *extra_state, int *ierror)                                    \
    {                                                                                                       \
        Key *key = malloc(sizeof *key);                                                                     \
        *key = (Key){copy, delete, *extra_state, 0, 0};                                                     \
        RETURN(MPI_##Name##_create_keyval(word##_copied, word##_deleted, keyval, key));                    \
    }                                                                                                       \
    NAMES(word##_create_keyval)                                                                             \
    void mpi_##word##_set_attr_(int *object, int *keyval, MPI_Aint *value, int *ierror)                     \
    {                                                                                                       \
        MPI_Aint *place = place_for(*value);                                                                \
        RETURN(MPI_##Name##_set_attr(type##_of(*object), *keyval, place));                                 \
    }                                                                                                       \
    NAMES(word##_set_attr)                                                                                  \
    void mpi_##word##_get_attr_(int *object, int *keyval, MPI_Aint *value, int *flag, int *ierror)          \
    {                                                                                                       \
        void *found = NULL;                                                                                 \
        int result = MPI_##Name##_get_attr(type##_of(*object), *keyval, &found, flag);                     \
        if (result == MPI_SUCCESS) logicals(flag, 1);                                                       \
        if (result == MPI_SUCCESS && *flag) *value = predefined(*keyval, found);                            \
        RETURN(result);                                                                                     \
    }                                                                                                       \
    NAMES(word##_get_attr)
ATTRIBUTES(comm, comm, MPI_Comm, Comm)
ATTRIBUTES(type, datatype, MPI_Datatype, Type)
ATTRIBUTES(win, win, MPI_Win, Win)

/* ---- The functions of MPI-1, with default integers ---- */

void mpi_keyval_create_(void (*copy_fn)(void), void (*delete_fn)(void), int *keyval, int *extra_state, int *ierror)
{
    Key *key = malloc(sizeof *key);
    *key = (Key){copy_fn, delete_fn, 0, *extra_state, 1};
    RETURN(MPI_Comm_create_keyval(comm_copied, comm_deleted, keyval, key));
}
ALIAS(pmpi_keyval_create_, mpi_keyval_create_)

void mpi_attr_put_(int *comm, int *keyval, int *value, int *ierror)
{
    MPI_Aint wide = *value;
    mpi_comm_set_attr_(comm, keyval, &wide, ierror);
}
ALIAS(pmpi_attr_put_, mpi_attr_put_)

void mpi_attr_get_(int *comm, int *keyval, int *value, int *flag, int *ierror)
{
    MPI_Aint wide = *value;
    mpi_comm_get_attr_(comm, keyval, &wide, flag, ierror);
    *value = (int)wide;
}
ALIAS(pmpi_attr_get_, mpi_attr_get_)

/* ---- What MPI defines: no copy, a copy, and nothing to do ---- */

#define NULL_COPY(name, Value)                                                                              \
    void name(int *object, int *keyval, Value *extra, Value *in, Value *out, int *flag, int *ierror)        \
    {                                                                                                       \
        (void)object, (void)keyval, (void)extra, (void)in, (void)out;                                       \
        *flag = 0;                                                                                          \
        *ierror = MPI_SUCCESS;                                                                              \
    }
#define DUP(name, Value)                                                                                    \
    void name(int *object, int *keyval, Value *extra, Value *in, Value *out, int *flag, int *ierror)        \
    {                                                                                                       \
        (void)object, (void)keyval, (void)extra;                                                            \
        *out = *in;                                                                                         \
        *flag = 1;                                                                                          \
        *ierror = MPI_SUCCESS;                                                                              \
    }
#define NULL_DELETE(name, Value)                                                                            \
    void name(int *object, int *keyval, Value *value, Value *extra, int *ierror)                            \
    {                                                                                                       \
        (void)object, (void)keyval, (void)value, (void)extra;                                               \
        *ierror = MPI_SUCCESS;                                                                              \
    }
NULL_COPY(mpi_comm_null_copy_fn_, MPI_Aint)
NULL_COPY(mpi_type_null_copy_fn_, MPI_Aint)
NULL_COPY(mpi_win_null_copy_fn_, MPI_Aint)
NULL_COPY(mpi_null_copy_fn_, int)
DUP(mpi_comm_dup_fn_, MPI_Aint)
DUP(mpi_type_dup_fn_, MPI_Aint)
DUP(mpi_win_dup_fn_, MPI_Aint)
DUP(mpi_dup_fn_, int)
NULL_DELETE(mpi_comm_null_delete_fn_, MPI_Aint)
NULL_DELETE(mpi_type_null_delete_fn_, MPI_Aint)
NULL_DELETE(mpi_win_null_delete_fn_, MPI_Aint)
NULL_DELETE(mpi_null_delete_fn_, int)
