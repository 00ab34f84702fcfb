/* objects.c: what rows cannot say of the objects of mpi.*: making, freeing, spawning, attributes, files and windows, datatypes by index.
 *
 * Attributes are values of the language: MPI keeps the address of a persistent array, and the callbacks of the key copy it, or free
 * it, when a communicator is duplicated or freed (section 7.7).
 */
#include "call.h"
#include "mex_shared.h"
#include "problem.h"

#include <stdlib.h>
#include <string.h>

static mxArray *empty(void)
{
    return mxCreateDoubleMatrix(0, 0, mxREAL);
}

static const char *few(int nrhs, int needed, const char *form)
{
    return nrhs < needed ? argument_problem("%s is wanted", form) : NULL;
}

/* ---- handles ---- */

/* [handle, rank, size] of a predefined communicator. */
static const char *predefined(int nlhs, mxArray *plhs[], int nrhs, const mxArray *prhs[])
{
    char name[16];
    (void)nlhs;
    if (nrhs != 1 || mxGetString(prhs[0], name, sizeof name) != 0)
        return argument_problem("a name is wanted");
    plhs[0] = communicator_object(strcmp(name, "self") == 0 ? MPI_COMM_SELF : MPI_COMM_WORLD);
    return NULL;
}

/* Requests for values of it are over, since nothing more can come. */
static const char *free_communicator(MPI_Comm comm, int (*with)(MPI_Comm *), const char *name)
{
    MPI_Comm freed = comm;
    const char *wrong = mpi_problem(with(&freed), name);
    if (!wrong)
        requests_forget(comm);
    return wrong;
}

static const char *free_window(MPI_Win win)
{
    MPI_Win freed = win;
    const char *wrong = mpi_problem(MPI_Win_free(&freed), "Win.free");
    if (!wrong)
        window_forget(win);
    return wrong;
}

static const char *free_session(MPI_Session session)
{
    const char *wrong = sessions_open == 1 && !exchange.running ? exchange_finish_sends(MPI_COMM_NULL) : NULL;
    if (!wrong)
        wrong = mpi_problem(MPI_Session_finalize(&session), "Session.free");
    sessions_open -= !wrong;
    return wrong;
}

/* postrider_call('release', object): frees the handle of an object of mpi.*. */
static const char *release_handle(int nlhs, mxArray *plhs[], int nrhs, const mxArray *prhs[])
{
    void *handle;
    const char *wrong, *class_name;
    (void)nlhs, (void)plhs;
    wrong = few(nrhs, 1, "an object");
    if (wrong)
        return wrong;
    class_name = mxGetClassName(prhs[0]);
    if (strncmp(class_name, "mpi.", 4) != 0)
        return argument_problem("an object of mpi.* is wanted, not a %s", class_name);
    class_name += 4;
    wrong = read_handle(prhs[0], class_name, &handle);
    if (wrong)
        return wrong;
    if (strcmp(class_name, "Comm") == 0)
        return free_communicator(handle, MPI_Comm_free, "Comm.free");
    if (strcmp(class_name, "Group") == 0)
        return mpi_problem(MPI_Group_free((MPI_Group *)&handle), "Group.free");
    if (strcmp(class_name, "Datatype") == 0)
        return mpi_problem(MPI_Type_free((MPI_Datatype *)&handle), "Datatype.free");
    if (strcmp(class_name, "Info") == 0)
        return mpi_problem(MPI_Info_free((MPI_Info *)&handle), "Info.free");
    if (strcmp(class_name, "Win") == 0)
        return free_window(handle);
    if (strcmp(class_name, "File") == 0)
        return mpi_problem(MPI_File_close((MPI_File *)&handle), "File.close");
    if (strcmp(class_name, "Session") == 0)
        return free_session(handle);
    return argument_problem("objects of class mpi.%s are not freed", class_name);
}

static const char *disconnect(int nlhs, mxArray *plhs[], int nrhs, const mxArray *prhs[])
{
    MPI_Comm comm;
    const char *wrong = few(nrhs, 1, "a communicator");
    (void)nlhs, (void)plhs;
    if (!wrong)
        wrong = read_communicator(prhs[0], &comm);
    return wrong ? wrong : free_communicator(comm, MPI_Comm_disconnect, "Comm.disconnect");
}

/* ---- attributes ---- */

static int copy_attribute(MPI_Comm comm, int key, void *extra, void *value, void *copy, int *flag)
{
    mxArray *same = same_value(value);
    (void)comm, (void)key, (void)extra;
    mexMakeArrayPersistent(same);
    *(void **)copy = same;
    *flag = 1;
    return MPI_SUCCESS;
}

