/* Envelope and contents (MPI 5.0, section 5.1.13): what a constructor was called with comes back, and calling it again
 * with these arguments gives a type that packs the same bytes. */
#include "../check.h"

enum { BYTES = 16384, MANY = 64 };

static unsigned char memory[BYTES];

struct contents {
    int combiner;
    MPI_Count integers, addresses, large_counts, datatypes;
    int integer[MANY];
    MPI_Aint address[MANY];
    MPI_Count large_count[MANY];
    MPI_Datatype datatype[MANY];
};

static void inquire(MPI_Datatype type, struct contents *out)
{
#ifdef LARGE_COUNT
    OK(MPI_Type_get_envelope_c(type, &out->integers, &out->addresses, &out->large_counts, &out->datatypes,
                               &out->combiner));
    if (out->combiner != MPI_COMBINER_NAMED) {
        OK(MPI_Type_get_contents_c(type, MANY, MANY, MANY, MANY, out->integer, out->address, out->large_count,
                                   out->datatype));
    }
#else
    int integers, addresses, datatypes;
    OK(MPI_Type_get_envelope(type, &integers, &addresses, &datatypes, &out->combiner));
    out->integers = integers;
    out->addresses = addresses;
    out->datatypes = datatypes;
    out->large_counts = 0;
    if (out->combiner != MPI_COMBINER_NAMED) {
        OK(MPI_Type_get_contents(type, MANY, MANY, MANY, out->integer, out->address, out->datatype));
    }
#endif
}

/* The counts of a constructor are integers or large counts, its byte displacements addresses or large counts; both in
 * the order of the constructor's arguments. */
struct reader {
    const struct contents *from;
    int integer, address, large_count;
};

static Count next_count(struct reader *in)
{
#ifdef LARGE_COUNT
    return in->from->large_count[in->large_count++];
#else
    return in->from->integer[in->integer++];
#endif
}

static Extent next_extent(struct reader *in)
{
#ifdef LARGE_COUNT
    return in->from->large_count[in->large_count++];
#else
    return in->from->address[in->address++];
#endif
}

static void next_counts(struct reader *in, Count count, Count *out)
{
    for (Count i = 0; i < count; i++) {
        out[i] = next_count(in);
    }
}

static void next_extents(struct reader *in, Count count, Extent *out)
{
    for (Count i = 0; i < count; i++) {
        out[i] = next_extent(in);
    }
}

static const int *next_integers(struct reader *in, int count)
{
    const int *first = &in->from->integer[in->integer];
    in->integer += count;
    return first;
}

static MPI_Datatype rebuild_indexed(const struct contents *c, struct reader *in)
{
    MPI_Datatype type = MPI_DATATYPE_NULL, old = c->datatype[0];
    Count count = next_count(in), lengths[MANY], places[MANY];
    Extent bytes[MANY];
    if (c->combiner == MPI_COMBINER_INDEXED_BLOCK || c->combiner == MPI_COMBINER_HINDEXED_BLOCK) {
        lengths[0] = next_count(in);
    } else {
        next_counts(in, count, lengths);
    }
    switch (c->combiner) {
    case MPI_COMBINER_INDEXED:
        next_counts(in, count, places);
        OK(MPI_Type_indexed(count, lengths, places, old, &type));
        break;
    case MPI_COMBINER_INDEXED_BLOCK:
        next_counts(in, count, places);
        OK(MPI_Type_create_indexed_block(count, lengths[0], places, old, &type));
        break;
    case MPI_COMBINER_HINDEXED:
        next_extents(in, count, bytes);
        OK(MPI_Type_create_hindexed(count, lengths, bytes, old, &type));
        break;
    case MPI_COMBINER_HINDEXED_BLOCK:
        next_extents(in, count, bytes);
        OK(MPI_Type_create_hindexed_block(count, lengths[0], bytes, old, &type));
        break;
    default:
        next_extents(in, count, bytes);
        OK(MPI_Type_create_struct(count, lengths, bytes, c->datatype, &type));
        break;
    }
    return type;
}

static MPI_Datatype rebuild_array(const struct contents *c, struct reader *in)
{
    MPI_Datatype type = MPI_DATATYPE_NULL, old = c->datatype[0];
    Count sizes[MANY], subsizes[MANY], starts[MANY];
    if (c->combiner == MPI_COMBINER_SUBARRAY) {
        int dims = *next_integers(in, 1);
        next_counts(in, dims, sizes);
        next_counts(in, dims, subsizes);
        next_counts(in, dims, starts);
        OK(MPI_Type_create_subarray(dims, sizes, subsizes, starts, *next_integers(in, 1), old, &type));
    } else {
        const int *head = next_integers(in, 3), *distributions, *arguments, *processes;
        next_counts(in, head[2], sizes);
        distributions = next_integers(in, head[2]);
        arguments = next_integers(in, head[2]);
        processes = next_integers(in, head[2]);
        OK(MPI_Type_create_darray(head[0], head[1], head[2], sizes, distributions, arguments, processes,
                                  *next_integers(in, 1), old, &type));
    }
    return type;
}

