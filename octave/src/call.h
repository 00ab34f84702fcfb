/* call.h: functions of the standard for the language, from a table of rows.
 *
 * A row names a method ("Comm.Send"), a function ("mpi.wtime") or what only .m files call ("raw.vector"), says by a signature how its
 * arguments are made of the language's values and its results of MPI's, and calls MPI with them:
 *
 *     ROW("Comm.Send", "c B i i=0", "...", MPI_Send_c(BUFFER(1), NUMBER(2), NUMBER(3), COMM(0)))
 *
 * so that the compiler checks the types of each call, and no code in the language runs between the program
 * and MPI.  Letters of a signature, inputs before '>', results behind it:
 *
 *     c g t o w f n s m e   a communicator, group, datatype, operation, window, file, info, session, message,
 *                           error handler: an object of mpi.*, or the number of its handle
 *     i q l a b S           an int, a root, an MPI_Count, an address or offset, a truth value, a text
 *     I L T                 a list of ints, of MPI_Counts, of datatypes
 *     B V W                 what is sent: an array, a cell {array, ...} or an mpi.Buffer; V and W have counts and
 *                           displacements, W a datatype for each process
 *     R                     what is received: a value of the class and size wanted, which becomes a result; RV and RW
 *                           as V and W.  It may be missing in R1, which is like B then, in Rz, which is also zero where
 *                           nothing arrives, in Rn, which has one B for each process, in Rp, the share of one process
 *                           in B, and in Rr and Rg, which are R1 and Rn at the root and nothing elsewhere.  In Rc and Rd
 *                           elements stay as they were where nothing arrives
 *     Bs Ra Rn Rg Rd        are divided among processes or neighbours, B2 and R2 by input 2; Bb has to be an mpi.Buffer
 *     D M                   what is sent and received in one place; M is sent at the root only
 *     x k                   a request; where in a target: an element, from 1, or a datatype
 *     r u                   (results) a request, a status
 *     I3                    as many ints as input 3 has; Id, Ix, Ie, In, Is, It: as a topology has dimensions,
 *                           nodes, edges, neighbours of input 1, sources, destinations; Ip: as there are processes;
 *                           Iz: in threes; Ij: as the last of input 1 says; Ih: as input 2 adds up to
 *
 * '!' in front: may be called at any time.  '=' and a number (or 'any', '+') behind a letter is the value of a missing argument.  A row with a request among its results
 * keeps what it sends and receives alive until the request is complete; what it received is that of the wait.
 */
#ifndef POSTRIDER_CALL_H
#define POSTRIDER_CALL_H

#include "exchange.h"

struct buffer {
    void *address;
    MPI_Count count;
    MPI_Datatype type;
    /* For V and W, one for each process; of the call, or of its request. */
    MPI_Count *counts;
    MPI_Aint *displacements;
    MPI_Datatype *types;
    /* The array that is read from, or into which is received, and the object that is the result instead of an array. */
    mxArray *array;
    mxArray *object;
    /* Elements beyond those that arrive stay as they were. */
    const mxArray *before;
    /* Nothing is received here; the result is []. */
    int absent;
};

struct list {
    union {
        int *ints;
        MPI_Count *counts;
        MPI_Datatype *types;
    } of;
    int length;
};

union argument {
    MPI_Comm comm;
    MPI_Group group;
    MPI_Datatype type;
    MPI_Op op;
    MPI_Win win;
    MPI_File file;
    MPI_Info info;
    MPI_Session session;
    MPI_Message message;
    MPI_Errhandler errhandler;
    MPI_Request request;
    MPI_Status status;
    int number;
    MPI_Count count;
    MPI_Aint address;
    double real;
    char *text;
    struct list list;
    struct buffer buffer;
    /* Where in the target: a displacement, or one of several that a datatype describes. */
    struct { MPI_Aint displacement; MPI_Datatype type; } place;
};

enum { ARGUMENTS_MAX = 16 };

struct block;