static int leave_attribute(MPI_Comm comm, int key, void *extra, void *value, void *copy, int *flag)
{
    (void)comm, (void)key, (void)extra, (void)value, (void)copy;
    *flag = 0;
    return MPI_SUCCESS;
}

static int delete_attribute(MPI_Comm comm, int key, void *value, void *extra)
{
    (void)comm, (void)key, (void)extra;
    mxDestroyArray(value);
    return MPI_SUCCESS;
}

/* key = mpi.createKeyval(copied) */
static const char *create_keyval(int nlhs, mxArray *plhs[], int nrhs, const mxArray *prhs[])
{
    int key, copied = nrhs > 0 && mxGetScalar(prhs[0]) != 0;
    const char *wrong = mpi_problem(MPI_Comm_create_keyval(copied ? copy_attribute : leave_attribute, delete_attribute, &key, NULL),
                                    "mpi.createKeyval");
    (void)nlhs;
    if (!wrong)
        plhs[0] = mxCreateDoubleScalar(key);
    return wrong;
}

static const char *free_keyval(int nlhs, mxArray *plhs[], int nrhs, const mxArray *prhs[])
{
    int key;
    const char *wrong = few(nrhs, 1, "a key");
    (void)nlhs, (void)plhs;
    if (!wrong)
        wrong = read_number(prhs[0], "a key", &key);
    return wrong ? wrong : mpi_problem(MPI_Comm_free_keyval(&key), "mpi.freeKeyval");
}

static const char *read_key(int nrhs, const mxArray *prhs[], MPI_Comm *comm, int *key)
{
    const char *wrong = few(nrhs, 2, "c and a key");
    if (!wrong)
        wrong = read_communicator(prhs[0], comm);
    return wrong ? wrong : read_number(prhs[1], "a key", key);
}

static const char *set_attribute(int nlhs, mxArray *plhs[], int nrhs, const mxArray *prhs[])
{
    MPI_Comm comm;
    mxArray *kept;
    int key;
    const char *wrong = few(nrhs, 3, "c.setAttr(key, value)");
    (void)nlhs, (void)plhs;
    if (!wrong)
        wrong = read_key(nrhs, prhs, &comm, &key);
    if (wrong)
        return wrong;
    kept = same_value(prhs[2]);
    mexMakeArrayPersistent(kept);
    wrong = mpi_problem(MPI_Comm_set_attr(comm, key, kept), "Comm.setAttr");
    if (wrong)
        mxDestroyArray(kept);
    return wrong;
}

static const struct { const char *name; int key; } ATTRIBUTES[] = {
    {"tag_ub", MPI_TAG_UB}, {"host", MPI_HOST}, {"io", MPI_IO}, {"wtime_is_global", MPI_WTIME_IS_GLOBAL},
    {"universe_size", MPI_UNIVERSE_SIZE}, {"appnum", MPI_APPNUM}, {"lastusedcode", MPI_LASTUSEDCODE},
};

/* value = c.getAttr(key), c.getAttr('universe_size'): [] where there is none. */
static const char *get_attribute(int nlhs, mxArray *plhs[], int nrhs, const mxArray *prhs[])
{
    MPI_Comm comm;
    void *value;
    char name[32] = "";
    int key = MPI_KEYVAL_INVALID, flag = 0, predefined_one = nrhs > 1 && mxIsChar(prhs[1]);
    size_t i;
    const char *wrong = few(nrhs, 2, "c.getAttr(key)");
    (void)nlhs;
    if (!wrong)
        wrong = predefined_one ? read_communicator(prhs[0], &comm) : read_key(nrhs, prhs, &comm, &key);
    if (wrong)
        return wrong;
    if (predefined_one) {
        mxGetString(prhs[1], name, sizeof name);
        for (i = 0; i < sizeof ATTRIBUTES / sizeof ATTRIBUTES[0]; i++)
            if (strcmp(ATTRIBUTES[i].name, name) == 0)
                key = ATTRIBUTES[i].key;
        if (key == MPI_KEYVAL_INVALID)
            return argument_problem("'%s' is no attribute of the standard, such as 'universe_size'", name);
    }
    wrong = mpi_problem(MPI_Comm_get_attr(comm, key, &value, &flag), "Comm.getAttr");
    if (wrong)
        return wrong;
    plhs[0] = !flag ? empty() : predefined_one ? mxCreateDoubleScalar(*(int *)value) : same_value(value);
    return NULL;
}

