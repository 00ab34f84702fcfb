/* operations.c: reductions that compute as the language does.
 *
 * MPI_SUM and MPI_PROD wrap around where integers of the language saturate, and what MPI_MAX and MPI_MIN make of NaN is open, where
 * the language leaves NaN out.  These are operations of our own (section 6.9.5).  Saturating sums depend on their order, which is that of
 * ranks, as for all operations that do not commute.  They run in C alone, so that any thread may run them.
 */
#include "call.h"

#include <math.h>
#include <stdint.h>

#define FOR_EACH(ctype, body) \
    { \
        const ctype *in = from; \
        ctype *out = to; \
        int i; \
        for (i = 0; i < *count; i++) { \
            ctype a = in[i], b = out[i]; \
            body; \
        } \
        return; \
    }

#define SATURATED(ctype, builtin, low, high, falls) \
    FOR_EACH(ctype, { if (builtin(a, b, &out[i])) out[i] = (falls) ? low : high; })

#define SATURATE_ALL(builtin, falls) \
    if (*type == MPI_INT8_T) SATURATED(int8_t, builtin, INT8_MIN, INT8_MAX, falls) \
    if (*type == MPI_INT16_T) SATURATED(int16_t, builtin, INT16_MIN, INT16_MAX, falls) \
    if (*type == MPI_INT32_T) SATURATED(int32_t, builtin, INT32_MIN, INT32_MAX, falls) \
    if (*type == MPI_INT64_T) SATURATED(int64_t, builtin, INT64_MIN, INT64_MAX, falls) \
    if (*type == MPI_UINT8_T) SATURATED(uint8_t, builtin, 0, UINT8_MAX, 0) \
    if (*type == MPI_UINT16_T) SATURATED(uint16_t, builtin, 0, UINT16_MAX, 0) \
    if (*type == MPI_UINT32_T) SATURATED(uint32_t, builtin, 0, UINT32_MAX, 0) \
    if (*type == MPI_UINT64_T) SATURATED(uint64_t, builtin, 0, UINT64_MAX, 0)

static void saturating_sum(void *from, void *to, int *count, MPI_Datatype *type)
{
    SATURATE_ALL(__builtin_add_overflow, a < 0)
}

static void saturating_product(void *from, void *to, int *count, MPI_Datatype *type)
{
    SATURATE_ALL(__builtin_mul_overflow, (a < 0) != (b < 0))
}

static void larger(void *from, void *to, int *count, MPI_Datatype *type)
{
    if (*type == MPI_DOUBLE) FOR_EACH(double, out[i] = fmax(a, b))
    FOR_EACH(float, out[i] = fmaxf(a, b))
}

static void smaller(void *from, void *to, int *count, MPI_Datatype *type)
{
    if (*type == MPI_DOUBLE) FOR_EACH(double, out[i] = fmin(a, b))
    FOR_EACH(float, out[i] = fminf(a, b))
}

static MPI_Op made(MPI_Op *op, MPI_User_function *function, int commutes)
{
    if (*op == MPI_OP_NULL)
        MPI_Op_create(function, commutes, op);
    return *op;
}

MPI_Op language_operation(MPI_Op op, MPI_Datatype type)
{
    static MPI_Op sum = MPI_OP_NULL, product = MPI_OP_NULL, max = MPI_OP_NULL, min = MPI_OP_NULL;
    int real = type == MPI_DOUBLE || type == MPI_FLOAT;
    int complex = type == MPI_C_DOUBLE_COMPLEX || type == MPI_C_FLOAT_COMPLEX;
    int logical = type == MPI_C_BOOL;
    int whole = !real && !complex && !logical;
    if (op == MPI_SUM)
        return whole ? made(&sum, saturating_sum, 0) : logical ? MPI_OP_NULL : op;
    if (op == MPI_PROD)
        return whole ? made(&product, saturating_product, 0) : logical ? MPI_OP_NULL : op;
    if (op == MPI_MAX)
        return real ? made(&max, larger, 1) : whole ? op : MPI_OP_NULL;
    if (op == MPI_MIN)
        return real ? made(&min, smaller, 1) : whole ? op : MPI_OP_NULL;
    if (op == MPI_LAND || op == MPI_LOR || op == MPI_LXOR)
        return logical ? op : MPI_OP_NULL;
    if (op == MPI_BAND || op == MPI_BOR || op == MPI_BXOR)
        return whole ? op : MPI_OP_NULL;
    return MPI_OP_NULL;
}
