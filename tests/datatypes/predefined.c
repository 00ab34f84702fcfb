/* The predefined datatypes (MPI 5.0, section 3.2.2 and annex A): sizes, extents and names, and that each one carries
 * data unchanged. Also the Fortran parameterized types and the search by size (sections 19.1.5 and 19.1.9). */
#include "../check.h"

#include <complex.h>
#include <stdbool.h>
#include <wchar.h>

struct named {
    MPI_Datatype type;
    const char *name;
    size_t bytes, extent;
};

#define ROW(type, c_type) {type, #type, sizeof(c_type), sizeof(c_type)}
#define SIZED(type, bytes) {type, #type, bytes, bytes}
#define PAIR(type, c_type, bytes) {type, #type, bytes, sizeof(c_type)}

struct float_int { float value; int index; };
struct double_int { double value; int index; };
struct long_int { long value; int index; };
struct short_int { short value; int index; };
struct long_double_int { long double value; int index; };

static void check_type(const struct named *row)
{
    char name[MPI_MAX_OBJECT_NAME];
    int length;
    Count bytes;
    Extent lb, extent;
    unsigned char out[3 * 64], in[3 * 64];
    MPI_Request request;
    OK(MPI_Type_get_name(row->type, name, &length));
    if (strcmp(name, row->name) != 0 || (size_t)length != strlen(name)) {
        fprintf(stderr, "predefined.c rank %d: %s is named %s\n", rank, row->name, name);
        CHECK(!"name of a predefined type");
    }
    OK(MPI_Type_size(row->type, &bytes));
    OK(MPI_Type_get_extent(row->type, &lb, &extent));
    if ((size_t)bytes != row->bytes || (size_t)extent != row->extent || lb != 0) {
        fprintf(stderr, "predefined.c rank %d: %s has size %lld and extent %lld\n", rank, row->name, (long long)bytes,
                (long long)extent);
        CHECK(!"size of a predefined type");
    }
    if (bytes == extent) {
        fill(out, sizeof out, 5);
        memset(in, 0, sizeof in);
        OK(MPI_Isend(out, 3, row->type, rank, 1, MPI_COMM_WORLD, &request));
        OK(MPI_Recv(in, 3, row->type, rank, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE));
        OK(MPI_Wait(&request, MPI_STATUS_IGNORE));
        CHECK(memcmp(in, out, 3 * (size_t)bytes) == 0);
    }
}

static void c_types(void)
{
    const struct named rows[] = {
        ROW(MPI_CHAR, char), ROW(MPI_SHORT, short), ROW(MPI_INT, int), ROW(MPI_LONG, long),
        ROW(MPI_SIGNED_CHAR, signed char), ROW(MPI_UNSIGNED_CHAR, unsigned char),
        ROW(MPI_UNSIGNED_SHORT, unsigned short), ROW(MPI_UNSIGNED, unsigned), ROW(MPI_UNSIGNED_LONG, unsigned long),
        ROW(MPI_UNSIGNED_LONG_LONG, unsigned long long), ROW(MPI_FLOAT, float), ROW(MPI_DOUBLE, double),
        ROW(MPI_LONG_DOUBLE, long double), ROW(MPI_WCHAR, wchar_t), ROW(MPI_C_BOOL, bool), ROW(MPI_INT8_T, int8_t),
        ROW(MPI_INT16_T, int16_t), ROW(MPI_INT32_T, int32_t), ROW(MPI_INT64_T, int64_t), ROW(MPI_UINT8_T, uint8_t),
        ROW(MPI_UINT16_T, uint16_t), ROW(MPI_UINT32_T, uint32_t), ROW(MPI_UINT64_T, uint64_t),
        ROW(MPI_C_DOUBLE_COMPLEX, double complex), ROW(MPI_C_LONG_DOUBLE_COMPLEX, long double complex),
        ROW(MPI_AINT, MPI_Aint), ROW(MPI_COUNT, MPI_Count), ROW(MPI_OFFSET, MPI_Offset), SIZED(MPI_BYTE, 1),
        SIZED(MPI_PACKED, 1), SIZED(MPI_CXX_BOOL, 1), SIZED(MPI_CXX_FLOAT_COMPLEX, 8),
        SIZED(MPI_CXX_DOUBLE_COMPLEX, 16), SIZED(MPI_CXX_LONG_DOUBLE_COMPLEX, 32), SIZED(MPI_2INT, 8),
        PAIR(MPI_FLOAT_INT, struct float_int, 8), PAIR(MPI_DOUBLE_INT, struct double_int, 12),
        PAIR(MPI_LONG_INT, struct long_int, 12), PAIR(MPI_SHORT_INT, struct short_int, 6),
        PAIR(MPI_LONG_DOUBLE_INT, struct long_double_int, 20)};
    char name[MPI_MAX_OBJECT_NAME];
    int length;
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        check_type(&rows[i]);
    }
    /* These have two names each; either may be given. */
    OK(MPI_Type_get_name(MPI_LONG_LONG_INT, name, &length));
    CHECK(strcmp(name, "MPI_LONG_LONG_INT") == 0 || strcmp(name, "MPI_LONG_LONG") == 0);
    OK(MPI_Type_get_name(MPI_C_COMPLEX, name, &length));
    CHECK(strcmp(name, "MPI_C_COMPLEX") == 0 || strcmp(name, "MPI_C_FLOAT_COMPLEX") == 0);
    OK(MPI_Type_get_name(MPI_DATATYPE_NULL, name, &length));
    CHECK(strcmp(name, "MPI_DATATYPE_NULL") == 0);
}

