/*
 * What is no translation of arguments: beginning, strings, arrays of strings, addresses that Fortran keeps, and a few answers.
 */
#include "mpifort.h"

/* As long and as aligned as compilers make these common blocks, or the linker says so. */
#define CELL __attribute__((aligned(32)))
CELL int mpi_cell_bottom_, mpi_cell_in_place_, mpi_cell_automatic_;
CELL int mpi_cell_unweighted_[1], mpi_cell_weights_empty_[1], mpi_cell_errcodes_ignore_[1];
CELL MPI_Status mpi_cell_status_ignore_, mpi_cell_statuses_ignore_;
CELL char mpi_cell_argv_null_[1], mpi_cell_argvs_null_[1];

char *text_of(const char *text, size_t length, int leading)
{
    while (length > 0 && text[length - 1] == ' ') length--;
    for (; leading && length > 0 && *text == ' '; length--) text++;
    char *copy = malloc(length + 1);
    if (!copy) abort();
    memcpy(copy, text, length);
    copy[length] = 0;
    return copy;
}

void blanks_after(char *text, size_t length, const char *from)
{
    size_t used = strlen(from);
    if (used > length) used = length;
    memcpy(text, from, used);
    memset(text + used, ' ', length - used);
}

/* ---- Beginning ---- */

/* Says once what Fortran's types are; who has said it before is right. */
static void describe(void)
{
    static const char *const facts[][2] = {
        {"mpi_logical_size", "4"}, {"mpi_integer_size", "4"}, {"mpi_real_size", "4"},
        {"mpi_double_precision_size", "8"}, {"mpi_logical1_supported", "true"},
        {"mpi_logical2_supported", "true"}, {"mpi_logical4_supported", "true"},
        {"mpi_logical8_supported", "true"}, {"mpi_integer1_supported", "true"},
        {"mpi_integer2_supported", "true"}, {"mpi_integer4_supported", "true"},
        {"mpi_integer8_supported", "true"}, {"mpi_real4_supported", "true"},
        {"mpi_real8_supported", "true"}, {"mpi_complex8_supported", "true"},
        {"mpi_complex16_supported", "true"}, {"mpi_double_complex_supported", "true"},
    };
    int one = 1, zero = 0, is_set = 0;
    MPI_Info info;
    if (MPI_Abi_get_fortran_booleans(sizeof one, &one, &zero, &is_set) == MPI_SUCCESS && !is_set) {
        one = 1, zero = 0;
        MPI_Abi_set_fortran_booleans(sizeof one, &one, &zero);
    }
    if (MPI_Abi_get_fortran_info(&info) != MPI_SUCCESS) return;
    if (info != MPI_INFO_NULL) {
        MPI_Info_free(&info);
    } else if (MPI_Info_create(&info) == MPI_SUCCESS) {
        for (size_t i = 0; i < sizeof facts / sizeof *facts; i++) MPI_Info_set(info, facts[i][0], facts[i][1]);
        MPI_Abi_set_fortran_info(info);
        MPI_Info_free(&info);
    }
}

void mpi_init_(int *ierror)
{
    int result = MPI_Init(NULL, NULL);
    if (result == MPI_SUCCESS) describe();
    RETURN(result);
}
NAMES(init)

void mpi_init_thread_(int *required, int *provided, int *ierror)
{
    int result = MPI_Init_thread(NULL, NULL, *required, provided);
    if (result == MPI_SUCCESS) describe();
    RETURN(result);
}
NAMES(init_thread)

void mpi_session_init_(int *info, int *errhandler, int *session, int *ierror)
{
    MPI_Session new = MPI_SESSION_NULL;
    int result = MPI_Session_init(info_of(*info), errhandler_of(*errhandler), &new);
    if (result == MPI_SUCCESS) {
        describe();
        *session = int_of_session(new);
    }
    RETURN(result);
}
NAMES(session_init)

/* ---- Values ---- */

MPI_Aint mpi_aint_add_(MPI_Aint *base, MPI_Aint *disp)
{
    return MPI_Aint_add(*base, *disp);
}
NAMES(aint_add)

MPI_Aint mpi_aint_diff_(MPI_Aint *addr1, MPI_Aint *addr2)
{
    return MPI_Aint_diff(*addr1, *addr2);
}
NAMES(aint_diff)

double mpi_wtime_(void)
{
    return MPI_Wtime();
}
NAMES(wtime)

double mpi_wtick_(void)
{
    return MPI_Wtick();
}
NAMES(wtick)

void mpi_pcontrol_(int *level)
{
    MPI_Pcontrol(*level);
}
NAMES(pcontrol)

void mpi_abi_get_fortran_booleans_(int *logical_size, void *logical_true, void *logical_false, int *is_set,
                                   int *ierror)
{
    RETURN(MPI_Abi_get_fortran_booleans(*logical_size, logical_true, logical_false, is_set));
    logicals(is_set, 1);
}
NAMES(abi_get_fortran_booleans)