static const char *delete_attr(int nlhs, mxArray *plhs[], int nrhs, const mxArray *prhs[])
{
    MPI_Comm comm;
    int key;
    const char *wrong = read_key(nrhs, prhs, &comm, &key);
    (void)nlhs, (void)plhs;
    return wrong ? wrong : mpi_problem(MPI_Comm_delete_attr(comm, key), "Comm.deleteAttr");
}

/* ---- info ---- */

/* value = info.get(key): [] where there is none. */
static const char *info_get(int nlhs, mxArray *plhs[], int nrhs, const mxArray *prhs[])
{
    void *handle;
    char key[MPI_MAX_INFO_KEY + 1];
    char *value;
    int length = 0, flag = 0;
    const char *wrong = few(nrhs, 2, "info.get(key)");
    (void)nlhs;
    if (!wrong)
        wrong = read_handle(prhs[0], "Info", &handle);
    if (wrong)
        return wrong;
    if (mxGetString(prhs[1], key, sizeof key) != 0)
        return argument_problem("a key is a text of at most %d characters", MPI_MAX_INFO_KEY);
    wrong = mpi_problem(MPI_Info_get_string(handle, key, &length, NULL, &flag), "Info.get");
    if (wrong || !flag) {
        plhs[0] = empty();
        return wrong;
    }
    value = mxMalloc((size_t)length + 1);
    wrong = mpi_problem(MPI_Info_get_string(handle, key, &length, value, &flag), "Info.get");
    if (!wrong)
        plhs[0] = mxCreateString(value);
    return wrong;
}

/* ---- processes ---- */

static const char *texts_of_cell(struct call *call, const mxArray *cell, char ***texts)
{
    mwSize count = mxIsCell(cell) ? mxGetNumberOfElements(cell) : 0, i;
    const char *wrong = NULL;
    if (!mxIsCell(cell) && !mxIsEmpty(cell))
        return argument_problem("arguments of a program are a cell of texts");
    *texts = mxCalloc(count + 1, sizeof **texts);
    for (i = 0; i < count && !wrong; i++) {
        const mxArray *text = mxGetCell(cell, i);
        size_t room = text ? 4 * mxGetNumberOfElements(text) + 1 : 1;
        (*texts)[i] = mxCalloc(room, 1);
        if (!text || !mxIsChar(text) || mxGetString(text, (*texts)[i], room) != 0)
            wrong = argument_problem("argument %lu of the program is no text", (unsigned long)i + 1);
    }
    (void)call;
    return wrong;
}

/* [inter, codes] = c.spawn(command, arguments, processes, info, root) */
static const char *spawn(int nlhs, mxArray *plhs[], int nrhs, const mxArray *prhs[])
{
    struct call call;
    MPI_Comm comm, inter = MPI_COMM_NULL;
    MPI_Info info = MPI_INFO_NULL;
    char *command, **arguments = MPI_ARGV_NULL;
    int processes = 1, root = 0, *codes, i;
    const char *wrong = few(nrhs, 2, "c.spawn(command, arguments, processes, info, root)");
    memset(&call, 0, sizeof call);
    if (!wrong)
        wrong = read_communicator(prhs[0], &comm);
    if (!wrong)
        wrong = read_text(&call, prhs[1], &command);
    if (!wrong && nrhs > 2)
        wrong = texts_of_cell(&call, prhs[2], &arguments);
    if (!wrong && nrhs > 3)
        wrong = read_number(prhs[3], "the number of processes", &processes);
    if (!wrong && nrhs > 4 && !mxIsEmpty(prhs[4]))
        wrong = read_info(&call, prhs[4], &info);
    if (!wrong && nrhs > 5)
        wrong = read_number(prhs[5], "root", &root);
    if (!wrong && processes < 0)
        wrong = argument_problem("%d processes cannot be spawned", processes);
    if (!wrong) {
        codes = mxCalloc((size_t)processes + 1, sizeof *codes);
        wrong = mpi_problem(MPI_Comm_spawn(command, arguments, processes, info, root, comm, &inter, codes), "Comm.spawn");
    }
    if (!wrong) {
        plhs[0] = communicator_object(inter);
        if (nlhs > 1) {
            plhs[1] = mxCreateDoubleMatrix(1, (mwSize)processes, mxREAL);
            for (i = 0; i < processes; i++)
                mxGetDoubles(plhs[1])[i] = codes[i];
        }
    }
    call_release(&call);
    return wrong;
}

struct programs {
    char **commands;
    char ***arguments;
    int *processes;
    MPI_Info *infos;
    int count;
    int total;
};