/* What MPI goes on using after a call: arrays, and memory of mpi.Buffers. */
struct keeping {
    mxArray *arrays[8];
    int array_count;
    struct block *blocks[4];
    int block_count;
};

/* One call, or what a request keeps of it until it is complete. */
struct call {
    union argument at[ARGUMENTS_MAX];
    /* Processes of the (remote) group, by which SHARE divides, and of this process's own, among whom a reduction is divided. */
    int size;
    int own_size;
    int text_length;
    /* Memory that belongs to the call, and arrays that have to stay. */
    void *owned[40];
    int owned_count;
    MPI_Info own_info;
    int has_info;
    struct keeping keeping;
    /* Set where MPI goes on using all this after the call. */
    int lasting;
};

#define COMM(k) call->at[k].comm
#define GROUP(k) call->at[k].group
#define TYPE(k) call->at[k].type
#define OP(k) call->at[k].op
#define WIN(k) call->at[k].win
#define FILE_(k) call->at[k].file
#define INFO(k) call->at[k].info
#define SESSION(k) call->at[k].session
#define MESSAGE(k) call->at[k].message
#define ERRHANDLER(k) call->at[k].errhandler
#define REQUEST(k) call->at[k].request
#define STATUS(k) call->at[k].status
#define NUMBER(k) call->at[k].number
#define COUNT(k) call->at[k].count
#define ADDRESS(k) call->at[k].address
#define TEXT(k) call->at[k].text
#define INTS(k) call->at[k].list.of.ints
#define COUNTS(k) call->at[k].list.of.counts
#define TYPES(k) call->at[k].list.of.types
#define LENGTH(k) call->at[k].list.length
#define BUFFER(k) call->at[k].buffer.address, call->at[k].buffer.count, call->at[k].buffer.type
/* The part of one process, where a buffer holds that of each: of all that are received, or of all that are sent. */
#define SHARE(k) call->at[k].buffer.address, call->at[k].buffer.count / call->size, call->at[k].buffer.type
#define VECTOR(k) call->at[k].buffer.address, call->at[k].buffer.counts, call->at[k].buffer.displacements, \
                  call->at[k].buffer.type
#define EACH(k) call->at[k].buffer.address, call->at[k].buffer.counts, call->at[k].buffer.displacements, \
                call->at[k].buffer.types
#define MEMORY(k) call->at[k].buffer.address
#define BUFFER_TYPE(k) call->at[k].buffer.type
#define BYTES(k) buffer_bytes(&call->at[k].buffer)
#define PART(k, parts) call->at[k].buffer.count / (parts), call->at[k].buffer.type
/* Two buffers of a reduction, which has one count; of the second one where the first is in place. */
#define REDUCED(k, l) MEMORY(k), MEMORY(l), call->at[MEMORY(k) == MPI_IN_PLACE ? l : k].buffer.count, \
                      call->at[MEMORY(k) == MPI_IN_PLACE ? l : k].buffer.type
/* What a process keeps of a reduction; in place, its buffer has the parts of all. */
#define BLOCK(k, l) MEMORY(l), call->at[l].buffer.count / (MEMORY(k) == MPI_IN_PLACE ? call->own_size : 1), BUFFER_TYPE(l)
#define PLACE(k) call->at[k].place.displacement
/* The target of a one-sided operation takes what the origin has, unless a datatype says where. */
#define TARGET(k, l) PLACE(k), call->at[k].place.type == MPI_DATATYPE_NULL ? call->at[l].buffer.count : 1, \
                     call->at[k].place.type == MPI_DATATYPE_NULL ? call->at[l].buffer.type : call->at[k].place.type
#define SOURCE_SHARE(k) MEMORY(k), call->at[k].buffer.count / divisor(source_count(COMM(0))), BUFFER_TYPE(k)
#define DESTINATION_SHARE(k) MEMORY(k), call->at[k].buffer.count / divisor(destination_count(COMM(0))), BUFFER_TYPE(k)
#define WEIGHTS(k) (INTS(k) ? INTS(k) : MPI_UNWEIGHTED)
#define RANGES(k) ((int (*)[3])INTS(k))
#define OFFSET(k) call->at[k].count
#define REAL(k) call->at[k].real

