/*
 * The exchange of borders: by four blocking calls, as most programs have it; by persistent requests; and by a file alone, in which every
 * rank writes its part and reads its neighbours' borders, with nothing but barriers between them. That one is wrong at
 * once when a write is seen late or a read is early.
 */
#define _POSIX_C_SOURCE 200809L
#include "sor.h"

#include <fcntl.h>
#include <unistd.h>

static const char BORDERS[] = "sor.borders";

static void by_sendrecv(struct part *p)
{
    int n = p->columns, rows = p->rows;
    MPI_Sendrecv(at(p, 1, 1), n, MPI_DOUBLE, p->up, 1, at(p, rows + 1, 1), n, MPI_DOUBLE, p->down, 1, p->grid,
                 MPI_STATUS_IGNORE);
    MPI_Sendrecv(at(p, rows, 1), n, MPI_DOUBLE, p->down, 2, at(p, 0, 1), n, MPI_DOUBLE, p->up, 2, p->grid,
                 MPI_STATUS_IGNORE);
    MPI_Sendrecv(at(p, 1, 1), 1, p->column, p->left, 3, at(p, 1, n + 1), 1, p->column, p->right, 3, p->grid,
                 MPI_STATUS_IGNORE);
    MPI_Sendrecv(at(p, 1, n), 1, p->column, p->right, 4, at(p, 1, 0), 1, p->column, p->left, 4, p->grid,
                 MPI_STATUS_IGNORE);
}

static void make_requests(struct part *p)
{
    int n = p->columns, rows = p->rows;
    MPI_Request *r = p->requests;
    MPI_Recv_init(at(p, rows + 1, 1), n, MPI_DOUBLE, p->down, 1, p->grid, r);
    MPI_Recv_init(at(p, 0, 1), n, MPI_DOUBLE, p->up, 2, p->grid, r + 1);
    MPI_Recv_init(at(p, 1, n + 1), 1, p->column, p->right, 3, p->grid, r + 2);
    MPI_Recv_init(at(p, 1, 0), 1, p->column, p->left, 4, p->grid, r + 3);
    MPI_Send_init(at(p, 1, 1), n, MPI_DOUBLE, p->up, 1, p->grid, r + 4);
    MPI_Send_init(at(p, rows, 1), n, MPI_DOUBLE, p->down, 2, p->grid, r + 5);
    MPI_Send_init(at(p, 1, 1), 1, p->column, p->left, 3, p->grid, r + 6);
    MPI_Send_init(at(p, 1, n), 1, p->column, p->right, 4, p->grid, r + 7);
}

static void move_at(const struct part *p, long row, long column, double *data, int count, int is_writing)
{
    lseek(p->borders, (off_t)offset(p, row, column), SEEK_SET);
    files_move(p->borders, data, (size_t)count * sizeof *data, is_writing);
}

static void by_file(struct part *p)
{
    for (int i = 0; i < p->rows; i++)
        move_at(p, p->first_row + i, p->first_column, at(p, i + 1, 1), p->columns, 1);
    MPI_Barrier(p->grid);
    if (p->up != MPI_PROC_NULL)
        move_at(p, p->first_row - 1, p->first_column, at(p, 0, 1), p->columns, 0);
    if (p->down != MPI_PROC_NULL)
        move_at(p, p->first_row + p->rows, p->first_column, at(p, p->rows + 1, 1), p->columns, 0);
    for (int i = 0; i < p->rows && p->left != MPI_PROC_NULL; i++)
        move_at(p, p->first_row + i, p->first_column - 1, at(p, i + 1, 0), 1, 0);
    for (int i = 0; i < p->rows && p->right != MPI_PROC_NULL; i++)
        move_at(p, p->first_row + i, p->first_column + p->columns, at(p, i + 1, p->columns + 1), 1, 0);
    /* Nobody changes the file before all have read. */
    MPI_Barrier(p->grid);
}

void exchange_begin(struct part *p, enum exchange way)
{
    if (way == EXCHANGE_PERSISTENT)
        make_requests(p);
    if (way == EXCHANGE_FILE)
        p->borders = files_open(p, BORDERS, O_RDWR | O_CREAT);
}

void exchange_run(struct part *p, enum exchange way)
{
    if (way == EXCHANGE_SENDRECV) {
        by_sendrecv(p);
    } else if (way == EXCHANGE_PERSISTENT) {
        MPI_Startall(8, p->requests);
        MPI_Waitall(8, p->requests, MPI_STATUSES_IGNORE);
    } else {
        by_file(p);
    }
}

void exchange_end(struct part *p, enum exchange way)
{
    for (int i = 0; i < 8 && way == EXCHANGE_PERSISTENT; i++)
        MPI_Request_free(p->requests + i);
    if (way == EXCHANGE_FILE) {
        close(p->borders);
        MPI_Barrier(p->grid);
        if (p->rank == 0)
            files_remove(p, BORDERS);
    }
}
