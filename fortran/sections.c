/*
 * Sections of arrays. Most travel without a copy: a datatype says where their elements are. Where none can (predefined operations, arrays of counts,
 * datatypes with holes), MPI works on a contiguous copy: section 19.1.12 says that a section is to be seen as one. copies.c has those.
 */
#include "mpifort.h"

/* A datatype from one that is not needed any more. */
static int replaced(int result, MPI_Datatype *old, MPI_Datatype new)
{
    MPI_Type_free(old);
    if (result == MPI_SUCCESS) *old = new;
    return result;
}

/* The first `count` elements of an array of `rank` dimensions, in their order. The caller frees `element`'s successor. */
static int first_elements(const CFI_cdesc_t *array, int rank, MPI_Count count, MPI_Datatype element,
                          MPI_Datatype *all)
{
    if (rank == 0) return MPI_Type_contiguous_c(count, element, all);
    MPI_Count below = 1;
    for (int i = 0; i < rank - 1; i++) below *= array->dim[i].extent;
    MPI_Count full = count / below, rest = count % below;
    MPI_Datatype row, some, new = MPI_DATATYPE_NULL;
    int result = first_elements(array, rank - 1, full > 0 ? below : rest, element, &row);
    if (result != MPI_SUCCESS || full == 0) {
        *all = row;
        return result;
    }
    result = MPI_Type_create_hvector_c(full, 1, array->dim[rank - 1].sm, row, &new);
    result = replaced(result, &row, new);
    if (result == MPI_SUCCESS && rest > 0) {
        result = first_elements(array, rank - 1, rest, element, &some);
        if (result != MPI_SUCCESS) return result;
        MPI_Count lengths[] = {1, 1}, places[] = {0, full * array->dim[rank - 1].sm};
        MPI_Datatype types[] = {row, some};
        result = MPI_Type_create_struct_c(2, lengths, places, types, &new);
        MPI_Type_free(&some);
        result = replaced(result, &row, new);
    }
    *all = row;
    return result;
}

/* How many of `datatype` an element of the array is; 0 if the datatype is not a part of it without holes. */
static MPI_Count parts_of_element(const CFI_cdesc_t *array, MPI_Datatype datatype)
{
    MPI_Count lb, extent, size, length = (MPI_Count)array->elem_len;
    if (MPI_Type_get_extent_c(datatype, &lb, &extent) != MPI_SUCCESS) return 0;
    if (MPI_Type_size_c(datatype, &size) != MPI_SUCCESS) return 0;
    if (extent == length) return 1;
    return lb == 0 && size > 0 && size == extent && length % size == 0 ? length / size : 0;
}

int described(Section *section, const CFI_cdesc_t *array, int blocks)
{
    /* What is wrong, or not looked at, is the library's affair. */
    if (section->count <= 0 || section->datatype == MPI_DATATYPE_NULL) return MPI_SUCCESS;
    MPI_Count parts = parts_of_element(array, section->datatype), inner = 1, elements = 1;
    int last = array->rank - 1;
    if (parts == 0 || section->count % parts != 0) return MPI_ERR_BUFFER;
    for (int i = 0; i < last; i++) inner *= array->dim[i].extent;
    elements = section->count / parts;
    /* Where the last dimension is not full, one block cannot follow another. */
    if (blocks && elements % inner != 0) return MPI_ERR_BUFFER;

    MPI_Datatype element, all, new;
    int result = MPI_Type_contiguous_c(parts, section->datatype, &element);
    if (result != MPI_SUCCESS) return result;
    result = first_elements(array, array->rank, elements, element, &all);
    MPI_Type_free(&element);
    if (result != MPI_SUCCESS) return result;
    if (blocks) {
        result = MPI_Type_create_resized_c(all, 0, elements / inner * array->dim[last].sm, &new);
        result = replaced(result, &all, new);
        if (result != MPI_SUCCESS) return result;
    }
    section->count = 1;
    section->datatype = all;
    section->made = 1;
    return MPI_Type_commit(&section->datatype);
}

int ranks_of(MPI_Comm comm, int of)
{
    int inter = 0, size = 0, in = 0, out = 0, kind = MPI_UNDEFINED, weighted;
    if (of == 0) {
        MPI_Comm_test_inter(comm, &inter);
        inter ? MPI_Comm_remote_size(comm, &size) : MPI_Comm_size(comm, &size);
        return size;
    }
    MPI_Topo_test(comm, &kind);
    if (kind == MPI_CART) {
        MPI_Cartdim_get(comm, &in);
        in = out = 2 * in;
    } else if (kind == MPI_GRAPH) {
        MPI_Comm_rank(comm, &size);
        MPI_Graph_neighbors_count(comm, size, &in);
        out = in;
    } else if (kind == MPI_DIST_GRAPH) {
        MPI_Dist_graph_neighbors_count(comm, &in, &out, &weighted);
    }
    return of == 1 ? out : in;
}
