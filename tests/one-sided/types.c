/* Derived datatypes on both sides, elements with gaps, and data that is too long for one packet. */
#include "../check.h"

enum { ROWS = 700, COLUMNS = 300 };

static int right, left;

/* A column of the own matrix becomes a row of the neighbour's, and back. */
static void columns_and_rows(void)
{
    static int matrix[5][6], other[5][6];
    MPI_Datatype column, row;
    MPI_Win win;
    OK(MPI_Type_vector(5, 1, 6, MPI_INT, &column));
    OK(MPI_Type_commit(&column));
    OK(MPI_Type_contiguous(5, MPI_INT, &row));
    OK(MPI_Type_commit(&row));
    for (int i = 0; i < 30; i++) {
        matrix[i / 6][i % 6] = 100 * rank + i;
        other[i / 6][i % 6] = -1;
    }
    OK(MPI_Win_create(other, sizeof other, sizeof(int), MPI_INFO_NULL, MPI_COMM_WORLD, &win));
    OK(MPI_Win_fence(0, win));
    OK(MPI_Put(&matrix[0][2], 1, column, right, 6, 1, row, win));
    OK(MPI_Put(&matrix[0][0], 5, MPI_INT, right, 5, 1, column, win));
    OK(MPI_Win_fence(0, win));
    for (int i = 0; i < 5; i++) {
        CHECK_EQ(other[1][i], 100 * left + 6 * i + 2);
        CHECK_EQ(other[i][5], 100 * left + i);
        CHECK_EQ(other[2][i], -1);
    }
    OK(MPI_Get(&matrix[0][1], 1, column, right, 6, 1, row, win));
    OK(MPI_Get(&matrix[0][4], 1, column, right, 5, 1, column, win));
    OK(MPI_Win_fence(0, win));
    for (int i = 0; i < 5; i++) {
        CHECK_EQ(matrix[i][1], 100 * rank + 6 * i + 2);
        CHECK_EQ(matrix[i][4], 100 * rank + i);
    }
    OK(MPI_Accumulate(&matrix[0][1], 1, column, right, 5, 1, column, MPI_SUM, win));
    OK(MPI_Win_fence(0, win));
    for (int i = 0; i < 5; i++) {
        CHECK_EQ(other[i][5], 200 * left + 7 * i + 2);
    }
    OK(MPI_Win_fence(0, win));
    OK(MPI_Get_accumulate(&matrix[0][1], 1, column, &matrix[0][3], 1, column, right, 5, 1, column, MPI_SUM, win));
    OK(MPI_Win_fence(0, win));
    for (int i = 0; i < 5; i++) {
        CHECK_EQ(other[i][5], 300 * left + 13 * i + 4);
        CHECK_EQ(matrix[i][3], 200 * rank + 7 * i + 2);
        CHECK_EQ(matrix[i][2], 100 * rank + 6 * i + 2);
    }
    OK(MPI_Win_free(&win));
    OK(MPI_Type_free(&column));
    OK(MPI_Type_free(&row));
}

/* Types whose data goes backwards, or begins before the displacement. */
static void backwards(void)
{
    int cells[10], out[3] = {rank, rank + 1, rank + 2};
    Count lengths[3] = {1, 1, 1}, places[3] = {2, 0, -2};
    MPI_Datatype type, reversed;
    MPI_Win win;
    OK(MPI_Type_indexed(3, lengths, places, MPI_INT, &type));
    OK(MPI_Type_create_resized(type, 0, -(Extent)sizeof(int), &reversed));
    OK(MPI_Type_commit(&reversed));
    for (int i = 0; i < 10; i++) {
        cells[i] = -1;
    }
    OK(MPI_Win_create(cells, sizeof cells, sizeof(int), MPI_INFO_NULL, MPI_COMM_WORLD, &win));
    OK(MPI_Win_set_errhandler(win, MPI_ERRORS_RETURN));
    OK(MPI_Win_fence(0, win));
    OK(MPI_Put(out, 3, MPI_INT, right, 5, 1, reversed, win));
    FAILS(MPI_ERR_RMA_RANGE, MPI_Put(out, 3, MPI_INT, right, 1, 1, reversed, win));
    FAILS(MPI_ERR_RMA_RANGE, MPI_Put(out, 3, MPI_INT, right, 2, 2, reversed, win));
    FAILS(MPI_ERR_RMA_RANGE, MPI_Put(out, 3, MPI_INT, right, 8, 1, reversed, win));
    OK(MPI_Win_fence(0, win));
    CHECK_EQ(cells[7], left);
    CHECK_EQ(cells[5], left + 1);
    CHECK_EQ(cells[3], left + 2);
    CHECK_EQ(cells[2] + cells[4] + cells[6] + cells[8], -4);
    OK(MPI_Win_free(&win));
    OK(MPI_Type_free(&type));
    OK(MPI_Type_free(&reversed));
}

