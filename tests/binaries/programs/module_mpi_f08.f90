! The module mpi_f08 (MPI 5.0, section 19.1.2): handles with types, sections of arrays as buffers, callbacks with interfaces.

program module_mpi_f08
    use mpi_f08
    use, intrinsic :: iso_c_binding
    implicit none
    integer :: rank, size

    call mpi_init()
    call mpi_comm_rank(MPI_COMM_WORLD, rank)
    call mpi_comm_size(MPI_COMM_WORLD, size)
    call messages()
    call reductions()
    call attributes()
    call handlers()
    call shared()
    call mpi_finalize()

contains

    subroutine check(condition, what)
        logical, intent(in) :: condition
        character(*), intent(in) :: what
        if (condition) return
        print *, 'module_mpi_f08: ', what
        call mpi_abort(MPI_COMM_WORLD, 1)
    end subroutine

    subroutine messages()
        integer, asynchronous :: out(6), in(6)
        integer :: count, i
        type(MPI_Status) :: status, states(2)
        type(MPI_Request) :: requests(2)
        out = (/ (10 * rank + i, i = 1, 6) /)
        in = 0
        call mpi_irecv(in, 3, MPI_INTEGER, MPI_ANY_SOURCE, 1, MPI_COMM_SELF, requests(1))
        call mpi_isend(out(4:6), 3, MPI_INTEGER, 0, 1, MPI_COMM_SELF, requests(2))
        call mpi_waitall(2, requests, states)
        call mpi_get_count(states(1), MPI_INTEGER, count)
        call check(count == 3 .and. states(1)%MPI_SOURCE == 0, 'status')
        call check(all(in(1:3) == out(4:6)), 'nonblocking')
        call check(requests(1) == MPI_REQUEST_NULL, 'null request')
        ! Every second element, which is not contiguous.
        call mpi_sendrecv(out(1:5:2), 3, MPI_INTEGER, 0, 2, in(2:6:2), 3, MPI_INTEGER, 0, 2, MPI_COMM_SELF, status)
        call check(status%MPI_TAG == 2 .and. all(in(2:6:2) == out(1:5:2)), 'section')
        call mpi_sendrecv(rank, 1, MPI_INTEGER, mod(rank + 1, size), 3, in, 1, MPI_INTEGER, MPI_ANY_SOURCE, 3, &
            MPI_COMM_WORLD, MPI_STATUS_IGNORE)
        call check(in(1) == mod(rank + size - 1, size), 'ring')
        call mpi_waitall(2, requests, MPI_STATUSES_IGNORE)
    end subroutine

    subroutine reductions()
        type(MPI_Op) :: op
        integer :: value
        value = 1
        call mpi_allreduce(MPI_IN_PLACE, value, 1, MPI_INTEGER, MPI_SUM, MPI_COMM_WORLD)
        call check(value == size, 'in place')
        call mpi_op_create(product_of, .true., op)
        call mpi_allreduce(rank + 1, value, 1, MPI_INTEGER, op, MPI_COMM_WORLD)
        call check(value == product((/ (rank, rank = 1, size) /)), 'operation of the user')
        call mpi_comm_rank(MPI_COMM_WORLD, rank)
        call mpi_op_free(op)
    end subroutine

    subroutine product_of(invec, inoutvec, len, datatype)
        type(c_ptr), value :: invec, inoutvec
        integer :: len
        type(MPI_Datatype) :: datatype
        integer, pointer :: in(:), inout(:)
        call check(datatype == MPI_INTEGER, 'datatype of the operation')
        call c_f_pointer(invec, in, (/ len /))
        call c_f_pointer(inoutvec, inout, (/ len /))
        inout = inout * in
    end subroutine

    subroutine attributes()
        integer :: key
        integer(MPI_ADDRESS_KIND) :: value, state
        logical :: flag
        type(MPI_Datatype) :: type, copy
        call mpi_comm_get_attr(MPI_COMM_WORLD, MPI_TAG_UB, value, flag)
        call check(flag .and. value >= 32767, 'largest tag')
        state = 1
        call mpi_type_create_keyval(copied, deleted, key, state)
        call mpi_type_contiguous(2, MPI_INTEGER, type)
        value = 2_MPI_ADDRESS_KIND ** 40
        call mpi_type_set_attr(type, key, value)
        call mpi_type_dup(type, copy)
        call mpi_type_get_attr(copy, key, value, flag)
        call check(flag .and. value == 2_MPI_ADDRESS_KIND ** 40 + 1, 'copied')
        call mpi_type_free(copy)
        call mpi_type_free(type)
        call mpi_type_free_keyval(key)
        call other_language()
    end subroutine

    ! Section 19.3.7: C gets a pointer to what Fortran has set, and Fortran the address that C has set.
    subroutine other_language()
        interface
            function c_get(comm, key, value, flag) bind(C, name='MPI_Comm_get_attr') result(code)
                import :: c_int, c_ptr
                integer(c_int), value :: comm, key
                type(c_ptr), intent(out) :: value
                integer(c_int), intent(out) :: flag
                integer(c_int) :: code
            end function
            function c_set(comm, key, value) bind(C, name='MPI_Comm_set_attr') result(code)
                import :: c_int, c_ptr
                integer(c_int), value :: comm, key
                type(c_ptr), value :: value
                integer(c_int) :: code
            end function
        end interface
        integer :: key, code
        integer(c_int) :: found
        integer(MPI_ADDRESS_KIND) :: value
        integer(MPI_ADDRESS_KIND), pointer :: there
        integer, target :: something
        type(c_ptr) :: place
        logical :: flag
        call mpi_comm_create_keyval(MPI_COMM_NULL_COPY_FN, MPI_COMM_NULL_DELETE_FN, key, 0_MPI_ADDRESS_KIND)
        value = -2_MPI_ADDRESS_KIND ** 50
        call mpi_comm_set_attr(MPI_COMM_SELF, key, value)
        code = c_get(MPI_COMM_SELF%MPI_VAL, key, place, found)
        call check(code == MPI_SUCCESS .and. found /= 0, 'attribute in C')
        call c_f_pointer(place, there)
        call check(there == value, 'its value in C')
        code = c_set(MPI_COMM_SELF%MPI_VAL, key, c_loc(something))
        call mpi_comm_get_attr(MPI_COMM_SELF, key, value, flag)
        call check(flag .and. value == transfer(c_loc(something), value), 'pointer of C')
        call mpi_comm_delete_attr(MPI_COMM_SELF, key)
        call mpi_comm_free_keyval(key)
    end subroutine

    subroutine copied(oldtype, type_keyval, extra_state, attribute_val_in, attribute_val_out, flag, ierror)
        type(MPI_Datatype) :: oldtype
        integer :: type_keyval, ierror
        integer(MPI_ADDRESS_KIND) :: extra_state, attribute_val_in, attribute_val_out
        logical :: flag
        attribute_val_out = attribute_val_in + extra_state
        flag = .true.
        ierror = MPI_SUCCESS
    end subroutine

    subroutine deleted(datatype, type_keyval, attribute_val, extra_state, ierror)
        type(MPI_Datatype) :: datatype
        integer :: type_keyval, ierror
        integer(MPI_ADDRESS_KIND) :: attribute_val, extra_state
        ierror = MPI_SUCCESS
    end subroutine

    subroutine handlers()
        type(MPI_Errhandler) :: handler
        integer :: error, class
        call mpi_comm_set_errhandler(MPI_COMM_SELF, MPI_ERRORS_RETURN)
        call mpi_send(rank, 1, MPI_INTEGER, 99, 0, MPI_COMM_SELF, error)
        call mpi_error_class(error, class)
        call check(class == MPI_ERR_RANK, 'error class')
        call mpi_comm_get_errhandler(MPI_COMM_SELF, handler)
        call check(handler == MPI_ERRORS_RETURN, 'error handler')
        call mpi_comm_set_errhandler(MPI_COMM_SELF, MPI_ERRORS_ARE_FATAL)
    end subroutine

    ! Memory of the library, which a pointer of Fortran makes an array.
    subroutine shared()
        type(MPI_Win) :: window
        type(c_ptr) :: place
        integer, pointer :: memory(:)
        call mpi_win_allocate(int(4 * size, MPI_ADDRESS_KIND), 4, MPI_INFO_NULL, MPI_COMM_WORLD, place, window)
        call c_f_pointer(place, memory, (/ size /))
        memory = -1
        call mpi_win_fence(0, window)
        call mpi_put(rank, 1, MPI_INTEGER, 0, int(rank, MPI_ADDRESS_KIND), 1, MPI_INTEGER, window)
        call mpi_win_fence(0, window)
        if (rank == 0) call check(all(memory == (/ (rank, rank = 0, size - 1) /)), 'put')
        call mpi_comm_rank(MPI_COMM_WORLD, rank)
        call mpi_win_free(window)
    end subroutine
end program
