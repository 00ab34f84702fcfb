/* mpitb_messages.c: MPI-TB's blocking messages and probes (chapter 3), and variables of any kind packed into buffers (section 5.2).
 *
 * What MPI_Pack writes is a record: four bytes that mark it, its length, the length of the variable's name, the name, and the value in
 * the encoding of docs/VALUE_ENCODING.md in one piece.
 */
#include "mpitb.h"
#include "mex_shared.h"
#include "problem.h"

#include <stdlib.h>
#include <string.h>

/* ---- messages ---- */

static const char *read_envelope(int first, const mxArray *prhs[], int *rank, int *tag, MPI_Comm *comm)
{
    const char *wrong = read_number(prhs[first], "the rank", rank);
    if (!wrong)
        wrong = read_number(prhs[first + 1], "the tag", tag);
    return wrong || !comm ? wrong : read_communicator(prhs[first + 2], comm);
}

static void give_received(int nlhs, mxArray *plhs[], int code, struct target *target, const MPI_Status *status)
{
    give_code(plhs, code);
    if (code == MPI_SUCCESS) {
        keep_rest(target, elements_received(status, target->type));
        close_target(target);
    } else {
        mxDestroyArray(target->array);
    }
    give(nlhs, plhs, 1, status_structs(1, status));
}

const char *mpitb_recv(int nlhs, mxArray *plhs[], int nrhs, const mxArray *prhs[])
{
    struct target target;
    MPI_Comm comm;
    MPI_Status status = {0};
    int source, tag;
    const char *wrong = read_envelope(1, prhs, &source, &tag, &comm);
    (void)nrhs;
    if (!wrong)
        wrong = open_target(0, prhs[0], &target);
    if (wrong)
        return wrong;
    give_received(nlhs, plhs, MPI_Recv_c(target.address, target.count, target.type, source, tag, comm, &status), &target, &status);
    return NULL;
}

const char *mpitb_sendrecv(int nlhs, mxArray *plhs[], int nrhs, const mxArray *prhs[])
{
    struct call call;
    struct target target;
    MPI_Comm comm;
    MPI_Status status = {0};
    int dest, send_tag, source, tag, code;
    const char *wrong = read_envelope(1, prhs, &dest, &send_tag, NULL);
    (void)nrhs;
    memset(&call, 0, sizeof call);
    if (!wrong)
        wrong = read_envelope(4, prhs, &source, &tag, &comm);
    if (!wrong)
        wrong = read_sent(&call, prhs[0], 'B', &call.at[0].buffer);
    if (!wrong)
        wrong = open_target(3, prhs[3], &target);
    if (!wrong) {
        const struct buffer *sent = &call.at[0].buffer;
        code = MPI_Sendrecv_c(sent->address, sent->count, sent->type, dest, send_tag, target.address, target.count, target.type, source,
                              tag, comm, &status);
        give_received(nlhs, plhs, code, &target, &status);
    }
    call_release(&call);
    return wrong;
}

const char *mpitb_sendrecv_replace(int nlhs, mxArray *plhs[], int nrhs, const mxArray *prhs[])
{
    struct target target;
    MPI_Comm comm;
    MPI_Status status = {0};
    int dest, send_tag, source, tag, code;
    const char *wrong = read_envelope(1, prhs, &dest, &send_tag, NULL);
    (void)nrhs;
    if (!wrong)
        wrong = read_envelope(3, prhs, &source, &tag, &comm);
    if (!wrong)
        wrong = open_target(0, prhs[0], &target);
    if (wrong)
        return wrong;
    code = MPI_Sendrecv_c(mxGetData(prhs[0]), target.count, target.type, dest, send_tag, target.address, target.count, target.type, source, tag,
                          comm, &status);
    give_received(nlhs, plhs, code, &target, &status);
    return NULL;
}

const char *mpitb_probe(int nlhs, mxArray *plhs[], int nrhs, const mxArray *prhs[])
{
    MPI_Comm comm;
    MPI_Status status = {0};
    int source, tag;
    const char *wrong = read_envelope(0, prhs, &source, &tag, &comm);
    (void)nrhs;
    if (wrong)
        return wrong;
    give_code(plhs, MPI_Probe(source, tag, comm, &status));
    give(nlhs, plhs, 1, status_structs(1, &status));
    return NULL;
}

