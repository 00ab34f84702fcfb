/* User-defined operations (MPI 5.0, section 6.9.5): commuting and not, on predefined and derived types, in every
 * reduction. The operation that does not commute multiplies 2 x 2 matrices, so any wrong order shows. */
#include "../check.h"

typedef struct {
    unsigned long a, b, c, d;
} matrix;

static int calls;

static matrix multiply(matrix x, matrix y)
{
    return (matrix){x.a * y.a + x.b * y.c, x.a * y.b + x.b * y.d, x.c * y.a + x.d * y.c, x.c * y.b + x.d * y.d};
}

static void matrix_product(void *in, void *inout, Count *count, MPI_Datatype *type)
{
    matrix *left = in, *right = inout;
    Count bytes;
    MPI_Type_size(*type, &bytes);
    CHECK_EQ(bytes, sizeof(matrix));
    for (Count i = 0; i < *count; i++) {
        right[i] = multiply(left[i], right[i]);
    }
    calls++;
}

static matrix value_of(int r, int i)
{
    return (matrix){(unsigned long)r + 1, 1, (unsigned long)i % 17, (unsigned long)(r * r) + 3};
}

static matrix product_of(int first, int last, int i)
{
    matrix out = {1, 0, 0, 1};
    for (int r = first; r < last; r++) {
        out = multiply(out, value_of(r, i));
    }
    return out;
}

static void check_products(const matrix *in, int count, int ranks, int first)
{
    int wrong = 0;
    for (int i = 0; i < count; i++) {
        matrix expected = product_of(0, ranks, first + i);
        wrong += memcmp(&in[i], &expected, sizeof expected) != 0;
    }
    CHECK_EQ(wrong, 0);
}

static void all_reductions(MPI_Datatype type, MPI_Op op, int count)
{
    int total = count * size, root = size - 1;
    matrix *out = allocate((size_t)total * sizeof *out), *in = allocate((size_t)total * sizeof *in);
    Count *counts = allocate((size_t)size * sizeof *counts);
    for (int i = 0; i < total; i++) {
        out[i] = value_of(rank, i);
    }
    for (int r = 0; r < size; r++) {
        counts[r] = count;
    }
    OK(MPI_Reduce(out, in, count, type, op, root, MPI_COMM_WORLD));
    if (rank == root) {
        check_products(in, count, size, 0);
    }
    OK(MPI_Reduce(out, in, count, type, op, 0, MPI_COMM_WORLD));
    if (rank == 0) {
        check_products(in, count, size, 0);
    }
    OK(MPI_Allreduce(out, in, count, type, op, MPI_COMM_WORLD));
    check_products(in, count, size, 0);
    OK(MPI_Scan(out, in, count, type, op, MPI_COMM_WORLD));
    check_products(in, count, rank + 1, 0);
    OK(MPI_Exscan(out, in, count, type, op, MPI_COMM_WORLD));
    if (rank > 0) {
        check_products(in, count, rank, 0);
    }
    OK(MPI_Reduce_scatter(out, in, counts, type, op, MPI_COMM_WORLD));
    check_products(in, count, size, rank * count);
    OK(MPI_Reduce_scatter_block(out, in, count, type, op, MPI_COMM_WORLD));
    check_products(in, count, size, rank * count);
    OK(MPI_Allreduce(MPI_IN_PLACE, out, total, type, op, MPI_COMM_WORLD));
    check_products(out, total, size, 0);
    free(out);
    free(in);
    free(counts);
}

static void larger_magnitude(void *in, void *inout, Count *count, MPI_Datatype *type)
{
    int *left = in, *right = inout;
    (void)type;
    for (Count i = 0; i < *count; i++) {
        right[i] = abs(left[i]) > abs(right[i]) ? left[i] : right[i];
    }
}

static void commuting(void)
{
    MPI_Op op;
    int flag = 0, *out = allocate(20000 * sizeof *out), *in = allocate(20000 * sizeof *in), wrong = 0;
    OK(MPI_Op_create(larger_magnitude, 1, &op));
    OK(MPI_Op_commutative(op, &flag));
    CHECK(flag);
    for (int i = 0; i < 20000; i++) {
        out[i] = ((rank + i) % size + 1) * (rank % 2 ? -1 : 1);
    }
    OK(MPI_Allreduce(out, in, 20000, MPI_INT, op, MPI_COMM_WORLD));
    for (int i = 0; i < 20000; i++) {
        wrong += abs(in[i]) != size;
    }
    CHECK_EQ(wrong, 0);
    OK(MPI_Op_free(&op));
    CHECK(op == MPI_OP_NULL);
    free(out);
    free(in);
}

static void local(MPI_Datatype type, MPI_Op op)
{
    matrix left = value_of(3, 4), right = value_of(5, 6), expected = multiply(left, right);
    int a[3] = {1, 2, 3}, b[3] = {10, 20, 30};
    OK(MPI_Reduce_local(&left, &right, 1, type, op));
    CHECK(memcmp(&right, &expected, sizeof right) == 0);
    OK(MPI_Reduce_local(a, b, 3, MPI_INT, MPI_SUM));
    CHECK(b[0] == 11 && b[1] == 22 && b[2] == 33);
    OK(MPI_Reduce_local(a, b, 0, MPI_INT, MPI_SUM));
    CHECK_EQ(b[0], 11);
}

/* Types with gaps: the operation sees the elements at their extents and the gaps of the result stay. */
static void padded_sum(void *in, void *inout, Count *count, MPI_Datatype *type)
{
    int *left = in, *right = inout;
    (void)type;
    for (Count i = 0; i < *count; i++) {
        right[3 * i] += left[3 * i];
    }
}

static void with_gaps(void)
{
    enum { N = 400 };
    int out[3 * N], in[3 * N], wrong = 0;
    MPI_Datatype padded;
    MPI_Op op;
    OK(MPI_Type_create_resized(MPI_INT, 0, 3 * sizeof(int), &padded));
    OK(MPI_Type_commit(&padded));
    OK(MPI_Op_create(padded_sum, 1, &op));
    for (int i = 0; i < 3 * N; i++) {
        out[i] = rank + i;
        in[i] = -7;
    }
    OK(MPI_Allreduce(out, in, N, padded, op, MPI_COMM_WORLD));
    for (int i = 0; i < 3 * N; i++) {
        wrong += in[i] != (i % 3 ? -7 : size * (size - 1) / 2 + size * i);
    }
    CHECK_EQ(wrong, 0);
    OK(MPI_Op_free(&op));
    OK(MPI_Type_free(&padded));
}

int main(int argc, char **argv)
{
    MPI_Datatype type;
    MPI_Op op;
    int flag = 1;
    check_begin(&argc, &argv);
    OK(MPI_Type_contiguous(4, MPI_UNSIGNED_LONG, &type));
    OK(MPI_Type_commit(&type));
    OK(MPI_Op_create(matrix_product, 0, &op));
    OK(MPI_Op_commutative(op, &flag));
    CHECK_EQ(flag, 0);
    all_reductions(type, op, 1);
    all_reductions(type, op, 33);
    all_reductions(type, op, 5000);
    CHECK(size == 1 || calls > 0);
    local(type, op);
    commuting();
    with_gaps();
    OK(MPI_Op_free(&op));
    OK(MPI_Type_free(&type));
    return check_end();
}
