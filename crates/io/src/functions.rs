//! The functions of the chapter as a list, for whoever exports them: this library for itself (`libmpi`), or a library
//! that is loaded before another one (`preload`).
//!
//! `file_functions!` calls the macro that it is given with all of them. Each has a name, perhaps the name of its twin with
//! large counts, typed arguments, the object whose error handler gets an error, and a body of type `Result<()>` of this
//! crate. Types are those of the ABI and of `arguments`; `Int` and `Address` differ between a function and its twin. The
//! exporter's functions `opened` and `closed` hear of files, and `started` of requests, for the sake of their error handlers;
//! `threads_may_meet` says whether threads beside the program may call MPI, and `let_threads_meet` hears when they will.

/// Implements an exporter's trait `$check`, whose default is right for them, for the arguments that need no look before `io` sees them.
#[macro_export]
macro_rules! plain_arguments {
    ($check:ident) => {
        impl $check for MPI_File {}
        impl $check for Memory {}
        impl $check for ExtraState {}
        impl $check for NameOut {}
        impl $check for StatusOut {}
        impl $check for Text {}
        impl $check for c_int {}
        impl $check for MPI_Offset {}
        impl $check for MPI_Datarep_extent_function {}
        impl $check for MPI_Datarep_conversion_function {}
        impl $check for MPI_Datarep_conversion_function_c {}
        impl<T> $check for Out<T> {}
    };
}