const char *mpitb_iprobe(int nlhs, mxArray *plhs[], int nrhs, const mxArray *prhs[])
{
    MPI_Comm comm;
    MPI_Status status = {0};
    int source, tag, flag = 0;
    const char *wrong = read_envelope(0, prhs, &source, &tag, &comm);
    (void)nrhs;
    if (wrong)
        return wrong;
    give_code(plhs, MPI_Iprobe(source, tag, comm, &flag, &status));
    give(nlhs, plhs, 1, mxCreateDoubleScalar(flag));
    give(nlhs, plhs, 2, status_structs(1, &status));
    return NULL;
}

/* ---- statuses ---- */

static const char *read_status(const mxArray *value, double *source, double *bytes)
{
    const mxArray *src = mxIsStruct(value) && mxGetNumberOfElements(value) == 1 ? mxGetField(value, 0, "src") : NULL;
    const mxArray *len = src ? mxGetField(value, 0, "len") : NULL;
    if (!len)
        return argument_problem("a status is wanted, a struct with the fields src, tag, err and len");
    *source = mxGetScalar(src);
    *bytes = mxGetScalar(len);
    return NULL;
}

const char *mpitb_get_count(int nlhs, mxArray *plhs[], int nrhs, const mxArray *prhs[])
{
    double source, bytes;
    const char *wrong = read_status(prhs[0], &source, &bytes);
    (void)nrhs;
    if (wrong)
        return wrong;
    give_code(plhs, MPI_SUCCESS);
    give(nlhs, plhs, 1, mxCreateDoubleScalar(bytes));
    return NULL;
}

/* Values that are no arrays of MPI's types count as bytes. */
const char *mpitb_get_elements(int nlhs, mxArray *plhs[], int nrhs, const mxArray *prhs[])
{
    double source, bytes, elements;
    int size = 1;
    const char *wrong = read_status(prhs[0], &source, &bytes);
    (void)nrhs;
    if (wrong)
        return wrong;
    if (type_of_elements(prhs[1]) != MPI_DATATYPE_NULL)
        MPI_Type_size(type_of_elements(prhs[1]), &size);
    elements = (double)((int64_t)bytes / size);
    give_code(plhs, MPI_SUCCESS);
    give(nlhs, plhs, 1, mxCreateDoubleScalar(elements * size == bytes ? elements : MPI_UNDEFINED));
    return NULL;
}

const char *mpitb_test_cancelled(int nlhs, mxArray *plhs[], int nrhs, const mxArray *prhs[])
{
    double source, bytes;
    const char *wrong = read_status(prhs[0], &source, &bytes);
    (void)nrhs;
    if (wrong)
        return wrong;
    give_code(plhs, MPI_SUCCESS);
    give(nlhs, plhs, 1, mxCreateDoubleScalar(source == CANCEL_SOURCE));
    give(nlhs, plhs, 2, mxDuplicateArray(prhs[0]));
    return NULL;
}

/* ---- the buffer of MPI_Bsend ---- */

static void *attached;

const char *mpitb_buffer_attach(int nlhs, mxArray *plhs[], int nrhs, const mxArray *prhs[])
{
    MPI_Count size = 1;
    size_t bytes;
    void *memory;
    int code;
    (void)nlhs, (void)nrhs;
    if (type_of_elements(prhs[0]) == MPI_DATATYPE_NULL)
        return argument_problem("buf must be a full array, of as many bytes as messages need; it is a %s", mxGetClassName(prhs[0]));
    MPI_Type_size_c(type_of_elements(prhs[0]), &size);
    bytes = (size_t)size * mxGetNumberOfElements(prhs[0]);
    memory = malloc(bytes + 1);
    if (!memory)
        return argument_problem("out of memory for a buffer of %lu bytes", (unsigned long)bytes);
    code = MPI_Buffer_attach_c(memory, (MPI_Count)bytes);
    give_code(plhs, code);
    if (code != MPI_SUCCESS)
        free(memory);
    else
        attached = memory;
    return NULL;
}