void mpi_abi_set_fortran_booleans_(int *logical_size, void *logical_true, void *logical_false, int *ierror)
{
    RETURN(MPI_Abi_set_fortran_booleans(*logical_size, logical_true, logical_false));
}
NAMES(abi_set_fortran_booleans)

void mpi_f_sync_reg_(void *buffer)
{
    (void)buffer;
}
ALIAS(pmpi_f_sync_reg_, mpi_f_sync_reg_)
ALIAS(mpi_f_sync_reg_f08ts_, mpi_f_sync_reg_)
ALIAS(pmpi_f_sync_reg_f08ts_, mpi_f_sync_reg_)

void mpi_sizeof_f08ts_(CFI_cdesc_t *x, int *size, int *ierror)
{
    *size = (int)x->elem_len;
    RETURN(MPI_SUCCESS);
}
ALIAS(pmpi_sizeof_f08ts_, mpi_sizeof_f08ts_)

void mpi_status_f2f08_(int *f_status, MPI_Status *f08_status, int *ierror)
{
    memcpy(f08_status, f_status, sizeof *f08_status);
    RETURN(MPI_SUCCESS);
}
NAMES(status_f2f08)

void mpi_status_f082f_(MPI_Status *f08_status, int *f_status, int *ierror)
{
    memcpy(f_status, f08_status, sizeof *f08_status);
    RETURN(MPI_SUCCESS);
}
NAMES(status_f082f)

#define COMPARED(handle)                                             \
    int mpi_##handle##_equal_(int *left, int *right)                   \
    {                                                                  \
        return *left == *right;                                        \
    }                                                                  \
    int mpi_##handle##_differ_(int *left, int *right)                  \
    {                                                                  \
        return *left != *right;                                        \
    }
COMPARED(comm)
COMPARED(datatype)
COMPARED(errhandler)
COMPARED(file)
COMPARED(group)
COMPARED(info)
COMPARED(message)
COMPARED(op)
COMPARED(request)
COMPARED(session)
COMPARED(win)

/* ---- Lengths of strings, in which Fortran counts no zero at the end ---- */

void mpi_info_get_string_(int *info, char *key, int *buflen, char *value, int *flag, int *ierror,
                          size_t key_length, size_t value_length)
{
    char *name = text_of(key, key_length, 1);
    size_t asked = *buflen > 0 ? (size_t)*buflen : 0;
    int length = asked ? (int)asked + 1 : 0;
    char *text = calloc(1, asked + 1);
    int result = MPI_Info_get_string(info_of(*info), name, &length, text, flag);
    if (result == MPI_SUCCESS) {
        logicals(flag, 1);
        if (*flag && asked) blanks_after(value, value_length, text);
        if (*flag) *buflen = length - 1;
    }
    free(text);
    free(name);
    RETURN(result);
}
NAMES(info_get_string)

void mpi_session_get_nth_pset_(int *session, int *info, int *n, int *pset_len, char *pset_name, int *ierror,
                               size_t pset_name_length)
{
    size_t asked = *pset_len > 0 ? (size_t)*pset_len : 0;
    int length = asked ? (int)asked + 1 : 0;
    char *text = calloc(1, asked + 1);
    int result = MPI_Session_get_nth_pset(session_of(*session), info_of(*info), *n, &length, text);
    if (result == MPI_SUCCESS && asked) blanks_after(pset_name, pset_name_length, text);
    if (result == MPI_SUCCESS) *pset_len = length - 1;
    free(text);
    RETURN(result);
}
NAMES(session_get_nth_pset)

void mpi_info_create_env_(int *info, int *ierror)
{
    MPI_Info new = MPI_INFO_NULL;
    int result = MPI_Info_create_env(0, NULL, &new);
    if (result == MPI_SUCCESS) *info = int_of_info(new);
    RETURN(result);
}
NAMES(info_create_env)

/* ---- Buffers that come back: the module mpi has no place for their address ---- */