static void fortran_types(void)
{
    const struct named rows[] = {
        SIZED(MPI_CHARACTER, 1), SIZED(MPI_INTEGER, 4), SIZED(MPI_REAL, 4), SIZED(MPI_DOUBLE_PRECISION, 8),
        SIZED(MPI_COMPLEX, 8), SIZED(MPI_DOUBLE_COMPLEX, 16), SIZED(MPI_LOGICAL, 4), SIZED(MPI_INTEGER1, 1),
        SIZED(MPI_INTEGER2, 2), SIZED(MPI_INTEGER4, 4), SIZED(MPI_INTEGER8, 8), SIZED(MPI_REAL4, 4),
        SIZED(MPI_REAL8, 8), SIZED(MPI_COMPLEX8, 8), SIZED(MPI_COMPLEX16, 16), SIZED(MPI_2INTEGER, 8),
        SIZED(MPI_2REAL, 8), SIZED(MPI_2DOUBLE_PRECISION, 16)};
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        check_type(&rows[i]);
    }
}

static void check_match(int class, int bytes)
{
    MPI_Datatype type;
    Count found;
    OK(MPI_Type_match_size(class, bytes, &type));
    OK(MPI_Type_size(type, &found));
    CHECK_EQ(found, bytes);
}

static void parameterized(void)
{
    MPI_Datatype type, again;
    Count bytes;
    int integers, addresses, types, combiner, contents[2];
    OK(MPI_Type_create_f90_real(6, MPI_UNDEFINED, &type));
    OK(MPI_Type_size(type, &bytes));
    CHECK_EQ(bytes, 4);
    OK(MPI_Type_create_f90_real(12, 100, &type));
    OK(MPI_Type_size(type, &bytes));
    CHECK_EQ(bytes, 8);
    OK(MPI_Type_create_f90_real(12, 100, &again));
    CHECK(type == again);
    OK(MPI_Type_get_envelope(type, &integers, &addresses, &types, &combiner));
    CHECK_EQ(combiner, MPI_COMBINER_F90_REAL);
    CHECK(integers == 2 && addresses == 0 && types == 0);
    OK(MPI_Type_get_contents(type, 2, 0, 0, contents, NULL, NULL));
    CHECK(contents[0] == 12 && contents[1] == 100);
    OK(MPI_Type_create_f90_complex(12, MPI_UNDEFINED, &type));
    OK(MPI_Type_size(type, &bytes));
    CHECK_EQ(bytes, 16);
    OK(MPI_Type_get_envelope(type, &integers, &addresses, &types, &combiner));
    CHECK_EQ(combiner, MPI_COMBINER_F90_COMPLEX);
    for (int digits = 1; digits <= 18; digits++) {
        OK(MPI_Type_create_f90_integer(digits, &type));
        OK(MPI_Type_size(type, &bytes));
        CHECK_EQ(bytes, digits <= 2 ? 1 : digits <= 4 ? 2 : digits <= 9 ? 4 : 8);
    }
    OK(MPI_Type_get_envelope(type, &integers, &addresses, &types, &combiner));
    CHECK_EQ(combiner, MPI_COMBINER_F90_INTEGER);
    CHECK(MPI_Type_create_f90_integer(100, &type) != MPI_SUCCESS);
    CHECK(MPI_Type_create_f90_real(500, MPI_UNDEFINED, &type) != MPI_SUCCESS);
}

int main(int argc, char **argv)
{
    static const int sizes[] = {1, 2, 4, 8};
    MPI_Datatype type;
    check_begin(&argc, &argv);
    c_types();
    fortran_types();
    parameterized();
    for (int i = 0; i < 4; i++) {
        check_match(MPI_TYPECLASS_INTEGER, sizes[i]);
    }
    check_match(MPI_TYPECLASS_REAL, 4);
    check_match(MPI_TYPECLASS_REAL, 8);
    check_match(MPI_TYPECLASS_COMPLEX, 8);
    check_match(MPI_TYPECLASS_COMPLEX, 16);
    FAILS(MPI_ERR_ARG, MPI_Type_match_size(MPI_TYPECLASS_REAL, 5, &type));
    return check_end();
}
