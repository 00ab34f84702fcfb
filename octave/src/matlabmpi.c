/* matlabmpi.c: the functions of MatlabMPI that are in the MEX file. */
#include "call.h"
#include "matlabmpi.h"
#include "mex_shared.h"
#include "problem.h"

#include <fnmatch.h>
#include <limits.h>
#include <math.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ---- arguments ---- */

const char *matlabmpi_is_running(void)
{
    if (exchange.running && !matlabmpi_has_left)
        return NULL;
    return exchange.finalized || matlabmpi_has_left ? "MPI has been finalized; call this before MPI_Finalize"
                              : "MPI is not running; call MPI_Init first";
}

/* An integer of a real scalar of any class, or INT_MIN. */
int matlabmpi_integer(const mxArray *value)
{
    double number;
    if (mxGetNumberOfElements(value) != 1 || mxIsCell(value) || mxIsStruct(value) ||
        !(mxIsNumeric(value) || mxIsLogical(value)) || mxIsComplex(value))
        return INT_MIN;
    number = mxGetScalar(value);
    if (!(number > INT_MIN && number <= INT_MAX) || number != (int)number)
        return INT_MIN;
    return (int)number;
}

static int is_star(const mxArray *value)
{
    return mxIsChar(value) && mxGetNumberOfElements(value) == 1 && *mxGetChars(value) == '*';
}

/* A communicator as a program has it: the struct that is MPI_COMM_WORLD, the number that MPI has
   for its own, or the empty value of a global variable that nothing has been assigned to. */
static const char *get_comm(const mxArray *value, struct channel **channel)
{
    MPI_Comm comm = matlabmpi_world;
    if (!mxIsEmpty(value) && !mxIsStruct(value) &&
        matlabmpi_integer(value) != MPI_Comm_toint(MPI_COMM_WORLD))
        return "comm is not a communicator; use MPI_COMM_WORLD";
    if (matlabmpi_look_inside && mxIsStruct(value)) {
        const mxArray *handle = mxGetField(value, 0, "handle");
        if (!handle)
            return "comm is a struct without a field 'handle', and so no communicator of this session";
        for (*channel = channel_after(NULL); *channel; *channel = channel_after(*channel))
            if (MPI_Comm_toint((*channel)->comm) == matlabmpi_integer(handle))
                break;
        if (!*channel)
            return "comm is the communicator of a job that has ended";
        comm = (*channel)->comm;
    }
    return exchange_channel(comm, channel);
}

static int is_saved(const mxArray *comm)
{
    const mxArray *flag = matlabmpi_look_inside && mxIsStruct(comm) ? mxGetField(comm, 0, "save_message_flag") : NULL;
    return flag && mxGetScalar(flag) != 0;
}

static const char *get_rank(const struct channel *channel, const mxArray *value, int any, int *rank)
{
    *rank = any && is_star(value) ? MPI_ANY_SOURCE : matlabmpi_integer(value);
    if (any && *rank == MPI_ANY_SOURCE)
        return NULL;
    if (*rank >= 0 && *rank < channel->size)
        return NULL;
    return any ? "source must be a rank of comm (0 ... size-1), '*' or MPI_ANY_SOURCE"
               : "the rank must be one of comm: 0 ... size-1";
}

/* ---- tags ---- */

enum { TAG_TEXT_MAX = 4096 };
static unsigned char tag_text[TAG_TEXT_MAX];

/* The bytes of a row of characters at tag_text, or -1. */
static long text_of_chars(const mxArray *value)
{
    size_t count = mxGetNumberOfElements(value);
    if (mxGetNumberOfDimensions(value) != 2 || (count > 0 && mxGetM(value) != 1) ||
        count > TAG_TEXT_MAX / 3)
        return -1;
    if (sizeof(mxChar) == 2)
        return (long)utf16_to_utf8(tag_text, (const unsigned char *)mxGetChars(value), count);
    memcpy(tag_text, mxGetChars(value), count);
    return (long)count;
}