static const char *read_programs(struct call *call, int nrhs, const mxArray *prhs[], struct programs *programs)
{
    struct list processes;
    const char *wrong = read_list(call, prhs[3], 'I', &processes);
    int i;
    if (wrong)
        return wrong;
    if (!mxIsCell(prhs[1]) || !mxIsCell(prhs[2]) || (int)mxGetNumberOfElements(prhs[1]) != processes.length ||
        (int)mxGetNumberOfElements(prhs[2]) != processes.length)
        return argument_problem("a cell of commands, a cell of cells of arguments and a list of as many numbers are wanted");
    programs->count = processes.length;
    programs->processes = processes.of.ints;
    programs->commands = mxCalloc((size_t)processes.length + 1, sizeof *programs->commands);
    programs->arguments = mxCalloc((size_t)processes.length + 1, sizeof *programs->arguments);
    programs->infos = mxCalloc((size_t)processes.length + 1, sizeof *programs->infos);
    for (i = 0; i < processes.length && !wrong; i++) {
        const mxArray *command = mxGetCell(prhs[1], (mwSize)i), *arguments = mxGetCell(prhs[2], (mwSize)i);
        programs->total += processes.of.ints[i];
        programs->infos[i] = MPI_INFO_NULL;
        wrong = command ? read_text(call, command, &programs->commands[i]) : argument_problem("command %d is missing", i + 1);
        if (!wrong && arguments)
            wrong = texts_of_cell(call, arguments, &programs->arguments[i]);
        else if (!wrong)
            programs->arguments[i] = mxCalloc(1, sizeof(char *));
        if (!wrong && processes.of.ints[i] < 0)
            wrong = argument_problem("%d processes cannot be spawned", processes.of.ints[i]);
    }
    for (i = 0; !wrong && nrhs > 4 && !mxIsEmpty(prhs[4]) && i < processes.length; i++)
        wrong = read_info(call, prhs[4], &programs->infos[i]);
    return wrong;
}

/* [inter, codes] = c.spawnMultiple({command, ...}, {arguments, ...}, [processes, ...], info, root): one info for all. */
static const char *spawn_multiple(int nlhs, mxArray *plhs[], int nrhs, const mxArray *prhs[])
{
    struct call call;
    struct programs programs;
    MPI_Comm comm, inter = MPI_COMM_NULL;
    int root = 0, *codes, i;
    const char *wrong = few(nrhs, 4, "c.spawnMultiple(commands, arguments, processes, info, root)");
    memset(&call, 0, sizeof call);
    memset(&programs, 0, sizeof programs);
    if (!wrong)
        wrong = read_communicator(prhs[0], &comm);
    if (!wrong)
        wrong = read_programs(&call, nrhs, prhs, &programs);
    if (!wrong && nrhs > 5)
        wrong = read_number(prhs[5], "root", &root);
    if (!wrong) {
        codes = mxCalloc((size_t)programs.total + 1, sizeof *codes);
        wrong = mpi_problem(MPI_Comm_spawn_multiple(programs.count, programs.commands, programs.arguments, programs.processes,
                                                    programs.infos, root, comm, &inter, codes), "Comm.spawnMultiple");
    }
    if (!wrong) {
        plhs[0] = communicator_object(inter);
        if (nlhs > 1)
            plhs[1] = mxCreateDoubleMatrix(1, (mwSize)programs.total, mxREAL);
        for (i = 0; nlhs > 1 && i < programs.total; i++)
            mxGetDoubles(plhs[1])[i] = codes[i];
    }
    call_release(&call);
    return wrong;
}

/* ---- sessions ---- */

static const char *session_init(int nlhs, mxArray *plhs[], int nrhs, const mxArray *prhs[])
{
    struct call call;
    MPI_Info info = MPI_INFO_NULL;
    MPI_Session session;
    const char *wrong = NULL;
    (void)nlhs;
    memset(&call, 0, sizeof call);
    if (nrhs > 0 && !mxIsEmpty(prhs[0]))
        wrong = read_info(&call, prhs[0], &info);
    if (!wrong)
        wrong = mpi_problem(MPI_Session_init(info, MPI_ERRORS_RETURN, &session), "mpi.Session");
    if (!wrong)
        plhs[0] = mxCreateDoubleScalar((double)(uintptr_t)session);
    sessions_open += !wrong;
    call_release(&call);
    return wrong;
}