/* Functions whose arguments need more than a row says.  Each returns NULL, or the text of an error. */
typedef const char *operate(int nlhs, mxArray *plhs[], int nrhs, const mxArray *prhs[]);

struct operation {
    const char *name;
    operate *run;
    int outputs_max;
};

extern const struct operation buffer_operations[], request_operations[], value_operations[], object_operations[], packing_operations[],
    inquiry_operations[];

/* MPI runs by MPI_Init, or while there are sessions. */
extern int sessions_open;
int is_running(void);

struct row {
    const char *name;
    const char *signature;
    int (*run)(struct call *call);
};

/* A table whose rows begin with a name, and the places of its rows by the hash of the name. */
struct names {
    const void *rows;
    size_t row_bytes;
    int count;
    uint16_t slots[1024];
};

/* The number of the row, or -1. */
int find_name(struct names *names, const char *name);

/* A function of the table by its full name, or NULL with `*found` zero if there is none. */
const char *call_row(const char *name, int nlhs, mxArray *plhs[], int nrhs, const mxArray *prhs[], int *found);
/* The same of a row of another table: the first result is the code that MPI returns, and handles are numbers. */
const char *call_plain(const struct row *row, int nlhs, mxArray *plhs[], int nrhs, const mxArray *prhs[]);


/* ---- arguments.c: the language's values as MPI's arguments ---- */

/* Each returns NULL, or the text of an error. */
const char *read_number(const mxArray *value, const char *what, int *number);
const char *read_count(const mxArray *value, const char *what, MPI_Count *count);
const char *read_list(struct call *call, const mxArray *value, char letter, struct list *list);
const char *read_text(struct call *call, const mxArray *value, char **text);
/* The handle of an object of mpi.*, or the number itself. */
const char *read_handle(const mxArray *value, const char *what, void **handle);
const char *read_communicator(const mxArray *value, MPI_Comm *comm);
const char *read_type(const mxArray *value, MPI_Datatype *type);
const char *read_operation(const mxArray *value, MPI_Op *op);
/* An mpi.Info, or a struct whose fields become one that belongs to the call. */
const char *read_info(struct call *call, const mxArray *value, MPI_Info *info);
int is_object_of(const mxArray *value, const char *class_name);

/* Memory that lasts as long as the call, or its request. */
void *call_memory(struct call *call, size_t bytes);
void call_keep(struct call *call, mxArray *array);
void call_release(struct call *call);
void keeping_release(struct keeping *keeping);

/* An object of a class of mpi.*, made of numbers; an empty array for a null handle. */
mxArray *object_of(const char *class_name, int count, const double numbers[]);
mxArray *handle_object(const char *class_name, const void *handle, const void *null);
mxArray *communicator_object(MPI_Comm comm);
mxArray *status_object(const MPI_Status *status);

/* ---- buffers.c: arrays as MPI's buffers ---- */

/* An array of the same class, whose elements are not set. */
mxArray *array_like(const mxArray *like, mwSize dimensions, const mwSize *dims);
/* A handle of an mpi.Buffer around memory of a window, or 0; the memory goes with the window. */
double block_around(void *address, const mxArray *like, MPI_Win win);
void blocks_forget(MPI_Win win);
void block_unuse(struct block *block);
/* Whether `count` items of a type stay inside memory of `room` bytes, the first one at `offset`. */
int items_fit(MPI_Datatype type, MPI_Count count, MPI_Count offset, MPI_Count room);
/* MPI's datatype for the elements of an array, or MPI_DATATYPE_NULL. */
MPI_Datatype type_of_elements(const mxArray *array);
MPI_Datatype type_of_class(const char *name);
mxArray *array_of(mxClassID class_id, int complex, mwSize dimensions, const mwSize *dims, int zero);
const char *read_sent(struct call *call, const mxArray *value, char letter, struct buffer *buffer);
/* `letter` and `variant` are those of the signature; `sent` is the buffer beside it that the result is to be like, or NULL; `here` says
   whether something is received here. */