/* The shortest text that is this number, or -1. */
static long text_of_number(const mxArray *value)
{
    char *text = (char *)tag_text;
    double number;
    if (mxGetNumberOfElements(value) != 1 || !(mxIsNumeric(value) || mxIsLogical(value)) ||
        mxIsComplex(value))
        return -1;
    if (mxIsInt64(value))
        return sprintf(text, "%lld", (long long)*mxGetInt64s(value));
    if (mxIsUint64(value))
        return sprintf(text, "%llu", (unsigned long long)*mxGetUint64s(value));
    number = mxGetScalar(value);
    if (!isfinite(number))
        return -1;
    if (number == floor(number) && fabs(number) < 1e22)
        return sprintf(text, "%.0f", number);
    sprintf(text, "%.15g", number);
    return strtod(text, NULL) == number ? (long)strlen(text) : sprintf(text, "%.17g", number);
}

/* 17 and '17' are one tag: the text of a number that is a tag of MPI, as the program would write
   it, is that number. */
static int number_of_text(long length)
{
    long number = 0, i;
    if (length < 1 || length > 10 || (tag_text[0] == '0' && length > 1))
        return -1;
    for (i = 0; i < length; i++) {
        if (tag_text[i] < '0' || tag_text[i] > '9')
            return -1;
        number = 10 * number + tag_text[i] - '0';
    }
    return number <= exchange.user_tag_max ? (int)number : -1;
}

static const char *get_tag(const mxArray *value, int any, struct tag *tag)
{
    int number = matlabmpi_integer(value);
    long length;
    if (number >= 0 && number <= exchange.user_tag_max) {
        *tag = tag_of_number(number);
        return NULL;
    }
    if (any && (number == MPI_ANY_TAG || is_star(value))) {
        *tag = tag_of_number(MPI_ANY_TAG);
        return NULL;
    }
    length = mxIsChar(value) ? text_of_chars(value) : text_of_number(value);
    if (length < 0 || number == MPI_ANY_TAG)
        return any ? "tag must be a number, a text of at most 1365 characters, '*' or MPI_ANY_TAG"
                   : "tag must be a number or a text of at most 1365 characters";
    number = number_of_text(length);
    *tag = number >= 0 ? tag_of_number(number) : tag_of_text(tag_text, (size_t)length);
    return NULL;
}

/* The first three arguments of every communication. */
static const char *get_envelope(int nrhs, const mxArray *prhs[], int any, int *rank,
                                struct tag *tag, struct channel **channel)
{
    const char *wrong = matlabmpi_is_running();
    if (!wrong && nrhs < 3)
        wrong = "too few arguments; the first three are rank, tag and comm";
    if (!wrong)
        wrong = get_comm(prhs[2], channel);
    if (!wrong)
        wrong = get_rank(*channel, prhs[0], any, rank);
    return wrong ? wrong : get_tag(prhs[1], any, tag);
}

/* ---- environment and communicators ---- */

/* The variable, for programs that do not declare it. */
static const char *op_comm_world(int nlhs, mxArray *plhs[], int nrhs, const mxArray *prhs[])
{
    (void)nlhs, (void)nrhs, (void)prhs;
    plhs[0] = mexGetVariable("global", "MPI_COMM_WORLD");
    if (plhs[0] && mxIsStruct(plhs[0]))
        return NULL;
    return mexCallMATLAB(1, plhs, 0, NULL, "MatMPI_Comm_world") ? "there is no MPI_COMM_WORLD" : NULL;
}

static const char *op_any_source(int nlhs, mxArray *plhs[], int nrhs, const mxArray *prhs[])
{
    (void)nlhs, (void)nrhs, (void)prhs;
    plhs[0] = mxCreateDoubleScalar(MPI_ANY_SOURCE);
    return NULL;
}

static const char *op_any_tag(int nlhs, mxArray *plhs[], int nrhs, const mxArray *prhs[])
{
    (void)nlhs, (void)nrhs, (void)prhs;
    plhs[0] = mxCreateDoubleScalar(MPI_ANY_TAG);
    return NULL;
}

/* Rank and size.  While MPI does not run they are what the struct says, also before MPI_Init and after
   MPI_Finalize, as in MatlabMPI. */
