/* All predefined operations on all datatypes that they allow (MPI 5.0, section 6.9.2), by MPI_Reduce_local against
 * plain C and by MPI_Allreduce against MPI_Reduce_local; and the combinations that are not allowed are refused. */
#include "../check.h"

#include <complex.h>
#include <stdbool.h>

enum { N = 16 };

#define LARGER(x, y) ((x) > (y) ? (x) : (y))
#define SMALLER(x, y) ((x) < (y) ? (x) : (y))

/* All ranks hold `in`, so that one rank can work out the result of all: an exact check where order cannot matter. */
static void check_all(const char *what, MPI_Datatype type, MPI_Op op, const void *in, const void *expected,
                      size_t bytes)
{
    unsigned char local[N * 32], all[N * 32], folded[N * 32];
    char text[120];
    int flag = 0;
    OK(MPI_Op_commutative(op, &flag));
    CHECK(flag);
    memcpy(local, in, N * bytes);
    OK(MPI_Reduce_local((const char *)in + N * bytes, local, N, type, op));
    if (memcmp(local, expected, N * bytes) != 0) {
        snprintf(text, sizeof text, "MPI_Reduce_local is wrong for %s", what);
        check_failed(__FILE__, __LINE__, text);
    }
    memcpy(folded, in, N * bytes);
    for (int r = 1; r < size; r++) {
        OK(MPI_Reduce_local(in, folded, N, type, op));
    }
    OK(MPI_Allreduce(in, all, N, type, op, MPI_COMM_WORLD));
    if (memcmp(all, folded, N * bytes) != 0) {
        snprintf(text, sizeof text, "MPI_Allreduce is wrong for %s", what);
        check_failed(__FILE__, __LINE__, text);
    }
}