const char *read_received(struct call *call, const mxArray *value, char variant, const struct buffer *sent, int here,
                          struct buffer *buffer);
/* D, and M at the root: the result is a copy. */
const char *read_replaced(struct call *call, const mxArray *value, struct buffer *buffer);
/* The result of a receive: elements behind the first `received` (-1: all) become those of the template. */
mxArray *take_received(struct buffer *buffer, const MPI_Status *status);
MPI_Count buffer_bytes(const struct buffer *buffer);

/* ---- requests.c: nonblocking and persistent operations ---- */

/* Takes over what the call keeps.  `received` is the place of what is received, or -1. */
mxArray *request_object(struct call *call, MPI_Request request, int received, int persistent);
/* Of what was complete at once, and has no value. */
mxArray *completed_request(void);
/* A request for the next matching message of values, which is received when it is waited or tested for. */
mxArray *value_request(MPI_Comm comm, int source, int tag);
/* Receives what has come for requests for values, each message for the oldest request that it matches. */
const char *advance_value_requests(void);
/* Whether an open request for values could match such a message. */
int is_requested(MPI_Comm comm, int source, int tag);
const char *read_request(const mxArray *value, MPI_Request *request);
/* A communicator is freed: nothing more is received by it. */
void requests_forget(MPI_Comm comm);

/* ---- values.c: messages and collectives of values of any kind ---- */

const char *receive_value(MPI_Comm comm, int source, int tag, int wanted, mxArray *values[], struct waiting *from);
/* The first message of values that matches, with its envelope in `found`. */
int value_is_waiting(MPI_Comm comm, int source, int tag, struct waiting *found);
/* Whether only this process itself could send such a message, so that one that is not there will not come. */
int is_own(MPI_Comm comm, int source);
/* Until there is a message of values, where waits can end; not for one of this process to itself, which nobody else can send. */
const char *wait_for_value_message(MPI_Comm comm, int source, int tag);

/* ---- interrupt.c: control-C while a session waits ---- */

/* Whether waits have to ask again and again, so that control-C can end them. */
int waits_can_end(void);
/* Whether control-C has been pressed; the note of it is taken away. */
int is_interrupted(void);
/* Between two questions; an error if the wait is to end. */
const char *pause_a_little(int *turns);
/* Until there is a message, where waits can end. */
const char *wait_for_message(MPI_Comm comm, int source, int tag);
/* Whether what waits for others of the communicator runs in a thread of its own, so that control-C can end the wait. */
int runs_apart(MPI_Comm comm);
/* `*code` is what run(context) returns.  Where control-C ends the wait, run() goes on, and what it uses has to stay. */
const char *run_apart(int (*run)(void *context), void *context, int *code);

/* ---- attached.c: memory for buffered sends ---- */

/* Of a communicator or a session, or of the process if both are null; without bytes, as much as is needed. */
int attach_memory(MPI_Comm comm, MPI_Session session, MPI_Count bytes);
int detach_memory(MPI_Comm comm, MPI_Session session, MPI_Count *bytes);

/* ---- windows.c: arrays in accesses to windows ---- */

/* Whether an access keeps the arrays that it sends until its epoch ends.  A split collective of a file is like an epoch. */
int window_keeps(const char *name, const void *handle);
const char *window_check(const char *name, const struct buffer *received);
const char *window_after(const char *name, struct call *call);
/* The window of mpi.Buffers keeps these until it is freed. */
const char *window_hold(MPI_Win win, struct keeping *keeping);
void window_forget(MPI_Win win);

/* ---- operations.c ---- */

/* An operation of MPI that computes on such elements as the language does, or MPI_OP_NULL. */
MPI_Op language_operation(MPI_Op op, MPI_Datatype type);

/* ---- topologies ---- */
int source_count(MPI_Comm comm);
int destination_count(MPI_Comm comm);
int divisor(int count);

#endif