static const char *comm_number(mxArray *plhs[], int nrhs, const mxArray *prhs[], const char *field)
{
    const mxArray *comm = nrhs > 0 ? prhs[0] : NULL, *value;
    struct channel *channel;
    const char *wrong = matlabmpi_is_running();
    if (!wrong)
        wrong = comm ? get_comm(comm, &channel) : exchange_channel(matlabmpi_world, &channel);
    if (!wrong) {
        plhs[0] = mxCreateDoubleScalar(strcmp(field, "rank") == 0 ? channel->rank : channel->size);
        return NULL;
    }
    value = comm && mxIsStruct(comm) ? mxGetField(comm, 0, field) : NULL;
    if (!value)
        return wrong;
    plhs[0] = mxCreateDoubleScalar(mxGetScalar(value));
    return NULL;
}

static const char *op_comm_rank(int nlhs, mxArray *plhs[], int nrhs, const mxArray *prhs[])
{
    (void)nlhs;
    return comm_number(plhs, nrhs, prhs, "rank");
}

static const char *op_comm_size(int nlhs, mxArray *plhs[], int nrhs, const mxArray *prhs[])
{
    (void)nlhs;
    return comm_number(plhs, nrhs, prhs, "size");
}

/* ---- communication ---- */

static const char *send_values(const struct channel *channel, int count,
                               const mxArray *const values[], const int *destinations,
                               int destination_count, const struct tag *tag)
{
    struct outgoing *message = exchange_new_message();
    const char *wrong;
    message->tag_text = tag->text;
    message->tag_length = tag->length;
    wrong = values_encode(message, count, values);
    return wrong ? wrong
                 : exchange_send(channel->comm, message, count + (tag->text != NULL), destinations,
                                 destination_count, tag->number);
}

/* MatMPI_Save_messages has asked for copies as files. */
static const char *save_copies(int nrhs, const mxArray *prhs[], int destination)
{
    mxArray **all = mxMalloc((size_t)nrhs * sizeof *all);
    const char *wrong;
    memcpy(all, prhs, (size_t)nrhs * sizeof *all);
    all[0] = mxCreateDoubleScalar(destination);
    wrong = mexCallMATLAB(0, NULL, nrhs, all, "MatMPI_Save_copy") ? "the message cannot be saved" : NULL;
    mxDestroyArray(all[0]);
    mxFree(all);
    return wrong;
}

static const char *op_send(int nlhs, mxArray *plhs[], int nrhs, const mxArray *prhs[])
{
    int destination;
    struct tag tag;
    struct channel *channel;
    const char *wrong = get_envelope(nrhs, prhs, 0, &destination, &tag, &channel);
    (void)nlhs, (void)plhs;
    if (!wrong)
        wrong = send_values(channel, nrhs - 3, prhs + 3, &destination, 1, &tag);
    return !wrong && is_saved(prhs[2]) ? save_copies(nrhs, prhs, destination) : wrong;
}

static const char *op_recv(int nlhs, mxArray *plhs[], int nrhs, const mxArray *prhs[])
{
    int source;
    struct tag tag;
    struct channel *channel;
    const char *wrong = get_envelope(nrhs, prhs, 1, &source, &tag, &channel);
    return wrong ? wrong
                 : exchange_receive_tagged(channel->comm, source, &tag, nlhs, plhs, NULL);
}

/* One message, to several.  The source has its values already; a copy that it wants for itself is
   none of MPI's. */
static const char *send_to_all(const struct channel *channel, const int *destinations, int count,
                               const struct tag *tag, int nlhs, mxArray *plhs[], int nrhs,
                               const mxArray *prhs[], const mxArray *comm)
{
    const char *wrong;
    int i;
    if (nlhs > nrhs)
        return "more values are asked for than are broadcast";
    wrong = send_values(channel, nrhs, prhs, destinations, count, tag);
    for (i = 0; i < count && !wrong && is_saved(comm); i++)
        wrong = save_copies(nrhs + 3, prhs - 3, destinations[i]);
    for (i = 0; i < nlhs && !wrong; i++)
        plhs[i] = same_value(prhs[i]);
    return wrong;
}