const char *mpitb_buffer_detach(int nlhs, mxArray *plhs[], int nrhs, const mxArray *prhs[])
{
    void *memory = NULL;
    MPI_Count bytes = 0;
    int code = MPI_Buffer_detach_c(&memory, &bytes);
    (void)nlhs, (void)nrhs, (void)prhs;
    if (code == MPI_SUCCESS && memory == attached) {
        free(attached);
        attached = NULL;
    }
    give_code(plhs, code);
    return NULL;
}

/* ---- variables of any kind ---- */

struct record {
    char mark[4];
    uint32_t name_bytes;
    uint64_t value_bytes;
};

static const char MARK[4] = {'P', 'T', 'B', '1'};

/* The bytes belong to the next call of this. */
static const char *encode_value(const mxArray *value, const unsigned char **bytes, size_t *count)
{
    static struct outgoing message;
    const char *wrong;
    message.in_one_piece = 1;
    wrong = values_encode(&message, 1, &value);
    if (wrong)
        return wrong;
    message_end(&message.buffer, 1, 0, 0);
    if (message.buffer.failed)
        return argument_problem("out of memory for a packed variable");
    *bytes = message.buffer.bytes;
    *count = message.buffer.used;
    return NULL;
}

const char *mpitb_pack_size(int nlhs, mxArray *plhs[], int nrhs, const mxArray *prhs[])
{
    char name[64];
    const unsigned char *bytes;
    size_t count;
    const char *wrong = encode_value(prhs[0], &bytes, &count);
    (void)nrhs;
    if (wrong)
        return wrong;
    if (is_caller_variable(0, name))
        count += strlen(name);
    give_code(plhs, MPI_SUCCESS);
    give(nlhs, plhs, 1, mxCreateDoubleScalar((double)(sizeof(struct record) + count)));
    return NULL;
}

static const char *read_position(const mxArray *value, MPI_Count bytes, MPI_Count *position)
{
    const char *wrong = read_count(value, "pos", position);
    if (!wrong && (*position < 0 || *position > bytes))
        wrong = argument_problem("pos is %lld, and the buffer has %lld bytes", (long long)*position, (long long)bytes);
    return wrong;
}

static void move_position(int argument, MPI_Count position)
{
    char name[64];
    if (is_caller_variable(argument, name)) {
        mxArray *value = mxCreateDoubleScalar((double)position);
        assign_in_caller(name, value);
        mxDestroyArray(value);
    }
}

const char *mpitb_pack(int nlhs, mxArray *plhs[], int nrhs, const mxArray *prhs[])
{
    struct target target;
    MPI_Comm comm;
    MPI_Count position, room;
    const unsigned char *bytes;
    char name[64], *to;
    struct record record;
    size_t count;
    const char *wrong = read_communicator(prhs[3], &comm);
    (void)nlhs, (void)nrhs;
    if (!wrong)
        wrong = encode_value(prhs[0], &bytes, &count);
    if (!wrong)
        wrong = open_target(1, prhs[1], &target);
    if (!wrong)
        wrong = read_position(prhs[2], room = target.count * (MPI_Count)target.element_bytes, &position);
    if (wrong)
        return wrong;
    if (!is_caller_variable(0, name))
        *name = 0;
    memcpy(record.mark, MARK, sizeof MARK);
    record.name_bytes = (uint32_t)strlen(name);
    record.value_bytes = count;
    if ((MPI_Count)(sizeof record + record.name_bytes + count) > room - position) {
        mxDestroyArray(target.array);
        give_code(plhs, raise_code(comm, MPI_ERR_TRUNCATE));
        return NULL;
    }
    keep_rest(&target, 0);
    to = (char *)target.address + position;
    memcpy(to, &record, sizeof record);
    memcpy(to + sizeof record, name, record.name_bytes);
    memcpy(to + sizeof record + record.name_bytes, bytes, count);
    close_target(&target);
    move_position(2, position + (MPI_Count)(sizeof record + record.name_bytes + count));
    give_code(plhs, MPI_SUCCESS);
    return NULL;
}