static const char *session_pset(int nlhs, mxArray *plhs[], int nrhs, const mxArray *prhs[])
{
    void *session;
    char *name;
    int number, length = 0;
    const char *wrong = few(nrhs, 2, "s.getNthPset(n)");
    (void)nlhs;
    if (!wrong)
        wrong = read_handle(prhs[0], "Session", &session);
    if (!wrong)
        wrong = read_number(prhs[1], "the number of a process set", &number);
    if (!wrong)
        wrong = mpi_problem(MPI_Session_get_nth_pset(session, MPI_INFO_NULL, number, &length, NULL), "Session.getNthPset");
    if (wrong)
        return wrong;
    name = mxCalloc((size_t)length + 1, 1);
    wrong = mpi_problem(MPI_Session_get_nth_pset(session, MPI_INFO_NULL, number, &length, name), "Session.getNthPset");
    if (!wrong)
        plhs[0] = mxCreateString(name);
    return wrong;
}

/* ---- windows and files ---- */

static int element_size(const mxArray *like)
{
    int bytes = 1;
    MPI_Type_size(type_of_elements(like), &bytes);
    return bytes;
}

static const char *window_arguments(int nrhs, const mxArray *prhs[], struct call *call, MPI_Comm *comm, MPI_Info *info)
{
    const char *wrong = few(nrhs, 2, "a communicator and an array");
    *info = MPI_INFO_NULL;
    if (!wrong)
        wrong = read_communicator(prhs[1], comm);
    if (!wrong && nrhs > 2 && !mxIsEmpty(prhs[2]))
        wrong = read_info(call, prhs[2], info);
    return wrong;
}

static const char *give_window(mxArray *plhs[], MPI_Win win, void *address, const mxArray *like)
{
    MPI_Win_set_errhandler(win, MPI_ERRORS_RETURN);
    plhs[0] = mxCreateDoubleMatrix(1, 2, mxREAL);
    mxGetDoubles(plhs[0])[0] = (double)(uintptr_t)win;
    mxGetDoubles(plhs[0])[1] = like ? block_around(address, like, win) : 0;
    return NULL;
}

/* [window, buffer] handles: memory of MPI as large as the array, with its elements in it. */
static const char *allocate(int nrhs, const mxArray *prhs[], int shared, mxArray *plhs[])
{
    struct call call;
    MPI_Comm comm;
    MPI_Info info;
    MPI_Win win;
    void *address = NULL;
    MPI_Aint bytes;
    int unit;
    const char *wrong;
    memset(&call, 0, sizeof call);
    wrong = window_arguments(nrhs, prhs, &call, &comm, &info);
    if (!wrong && type_of_elements(prhs[0]) == MPI_DATATYPE_NULL)
        wrong = argument_problem("a window is made like a full array of numbers");
    if (!wrong) {
        unit = element_size(prhs[0]);
        bytes = (MPI_Aint)mxGetNumberOfElements(prhs[0]) * unit;
        wrong = shared ? mpi_problem(MPI_Win_allocate_shared(bytes, unit, info, comm, &address, &win), "Win.allocateShared")
                       : mpi_problem(MPI_Win_allocate(bytes, unit, info, comm, &address, &win), "Win.allocate");
    }
    if (!wrong) {
        memcpy(address, mxGetData(prhs[0]), (size_t)bytes);
        wrong = give_window(plhs, win, address, prhs[0]);
    }
    call_release(&call);
    return wrong;
}

static const char *win_allocate(int nlhs, mxArray *plhs[], int nrhs, const mxArray *prhs[])
{
    (void)nlhs;
    return allocate(nrhs, prhs, 0, plhs);
}

static const char *win_allocate_shared(int nlhs, mxArray *plhs[], int nrhs, const mxArray *prhs[])
{
    (void)nlhs;
    return allocate(nrhs, prhs, 1, plhs);
}

/* Of an mpi.Buffer, or without memory where that is []. */
static const char *win_create(int nlhs, mxArray *plhs[], int nrhs, const mxArray *prhs[])
{
    struct call call;
    struct buffer buffer;
    MPI_Comm comm;
    MPI_Info info;
    MPI_Win win;
    int unit = 1;
    const char *wrong;
    (void)nlhs;
    memset(&call, 0, sizeof call);
    memset(&buffer, 0, sizeof buffer);
    buffer.type = MPI_BYTE;
    call.lasting = 1;
    wrong = window_arguments(nrhs, prhs, &call, &comm, &info);
    if (!wrong && !mxIsEmpty(prhs[0]))
        wrong = is_object_of(prhs[0], "mpi.Buffer") ? read_sent(&call, prhs[0], 'B', &buffer)
                                                    : argument_problem("a window is made of an mpi.Buffer, whose memory stays");
    if (!wrong) {
        MPI_Type_size(buffer.type, &unit);
        wrong = mpi_problem(MPI_Win_create(buffer.address, (MPI_Aint)buffer_bytes(&buffer), unit, info, comm, &win), "Win.create");
    }
    if (!wrong)
        wrong = window_hold(win, &call.keeping);
    if (!wrong)
        wrong = give_window(plhs, win, NULL, NULL);
    call_release(&call);
    return wrong;
}

