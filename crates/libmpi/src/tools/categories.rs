//! Categories of variables (MPI 5.0, section 15.3.9): one for settings, one for counts, and one that holds both. They never change.

use core::ffi::c_int;

use super::{at, call, control, find, give, give_indices, give_text};
use crate::parse::{Out, Text, TextOut};
use postrider_abi::MPI_T_ERR_INVALID;
use postrider_engine::counters;

/// A category.
struct Category {
    name: &'static str,
    meaning: &'static str,
    /// How many of the control and of the performance variables it has: all or none.
    controls: usize,
    performance: usize,
    categories: &'static [usize],
}

const ALL: [Category; 3] = [
    Category {
        name: "postrider",
        meaning: "Everything that this library tells tools.",
        controls: 0,
        performance: 0,
        categories: &[1, 2],
    },
    Category {
        name: "settings",
        meaning: "What can be chosen before MPI is initialized, and what holds where nothing is.",
        controls: control::COUNT,
        performance: 0,
        categories: &[],
    },
    Category {
        name: "counts",
        meaning: "Messages, queues and waiting of this process.",
        controls: 0,
        performance: counters::ALL.len(),
        categories: &[],
    },
];

anytime! {
    /// Section 15.3.9.
    MPI_T_category_get_num (num_cat: Out<c_int>) -> c_int {
        call(|_| num_cat.set(ALL.len() as c_int).map_err(|_| MPI_T_ERR_INVALID))
    }

    /// Section 15.3.9.
    MPI_T_category_get_info (
        cat_index: c_int, name: TextOut, name_len: Out<c_int>, desc: TextOut, desc_len: Out<c_int>,
        num_cvars: Out<c_int>, num_pvars: Out<c_int>, num_categories: Out<c_int>
    ) -> c_int {
        call(|_| {
            let category = at(&ALL, cat_index)?;
            give_text(name, name_len, category.name);
            give_text(desc, desc_len, category.meaning);
            give(num_cvars, category.controls as c_int);
            give(num_pvars, category.performance as c_int);
            give(num_categories, category.categories.len() as c_int);
            Ok(())
        })
    }

    /// Section 15.3.9.
    MPI_T_category_get_num_events (cat_index: c_int, num_events: Out<c_int>) -> c_int {
        call(|_| {
            at(&ALL, cat_index)?;
            num_events.set(0).map_err(|_| MPI_T_ERR_INVALID)
        })
    }

    /// Section 15.3.9.
    MPI_T_category_get_index (name: Text, cat_index: Out<c_int>) -> c_int {
        call(|_| find(name, cat_index, |name| ALL.iter().position(|category| category.name == name)))
    }

    /// Section 15.3.9.
    MPI_T_category_get_cvars (cat_index: c_int, len: c_int, indices: Out<c_int>) -> c_int {
        call(|_| give_indices(0..at(&ALL, cat_index)?.controls, len, indices))
    }

    /// Section 15.3.9.
    MPI_T_category_get_pvars (cat_index: c_int, len: c_int, indices: Out<c_int>) -> c_int {
        call(|_| give_indices(0..at(&ALL, cat_index)?.performance, len, indices))
    }

    /// Section 15.3.9: there are no events.
    MPI_T_category_get_events (cat_index: c_int, len: c_int, indices: Out<c_int>) -> c_int {
        call(|_| at(&ALL, cat_index).and_then(|_| give_indices(0..0, len, indices)))
    }

    /// Section 15.3.9.
    MPI_T_category_get_categories (cat_index: c_int, len: c_int, indices: Out<c_int>) -> c_int {
        call(|_| give_indices(at(&ALL, cat_index)?.categories.iter().copied(), len, indices))
    }

    /// Section 15.3.9.
    MPI_T_category_changed (update_number: Out<c_int>) -> c_int {
        call(|_| update_number.set(0).map_err(|_| MPI_T_ERR_INVALID))
    }
}
