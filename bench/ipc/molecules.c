/*
 * Molecular dynamics of CHARMM's kind: every process knows all positions (replicated data), computes a share of the forces, and moves a share of the atoms.
 *
 *     molecules [--atoms N] [--steps N] [--ranks N] [--first RANK] [--here N]
 *
 * Chains of four atoms in a periodic cube, with harmonic bonds along the chains and Lennard-Jones forces between all others, by velocity Verlet. In each step
 * forces are summed so that each process has those of its atoms, positions are broadcast to all, and the energies are summed, all by divide and conquer:
 * the processes of one half exchange with those of the other, and each half goes on by itself.
 *
 * Process 0 says the energies of the last step, and what the paper's tables and figure have: milliseconds of all steps but the first ones, and of them in sends and
 * in receives, the mean of all processes.
 */
#define _GNU_SOURCE
#include "../src/record.h"
#include "transport.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Units are those of Lennard-Jones: length, energy and mass of an atom are 1. */
static const double SPACING = 1.2, STEP = 0.002, BOND = 100.0, BOND_LENGTH = 1.1;
enum { CHAIN = 4, FIRST_STEPS = 2 };
enum { PAIRS, BONDS, KINETIC, ENERGIES };

static int rank, ranks;
static double send_s, receive_s;
static double *received;

/* The first of those of `count` that are a process's. */
static int start_of(int count, int process)
{
    return (int)((long)count * process / ranks);
}

/* Some of many that each have `width` numbers. */
struct range {
    double *values;
    int width, first, last;
};

static size_t bytes_of(struct range range)
{
    return (size_t)(range.last - range.first) * (size_t)range.width * sizeof *range.values;
}

static void send_range(int to, struct range range)
{
    double start = record_now();
    if (bytes_of(range) > 0)
        transport_send(to, range.values + range.first * range.width, bytes_of(range));
    send_s += record_now() - start;
}

static void receive_range(int from, struct range range)
{
    double start = record_now();
    if (bytes_of(range) > 0)
        transport_receive(from, range.values + range.first * range.width, bytes_of(range));
    receive_s += record_now() - start;
}

static void receive_and_add(int from, struct range range)
{
    struct range into = range;
    into.values = received;
    receive_range(from, into);
    for (int number = range.first * range.width; number < range.last * range.width; number++)
        range.values[number] += received[number];
}

/*
 * How this process meets the other half of those from `first` to before `last`. The lower half may have one more: its last one has no partner, and
 * meets that of the one before, who so has a `second`.
 */
struct meeting {
    int middle, is_lower, partner, second;
};

static struct meeting meeting_of(int first, int last)
{
    int middle = (first + last + 1) / 2, lower = middle - first, upper = last - middle;
    struct meeting meeting = {middle, rank < middle, -1, -1};
    if (!meeting.is_lower) {
        meeting.partner = rank - lower;
        meeting.second = rank == last - 1 && lower > upper ? middle - 1 : -1;
    } else if (rank - first < upper) {
        meeting.partner = rank + lower;
    } else {
        meeting.second = last - 1;
    }
    return meeting;
}

/* Sums what all processes have, so that each has its part of the sums. Whoever is in the lower half sends first. */
static void sum(double *values, int width, int count, int first, int last)
{
    if (last - first < 2)
        return;
    struct meeting meeting = meeting_of(first, last);
    int middle = start_of(count, meeting.middle);
    struct range low = {values, width, start_of(count, first), middle};
    struct range high = {values, width, middle, start_of(count, last)};
    if (meeting.is_lower && meeting.partner == -1) {
        send_range(meeting.second, high);
    } else if (meeting.is_lower) {
        send_range(meeting.partner, high);
        receive_and_add(meeting.partner, low);
    } else {
        receive_and_add(meeting.partner, high);
        send_range(meeting.partner, low);
        if (meeting.second != -1)
            receive_and_add(meeting.second, high);
    }
    sum(values, width, count, meeting.is_lower ? first : meeting.middle,
        meeting.is_lower ? meeting.middle : last);
}

/* Gives all processes the parts that each has: the way back. */
static void broadcast(double *values, int width, int count, int first, int last)
{
    if (last - first < 2)
        return;
    struct meeting meeting = meeting_of(first, last);
    int middle = start_of(count, meeting.middle);
    struct range low = {values, width, start_of(count, first), middle};
    struct range high = {values, width, middle, start_of(count, last)};
    broadcast(values, width, count, meeting.is_lower ? first : meeting.middle,
              meeting.is_lower ? meeting.middle : last);
    if (meeting.is_lower && meeting.partner == -1) {
        receive_range(meeting.second, high);
    } else if (meeting.is_lower) {
        send_range(meeting.partner, low);
        receive_range(meeting.partner, high);
    } else {
        receive_range(meeting.partner, low);
        send_range(meeting.partner, high);
        if (meeting.second != -1)
            send_range(meeting.second, high);
    }
}

static void sum_for_all(double *values, int count)
{
    sum(values, 1, count, 0, ranks);
    broadcast(values, 1, count, 0, ranks);
}

struct system {
    int atoms;
    double side;
    double *positions, *velocities, *forces;
};

static double *numbers(int count)
{
    double *all = calloc((size_t)count, sizeof *all);
    if (all == NULL)
        transport_fail("calloc");
    return all;
}