/* The source sends to every other process; a receiver may as well call MPI_Recv. */
static const char *op_bcast(int nlhs, mxArray *plhs[], int nrhs, const mxArray *prhs[])
{
    int source, i, count = 0;
    int *destinations;
    struct tag tag;
    struct channel *channel;
    const char *wrong = get_envelope(nrhs, prhs, 0, &source, &tag, &channel);
    if (wrong)
        return wrong;
    if (source != channel->rank)
        return exchange_receive_tagged(channel->comm, source, &tag, nlhs, plhs, NULL);
    destinations = mxMalloc((size_t)channel->size * sizeof *destinations);
    for (i = 0; i < channel->size; i++)
        if (i != channel->rank)
            destinations[count++] = i;
    wrong = send_to_all(channel, destinations, count, &tag, nlhs, plhs, nrhs - 3, prhs + 3, prhs[2]);
    mxFree(destinations);
    return wrong;
}

/* MPI_Mcast(source, dest, tag, comm, ...): a broadcast to the ranks of the list dest.  A process
   that is neither the source nor in the list has nothing to do. */
static const char *op_mcast(int nlhs, mxArray *plhs[], int nrhs, const mxArray *prhs[])
{
    int source, i, count = 0, concerned = 0;
    int *destinations;
    struct tag tag;
    struct channel *channel;
    const mxArray *envelope[3];
    const char *wrong;
    if (nrhs < 4 || !mxIsDouble(prhs[1]))
        return "the arguments are source, dest, tag, comm and the values; dest is a list of ranks";
    envelope[0] = prhs[0], envelope[1] = prhs[2], envelope[2] = prhs[3];
    wrong = get_envelope(3, envelope, 0, &source, &tag, &channel);
    if (wrong)
        return wrong;
    destinations = mxMalloc((mxGetNumberOfElements(prhs[1]) + 1) * sizeof *destinations);
    for (i = 0; i < (int)mxGetNumberOfElements(prhs[1]) && !wrong; i++) {
        int rank = (int)mxGetDoubles(prhs[1])[i];
        if (rank < 0 || rank >= channel->size || rank != mxGetDoubles(prhs[1])[i])
            wrong = "dest holds a number that is no rank of comm: 0 ... size-1";
        concerned |= rank == channel->rank;
        if (rank != source)
            destinations[count++] = rank;
    }
    if (!wrong && source == channel->rank)
        wrong = send_to_all(channel, destinations, count, &tag, nlhs, plhs, nrhs - 4, prhs + 4, prhs[3]);
    else if (!wrong && concerned)
        wrong = exchange_receive_tagged(channel->comm, source, &tag, nlhs, plhs, NULL);
    mxFree(destinations);
    for (i = 0; i < nlhs && !wrong; i++)
        if (!plhs[i])
            plhs[i] = mxCreateDoubleMatrix(0, 0, mxREAL);
    return wrong;
}

/* ---- probing ---- */

/* What MPI_Probe looks for: ranks and tags as texts, in which '*', '?' and '[...]' are those of file
   names, or numbers, which are compared as such. */
struct sought {
    char source[32];
    char tag[TAG_TEXT_MAX + 1];
};

static void write_sought(const mxArray *value, int any_number, char *text, size_t room)
{
    long length = mxIsChar(value) ? text_of_chars(value) : text_of_number(value);
    if (matlabmpi_integer(value) == any_number) {
        strcpy(text, "*");
        return;
    }
    if (length < 0 || (size_t)length >= room)
        length = 0;
    memcpy(text, tag_text, (size_t)length);
    text[length] = 0;
}

static void write_tag(const struct waiting *waiting, char text[TAG_TEXT_MAX + 1])
{
    size_t length = waiting->text_length < TAG_TEXT_MAX ? waiting->text_length : TAG_TEXT_MAX;
    if (waiting->text)
        memcpy(text, waiting->text, length), text[length] = 0;
    else
        sprintf(text, "%d", waiting->tag);
}

static int is_sought(const struct waiting *waiting, const struct sought *sought)
{
    static const struct tag any = {MPI_ANY_TAG, NULL, 0};
    char source[16], tag[TAG_TEXT_MAX + 1];
    if (!waiting_matches(waiting, MPI_ANY_SOURCE, &any))
        return 0;
    if (strcmp(sought->source, "*") == 0 && strcmp(sought->tag, "*") == 0)
        return 1;
    sprintf(source, "%d", waiting->source);
    write_tag(waiting, tag);
    return fnmatch(sought->source, source, 0) == 0 &&
           (strcmp(sought->tag, tag) == 0 || fnmatch(sought->tag, tag, 0) == 0);
}