/* x holds N elements and then N more; expression combines x[i] and y = x[N + i]. */
#define COMBINE(c_type, mpi_type, op, expression)                                   \
    do {                                                                            \
        c_type expected[N];                                                         \
        for (int i = 0; i < N; i++) {                                               \
            c_type x = data[i], y = data[N + i];                                    \
            (void)x;                                                                \
            (void)y;                                                                \
            expected[i] = (c_type)(expression);                                     \
        }                                                                           \
        check_all(#op " on " #mpi_type, mpi_type, op, data, expected, sizeof(c_type)); \
    } while (0)

#define ARITHMETIC(c_type, mpi_type)                       \
    COMBINE(c_type, mpi_type, MPI_SUM, x + y);             \
    COMBINE(c_type, mpi_type, MPI_PROD, x *y);             \
    COMBINE(c_type, mpi_type, MPI_MAX, LARGER(x, y));      \
    COMBINE(c_type, mpi_type, MPI_MIN, SMALLER(x, y))

#define LOGICAL(c_type, mpi_type)                          \
    COMBINE(c_type, mpi_type, MPI_LAND, x &&y);            \
    COMBINE(c_type, mpi_type, MPI_LOR, x || y);            \
    COMBINE(c_type, mpi_type, MPI_LXOR, !x != !y)

#define BITWISE(c_type, mpi_type)                          \
    COMBINE(c_type, mpi_type, MPI_BAND, x &y);             \
    COMBINE(c_type, mpi_type, MPI_BOR, x | y);             \
    COMBINE(c_type, mpi_type, MPI_BXOR, x ^ y)

/* Small values, zero among them, so that products do not overflow. */
#define INTEGER(c_type, mpi_type)                          \
    do {                                                   \
        c_type data[2 * N];                                \
        for (int i = 0; i < 2 * N; i++) {                  \
            data[i] = (c_type)(i * 5 % 3);                 \
        }                                                  \
        ARITHMETIC(c_type, mpi_type);                      \
        LOGICAL(c_type, mpi_type);                         \
        BITWISE(c_type, mpi_type);                         \
    } while (0)

/* Fortran integers and the multi-language types have no logical operations. */
#define NUMBER(c_type, mpi_type)                           \
    do {                                                   \
        c_type data[2 * N];                                \
        for (int i = 0; i < 2 * N; i++) {                  \
            data[i] = (c_type)(i * 5 % 3);                 \
        }                                                  \
        ARITHMETIC(c_type, mpi_type);                      \
        BITWISE(c_type, mpi_type);                         \
    } while (0)

#define FLOATING(c_type, mpi_type)                         \
    do {                                                   \
        c_type data[2 * N];                                \
        memset(data, 0, sizeof data);                      \
        for (int i = 0; i < 2 * N; i++) {                  \
            data[i] = (c_type)(i % 5) / 2 - 1;             \
        }                                                  \
        ARITHMETIC(c_type, mpi_type);                      \
    } while (0)

#define COMPLEX(c_type, mpi_type)                          \
    do {                                                   \
        c_type data[2 * N];                                \
        for (int i = 0; i < 2 * N; i++) {                  \
            data[i] = (i % 3 - 1) + (i % 2) * I;           \
        }                                                  \
        COMBINE(c_type, mpi_type, MPI_SUM, x + y);         \
        COMBINE(c_type, mpi_type, MPI_PROD, x *y);         \
    } while (0)

static void c_integers(void)
{
    INTEGER(int, MPI_INT);
    INTEGER(long, MPI_LONG);
    INTEGER(short, MPI_SHORT);
    INTEGER(unsigned short, MPI_UNSIGNED_SHORT);
    INTEGER(unsigned, MPI_UNSIGNED);
    INTEGER(unsigned long, MPI_UNSIGNED_LONG);
    INTEGER(long long, MPI_LONG_LONG_INT);
    INTEGER(unsigned long long, MPI_UNSIGNED_LONG_LONG);
    INTEGER(signed char, MPI_SIGNED_CHAR);
    INTEGER(unsigned char, MPI_UNSIGNED_CHAR);
    INTEGER(int8_t, MPI_INT8_T);
    INTEGER(int16_t, MPI_INT16_T);
    INTEGER(int32_t, MPI_INT32_T);
    INTEGER(int64_t, MPI_INT64_T);
    INTEGER(uint8_t, MPI_UINT8_T);
    INTEGER(uint16_t, MPI_UINT16_T);
    INTEGER(uint32_t, MPI_UINT32_T);
    INTEGER(uint64_t, MPI_UINT64_T);
}

static void mpi_and_fortran_integers(void)
{
    NUMBER(MPI_Aint, MPI_AINT);
    NUMBER(MPI_Offset, MPI_OFFSET);
    NUMBER(MPI_Count, MPI_COUNT);
    NUMBER(int32_t, MPI_INTEGER);
    NUMBER(int8_t, MPI_INTEGER1);
    NUMBER(int16_t, MPI_INTEGER2);
    NUMBER(int32_t, MPI_INTEGER4);
    NUMBER(int64_t, MPI_INTEGER8);
}

static void floating(void)
{
    FLOATING(float, MPI_FLOAT);
    FLOATING(double, MPI_DOUBLE);
    FLOATING(float, MPI_REAL);
    FLOATING(double, MPI_DOUBLE_PRECISION);
    FLOATING(float, MPI_REAL4);
    FLOATING(double, MPI_REAL8);
    COMPLEX(float complex, MPI_C_COMPLEX);
    COMPLEX(double complex, MPI_C_DOUBLE_COMPLEX);
    COMPLEX(float complex, MPI_COMPLEX);
    COMPLEX(double complex, MPI_DOUBLE_COMPLEX);
    COMPLEX(float complex, MPI_COMPLEX8);
    COMPLEX(double complex, MPI_COMPLEX16);
    COMPLEX(float complex, MPI_CXX_FLOAT_COMPLEX);
    COMPLEX(double complex, MPI_CXX_DOUBLE_COMPLEX);
}

/* A long double has bytes that no operation defines, so its values are compared and not its memory. */
static void long_double(void)
{
    long double x[N], y[N];
    long double complex u, v;
    for (int i = 0; i < N; i++) {
        x[i] = i / 2.0L;
    }
    OK(MPI_Allreduce(x, y, N, MPI_LONG_DOUBLE, MPI_SUM, MPI_COMM_WORLD));
    CHECK(y[5] == 2.5L * size);
    OK(MPI_Allreduce(x, y, N, MPI_LONG_DOUBLE, MPI_MAX, MPI_COMM_WORLD));
    CHECK(y[7] == 3.5L);
    OK(MPI_Allreduce(x, y, N, MPI_LONG_DOUBLE, MPI_MIN, MPI_COMM_WORLD));
    CHECK(y[7] == 3.5L);
    u = 1 + rank * I;
    OK(MPI_Allreduce(&u, &v, 1, MPI_C_LONG_DOUBLE_COMPLEX, MPI_SUM, MPI_COMM_WORLD));
    CHECK(creall(v) == size && cimagl(v) == size * (size - 1) / 2);
    u = I;
    OK(MPI_Allreduce(&u, &v, 1, MPI_CXX_LONG_DOUBLE_COMPLEX, MPI_PROD, MPI_COMM_WORLD));
    CHECK(creall(v) == (size % 4 == 0 ? 1 : size % 4 == 2 ? -1 : 0));
}

static void logical(void)
{
    bool data[2 * N];
    unsigned char bytes[2 * N];
    for (int i = 0; i < 2 * N; i++) {
        data[i] = i * 5 % 3 > 0;
        bytes[i] = (unsigned char)(i * 37);
    }
    LOGICAL(bool, MPI_C_BOOL);
    LOGICAL(bool, MPI_CXX_BOOL);
    {
        unsigned char *data = bytes;
        BITWISE(unsigned char, MPI_BYTE);
    }
    {
        int32_t data[2 * N];
        for (int i = 0; i < 2 * N; i++) {
            data[i] = i * 5 % 3 > 0;
        }
        LOGICAL(int32_t, MPI_LOGICAL);
    }
}

/* MAXLOC and MINLOC (section 6.9.4): ties go to the lower index. */
#define LOCATION(value_type, mpi_type)                                                                    \
    do {                                                                                                  \
        struct pair {                                                                                     \
            value_type value;                                                                             \
            int index;                                                                                    \
        } mine[3], result[3];                                                                             \
        memset(mine, 0, sizeof mine);                                                                     \
        mine[0] = (struct pair){(value_type)(rank == size / 2 ? 9 : 1), 100 + rank};                      \
        mine[1] = (struct pair){(value_type)4, 50 - rank};                                                \
        mine[2] = (struct pair){(value_type)(rank == size / 2 ? -3 : 7), rank};                           \
        OK(MPI_Allreduce(mine, result, 3, mpi_type, MPI_MAXLOC, MPI_COMM_WORLD));                         \
        CHECK(result[0].value == 9 && result[0].index == 100 + size / 2);                                 \
        CHECK(result[1].value == 4 && result[1].index == 50 - size + 1);                                  \
        OK(MPI_Allreduce(mine, result, 3, mpi_type, MPI_MINLOC, MPI_COMM_WORLD));                         \
        CHECK(result[1].value == 4 && result[1].index == 50 - size + 1);                                  \
        CHECK(result[2].value == -3 && result[2].index == size / 2);                                      \
    } while (0)

static void locations(void)
{
    struct {
        float value, index;
    } mine = {(float)rank, (float)(10 + rank)}, result;
    LOCATION(float, MPI_FLOAT_INT);
    LOCATION(double, MPI_DOUBLE_INT);
    LOCATION(long, MPI_LONG_INT);
    LOCATION(int, MPI_2INT);
    LOCATION(short, MPI_SHORT_INT);
    LOCATION(long double, MPI_LONG_DOUBLE_INT);
    LOCATION(int32_t, MPI_2INTEGER);
    OK(MPI_Allreduce(&mine, &result, 1, MPI_2REAL, MPI_MAXLOC, MPI_COMM_WORLD));
    CHECK(result.value == size - 1 && result.index == 9 + size);
}

static void refused(void)
{
    double x[2] = {1, 2}, y[2] = {0, 0};
    int a[2] = {1, 2}, b[2] = {0, 0};
    FAILS(MPI_ERR_OP, MPI_Allreduce(x, y, 1, MPI_DOUBLE, MPI_BAND, MPI_COMM_WORLD));
    FAILS(MPI_ERR_OP, MPI_Reduce_local(x, y, 1, MPI_DOUBLE, MPI_BXOR));
    FAILS(MPI_ERR_OP, MPI_Allreduce(x, y, 1, MPI_C_COMPLEX, MPI_MAX, MPI_COMM_WORLD));
    FAILS(MPI_ERR_OP, MPI_Allreduce(a, b, 1, MPI_INT, MPI_MAXLOC, MPI_COMM_WORLD));
    FAILS(MPI_ERR_OP, MPI_Allreduce(a, b, 1, MPI_2INT, MPI_SUM, MPI_COMM_WORLD));
    FAILS(MPI_ERR_OP, MPI_Allreduce(a, b, 1, MPI_BYTE, MPI_SUM, MPI_COMM_WORLD));
    FAILS(MPI_ERR_OP, MPI_Allreduce(a, b, 1, MPI_WCHAR, MPI_SUM, MPI_COMM_WORLD));
}

// What the standard does not ask for, but all libraries do.
static void beyond(void)
{
    char bits = (char)(1 << rank % 7), all = 0;
    MPI_Aint place = rank, any = 7;
    OK(MPI_Allreduce(&bits, &all, 1, MPI_CHAR, MPI_BOR, MPI_COMM_WORLD));
    CHECK_EQ(all, (1 << (size < 7 ? size : 7)) - 1);
    OK(MPI_Allreduce(&place, &any, 1, MPI_AINT, MPI_LOR, MPI_COMM_WORLD));
    CHECK_EQ(any, size > 1);
}

int main(int argc, char **argv)
{
    check_begin(&argc, &argv);
    c_integers();
    mpi_and_fortran_integers();
    floating();
    long_double();
    logical();
    locations();
    refused();
    beyond();
    return check_end();
}