/// See the head of this file.
#[macro_export]
macro_rules! file_functions {
    ($define:ident) => {
        $define! {
            /// Section 14.2.1.
            MPI_File_open (comm: MPI_Comm, filename: Text, amode: c_int, info: MPI_Info, fh: Out<MPI_File>)
                on MPI_FILE_NULL
            {
                fh.check()?;
                let file = $crate::file::open(comm, &filename.path()?, amode, info, threads_may_meet()?)?;
                opened(file);
                fh.set(file)
            }

            /// Section 14.2.2.
            MPI_File_close (fh: Out<MPI_File>) on fh {
                let file = fh.get()?;
                $crate::file::close(file)?;
                closed(file);
                fh.set(MPI_FILE_NULL)
            }

            /// Section 14.2.3.
            MPI_File_delete (filename: Text, _info: MPI_Info) on MPI_FILE_NULL {
                $crate::file::delete(&filename.path()?)
            }

            /// Section 14.2.4.
            MPI_File_set_size (fh: MPI_File, size: MPI_Offset) on fh {
                $crate::file::find(fh)?.set_size(size)
            }

            /// Section 14.2.5.
            MPI_File_preallocate (fh: MPI_File, size: MPI_Offset) on fh {
                $crate::file::find(fh)?.preallocate(size)
            }

            /// Section 14.2.6.
            MPI_File_get_size (fh: MPI_File, size: Out<MPI_Offset>) on fh {
                size.set($crate::file::find(fh)?.size()?)
            }

            /// Section 14.2.7.
            MPI_File_get_group (fh: MPI_File, group: Out<MPI_Group>) on fh {
                let file = $crate::file::find(fh)?;
                group.check()?;
                group.set(file.group()?)
            }

            /// Section 14.2.7.
            MPI_File_get_amode (fh: MPI_File, amode: Out<c_int>) on fh {
                amode.set($crate::file::find(fh)?.mode())
            }

            /// Section 14.2.8.
            MPI_File_set_info (fh: MPI_File, info: MPI_Info) on fh {
                $crate::file::find(fh)?.set_info(info)
            }

            /// Section 14.2.8.
            MPI_File_get_info (fh: MPI_File, info_used: Out<MPI_Info>) on fh {
                let file = $crate::file::find(fh)?;
                info_used.check()?;
                info_used.set(file.info()?)
            }

            /// Section 14.3.
            MPI_File_set_view (
                fh: MPI_File, disp: MPI_Offset, etype: MPI_Datatype, filetype: MPI_Datatype, datarep: Text, info: MPI_Info
            ) on fh {
                $crate::file::find(fh)?.set_view(disp, (etype, filetype), &datarep.get()?, info)
            }

            /// Section 14.3.
            MPI_File_get_view (
                fh: MPI_File, disp: Out<MPI_Offset>, etype: Out<MPI_Datatype>, filetype: Out<MPI_Datatype>,
                datarep: NameOut
            ) on fh {
                let file = $crate::file::find(fh)?;
                etype.check()?;
                filetype.check()?;
                let view = file.view()?;
                disp.set(view.0)?;
                etype.set(view.1)?;
                filetype.set(view.2)?;
                datarep.set(&view.3)
            }

            /// Section 14.4.3.
            MPI_File_seek (fh: MPI_File, offset: MPI_Offset, whence: c_int) on fh {
                $crate::file::find(fh)?.seek(offset, whence)
            }

            /// Section 14.4.3.
            MPI_File_get_position (fh: MPI_File, offset: Out<MPI_Offset>) on fh {
                offset.set($crate::file::find(fh)?.position()?)
            }

            /// Section 14.4.3.
            MPI_File_get_byte_offset (fh: MPI_File, offset: MPI_Offset, disp: Out<MPI_Offset>) on fh {
                disp.set($crate::file::find(fh)?.byte_offset(offset)?)
            }

            /// Section 14.4.4.
            MPI_File_seek_shared (fh: MPI_File, offset: MPI_Offset, whence: c_int) on fh {
                $crate::file::find(fh)?.seek_shared(offset, whence)
            }

            /// Section 14.4.4.
            MPI_File_get_position_shared (fh: MPI_File, offset: Out<MPI_Offset>) on fh {
                offset.set($crate::file::find(fh)?.position_shared()?)
            }

            /// Section 14.5.1.
            MPI_File_get_type_extent / MPI_File_get_type_extent_c (
                fh: MPI_File, datatype: AnyDatatype, extent: Out<Address>
            ) on fh {
                let found = $crate::file::find(fh)?.type_extent(datatype.0)?;
                extent.set(Address::try_from(found).unwrap_or(MPI_UNDEFINED as Address))
            }

            /// Section 14.5.3.
            MPI_Register_datarep (
                datarep: Text, read_conversion_fn: MPI_Datarep_conversion_function,
                write_conversion_fn: MPI_Datarep_conversion_function, dtype_file_extent_fn: MPI_Datarep_extent_function,
                extra_state: ExtraState
            ) on MPI_FILE_NULL {
                use $crate::representation::{Conversion, UserRepresentation, register};
                let conversion = |function: MPI_Datarep_conversion_function| match function {
                    Some(_) => Conversion::Small(function),
                    None => Conversion::None,
                };
                let (read, write) = (conversion(read_conversion_fn), conversion(write_conversion_fn));
                let (name, extent, extra_state) = (datarep.get()?, dtype_file_extent_fn, extra_state.0);
                register(UserRepresentation { name, read, write, extent, extra_state })
            }

            /// Section 14.5.3.
            MPI_Register_datarep_c (
                datarep: Text, read_conversion_fn: MPI_Datarep_conversion_function_c,
                write_conversion_fn: MPI_Datarep_conversion_function_c, dtype_file_extent_fn: MPI_Datarep_extent_function,
                extra_state: ExtraState
            ) on MPI_FILE_NULL {
                use $crate::representation::{Conversion, UserRepresentation, register};
                let conversion = |function: MPI_Datarep_conversion_function_c| match function {
                    Some(_) => Conversion::Large(function),
                    None => Conversion::None,
                };
                let (read, write) = (conversion(read_conversion_fn), conversion(write_conversion_fn));
                let (name, extent, extra_state) = (datarep.get()?, dtype_file_extent_fn, extra_state.0);
                register(UserRepresentation { name, read, write, extent, extra_state })
            }

            /// Section 14.6.1.
            MPI_File_set_atomicity (fh: MPI_File, flag: c_int) on fh {
                $crate::file::find(fh)?.set_atomicity(flag != 0)
            }

            /// Section 14.6.1.
            MPI_File_get_atomicity (fh: MPI_File, flag: Out<c_int>) on fh {
                flag.set(c_int::from($crate::file::find(fh)?.is_atomic()))
            }

            /// Section 14.6.1.
            MPI_File_sync (fh: MPI_File) on fh {
                $crate::file::find(fh)?.sync()
            }

            /// Section 14.4.2.
            MPI_File_read_at / MPI_File_read_at_c (
                fh: MPI_File, offset: MPI_Offset, buf: Memory, count: Int, datatype: MPI_Datatype, status: StatusOut
            ) on fh {
                $crate::calls::transfer(fh, (Read, At(offset), Alone), (buf, i64::from(count), datatype), status)
            }

            /// Section 14.4.2.
            MPI_File_iread_at / MPI_File_iread_at_c (
                fh: MPI_File, offset: MPI_Offset, buf: Memory, count: Int, datatype: MPI_Datatype, request: Out<MPI_Request>
            ) on fh {
                $crate::calls::start(fh, (Read, At(offset), Alone), (buf, i64::from(count), datatype), (request, started, let_threads_meet))
            }

            /// Section 14.4.2.
            MPI_File_read_at_all / MPI_File_read_at_all_c (
                fh: MPI_File, offset: MPI_Offset, buf: Memory, count: Int, datatype: MPI_Datatype, status: StatusOut
            ) on fh {
                $crate::calls::transfer(fh, (Read, At(offset), Together), (buf, i64::from(count), datatype), status)
            }

            /// Section 14.4.2.
            MPI_File_iread_at_all / MPI_File_iread_at_all_c (
                fh: MPI_File, offset: MPI_Offset, buf: Memory, count: Int, datatype: MPI_Datatype, request: Out<MPI_Request>
            ) on fh {
                $crate::calls::start(fh, (Read, At(offset), Together), (buf, i64::from(count), datatype), (request, started, let_threads_meet))
            }

            /// Section 14.4.5.
            MPI_File_read_at_all_begin / MPI_File_read_at_all_begin_c (
                fh: MPI_File, offset: MPI_Offset, buf: Memory, count: Int, datatype: MPI_Datatype
            ) on fh {
                $crate::calls::begin(fh, "MPI_File_read_at_all", (Read, At(offset)), (buf, i64::from(count), datatype))
            }

            /// Section 14.4.5.
            MPI_File_read_at_all_end (fh: MPI_File, _buf: Memory, status: StatusOut) on fh {
                $crate::calls::end(fh, "MPI_File_read_at_all", status)
            }

            /// Section 14.4.3.
            MPI_File_read / MPI_File_read_c (
                fh: MPI_File, buf: Memory, count: Int, datatype: MPI_Datatype, status: StatusOut
            ) on fh {
                $crate::calls::transfer(fh, (Read, Individual, Alone), (buf, i64::from(count), datatype), status)
            }

            /// Section 14.4.3.
            MPI_File_iread / MPI_File_iread_c (
                fh: MPI_File, buf: Memory, count: Int, datatype: MPI_Datatype, request: Out<MPI_Request>
            ) on fh {
                $crate::calls::start(fh, (Read, Individual, Alone), (buf, i64::from(count), datatype), (request, started, let_threads_meet))
            }

            /// Section 14.4.3.
            MPI_File_read_all / MPI_File_read_all_c (
                fh: MPI_File, buf: Memory, count: Int, datatype: MPI_Datatype, status: StatusOut
            ) on fh {
                $crate::calls::transfer(fh, (Read, Individual, Together), (buf, i64::from(count), datatype), status)
            }

            /// Section 14.4.3.
            MPI_File_iread_all / MPI_File_iread_all_c (
                fh: MPI_File, buf: Memory, count: Int, datatype: MPI_Datatype, request: Out<MPI_Request>
            ) on fh {
                $crate::calls::start(fh, (Read, Individual, Together), (buf, i64::from(count), datatype), (request, started, let_threads_meet))
            }

            /// Section 14.4.5.
            MPI_File_read_all_begin / MPI_File_read_all_begin_c (
                fh: MPI_File, buf: Memory, count: Int, datatype: MPI_Datatype
            ) on fh {
                $crate::calls::begin(fh, "MPI_File_read_all", (Read, Individual), (buf, i64::from(count), datatype))
            }

            /// Section 14.4.5.
            MPI_File_read_all_end (fh: MPI_File, _buf: Memory, status: StatusOut) on fh {
                $crate::calls::end(fh, "MPI_File_read_all", status)
            }

            /// Section 14.4.4.
            MPI_File_read_shared / MPI_File_read_shared_c (
                fh: MPI_File, buf: Memory, count: Int, datatype: MPI_Datatype, status: StatusOut
            ) on fh {
                $crate::calls::transfer(fh, (Read, Shared, Alone), (buf, i64::from(count), datatype), status)
            }

            /// Section 14.4.4.
            MPI_File_iread_shared / MPI_File_iread_shared_c (
                fh: MPI_File, buf: Memory, count: Int, datatype: MPI_Datatype, request: Out<MPI_Request>
            ) on fh {
                $crate::calls::start(fh, (Read, Shared, Alone), (buf, i64::from(count), datatype), (request, started, let_threads_meet))
            }

            /// Section 14.4.4.
            MPI_File_read_ordered / MPI_File_read_ordered_c (
                fh: MPI_File, buf: Memory, count: Int, datatype: MPI_Datatype, status: StatusOut
            ) on fh {
                $crate::calls::transfer(fh, (Read, Shared, Together), (buf, i64::from(count), datatype), status)
            }

            /// Section 14.4.5.
            MPI_File_read_ordered_begin / MPI_File_read_ordered_begin_c (
                fh: MPI_File, buf: Memory, count: Int, datatype: MPI_Datatype
            ) on fh {
                $crate::calls::begin(fh, "MPI_File_read_ordered", (Read, Shared), (buf, i64::from(count), datatype))
            }

            /// Section 14.4.5.
            MPI_File_read_ordered_end (fh: MPI_File, _buf: Memory, status: StatusOut) on fh {
                $crate::calls::end(fh, "MPI_File_read_ordered", status)
            }

            /// Section 14.4.2.
            MPI_File_write_at / MPI_File_write_at_c (
                fh: MPI_File, offset: MPI_Offset, buf: Memory, count: Int, datatype: MPI_Datatype, status: StatusOut
            ) on fh {
                $crate::calls::transfer(fh, (Write, At(offset), Alone), (buf, i64::from(count), datatype), status)
            }

            /// Section 14.4.2.
            MPI_File_iwrite_at / MPI_File_iwrite_at_c (
                fh: MPI_File, offset: MPI_Offset, buf: Memory, count: Int, datatype: MPI_Datatype, request: Out<MPI_Request>
            ) on fh {
                $crate::calls::start(fh, (Write, At(offset), Alone), (buf, i64::from(count), datatype), (request, started, let_threads_meet))
            }

            /// Section 14.4.2.
            MPI_File_write_at_all / MPI_File_write_at_all_c (
                fh: MPI_File, offset: MPI_Offset, buf: Memory, count: Int, datatype: MPI_Datatype, status: StatusOut
            ) on fh {
                $crate::calls::transfer(fh, (Write, At(offset), Together), (buf, i64::from(count), datatype), status)
            }

            /// Section 14.4.2.
            MPI_File_iwrite_at_all / MPI_File_iwrite_at_all_c (
                fh: MPI_File, offset: MPI_Offset, buf: Memory, count: Int, datatype: MPI_Datatype, request: Out<MPI_Request>
            ) on fh {
                $crate::calls::start(fh, (Write, At(offset), Together), (buf, i64::from(count), datatype), (request, started, let_threads_meet))
            }

            /// Section 14.4.5.
            MPI_File_write_at_all_begin / MPI_File_write_at_all_begin_c (
                fh: MPI_File, offset: MPI_Offset, buf: Memory, count: Int, datatype: MPI_Datatype
            ) on fh {
                $crate::calls::begin(fh, "MPI_File_write_at_all", (Write, At(offset)), (buf, i64::from(count), datatype))
            }

            /// Section 14.4.5.
            MPI_File_write_at_all_end (fh: MPI_File, _buf: Memory, status: StatusOut) on fh {
                $crate::calls::end(fh, "MPI_File_write_at_all", status)
            }

            /// Section 14.4.3.
            MPI_File_write / MPI_File_write_c (
                fh: MPI_File, buf: Memory, count: Int, datatype: MPI_Datatype, status: StatusOut
            ) on fh {
                $crate::calls::transfer(fh, (Write, Individual, Alone), (buf, i64::from(count), datatype), status)
            }

            /// Section 14.4.3.
            MPI_File_iwrite / MPI_File_iwrite_c (
                fh: MPI_File, buf: Memory, count: Int, datatype: MPI_Datatype, request: Out<MPI_Request>
            ) on fh {
                $crate::calls::start(fh, (Write, Individual, Alone), (buf, i64::from(count), datatype), (request, started, let_threads_meet))
            }

            /// Section 14.4.3.
            MPI_File_write_all / MPI_File_write_all_c (
                fh: MPI_File, buf: Memory, count: Int, datatype: MPI_Datatype, status: StatusOut
            ) on fh {
                $crate::calls::transfer(fh, (Write, Individual, Together), (buf, i64::from(count), datatype), status)
            }

            /// Section 14.4.3.
            MPI_File_iwrite_all / MPI_File_iwrite_all_c (
                fh: MPI_File, buf: Memory, count: Int, datatype: MPI_Datatype, request: Out<MPI_Request>
            ) on fh {
                $crate::calls::start(fh, (Write, Individual, Together), (buf, i64::from(count), datatype), (request, started, let_threads_meet))
            }

            /// Section 14.4.5.
            MPI_File_write_all_begin / MPI_File_write_all_begin_c (
                fh: MPI_File, buf: Memory, count: Int, datatype: MPI_Datatype
            ) on fh {
                $crate::calls::begin(fh, "MPI_File_write_all", (Write, Individual), (buf, i64::from(count), datatype))
            }

            /// Section 14.4.5.
            MPI_File_write_all_end (fh: MPI_File, _buf: Memory, status: StatusOut) on fh {
                $crate::calls::end(fh, "MPI_File_write_all", status)
            }

            /// Section 14.4.4.
            MPI_File_write_shared / MPI_File_write_shared_c (
                fh: MPI_File, buf: Memory, count: Int, datatype: MPI_Datatype, status: StatusOut
            ) on fh {
                $crate::calls::transfer(fh, (Write, Shared, Alone), (buf, i64::from(count), datatype), status)
            }

            /// Section 14.4.4.
            MPI_File_iwrite_shared / MPI_File_iwrite_shared_c (
                fh: MPI_File, buf: Memory, count: Int, datatype: MPI_Datatype, request: Out<MPI_Request>
            ) on fh {
                $crate::calls::start(fh, (Write, Shared, Alone), (buf, i64::from(count), datatype), (request, started, let_threads_meet))
            }

            /// Section 14.4.4.
            MPI_File_write_ordered / MPI_File_write_ordered_c (
                fh: MPI_File, buf: Memory, count: Int, datatype: MPI_Datatype, status: StatusOut
            ) on fh {
                $crate::calls::transfer(fh, (Write, Shared, Together), (buf, i64::from(count), datatype), status)
            }

            /// Section 14.4.5.
            MPI_File_write_ordered_begin / MPI_File_write_ordered_begin_c (
                fh: MPI_File, buf: Memory, count: Int, datatype: MPI_Datatype
            ) on fh {
                $crate::calls::begin(fh, "MPI_File_write_ordered", (Write, Shared), (buf, i64::from(count), datatype))
            }

            /// Section 14.4.5.
            MPI_File_write_ordered_end (fh: MPI_File, _buf: Memory, status: StatusOut) on fh {
                $crate::calls::end(fh, "MPI_File_write_ordered", status)
            }
        }
    };
}