/* Pairs of a value and an index: dense ones, and ones with gaps inside and behind. */
static void pairs(void)
{
    typedef struct { short value; int index; } Short;
    typedef struct { double value; int index; } Double;
    struct { Short s[4]; Double d[4]; } cells;
    Short s[4], old_s[4];
    Double d[4], old_d[4];
    MPI_Win win;
    MPI_Datatype every_other;
    OK(MPI_Type_vector(2, 1, 2, MPI_SHORT_INT, &every_other));
    OK(MPI_Type_commit(&every_other));
    memset(&cells, 0, sizeof cells);
    for (int i = 0; i < 4; i++) {
        cells.s[i].value = 5;
        cells.s[i].index = 50;
        cells.d[i].value = 5.5;
        cells.d[i].index = 50;
        s[i].value = (short)(4 + i % 2 * 2);
        d[i].value = s[i].value + 0.5;
        s[i].index = d[i].index = i;
    }
    OK(MPI_Win_create(&cells, sizeof cells, 1, MPI_INFO_NULL, MPI_COMM_WORLD, &win));
    OK(MPI_Win_fence(0, win));
    OK(MPI_Accumulate(s, 3, MPI_SHORT_INT, right, 0, 3, MPI_SHORT_INT, MPI_MAXLOC, win));
    OK(MPI_Accumulate(d, 2, MPI_DOUBLE_INT, right, offsetof(Double, value) + sizeof(cells.s), 2, MPI_DOUBLE_INT,
                      MPI_MINLOC, win));
    OK(MPI_Win_fence(0, win));
    CHECK(cells.s[0].value == 5 && cells.s[0].index == 50);
    CHECK(cells.s[1].value == 6 && cells.s[1].index == 1);
    CHECK(cells.s[2].value == 5 && cells.s[2].index == 50);
    CHECK(cells.d[0].value == 4.5 && cells.d[0].index == 0);
    CHECK(cells.d[1].value == 5.5 && cells.d[1].index == 50);
    OK(MPI_Win_fence(0, win));
    memset(old_s, 0, sizeof old_s);
    memset(old_d, 0, sizeof old_d);
    OK(MPI_Get_accumulate(s, 2, MPI_SHORT_INT, old_s, 1, every_other, right, sizeof(Short), 1, every_other, MPI_REPLACE, win));
    OK(MPI_Get_accumulate(NULL, 0, MPI_DOUBLE_INT, old_d, 2, MPI_DOUBLE_INT, right, sizeof(cells.s), 2, MPI_DOUBLE_INT,
                          MPI_NO_OP, win));
    OK(MPI_Win_fence(0, win));
    CHECK(old_s[0].value == 6 && old_s[0].index == 1 && old_s[1].value == 0 && old_s[2].value == 5);
    CHECK(old_d[0].value == 4.5 && old_d[0].index == 0 && old_d[1].index == 50);
    CHECK(cells.s[1].value == 4 && cells.s[1].index == 0 && cells.s[3].value == 6 && cells.s[3].index == 1);
    OK(MPI_Win_fence(0, win));
    OK(MPI_Fetch_and_op(&s[3], &old_s[3], MPI_SHORT_INT, right, 0, MPI_MAXLOC, win));
    OK(MPI_Win_fence(0, win));
    CHECK(old_s[3].value == 5 && old_s[3].index == 50 && cells.s[0].value == 6 && cells.s[0].index == 3);
    OK(MPI_Win_free(&win));
    OK(MPI_Type_free(&every_other));
}