static const char *win_create_dynamic(int nlhs, mxArray *plhs[], int nrhs, const mxArray *prhs[])
{
    MPI_Comm comm;
    MPI_Win win;
    const char *wrong = few(nrhs, 1, "a communicator");
    (void)nlhs;
    if (!wrong)
        wrong = read_communicator(prhs[0], &comm);
    if (!wrong)
        wrong = mpi_problem(MPI_Win_create_dynamic(MPI_INFO_NULL, comm, &win), "Win.createDynamic");
    return wrong ? wrong : give_window(plhs, win, NULL, NULL);
}

/* The handle of a buffer around another process's part of a shared window, as an array like the second argument. */
static const char *win_shared(int nlhs, mxArray *plhs[], int nrhs, const mxArray *prhs[])
{
    void *win, *address;
    MPI_Aint bytes;
    int rank, unit;
    const char *wrong = few(nrhs, 3, "w.sharedQuery(rank, like)");
    (void)nlhs;
    if (!wrong)
        wrong = read_handle(prhs[0], "Win", &win);
    if (!wrong)
        wrong = read_number(prhs[1], "rank", &rank);
    if (!wrong)
        wrong = mpi_problem(MPI_Win_shared_query(win, rank, &bytes, &unit, &address), "Win.sharedQuery");
    if (wrong)
        return wrong;
    if (type_of_elements(prhs[2]) == MPI_DATATYPE_NULL)
        return argument_problem("memory of a window is like a full array of numbers");
    if ((MPI_Aint)mxGetNumberOfElements(prhs[2]) * element_size(prhs[2]) > bytes)
        return argument_problem("process %d has %lld bytes in the window, fewer than such an array", rank, (long long)bytes);
    plhs[0] = mxCreateDoubleScalar(block_around(address, prhs[2], win));
    return NULL;
}

/* mpi.File.open(comm, name, mode, info) */
static const char *file_open(int nlhs, mxArray *plhs[], int nrhs, const mxArray *prhs[])
{
    struct call call;
    MPI_Comm comm;
    MPI_Info info = MPI_INFO_NULL;
    MPI_File file;
    char *name;
    int mode;
    const char *wrong = few(nrhs, 3, "mpi.File.open(comm, name, mode, info)");
    (void)nlhs;
    memset(&call, 0, sizeof call);
    if (!wrong)
        wrong = read_communicator(prhs[0], &comm);
    if (!wrong)
        wrong = read_text(&call, prhs[1], &name);
    if (!wrong)
        wrong = read_number(prhs[2], "mode", &mode);
    if (!wrong && nrhs > 3 && !mxIsEmpty(prhs[3]))
        wrong = read_info(&call, prhs[3], &info);
    if (!wrong)
        wrong = mpi_problem(MPI_File_open(comm, name, mode, info, &file), "File.open");
    if (!wrong) {
        MPI_File_set_errhandler(file, MPI_ERRORS_RETURN);
        plhs[0] = mxCreateDoubleScalar((double)(uintptr_t)file);
    }
    call_release(&call);
    return wrong;
}

/* ---- datatypes ---- */

static const char *type_handle(int nlhs, mxArray *plhs[], int nrhs, const mxArray *prhs[])
{
    MPI_Datatype type;
    const char *wrong = few(nrhs, 1, "the name of a class");
    (void)nlhs;
    if (!wrong)
        wrong = read_type(prhs[0], &type);
    if (!wrong)
        plhs[0] = mxCreateDoubleScalar((double)(uintptr_t)type);
    return wrong;
}

/* Whether indices are first, first + step, ... */
static int is_regular(const MPI_Count *indices, int count)
{
    int i;
    for (i = 2; i < count; i++)
        if (indices[i] - indices[i - 1] != indices[1] - indices[0])
            return 0;
    return 1;
}