#define DETACH(name, Name, Count, parameter, argument)                                 \
    void mpi_##name##_f08_(parameter void **buffer_addr, Count *size, int *ierror)          \
    {                                                                                       \
        RETURN(MPI_##Name(argument buffer_addr, size));                                    \
    }                                                                                       \
    ALIAS(pmpi_##name##_f08_, mpi_##name##_f08_)
#define DETACH_OLD(name, Name, parameter, argument)                                         \
    void mpi_##name##_(parameter void *buffer_addr, int *size, int *ierror)                 \
    {                                                                                       \
        void *unused;                                                                       \
        (void)buffer_addr;                                                                  \
        RETURN(MPI_##Name(argument &unused, size));                                        \
    }                                                                                       \
    ALIAS(pmpi_##name##_, mpi_##name##_)
#define NOTHING
#define OF_COMM int *comm,
#define THE_COMM comm_of(*comm),
#define OF_SESSION int *session,
#define THE_SESSION session_of(*session),
DETACH(buffer_detach, Buffer_detach, int, NOTHING, NOTHING)
DETACH(buffer_detach_c, Buffer_detach_c, MPI_Count, NOTHING, NOTHING)
DETACH(comm_detach_buffer, Comm_detach_buffer, int, OF_COMM, THE_COMM)
DETACH(comm_detach_buffer_c, Comm_detach_buffer_c, MPI_Count, OF_COMM, THE_COMM)
DETACH(session_detach_buffer, Session_detach_buffer, int, OF_SESSION, THE_SESSION)
DETACH(session_detach_buffer_c, Session_detach_buffer_c, MPI_Count, OF_SESSION, THE_SESSION)
DETACH_OLD(buffer_detach, Buffer_detach, NOTHING, NOTHING)
DETACH_OLD(comm_detach_buffer, Comm_detach_buffer, OF_COMM, THE_COMM)
DETACH_OLD(session_detach_buffer, Session_detach_buffer, OF_SESSION, THE_SESSION)

/* ---- Programs that are started: arrays of strings, up to the first blank one ---- */

/* The arguments of one program; their strings are `stride` bytes apart. */
static char **arguments_of(char *texts, size_t length, size_t stride)
{
    size_t count = 0;
    for (;; count++) {
        char *one = text_of(texts + count * stride, length, 0);
        int last = !*one;
        free(one);
        if (last) break;
    }
    char **all = calloc(count + 1, sizeof *all);
    for (size_t i = 0; i < count; i++) all[i] = text_of(texts + i * stride, length, 1);
    return all;
}

static void free_arguments(char **all)
{
    for (size_t i = 0; all && all[i]; i++) free(all[i]);
    free(all);
}

static int *errcodes_of(int *codes)
{
    return codes == mpi_cell_errcodes_ignore_ ? MPI_ERRCODES_IGNORE : codes;
}

void mpi_comm_spawn_(char *command, char *argv, int *maxprocs, int *info, int *root, int *comm, int *intercomm,
                     int *array_of_errcodes, int *ierror, size_t command_length, size_t argv_length)
{
    int rank;
    MPI_Comm on = comm_of(*comm), new = MPI_COMM_NULL;
    char *name = NULL, **arguments = MPI_ARGV_NULL;
    /* Only the root has to give them. */
    if (MPI_Comm_rank(on, &rank) == MPI_SUCCESS && rank == *root) {
        name = text_of(command, command_length, 1);
        if (argv != mpi_cell_argv_null_) arguments = arguments_of(argv, argv_length, argv_length);
    }
    int result = MPI_Comm_spawn(name ? name : "", arguments, *maxprocs, info_of(*info), *root, on, &new,
                                 errcodes_of(array_of_errcodes));
    if (result == MPI_SUCCESS) *intercomm = int_of_comm(new);
    free_arguments(arguments);
    free(name);
    RETURN(result);
}
NAMES(comm_spawn)

void mpi_comm_spawn_multiple_(int *count, char *array_of_commands, char *array_of_argv, int *array_of_maxprocs,
                              int *array_of_info, int *root, int *comm, int *intercomm,
                              int *array_of_errcodes, int *ierror, size_t command_length, size_t argv_length)
{
    int rank = MPI_UNDEFINED, is_root;
    MPI_Comm on = comm_of(*comm), new = MPI_COMM_NULL;
    is_root = MPI_Comm_rank(on, &rank) == MPI_SUCCESS && rank == *root;
    size_t number = is_root && *count > 0 ? (size_t)*count : 0;
    char **names = calloc(number + 1, sizeof *names);
    char ***arguments = calloc(number + 1, sizeof *arguments);
    MPI_Info *infos = calloc(number + 1, sizeof *infos);
    int has_arguments = array_of_argv != mpi_cell_argvs_null_;
    for (size_t i = 0; i < number; i++) {
        names[i] = text_of(array_of_commands + i * command_length, command_length, 1);
        infos[i] = info_of(array_of_info[i]);
        if (has_arguments) arguments[i] = arguments_of(array_of_argv + i * argv_length, argv_length, number * argv_length);
    }
    int result = MPI_Comm_spawn_multiple(*count, names, has_arguments ? arguments : MPI_ARGVS_NULL,
                                          array_of_maxprocs, infos, *root, on, &new,
                                          errcodes_of(array_of_errcodes));
    if (result == MPI_SUCCESS) *intercomm = int_of_comm(new);
    for (size_t i = 0; i < number; i++) free_arguments(arguments[i]);
    free_arguments(names);
    free(arguments);
    free(infos);
    RETURN(result);
}
NAMES(comm_spawn_multiple)