static const char *no_payload(void *context, void *to, uint64_t bytes)
{
    (void)context, (void)to, (void)bytes;
    return "a packed variable has no payloads";
}

/* One variable of a buffer.  The code tells what is wrong with the bytes, `refused` what this process does not take. */
static int decode_record(const unsigned char *bytes, size_t left, char name[64], mxArray **value, size_t *used, const char **refused)
{
    struct record record;
    struct byte_buffer message = {NULL, 0, 0, 0};
    const char *wrong;
    if (left < sizeof record)
        return MPI_ERR_TRUNCATE;
    memcpy(&record, bytes, sizeof record);
    if (memcmp(record.mark, MARK, sizeof MARK) != 0 || record.name_bytes >= 64)
        return MPI_ERR_TYPE;
    left -= sizeof record;
    if (record.name_bytes > left || record.value_bytes > left - record.name_bytes)
        return MPI_ERR_TRUNCATE;
    memcpy(name, bytes + sizeof record, record.name_bytes);
    name[record.name_bytes] = 0;
    /* The decoder wants aligned memory. */
    buffer_put(&message, bytes + sizeof record + record.name_bytes, (size_t)record.value_bytes);
    wrong = message.failed ? "out of memory" : message_check(message.bytes, message.used);
    if (!wrong)
        *refused = values_decode(&message, 1, value, no_payload, NULL);
    buffer_free(&message);
    *used = sizeof record + record.name_bytes + (size_t)record.value_bytes;
    return wrong ? MPI_ERR_TYPE : MPI_SUCCESS;
}

static mxArray *row_of_codes(int count, int last)
{
    mxArray *row = mxCreateDoubleMatrix(1, (mwSize)count, mxREAL);
    if (count > 0)
        mxGetDoubles(row)[count - 1] = last;
    return row;
}

/* Without names, everything up to the end of the buffer. */
const char *mpitb_unpack(int nlhs, mxArray *plhs[], int nrhs, const mxArray *prhs[])
{
    MPI_Comm comm;
    MPI_Count position, size = 1, room;
    char *names = NULL;
    int wanted = nrhs - 3, count = 0, code = MPI_SUCCESS, i;
    const char *wrong = read_communicator(prhs[2], &comm);
    if (!wrong && type_of_elements(prhs[0]) == MPI_DATATYPE_NULL)
        wrong = argument_problem("buf must be the full array that was packed into; it is a %s", mxGetClassName(prhs[0]));
    if (wrong)
        return wrong;
    MPI_Type_size_c(type_of_elements(prhs[0]), &size);
    room = size * (MPI_Count)mxGetNumberOfElements(prhs[0]);
    wrong = read_position(prhs[1], room, &position);
    for (i = 0; i < wanted && !wrong; i++)
        if (!mxIsChar(prhs[3 + i]))
            wrong = argument_problem("argument %d must be a text, the name of a variable", 4 + i);
    while (!wrong && code == MPI_SUCCESS && (wanted > 0 ? count < wanted : position < room)) {
        char original[64] = "", name[64];
        mxArray *value = NULL;
        size_t used = 0;
        code = decode_record((const unsigned char *)mxGetData(prhs[0]) + position, (size_t)(room - position), original, &value, &used,
                             &wrong);
        if (wrong)
            return wrong;
        position += (MPI_Count)used;
        names = mxRealloc(names, ((size_t)count + 1) * 64);
        strcpy(names + 64 * count++, original);
        if (code != MPI_SUCCESS)
            break;
        strcpy(name, original);
        if (wanted > 0)
            mxGetString(prhs[2 + count], name, sizeof name);
        if (*name)
            assign_in_caller(name, value);
        mxDestroyArray(value);
    }
    if (wrong)
        return wrong;
    move_position(1, position);
    plhs[0] = count > 0 ? row_of_codes(count, code) : mxCreateDoubleScalar(MPI_SUCCESS);
    if (nlhs > 1) {
        const char **rows = mxCalloc((size_t)count + 1, sizeof *rows);
        for (i = 0; i < count; i++)
            rows[i] = names + 64 * i;
        plhs[1] = mxCreateCharMatrixFromStrings((mwSize)count, rows);
    }
    return NULL;
}