/* A whole matrix, straight and by columns. */
static void long_data(void)
{
    double *matrix = allocate(sizeof(double[ROWS][COLUMNS])), *own = allocate(sizeof(double[ROWS][COLUMNS]));
    double *old = allocate(sizeof(double[ROWS][COLUMNS]));
    MPI_Datatype column, columns;
    MPI_Win win;
    const Count all = ROWS * COLUMNS;
    long wrong = 0;
    OK(MPI_Type_vector(ROWS, 1, COLUMNS, MPI_DOUBLE, &column));
    OK(MPI_Type_create_resized(column, 0, sizeof(double), &columns));
    OK(MPI_Type_commit(&columns));
    for (int i = 0; i < all; i++) {
        own[i] = rank + 2.0 * i;
        matrix[i] = 0;
    }
    OK(MPI_Win_create(matrix, sizeof(double[ROWS][COLUMNS]), sizeof(double), MPI_INFO_NULL, MPI_COMM_WORLD, &win));
    OK(MPI_Win_fence(0, win));
    OK(MPI_Put(own, all, MPI_DOUBLE, right, 0, COLUMNS, columns, win));
    OK(MPI_Win_fence(0, win));
    for (int i = 0; i < all; i++) {
        wrong += matrix[i % ROWS * COLUMNS + i / ROWS] != left + 2.0 * i;
    }
    OK(MPI_Win_fence(0, win));
    OK(MPI_Accumulate(own, COLUMNS, columns, right, 0, COLUMNS, columns, MPI_SUM, win));
    OK(MPI_Win_fence(0, win));
    OK(MPI_Get(old, COLUMNS, columns, right, 0, all, MPI_DOUBLE, win));
    OK(MPI_Win_fence(0, win));
    for (int row = 0; row < ROWS; row++) {
        for (int i = 0; i < COLUMNS; i++) {
            int at = row * COLUMNS + i, to = at / COLUMNS + at % COLUMNS * ROWS, back = at % ROWS * COLUMNS + at / ROWS;
            wrong += matrix[at] != 2 * left + 2.0 * to + 2.0 * at;
            wrong += old[back] != 2 * rank + 2.0 * to + 2.0 * at;
        }
    }
    OK(MPI_Win_fence(0, win));
    OK(MPI_Get_accumulate(own, all, MPI_DOUBLE, old, all, MPI_DOUBLE, right, 0, all, MPI_DOUBLE, MPI_REPLACE, win));
    OK(MPI_Win_fence(0, win));
    for (int i = 0; i < all; i++) {
        wrong += matrix[i] != left + 2.0 * i;
        wrong += old[i] != 2 * rank + 2.0 * (i / COLUMNS + i % COLUMNS * ROWS) + 2.0 * i;
    }
    OK(MPI_Get_accumulate(NULL, 0, MPI_DOUBLE, old, all, MPI_DOUBLE, right, 0, COLUMNS, columns, MPI_NO_OP, win));
    OK(MPI_Win_fence(0, win));
    for (int i = 0; i < all; i++) {
        wrong += old[i] != rank + 2.0 * (i % ROWS * COLUMNS + i / ROWS);
    }
    CHECK_EQ(wrong, 0);
    OK(MPI_Win_free(&win));
    OK(MPI_Type_free(&column));
    OK(MPI_Type_free(&columns));
    free(matrix);
    free(own);
    free(old);
}

/* Parts of different sizes with different displacement units. */
static void unlike_parts(void)
{
    MPI_Win win;
    size_t bytes = (size_t)(rank + 1) * 100;
    char *memory = allocate(bytes), out[3] = {'a', 'b', (char)rank};
    memset(memory, 0, bytes);
    OK(MPI_Win_create(rank % 3 == 2 ? NULL : memory, rank % 3 == 2 ? 0 : bytes, rank + 1, MPI_INFO_NULL,
                      MPI_COMM_WORLD, &win));
    OK(MPI_Win_set_errhandler(win, MPI_ERRORS_RETURN));
    OK(MPI_Win_fence(0, win));
    if (right % 3 == 2) {
        FAILS(MPI_ERR_RMA_RANGE, MPI_Put(out, 3, MPI_CHAR, right, 0, 3, MPI_CHAR, win));
    } else {
        OK(MPI_Put(out, 3, MPI_CHAR, right, 90, 3, MPI_CHAR, win));
        FAILS(MPI_ERR_RMA_RANGE, MPI_Put(out, 3, MPI_CHAR, right, 100, 3, MPI_CHAR, win));
    }
    OK(MPI_Win_fence(0, win));
    if (rank % 3 != 2) {
        CHECK(memory[90 * (rank + 1)] == 'a' && memory[90 * (rank + 1) + 2] == (char)left);
    }
    OK(MPI_Win_free(&win));
    free(memory);
}

int main(int argc, char **argv)
{
    check_begin(&argc, &argv);
    right = (rank + 1) % size;
    left = (rank + size - 1) % size;
    columns_and_rows();
    backwards();
    pairs();
    long_data();
    unlike_parts();
    return check_end();
}