/* Sites of a lattice, in an order in which each is beside the one before, and so the atoms of a chain. */
static struct system begin(int atoms)
{
    int sides = 1;
    while (sides * sides * sides < atoms)
        sides++;
    struct system all = {atoms, sides * SPACING, numbers(3 * atoms), numbers(3 * atoms), numbers(3 * atoms)};
    for (int atom = 0; atom < atoms; atom++) {
        int row = atom / sides, x = atom % sides, y = row % sides, z = row / sides;
        int site[3] = {row % 2 ? sides - 1 - x : x, z % 2 ? sides - 1 - y : y, z};
        for (int axis = 0; axis < 3; axis++) {
            int number = 3 * atom + axis;
            all.positions[number] = SPACING * site[axis] + 0.05 * sin(1.7 * (number + 1));
            all.velocities[number] = 0.3 * cos(2.3 * (number + 1));
        }
    }
    return all;
}

/* The way from one atom to another, or to its nearest image; returns the square of its length. */
static double way(const struct system *all, int from, int to, double way[3])
{
    double square = 0.0;
    for (int axis = 0; axis < 3; axis++) {
        double along = all->positions[3 * to + axis] - all->positions[3 * from + axis];
        way[axis] = along - all->side * round(along / all->side);
        square += way[axis] * way[axis];
    }
    return square;
}

static void pull(struct system *all, int one, int other, const double way[3], double force)
{
    for (int axis = 0; axis < 3; axis++) {
        all->forces[3 * one + axis] += force * way[axis];
        all->forces[3 * other + axis] -= force * way[axis];
    }
}

/* What a pair that is not bonded has; the energy is 0 where it ends, at half the side. */
static double meet(struct system *all, int one, int other)
{
    double between[3], end = 0.25 * all->side * all->side;
    double square = way(all, one, other, between);
    if (square >= end)
        return 0.0;
    double sixth = 1.0 / (square * square * square), sixth_of_end = 1.0 / (end * end * end);
    pull(all, one, other, between, -24.0 * (2.0 * sixth * sixth - sixth) / square);
    return 4.0 * (sixth * sixth - sixth) - 4.0 * (sixth_of_end * sixth_of_end - sixth_of_end);
}

static double stretch(struct system *all, int one, int other)
{
    double between[3], length = sqrt(way(all, one, other, between)), by = length - BOND_LENGTH;
    pull(all, one, other, between, 2.0 * BOND * by / length);
    return BOND * by * by;
}

/* This process's share of the forces: every so many-th atom, with all after it. Then each has all forces on its own atoms. */
static void find_forces(struct system *all, double energies[ENERGIES])
{
    memset(all->forces, 0, 3 * (size_t)all->atoms * sizeof *all->forces);
    for (int one = rank; one < all->atoms; one += ranks) {
        int is_bonded = (one + 1) % CHAIN != 0 && one + 1 < all->atoms;
        if (is_bonded)
            energies[BONDS] += stretch(all, one, one + 1);
        for (int other = one + 1 + is_bonded; other < all->atoms; other++)
            energies[PAIRS] += meet(all, one, other);
    }
    sum(all->forces, 3, all->atoms, 0, ranks);
}

static void step(struct system *all, double energies[ENERGIES])
{
    int first = 3 * start_of(all->atoms, rank), last = 3 * start_of(all->atoms, rank + 1);
    for (int number = first; number < last; number++) {
        all->velocities[number] += 0.5 * STEP * all->forces[number];
        all->positions[number] += STEP * all->velocities[number];
    }
    broadcast(all->positions, 3, all->atoms, 0, ranks);
    memset(energies, 0, ENERGIES * sizeof *energies);
    find_forces(all, energies);
    for (int number = first; number < last; number++) {
        all->velocities[number] += 0.5 * STEP * all->forces[number];
        energies[KINETIC] += 0.5 * all->velocities[number] * all->velocities[number];
    }
    sum_for_all(energies, ENERGIES);
}

static void say_time(const char *what, int atoms, double seconds)
{
    record_print(what, ranks, (size_t)atoms, record_median(&seconds, 1, 1), 1e3, "ms");
}

static int option(int argc, char **argv, const char *name, int usual)
{
    for (int number = 1; number + 1 < argc; number += 2)
        if (strcmp(argv[number], name) == 0)
            return atoi(argv[number + 1]);
    return usual;
}

int main(int argc, char **argv)
{
    int atoms = option(argc, argv, "--atoms", 108), steps = option(argc, argv, "--steps", 60);
    struct processes processes = {option(argc, argv, "--ranks", 1), option(argc, argv, "--first", 0), 0};
    processes.here = option(argc, argv, "--here", processes.all);
    rank = transport_start(&processes);
    ranks = processes.all;

    struct system all = begin(atoms);
    received = numbers(3 * atoms);
    double energies[ENERGIES] = {0.0}, start = 0.0;
    find_forces(&all, energies);
    for (int number = 0; number < FIRST_STEPS + steps; number++) {
        if (number == FIRST_STEPS) {
            send_s = receive_s = 0.0;
            start = record_now();
        }
        step(&all, energies);
    }
    double run_s = record_now() - start, times[2] = {send_s, receive_s};
    sum_for_all(times, 2);
    if (rank == 0) {
        printf("{\"checksum\":\"%.9f %.9f %.9f\",\"ranks\":%d,\"bytes\":%d}\n", energies[PAIRS], energies[BONDS],
               energies[KINETIC], ranks, atoms);
        say_time("md-run", atoms, run_s);
        say_time("md-send", atoms, times[0] / ranks);
        say_time("md-receive", atoms, times[1] / ranks);
    }
    transport_end();
    return 0;
}