/* The number that a tag is, or NaN. */
static double tag_number(const struct waiting *waiting)
{
    char text[TAG_TEXT_MAX + 1], *end;
    double number;
    if (!waiting->text)
        return waiting->tag;
    write_tag(waiting, text);
    number = strtod(text, &end);
    return waiting->text_length > 0 && *end == 0 && text[0] != ' ' ? number : mxGetNaN();
}

static mxArray *text_of_tag(const struct waiting *waiting)
{
    char text[TAG_TEXT_MAX + 1];
    write_tag(waiting, text);
    return mxCreateString(text);
}

static const char *get_sought(int nrhs, const mxArray *prhs[], struct sought *sought,
                              struct channel **channel)
{
    const char *wrong = matlabmpi_is_running();
    if (!wrong && nrhs < 3)
        wrong = "too few arguments; they are source, tag and comm";
    if (!wrong)
        wrong = get_comm(prhs[2], channel);
    if (wrong)
        return wrong;
    write_sought(prhs[0], MPI_ANY_SOURCE, sought->source, sizeof sought->source);
    write_sought(prhs[1], MPI_ANY_TAG, sought->tag, sizeof sought->tag);
    return NULL;
}

/* A program that probes in a loop lets others have the core, and hears when they have failed. */
static const char *nothing_waits(struct channel *channel)
{
    const char *wrong = channel->check ? channel->check(channel) : NULL;
    int rank, ended = 0;
    sched_yield();
    for (rank = 0; wrong && channel->ended && rank < channel->size; rank++)
        ended += channel->ended[rank];
    return ended >= channel->size - 1 ? NULL : wrong;
}

/* With two outputs, messages whose tags are no numbers are left out. */
static const char *op_probe(int nlhs, mxArray *plhs[], int nrhs, const mxArray *prhs[])
{
    static struct sought sought;
    struct channel *channel;
    struct waiting *first = NULL, *waiting;
    mwSize count = 0, i = 0;
    const char *wrong = get_sought(nrhs, prhs, &sought, &channel);
    if (!wrong)
        wrong = exchange_probe(channel->comm, &first);
    if (wrong)
        return wrong;
    for (waiting = first; waiting; waiting = waiting->next)
        count += is_sought(waiting, &sought) && !(nlhs == 2 && mxIsNaN(tag_number(waiting)));
    if (count == 0 && (wrong = nothing_waits(channel)))
        return wrong;
    plhs[0] = mxCreateDoubleMatrix(count, count ? 1 : 0, mxREAL);
    if (nlhs > 1)
        plhs[1] = mxCreateDoubleMatrix(count, count ? 1 : 0, mxREAL);
    if (nlhs > 2)
        plhs[2] = mxCreateCellMatrix(count, count ? 1 : 0);
    for (waiting = first; waiting; waiting = waiting->next) {
        if (!is_sought(waiting, &sought) || (nlhs == 2 && mxIsNaN(tag_number(waiting))))
            continue;
        mxGetDoubles(plhs[0])[i] = waiting->source;
        if (nlhs > 1)
            mxGetDoubles(plhs[1])[i] = tag_number(waiting);
        if (nlhs > 2)
            mxSetCell(plhs[2], i, text_of_tag(waiting));
        i++;
    }
    return NULL;
}

const struct operation matlabmpi_operations[] = {
    {"MPI_Send", op_send, 0},
    {"MPI_Recv", op_recv, INT_MAX},
    {"MPI_Probe", op_probe, 3},
    {"MPI_Bcast", op_bcast, INT_MAX},
    {"MPI_Mcast", op_mcast, INT_MAX},
    {"MPI_Comm_rank", op_comm_rank, 1},
    {"MPI_Comm_size", op_comm_size, 1},
    {"MPI_COMM_WORLD", op_comm_world, 1},
    {"MPI_ANY_SOURCE", op_any_source, 1},
    {"MPI_ANY_TAG", op_any_tag, 1},
    {"MatMPI_session", op_session, 3},
    {NULL, NULL, 0},
};
