/* call.c: see call.h. */
#include "call.h"
#include "problem.h"

#include <stdlib.h>
#include <string.h>

/* ---- the table ---- */

/* An error handler that returns leaves the error to its caller, who is the program here. */
static int call_handler(int code, int error)
{
    return code != MPI_SUCCESS ? code : error;
}

#define ROW(owner, name, signature, expression) \
    static int owner##_##name(struct call *call) { (void)call; return expression; }
/* Blocking, nonblocking and persistent; `inputs` counts those of the signature. */
#define COLLECTIVE(name, started, large, small, signature, inputs, ...) \
    static int Comm_##name(struct call *call) { return MPI_##large##_c(__VA_ARGS__); } \
    static int Comm_##started(struct call *call) { return MPI_I##small##_c(__VA_ARGS__, &REQUEST(inputs)); } \
    static int Comm_##name##Init(struct call *call) \
    { return MPI_##large##_init_c(__VA_ARGS__, INFO(inputs), &REQUEST(inputs + 1)); }
#define CONSTANT(name) ROW(mpi, name, , (NUMBER(0) = MPI_##name, MPI_SUCCESS))
#include "functions.def"
#undef ROW
#undef COLLECTIVE
#undef CONSTANT

#define ROW(owner, name, signature, expression) {#owner "." #name, signature, owner##_##name},
#define COLLECTIVE(name, started, large, small, signature, inputs, ...) \
    {"Comm." #name, signature, Comm_##name}, \
    {"Comm." #started, signature " > r", Comm_##started}, \
    {"Comm." #name "Init", signature " n=null > r", Comm_##name##Init},
#define CONSTANT(name) {"mpi." #name, "! > i", mpi_##name},
static const struct row ROWS[] = {
#include "functions.def"
};
#undef ROW
#undef COLLECTIVE
#undef CONSTANT
enum { ROW_COUNT = sizeof ROWS / sizeof ROWS[0] };

static const char *name_at(const struct names *names, int row)
{
    return *(const char *const *)((const char *)names->rows + (size_t)row * names->row_bytes);
}

/* The first slot from that of the hash on which is free or has the name. */
static uint16_t *slot_of(struct names *names, const char *name)
{
    const unsigned slots = sizeof names->slots / sizeof names->slots[0];
    const char *letter;
    unsigned hash = 5381;
    for (letter = name; *letter; letter++)
        hash = hash * 33 + (unsigned char)*letter;
    for (hash %= slots; names->slots[hash]; hash = (hash + 1) % slots)
        if (strcmp(name_at(names, names->slots[hash] - 1), name) == 0)
            break;
    return &names->slots[hash];
}

int find_name(struct names *names, const char *name)
{
    int i;
    if (!*slot_of(names, name_at(names, 0)))
        for (i = 0; i < names->count; i++)
            *slot_of(names, name_at(names, i)) = (uint16_t)(i + 1);
    return *slot_of(names, name) - 1;
}

static const struct row *find_row(const char *name)
{
    static struct names names = {ROWS, sizeof ROWS[0], ROW_COUNT, {0}};
    int found = find_name(&names, name);
    return found < 0 ? NULL : &ROWS[found];
}

/* ---- what a topology says ---- */

int divisor(int count)
{
    return count > 0 ? count : 1;
}

static void count_neighbours(MPI_Comm comm, int *sources, int *destinations)
{
    int kind = MPI_UNDEFINED, rank, weighted;
    *sources = *destinations = 0;
    MPI_Topo_test(comm, &kind);
    if (kind == MPI_CART) {
        MPI_Cartdim_get(comm, sources);
        *sources *= 2;
        *destinations = *sources;
    } else if (kind == MPI_GRAPH) {
        MPI_Comm_rank(comm, &rank);
        MPI_Graph_neighbors_count(comm, rank, sources);
        *destinations = *sources;
    } else if (kind == MPI_DIST_GRAPH) {
        MPI_Dist_graph_neighbors_count(comm, sources, destinations, &weighted);
    }
}

int source_count(MPI_Comm comm)
{
    int sources, destinations;
    count_neighbours(comm, &sources, &destinations);
    return sources;
}

int destination_count(MPI_Comm comm)
{
    int sources, destinations;
    count_neighbours(comm, &sources, &destinations);
    return destinations;
}

static int length_of_list(const struct call *call, char letter)
{
    int count = 0, other = 0;
    switch (letter) {
    case 'd':
        MPI_Cartdim_get(COMM(0), &count);
        return count;
    case 'x':
        MPI_Graphdims_get(COMM(0), &count, &other);
        return count;
    case 'e':
        MPI_Graphdims_get(COMM(0), &other, &count);
        return count;
    case 'n':
        MPI_Graph_neighbors_count(COMM(0), NUMBER(1), &count);
        return count;
    case 's':
        return source_count(COMM(0));
    case 't':
        return destination_count(COMM(0));
    case 'p':
        MPI_Comm_size(COMM(0), &count);
        return count;
    case 'j':
        return LENGTH(1) > 0 ? INTS(1)[LENGTH(1) - 1] : 0;
    case 'h':
        for (other = 0; other < LENGTH(2); other++)
            count += INTS(2)[other];
        return count;
    default:
        return call->at[letter - '0'].list.length;
    }
}

/* Processes on the other side, for whom a buffer has parts; neighbours for collectives on neighbourhoods. */
static void count_processes(struct call *call, const struct row *row, int received)
{
    int inter = 0;
    if (strstr(row->name, "eighbor")) {
        call->size = received ? source_count(COMM(0)) : destination_count(COMM(0));
        return;
    }
    MPI_Comm_test_inter(COMM(0), &inter);
    MPI_Comm_size(COMM(0), &call->own_size);
    call->size = call->own_size;
    if (inter)
        MPI_Comm_remote_size(COMM(0), &call->size);
}

/* ---- inputs ---- */

enum { INPUTS_MAX = 12 };

/* One item of a signature. */
struct item {
    char letter;
    char variant;
    /* Behind '=', up to a space; NULL for what has to be there. */
    const char *otherwise;
};

static const char *next_item(const char *at, struct item *item)
{
    while (*at == ' ' || *at == '!')
        at++;
    memset(item, 0, sizeof *item);
    if (!*at)
        return at;
    item->letter = *at++;
    item->variant = *at && *at != ' ' && *at != '=' ? *at++ : ' ';
    if (*at == '=')
        item->otherwise = at + 1;
    while (*at && *at != ' ')
        at++;
    return at;
}

static int default_number(const char *text)
{
    if (strncmp(text, "source", 6) == 0)
        return MPI_ANY_SOURCE;
    if (strncmp(text, "tag", 3) == 0)
        return MPI_ANY_TAG;
    if (strncmp(text, "set", 3) == 0)
        return MPI_SEEK_SET;
    return atoi(text);
}

static const char *use_default(struct call *call, int k, const struct item *item)
{
    switch (item->letter) {
    case 'n':
        INFO(k) = MPI_INFO_NULL;
        return NULL;
    case 'o':
        OP(k) = MPI_SUM;
        return NULL;
    case 'S':
        TEXT(k) = (char *)"native";
        return NULL;
    case 'k':
        call->at[k].place.displacement = 0;
        call->at[k].place.type = MPI_DATATYPE_NULL;
        return NULL;
    case 'I':
        INTS(k) = NULL;
        return NULL;
    default:
        NUMBER(k) = default_number(item->otherwise);
        return NULL;
    }
}

static const char *read_whence(const mxArray *value, int *number)
{
    char text[8] = "";
    mxGetString(value, text, sizeof text);
    *number = strcmp(text, "set") == 0 ? MPI_SEEK_SET : strcmp(text, "cur") == 0 ? MPI_SEEK_CUR : MPI_SEEK_END;
    if (*number == MPI_SEEK_END && strcmp(text, "end") != 0)
        return argument_problem("a file is sought from 'set', 'cur' or 'end', not from '%s'", text);
    return NULL;
}

/* The wildcard of either kind is '*', as in MatlabMPI. */
static const char *read_int(const mxArray *value, const struct item *item, int *number)
{
    if (item->otherwise && strncmp(item->otherwise, "set", 3) == 0 && mxIsChar(value))
        return read_whence(value, number);
    if (item->otherwise && mxIsChar(value) && mxGetNumberOfElements(value) == 1 && *mxGetChars(value) == '*') {
        *number = default_number(item->otherwise);
        return NULL;
    }
    return read_number(value, item->letter == 'q' ? "root" : item->otherwise && *item->otherwise == 't' ? "tag" :
                              item->otherwise && *item->otherwise == 's' ? "source" : "an argument", number);
}

static const char *read_place(const mxArray *value, union argument *at)
{
    MPI_Count element;
    const char *wrong;
    at->place.type = MPI_DATATYPE_NULL;
    at->place.displacement = 0;
    if (is_object_of(value, "mpi.Datatype"))
        return read_type(value, &at->place.type);
    /* What mpi.Buffer.address gives, for dynamic windows. */
    if (mxIsUint64(value) && mxGetNumberOfElements(value) == 1) {
        at->place.displacement = (MPI_Aint)*(const uint64_t *)mxGetData(value);
        return NULL;
    }
    wrong = read_count(value, "the target's element", &element);
    if (!wrong && element < 1)
        wrong = argument_problem("elements of a window are counted from 1");
    at->place.displacement = (MPI_Aint)element - 1;
    return wrong;
}

static const char *read_object(const mxArray *value, const char *class_name, union argument *at)
{
    void *handle;
    const char *wrong = read_handle(value, class_name, &handle);
    /* All handles are pointers in the standard ABI (section 20.3). */
    at->comm = handle;
    return wrong;
}

static const char *read_input(struct call *call, int k, const struct item *item, const mxArray *value)
{
    union argument *at = &call->at[k];
    switch (item->letter) {
    case 'c': return read_communicator(value, &at->comm);
    case 'g': return read_object(value, "Group", at);
    case 't': return read_type(value, &at->type);
    case 'o': return read_operation(value, &at->op);
    case 'w': return read_object(value, "Win", at);
    case 'f': return read_object(value, "File", at);
    case 'n': return read_info(call, value, &at->info);
    case 's': return read_object(value, "Session", at);
    case 'm': return read_object(value, "Message", at);
    case 'x': return read_request(value, &at->request);
    case 'i':
    case 'q': return read_int(value, item, &at->number);
    case 'b':
        if (!(mxIsLogical(value) || mxIsNumeric(value)) || mxGetNumberOfElements(value) != 1)
            return argument_problem("true or false is wanted");
        at->number = mxGetScalar(value) != 0;
        return NULL;
    case 'l': return read_count(value, "an argument", &at->count);
    case 'S': return read_text(call, value, &at->text);
    case 'I':
    case 'L':
    case 'T': return read_list(call, value, item->letter, &at->list);
    case 'k': return read_place(value, at);
    case 'B':
    case 'V':
    case 'W':
        return read_sent(call, value, item->letter, &at->buffer);
    default: return argument_problem("the signature has a letter %c", item->letter);
    }
}

/* Buffers come after all else, since their shapes depend on the root and on the number of processes. */
static int is_buffer(char letter)
{
    return letter != 0 && strchr("BVWRDM", letter) != NULL;
}

struct reading {
    struct item items[INPUTS_MAX];
    const mxArray *values[INPUTS_MAX];
    int count;
    /* Behind the '>'. */
    const char *results;
};

static const char *read_signature(const struct row *row, struct reading *reading, int nrhs, const mxArray *prhs[])
{
    const char *at = row->signature;
    struct item item;
    int k;
    reading->count = 0;
    for (;;) {
        at = next_item(at, &item);
        if (!item.letter || item.letter == '>')
            break;
        reading->items[reading->count++] = item;
    }
    reading->results = at;
    if (nrhs > reading->count)
        return argument_problem("too many arguments, %d where %d are possible", nrhs, reading->count);
    for (k = 0; k < reading->count; k++) {
        const struct item *wanted = &reading->items[k];
        const mxArray *value = k < nrhs ? prhs[k] : NULL;
        int may_miss = wanted->otherwise || (wanted->letter == 'R' && wanted->variant != ' ') ||
                       (wanted->letter == 'B' && strncmp(row->name, "Comm.Scatter", 12) == 0);
        if (value && wanted->otherwise && mxIsEmpty(value) && !mxIsChar(value) && mxIsNumeric(value))
            value = NULL;
        if (!value && !may_miss)
            return argument_problem("argument %d is missing", k + 1);
        reading->values[k] = value;
    }
    return NULL;
}

/* What this process does where one is the root: it has the data of all (gives), or a part of them (takes).  The root's own group of an
   inter-communicator says MPI_ROOT or MPI_PROC_NULL, and takes no part. */
struct part {
    int gives;
    int takes;
};

static struct part part_of(struct call *call, const struct reading *reading)
{
    struct part part = {1, 1};
    int q, rank = -1, inter = 0;
    for (q = 0; q < reading->count; q++)
        if (reading->items[q].letter == 'q') {
            MPI_Comm_test_inter(COMM(0), &inter);
            MPI_Comm_rank(COMM(0), &rank);
            part.gives = NUMBER(q) == (inter ? MPI_ROOT : rank);
            part.takes = !inter || NUMBER(q) >= 0;
        }
    return part;
}

static const char *check_division(struct call *call, const struct item *item, const struct buffer *buffer)
{
    int parts = item->variant == '2' ? NUMBER(2) : call->size;
    if (!strchr("sangd2", item->variant) || buffer->absent || buffer->address == MPI_IN_PLACE)
        return NULL;
    if (item->variant == '2' && parts < 1)
        return argument_problem("there are %d partitions where at least one is wanted", parts);
    if (parts > 0 && buffer->count % parts != 0)
        return argument_problem("%lld elements cannot be divided by %d %s", (long long)buffer->count, parts,
                                item->variant == '2' ? "partitions" : "processes");
    return NULL;
}

static const char *read_one_received(struct call *call, const struct reading *reading, int k, int sent, struct part part)
{
    const struct item *item = &reading->items[k];
    const mxArray *value = reading->values[k], *like = value ? value : sent >= 0 ? reading->values[sent] : NULL;
    int here = strchr("grV", item->variant) ? part.gives : part.takes;
    if (item->letter == 'M')
        return read_received(call, value, 'M', NULL, part.takes, &call->at[k].buffer);
    return read_received(call, like, item->variant, value ? NULL : &call->at[sent < 0 ? 0 : sent].buffer, here, &call->at[k].buffer);
}

static const char *read_buffer(struct call *call, const struct row *row, const struct reading *reading, int k, int *sent)
{
    const struct item *item = &reading->items[k];
    const mxArray *value = reading->values[k];
    struct buffer *buffer = &call->at[k].buffer;
    struct part part = part_of(call, reading);
    const char *wrong;
    if (reading->items[0].letter == 'c')
        count_processes(call, row, item->letter == 'R');
    if (item->letter == 'D' || (item->letter == 'M' && part.gives)) {
        wrong = read_replaced(call, value, buffer);
    } else if (item->letter == 'R' || item->letter == 'M') {
        wrong = read_one_received(call, reading, k, *sent, part);
    } else {
        *sent = k;
        /* Only the root of a scatter sends. */
        if (!part.gives && strstr(row->name, "catter")) {
            buffer->absent = 1;
            buffer->type = MPI_BYTE;
            return NULL;
        }
        wrong = read_sent(call, value, item->letter, buffer);
    }
    /* What is used again and again has to be where it was. */
    if (!wrong && strchr("RDM", item->letter) && strstr(row->name, "Init") && !buffer->absent && !buffer->object)
        wrong = argument_problem("a persistent request receives into an mpi.Buffer");
    if (!wrong && item->variant == 'b' && !buffer->object)
        wrong = argument_problem("what MPI uses between two calls is an mpi.Buffer");
    return wrong ? wrong : check_division(call, item, buffer);
}

static int is_access(const struct row *row)
{
    return strncmp(row->name, "Win.", 4) == 0;
}

static int has_epochs(const struct row *row)
{
    return is_access(row) || strncmp(row->name, "File.", 5) == 0;
}

static const char *check_lists(struct call *call, const struct reading *reading)
{
    int k, wanted;
    for (k = 0; k < reading->count; k++) {
        char letter = reading->items[k].letter, variant = reading->items[k].variant;
        if (!strchr("IL", letter) || variant == ' ' || !reading->values[k])
            continue;
        if (variant == 'z') {
            if (LENGTH(k) % 3 != 0)
                return argument_problem("ranges are columns of three, [first; last; step]");
            continue;
        }
        wanted = length_of_list(call, variant);
        /* Without a topology MPI says so. */
        if (LENGTH(k) != wanted && !(variant == 'd' && wanted == 0))
            return argument_problem("argument %d has %d numbers where %d are wanted", k + 1, LENGTH(k), wanted);
    }
    return NULL;
}

/* A reduction has one count and one datatype for what it takes and what it gives. */
static const char *check_reduction(struct call *call, const struct row *row, const struct buffer *sent, const struct buffer *received,
                                   MPI_Op op)
{
    MPI_Count wanted = sent->count, given = received->count, own = 0;
    int rank = 0, i, blocks = strstr(row->name, "ScatterBlock") != NULL, parts = !blocks && strstr(row->name, "educeScatter");
    if (received->absent || (op == MPI_NO_OP && is_access(row)))
        return NULL;
    if (parts) {
        MPI_Comm_rank(COMM(0), &rank);
        own = COUNTS(2)[rank];
        for (wanted = 0, i = 0; i < LENGTH(2); i++)
            wanted += COUNTS(2)[i];
        if (sent->address != MPI_IN_PLACE && sent->count != wanted)
            return argument_problem("the counts add up to %lld, and the array has %lld elements", (long long)wanted,
                                    (long long)sent->count);
        if (received->count < (sent->address == MPI_IN_PLACE ? wanted : own))
            return argument_problem("what is received has %lld elements, and the array for it %lld", (long long)own,
                                    (long long)received->count);
    }
    if (sent->address == MPI_IN_PLACE)
        return blocks && given % call->own_size ? argument_problem("%lld elements cannot be divided by %d processes",
                                                                   (long long)given, call->own_size) : NULL;
    if (sent->type != received->type)
        return argument_problem("what is reduced and what is received have different classes");
    if (!parts && wanted != given * (blocks ? call->own_size : 1))
        return argument_problem("%lld elements are reduced, and what is received has %lld", (long long)wanted, (long long)given);
    return NULL;
}

static const char *check_access(struct call *call, const struct row *row)
{
    if (strcmp(row->name, "Win.fetchAndOp") != 0 && strcmp(row->name, "Win.compareAndSwap") != 0)
        return NULL;
    if (call->at[1].buffer.count != 1 || call->at[5].buffer.count != 1)
        return argument_problem("one element is wanted");
    if (row->name[4] == 'c' && (call->at[2].buffer.count != 1 || call->at[2].buffer.type != call->at[1].buffer.type ||
                                call->at[5].buffer.type != call->at[1].buffer.type))
        return argument_problem("the value and the expected one have to be one element of the same class each");
    return NULL;
}

/* What the buffers of a row have to do with each other. */
static const char *check_buffers(struct call *call, const struct row *row, const struct reading *reading, int sent)
{
    const char *wrong = NULL;
    int k, received = -1, op = -1;
    for (k = 0; k < reading->count; k++) {
        if (reading->items[k].letter == 'R' || reading->items[k].letter == 'D')
            received = k;
        if (reading->items[k].letter == 'o')
            op = k;
    }
    if (op >= 0 && received >= 0 && sent >= 0)
        wrong = check_reduction(call, row, &call->at[sent].buffer, &call->at[received].buffer, OP(op));
    if (!wrong && is_access(row))
        wrong = check_access(call, row);
    if (!wrong && is_access(row) && call->lasting && received >= 0)
        wrong = window_check(row->name, &call->at[received].buffer);
    return wrong;
}

static const char *read_inputs(struct call *call, const struct row *row, struct reading *reading)
{
    const char *wrong = NULL;
    int k, sent = -1;
    for (k = 0; k < reading->count && !wrong; k++)
        if (!is_buffer(reading->items[k].letter))
            wrong = reading->values[k] ? read_input(call, k, &reading->items[k], reading->values[k])
                                       : use_default(call, k, &reading->items[k]);
    if (!wrong)
        wrong = check_lists(call, reading);
    if (!wrong && has_epochs(row) && !call->lasting)
        call->lasting = window_keeps(row->name, WIN(0));
    for (k = 0; k < reading->count && !wrong; k++)
        if (is_buffer(reading->items[k].letter))
            wrong = read_buffer(call, row, reading, k, &sent);
    return wrong ? wrong : check_buffers(call, row, reading, sent);
}

/* ---- results ---- */

enum { TEXT_BYTES = 8192 };

static const char *prepare_results(struct call *call, const struct reading *reading)
{
    const char *at = reading->results;
    struct item item;
    int k = reading->count;
    for (at = next_item(at, &item); item.letter; at = next_item(at, &item), k++) {
        if (item.letter == 'S')
            TEXT(k) = call_memory(call, TEXT_BYTES);
        if (item.letter == 'I') {
            LENGTH(k) = length_of_list(call, item.variant);
            INTS(k) = call_memory(call, (size_t)LENGTH(k) * sizeof(int));
        }
        if ((item.letter == 'S' || item.letter == 'I') && !TEXT(k) && !INTS(k))
            return argument_problem("out of memory for a result");
    }
    return NULL;
}

static mxArray *row_of_ints(const struct list *list)
{
    mxArray *row = mxCreateDoubleMatrix(1, (mwSize)list->length, mxREAL);
    double *numbers = mxGetDoubles(row);
    int i;
    for (i = 0; i < list->length; i++)
        numbers[i] = list->of.ints[i];
    return row;
}

/* Ready for use. */
static mxArray *type_object(MPI_Datatype type)
{
    if (type != MPI_DATATYPE_NULL)
        MPI_Type_commit(&type);
    return handle_object("mpi.Datatype", type, MPI_DATATYPE_NULL);
}

static mxArray *result_of(union argument *at, char letter)
{
    switch (letter) {
    case 'c': return communicator_object(at->comm);
    case 'g': return handle_object("mpi.Group", at->group, MPI_GROUP_NULL);
    case 't': return type_object(at->type);
    case 'n': return handle_object("mpi.Info", at->info, MPI_INFO_NULL);
    case 'm': return handle_object("mpi.Message", at->message, MPI_MESSAGE_NULL);
    case 'i': return mxCreateDoubleScalar(at->number);
    case 'b': return mxCreateLogicalScalar(at->number != 0);
    case 'l': return mxCreateDoubleScalar((double)at->count);
    case 'd': return mxCreateDoubleScalar(at->real);
    case 'S': return mxCreateString(at->text);
    case 'I': return row_of_ints(&at->list);
    case 'u': return status_object(&at->status);
    default: return NULL;
    }
}

static const MPI_Status *status_of(struct call *call, const struct reading *reading)
{
    const char *at = reading->results;
    struct item item;
    int k = reading->count;
    for (at = next_item(at, &item); item.letter; at = next_item(at, &item), k++)
        if (item.letter == 'u')
            return &STATUS(k);
    return NULL;
}

static int is_result(char letter)
{
    return letter != 0 && strchr("RDM", letter) != NULL;
}

/* A request takes what is received along. */
static int make_request(struct call *call, const struct row *row, const struct reading *reading, mxArray *plhs[])
{
    int k, received = -1;
    struct item item;
    next_item(reading->results, &item);
    if (item.letter != 'r')
        return 0;
    for (k = 0; k < reading->count; k++)
        if (is_result(reading->items[k].letter))
            received = k;
    plhs[0] = request_object(call, REQUEST(reading->count), received, strstr(row->name, "Init") != NULL);
    return 1;
}

static void take_results(struct call *call, const struct row *row, const struct reading *reading, int nlhs, mxArray *plhs[])
{
    const MPI_Status *status = status_of(call, reading);
    const char *at = reading->results;
    struct item item;
    int k, made = 0, wanted = nlhs > 1 ? nlhs : 1;
    if (make_request(call, row, reading, plhs))
        return;
    for (k = 0; k < reading->count && made < wanted; k++)
        if (is_result(reading->items[k].letter))
            plhs[made++] = take_received(&call->at[k].buffer, status);
    for (at = next_item(at, &item); item.letter && made < wanted; at = next_item(at, &item), k++) {
        /* Without a message there is no status of one. */
        if (strchr("um", item.letter) && k > 0 && reading->count < k && strchr(reading->results, 'b') && !NUMBER(reading->count))
            plhs[made++] = mxCreateDoubleMatrix(0, 0, mxREAL);
        else
            plhs[made++] = result_of(&call->at[k], item.letter);
    }
}

/* ---- the call ---- */

int sessions_open;

int is_running(void)
{
    return exchange.running || sessions_open > 0;
}

static int has_request(const struct row *row)
{
    const char *results = strchr(row->signature, '>');
    return results && strchr(results, 'r') != NULL;
}

static const char *most_outputs(const struct reading *reading, int nlhs)
{
    struct item item;
    const char *at = reading->results;
    int k, possible = 0;
    for (at = next_item(at, &item); item.letter; at = next_item(at, &item))
        possible = item.letter == 'r' ? -100 : possible + 1;
    for (k = 0; k < reading->count; k++)
        possible += is_result(reading->items[k].letter);
    if (possible < 0)
        possible = 1;
    return nlhs > possible ? argument_problem("%d outputs are asked for where %d are possible", nlhs, possible) : NULL;
}

/* Receives and probes wait for a message where control-C can end that. */
static const char *wait_for_envelope(struct call *call, const struct row *row)
{
    int source = strcmp(row->name, "Comm.Recv") == 0 ? 2 : 1;
    if (source == 1 && strcmp(row->name, "Comm.probe") != 0 && strcmp(row->name, "Comm.mprobe") != 0)
        return NULL;
    return wait_for_message(COMM(0), NUMBER(source), NUMBER(source + 1));
}

/* Sends and collectives wait for others without being asked.  An operation of the program's own would call the language from the
   other thread. */
static int is_run_apart(const struct row *row, const struct reading *reading)
{
    static const char *const NAMES[] = {"Send", "Ssend", "barrier", "Bcast", "Gather", "Gatherv", "Scatter", "Scatterv", "Allgather", "Allgatherv",
                                        "Alltoall", "Alltoallv", "Alltoallw", "Reduce", "Allreduce", "Scan", "Exscan", "ReduceScatter",
                                        "ReduceScatterBlock", "NeighborAllgather", "NeighborAllgatherv", "NeighborAlltoall",
                                        "NeighborAlltoallv", "NeighborAlltoallw"};
    MPI_Comm comm;
    size_t i;
    int k, named = 0;
    if (!waits_can_end() || strncmp(row->name, "Comm.", 5) != 0)
        return 0;
    for (i = 0; i < sizeof NAMES / sizeof NAMES[0]; i++)
        named |= strcmp(row->name + 5, NAMES[i]) == 0;
    for (k = 0; k < reading->count; k++)
        named &= reading->items[k].letter != 'o' || !reading->values[k] || mxIsChar(reading->values[k]);
    return named && !read_communicator(reading->values[0], &comm) && runs_apart(comm);
}

struct apart_call {
    const struct row *row;
    struct call call;
};

static int run_row(void *context)
{
    struct apart_call *apart = context;
    return apart->row->run(&apart->call);
}

/* The call is in memory that stays where control-C ends the wait, as do the arrays of what is lasting. */
static const char *call_apart(const struct row *row, struct reading *reading, int nlhs, mxArray *plhs[])
{
    struct apart_call *apart = calloc(1, sizeof *apart);
    const char *wrong;
    int code = MPI_SUCCESS;
    if (!apart)
        return argument_problem("out of memory for a call");
    apart->row = row;
    apart->call.size = apart->call.own_size = 1;
    apart->call.lasting = 1;
    wrong = read_inputs(&apart->call, row, reading);
    if (!wrong) {
        wrong = run_apart(run_row, apart, &code);
        if (wrong)
            return wrong;
        wrong = mpi_problem(code, row->name);
    }
    if (!wrong)
        take_results(&apart->call, row, reading, nlhs, plhs);
    call_release(&apart->call);
    free(apart);
    return wrong;
}

const char *call_row(const char *name, int nlhs, mxArray *plhs[], int nrhs, const mxArray *prhs[], int *found)
{
    const struct row *row = find_row(name);
    struct reading reading;
    struct call call;
    const char *wrong;
    *found = row != NULL;
    if (!row)
        return NULL;
    if (row->signature[0] != '!' && !is_running())
        return state_problem(exchange.finalized ? "MPI has been finalized" : "MPI is not running; c = mpi.world starts it");
    memset(&call, 0, sizeof call);
    call.size = call.own_size = 1;
    call.lasting = has_request(row);
    wrong = read_signature(row, &reading, nrhs, prhs);
    if (!wrong)
        wrong = most_outputs(&reading, nlhs);
    if (!wrong && is_run_apart(row, &reading))
        return call_apart(row, &reading, nlhs, plhs);
    if (!wrong)
        wrong = read_inputs(&call, row, &reading);
    if (!wrong)
        wrong = prepare_results(&call, &reading);
    if (!wrong && waits_can_end())
        wrong = wait_for_envelope(&call, row);
    if (!wrong)
        wrong = mpi_problem(row->run(&call), name);
    if (!wrong && has_epochs(row) && !has_request(row))
        wrong = window_after(row->name, &call);
    if (!wrong)
        take_results(&call, row, &reading, nlhs, plhs);
    call_release(&call);
    return wrong;
}

/* ---- results without objects ---- */

static mxArray *plain_result(union argument *at, char letter)
{
    /* All handles are pointers in the standard ABI (section 20.3). */
    if (strchr("cgn", letter))
        return mxCreateDoubleScalar((double)(uintptr_t)at->comm);
    return result_of(at, letter);
}

const char *call_plain(const struct row *row, int nlhs, mxArray *plhs[], int nrhs, const mxArray *prhs[])
{
    struct reading reading;
    struct call call;
    struct item item;
    const char *at, *wrong;
    int k, code, made = 1;
    memset(&call, 0, sizeof call);
    call.size = call.own_size = 1;
    wrong = read_signature(row, &reading, nrhs, prhs);
    if (!wrong)
        wrong = read_inputs(&call, row, &reading);
    if (!wrong)
        wrong = prepare_results(&call, &reading);
    if (!wrong) {
        code = row->run(&call);
        plhs[0] = mxCreateDoubleScalar(code);
        k = reading.count;
        for (at = next_item(reading.results, &item); item.letter && made < nlhs; at = next_item(at, &item), k++)
            plhs[made++] = code == MPI_SUCCESS ? plain_result(&call.at[k], item.letter) : mxCreateDoubleMatrix(0, 0, mxREAL);
    }
    call_release(&call);
    return wrong;
}