/* One item at each of the indices of a dimension, `stride` bytes from one to the next. */
static int index_dimension(MPI_Datatype inner, const MPI_Count *indices, int count, MPI_Count stride, MPI_Datatype *made)
{
    MPI_Count *displacements = mxMalloc(((size_t)count + 1) * sizeof *displacements);
    MPI_Datatype run = MPI_DATATYPE_NULL;
    int i, code = MPI_SUCCESS, regular = count > 1 && is_regular(indices, count);
    for (i = 0; i < count; i++)
        displacements[i] = (indices[i] - 1) * stride;
    if (regular)
        code = MPI_Type_create_hvector_c(count, 1, (indices[1] - indices[0]) * stride, inner, &run);
    if (code == MPI_SUCCESS)
        code = MPI_Type_create_hindexed_block_c(regular ? 1 : count, 1, displacements, regular ? run : inner, made);
    if (run != MPI_DATATYPE_NULL)
        MPI_Type_free(&run);
    mxFree(displacements);
    return code;
}

static const char *check_indices(const struct list *list, MPI_Count extent, int dimension)
{
    int i;
    for (i = 0; i < list->length; i++)
        if (list->of.counts[i] < 1 || list->of.counts[i] > extent)
            return argument_problem("index %lld of dimension %d is outside of 1 to %lld", (long long)list->of.counts[i], dimension,
                                    (long long)extent);
    return NULL;
}

/* Datatype.indexedArray(size, {indices, ...}, element): the elements A(indices, ...) of an array of that size, in the order of that
   expression.  Its extent is that of the array, so that one item after the other is one array after the other. */
static const char *type_of_index(int nlhs, mxArray *plhs[], int nrhs, const mxArray *prhs[])
{
    struct call call;
    struct list size, list;
    MPI_Datatype element, made, next;
    MPI_Count lower, stride;
    int k, code = MPI_SUCCESS;
    const char *wrong = few(nrhs, 3, "size, {indices, ...} and the class of elements");
    (void)nlhs;
    memset(&call, 0, sizeof call);
    if (!wrong)
        wrong = read_list(&call, prhs[0], 'L', &size);
    if (!wrong)
        wrong = read_type(prhs[2], &element);
    if (!wrong && (!mxIsCell(prhs[1]) || (int)mxGetNumberOfElements(prhs[1]) != size.length))
        wrong = argument_problem("there must be as many lists of indices as dimensions, %d", size.length);
    if (!wrong)
        code = MPI_Type_dup(element, &made);
    if (!wrong)
        MPI_Type_get_extent_c(element, &lower, &stride);
    for (k = 0; !wrong && code == MPI_SUCCESS && k < size.length; k++) {
        const mxArray *indices = mxGetCell(prhs[1], (mwSize)k);
        wrong = !indices ? argument_problem("a list of indices is missing") : read_list(&call, indices, 'L', &list);
        if (!wrong)
            wrong = check_indices(&list, size.of.counts[k], k + 1);
        if (wrong)
            break;
        code = index_dimension(made, list.of.counts, list.length, stride, &next);
        MPI_Type_free(&made);
        made = next;
        stride *= size.of.counts[k];
    }
    if (!wrong && code == MPI_SUCCESS) {
        code = MPI_Type_create_resized_c(made, 0, stride, &next);
        MPI_Type_free(&made);
        if (code == MPI_SUCCESS)
            code = MPI_Type_commit(&next);
    }
    if (!wrong)
        wrong = mpi_problem(code, "Datatype.subarray");
    if (!wrong)
        plhs[0] = handle_object("mpi.Datatype", next, MPI_DATATYPE_NULL);
    call_release(&call);
    return wrong;
}

/* ---- parts of distributed arrays ---- */

/* One datatype, or none, for each process. */
static const char *read_pieces(const mxArray *cell, int size, MPI_Count bytes, MPI_Count *counts, MPI_Datatype *types)
{
    const char *wrong = NULL;
    int i;
    if (!mxIsCell(cell) || (int)mxGetNumberOfElements(cell) != size)
        return argument_problem("a cell with a datatype or [] for each of the %d processes is wanted", size);
    for (i = 0; i < size && !wrong; i++) {
        const mxArray *type = mxGetCell(cell, (mwSize)i);
        types[i] = MPI_BYTE;
        counts[i] = type && !mxIsEmpty(type);
        if (counts[i])
            wrong = read_type(type, &types[i]);
        if (!wrong && counts[i]) {
            MPI_Count first = 0, length = 0;
            MPI_Type_get_true_extent_c(types[i], &first, &length);
            if (first < 0 || first + length > bytes)
                wrong = argument_problem("the datatype for process %d leads to byte %lld of an array of %lld", i,
                                         (long long)(first + length), (long long)bytes);
        }
    }
    return wrong;
}

static int is_like(const mxArray *one, const mxArray *other)
{
    return type_of_elements(one) != MPI_DATATYPE_NULL && type_of_elements(one) == type_of_elements(other);
}