static MPI_Datatype rebuild(const struct contents *c)
{
    struct reader in = {c, 0, 0, 0};
    MPI_Datatype type = MPI_DATATYPE_NULL, old = c->datatype[0];
    Count count, length;
    Extent lb;
    switch (c->combiner) {
    case MPI_COMBINER_DUP: OK(MPI_Type_dup(old, &type)); break;
    case MPI_COMBINER_CONTIGUOUS: OK(MPI_Type_contiguous(next_count(&in), old, &type)); break;
    case MPI_COMBINER_VECTOR:
        count = next_count(&in);
        length = next_count(&in);
        OK(MPI_Type_vector(count, length, next_count(&in), old, &type));
        break;
    case MPI_COMBINER_HVECTOR:
        count = next_count(&in);
        length = next_count(&in);
        OK(MPI_Type_create_hvector(count, length, next_extent(&in), old, &type));
        break;
    case MPI_COMBINER_RESIZED:
        lb = next_extent(&in);
        OK(MPI_Type_create_resized(old, lb, next_extent(&in), &type));
        break;
    case MPI_COMBINER_SUBARRAY:
    case MPI_COMBINER_DARRAY: type = rebuild_array(c, &in); break;
    default: type = rebuild_indexed(c, &in); break;
    }
    CHECK_EQ(in.integer, c->integers);
    CHECK_EQ(in.address, c->addresses);
    CHECK_EQ(in.large_count, c->large_counts);
    return type;
}

static int is_named(MPI_Datatype type)
{
    struct contents c;
    inquire(type, &c);
    return c.combiner == MPI_COMBINER_NAMED;
}

static void check_round_trip(MPI_Datatype type, int combiner, int datatypes)
{
    static unsigned char first[BYTES], second[BYTES];
    struct contents c;
    MPI_Datatype again;
    Count position = 0, again_position = 0;
    Extent lb, extent, again_lb, again_extent;
    inquire(type, &c);
    CHECK_EQ(c.combiner, combiner);
    CHECK_EQ(c.datatypes, datatypes);
    again = rebuild(&c);
    OK(MPI_Type_commit(&type));
    OK(MPI_Type_commit(&again));
    OK(MPI_Type_get_extent(type, &lb, &extent));
    OK(MPI_Type_get_extent(again, &again_lb, &again_extent));
    CHECK_EQ(again_lb, lb);
    CHECK_EQ(again_extent, extent);
    OK(MPI_Pack(memory + 4096, 2, type, first, BYTES, &position, MPI_COMM_WORLD));
    OK(MPI_Pack(memory + 4096, 2, again, second, BYTES, &again_position, MPI_COMM_WORLD));
    CHECK_EQ(position, again_position);
    CHECK(memcmp(first, second, (size_t)position) == 0);
    for (int i = 0; i < c.datatypes; i++) {
        if (!is_named(c.datatype[i])) {
            OK(MPI_Type_free(&c.datatype[i]));
        }
    }
    OK(MPI_Type_free(&again));
    OK(MPI_Type_free(&type));
}

static void irregular(MPI_Datatype old)
{
    Count lengths[3] = {1, 2, 1}, places[3] = {6, 0, 3};
    Extent bytes[3] = {64, 0, 24};
    MPI_Datatype type, types[3] = {MPI_SHORT, old, MPI_DOUBLE};
    OK(MPI_Type_indexed(3, lengths, places, old, &type));
    check_round_trip(type, MPI_COMBINER_INDEXED, 1);
    OK(MPI_Type_create_hindexed(3, lengths, bytes, old, &type));
    check_round_trip(type, MPI_COMBINER_HINDEXED, 1);
    OK(MPI_Type_create_indexed_block(3, 2, places, old, &type));
    check_round_trip(type, MPI_COMBINER_INDEXED_BLOCK, 1);
    OK(MPI_Type_create_hindexed_block(3, 2, bytes, old, &type));
    check_round_trip(type, MPI_COMBINER_HINDEXED_BLOCK, 1);
    OK(MPI_Type_create_struct(3, lengths, bytes, types, &type));
    check_round_trip(type, MPI_COMBINER_STRUCT, 3);
}

static void all_constructors(MPI_Datatype old)
{
    Count sizes[2] = {6, 8}, subsizes[2] = {2, 3}, starts[2] = {1, 4};
    int distributions[2] = {MPI_DISTRIBUTE_BLOCK, MPI_DISTRIBUTE_CYCLIC}, arguments[2] = {MPI_DISTRIBUTE_DFLT_DARG, 2};
    int processes[2] = {2, 2};
    MPI_Datatype type;
    OK(MPI_Type_dup(old, &type));
    check_round_trip(type, MPI_COMBINER_DUP, 1);
    OK(MPI_Type_contiguous(5, old, &type));
    check_round_trip(type, MPI_COMBINER_CONTIGUOUS, 1);
    OK(MPI_Type_vector(3, 2, 4, old, &type));
    check_round_trip(type, MPI_COMBINER_VECTOR, 1);
    OK(MPI_Type_create_hvector(3, 2, 80, old, &type));
    check_round_trip(type, MPI_COMBINER_HVECTOR, 1);
    OK(MPI_Type_create_resized(old, -8, 48, &type));
    check_round_trip(type, MPI_COMBINER_RESIZED, 1);
    OK(MPI_Type_create_subarray(2, sizes, subsizes, starts, MPI_ORDER_FORTRAN, old, &type));
    check_round_trip(type, MPI_COMBINER_SUBARRAY, 1);
    OK(MPI_Type_create_darray(4, 3, 2, sizes, distributions, arguments, processes, MPI_ORDER_C, old, &type));
    check_round_trip(type, MPI_COMBINER_DARRAY, 1);
    irregular(old);
}

int main(int argc, char **argv)
{
    MPI_Datatype derived;
    check_begin(&argc, &argv);
    fill(memory, BYTES, 1);
    CHECK(is_named(MPI_INT));
    CHECK(is_named(MPI_DOUBLE_INT));
    CHECK(is_named(MPI_PACKED));
    all_constructors(MPI_INT);
    OK(MPI_Type_vector(2, 1, 2, MPI_INT, &derived));
    all_constructors(derived);
    OK(MPI_Type_free(&derived));
    return check_end();
}