/* array = exchange(comm, source, {types to each}, size, part, {types from each}): what all processes have for each other, in one
   call.  The result has the class of `source` and the size given; it is a copy of `part`, unless that is [], and then the types
   have to cover it. */
static const char *exchange_pieces(int nlhs, mxArray *plhs[], int nrhs, const mxArray *prhs[])
{
    struct call call;
    struct list extent;
    MPI_Comm comm;
    MPI_Count *counts = NULL, bytes;
    MPI_Aint *places;
    MPI_Datatype *types;
    mwSize dims[VALUE_DIMENSIONS_MAX], dimensions;
    int size = 0, unit = 1, i;
    const char *wrong = few(nrhs, 6, "six arguments");
    (void)nlhs;
    memset(&call, 0, sizeof call);
    if (!wrong)
        wrong = read_communicator(prhs[0], &comm);
    if (!wrong)
        wrong = read_list(&call, prhs[3], 'L', &extent);
    if (!wrong && (extent.length < 2 || extent.length > VALUE_DIMENSIONS_MAX))
        wrong = argument_problem("a size has 2 to %d elements", VALUE_DIMENSIONS_MAX);
    if (!wrong && (type_of_elements(prhs[1]) == MPI_DATATYPE_NULL || (!mxIsEmpty(prhs[4]) && !is_like(prhs[1], prhs[4]))))
        wrong = argument_problem("full arrays of one class are wanted");
    if (!wrong) {
        MPI_Comm_size(comm, &size);
        counts = mxCalloc(2 * (size_t)size + 1, sizeof *counts);
        types = mxCalloc(2 * (size_t)size + 1, sizeof *types);
        places = mxCalloc((size_t)size + 1, sizeof *places);
        unit = element_size(prhs[1]);
        wrong = read_pieces(prhs[2], size, (MPI_Count)mxGetNumberOfElements(prhs[1]) * unit, counts, types);
    }
    if (!wrong) {
        dimensions = (mwSize)extent.length;
        for (i = 0; i < extent.length; i++)
            dims[i] = (mwSize)extent.of.counts[i];
        plhs[0] = array_like(prhs[1], dimensions, dims);
        bytes = (MPI_Count)mxGetNumberOfElements(plhs[0]) * unit;
        wrong = read_pieces(prhs[5], size, bytes, counts + size, types + size);
    }
    if (!wrong) {
        if (mxGetNumberOfElements(prhs[4]) == mxGetNumberOfElements(plhs[0]))
            memcpy(mxGetData(plhs[0]), mxGetData(prhs[4]), (size_t)bytes);
        wrong = mpi_problem(MPI_Alltoallw_c(mxGetData(prhs[1]), counts, places, types, mxGetData(plhs[0]), counts + size, places,
                                            types + size, comm), "MPI_Alltoallw");
    }
    call_release(&call);
    return wrong;
}

/* ---- status, state ---- */

/* [running, finalized] */
static const char *state(int nlhs, mxArray *plhs[], int nrhs, const mxArray *prhs[])
{
    int initialized = 0, finalized = 0;
    (void)nrhs, (void)prhs;
    MPI_Initialized(&initialized);
    MPI_Finalized(&finalized);
    plhs[0] = mxCreateLogicalScalar(initialized != 0);
    if (nlhs > 1)
        plhs[1] = mxCreateLogicalScalar(finalized != 0);
    return NULL;
}

const struct operation object_operations[] = {
    {"predefined", predefined, 1},
    {"release", release_handle, 0},
    {"state", state, 2},
    {"disconnect", disconnect, 0},
    {"exchange", exchange_pieces, 1},
    {"Comm.spawn", spawn, 2},
    {"Comm.spawnMultiple", spawn_multiple, 2},
    {"Comm.setAttr", set_attribute, 0},
    {"Comm.getAttr", get_attribute, 1},
    {"Comm.deleteAttr", delete_attr, 0},
    {"keyval", create_keyval, 1},
    {"mpi.freeKeyval", free_keyval, 0},
    {"Info.get", info_get, 1},
    {"Session.begin", session_init, 1},
    {"Session.getNthPset", session_pset, 1},
    {"Win.make", win_create, 1},
    {"Win.makeDynamic", win_create_dynamic, 1},
    {"Win.makeAllocated", win_allocate, 1},
    {"Win.makeShared", win_allocate_shared, 1},
    {"Win.sharedBlock", win_shared, 1},
    {"File.begin", file_open, 1},
    {"Datatype.handleOf", type_handle, 1},
    {"Datatype.byIndex", type_of_index, 1},
    {NULL, NULL, 0},
};
