//! Control variables (MPI 5.0, section 15.3.6): the settings of the library, one variable each, and behind them one for each
//! collective operation with the rows by which its algorithm is chosen where no setting forces one, as text that never changes.
//!
//! The value of a setting's variable is the number of an item of its enumeration: 0 leaves the choice to the library, the others are the values of the
//! setting in their order. Settings are read when the instance is made; until then a tool may write them, which goes before
//! the environment. All processes of a job have to be given the same.

use core::ffi::c_int;
use std::collections::BTreeMap;
use std::sync::{Mutex, PoisonError};

use postrider_abi::*;
use postrider_engine::collectives::table::{self, Rows};
use postrider_engine::settings::{ALL, Setting};

use super::{Outcome, Tools, at, call, find, give, give_text};
use crate::library;
use crate::parse::{self, Memory, Out, Text, TextOut};

/// The name of the item that leaves the choice to the library.
const AUTOMATIC: &str = "automatic";
/// Enumerations are handles of their own, above null.
const FIRST_ENUMERATION: usize = 4096;

/// What tools have written, by the name of the setting; an empty text is what the environment need not be asked for.
static WRITTEN: Mutex<BTreeMap<&'static str, String>> = Mutex::new(BTreeMap::new());

/// The value of a setting: what a tool has written, or what the environment says.
pub fn setting(name: &str) -> Option<String> {
    let written = WRITTEN.lock().unwrap_or_else(PoisonError::into_inner).get(name).cloned();
    written.or_else(|| std::env::var(name).ok())
}

/// Keeps the values that hold now, whatever becomes of the environment.
pub fn keep_settings() {
    for setting in ALL {
        let value = self::setting(setting.name).unwrap_or_default();
        WRITTEN.lock().unwrap_or_else(PoisonError::into_inner).insert(setting.name, value);
    }
}

/// The names of a variable's values, from 0 on.
fn items(setting: &Setting) -> Vec<&'static str> {
    std::iter::once(AUTOMATIC).chain((setting.values)()).collect()
}

fn value_of(setting: &Setting) -> c_int {
    let value = self::setting(setting.name).unwrap_or_default();
    // A value that is none ends the program when it is used; until then nothing is chosen.
    items(setting).iter().position(|item| *item == value).unwrap_or(0) as c_int
}

fn write(setting: &'static Setting, value: c_int) -> Outcome {
    if library::made().is_some() {
        return Err(MPI_T_ERR_CVAR_SET_NOT_NOW);
    }
    let items = items(setting);
    let item = usize::try_from(value).ok().and_then(|value| items.get(value)).ok_or(MPI_T_ERR_INVALID)?;
    let text = if value == 0 { "" } else { item };
    WRITTEN.lock().unwrap_or_else(PoisonError::into_inner).insert(setting.name, text.to_owned());
    Ok(())
}

/// What a variable stands for.
enum Variable {
    Setting(&'static Setting),
    Table(Rows),
}

/// The number of variables.
pub const COUNT: usize = ALL.len() + table::COUNT;

impl Variable {
    fn at(index: c_int) -> Result<Self, c_int> {
        match at(ALL, index) {
            Ok(setting) => Ok(Self::Setting(setting)),
            Err(error) => {
                let place = usize::try_from(index).map_err(|_| error)? - ALL.len();
                table::all().into_iter().nth(place).map(Self::Table).ok_or(error)
            }
        }
    }

    fn of(tools: &mut Tools, handle: MPI_T_cvar_handle) -> Result<Self, c_int> {
        let key = parse::key_of(handle.0).ok_or(MPI_T_ERR_INVALID_HANDLE)?;
        let index = *tools.controls().get(key).map_err(|error| error.class)?;
        Self::at(index as c_int)
    }

    fn name(&self) -> String {
        match self {
            Self::Setting(setting) => setting.name.to_owned(),
            Self::Table(rows) => format!("{}_TABLE", rows.setting),
        }
    }

    fn meaning(&self) -> String {
        match self {
            Self::Setting(setting) => setting.meaning.to_owned(),
            Self::Table(rows) => format!(
                "How {} is done. A line is for a place and at most so many ranks (hosts where the place is that), and the first that \
                 fits is taken: algorithms, each for fewer bytes than the number behind it.",
                rows.functions
            ),
        }
    }

    /// Elements of its type: a text has its final NUL.
    fn count(&self) -> c_int {
        match self {
            Self::Setting(_) => 1,
            Self::Table(rows) => rows.text().len() as c_int + 1,
        }
    }
}

fn enumeration(handle: MPI_T_enum) -> Result<&'static Setting, c_int> {
    let index = handle.0.checked_sub(FIRST_ENUMERATION);
    index.and_then(|index| ALL.get(index)).ok_or(MPI_T_ERR_INVALID_HANDLE)
}

anytime! {
    /// Section 15.3.6.
    MPI_T_cvar_get_num (num_cvar: Out<c_int>) -> c_int {
        call(|_| num_cvar.set(COUNT as c_int).map_err(|_| MPI_T_ERR_INVALID))
    }

    /// Section 15.3.6.
    MPI_T_cvar_get_info (
        cvar_index: c_int, name: TextOut, name_len: Out<c_int>, verbosity: Out<c_int>,
        datatype: Out<MPI_Datatype>, enumtype: Out<MPI_T_enum>, desc: TextOut, desc_len: Out<c_int>,
        bind: Out<c_int>, scope: Out<c_int>
    ) -> c_int {
        call(|_| {
            let variable = Variable::at(cvar_index)?;
            give_text(name, name_len, &variable.name());
            give_text(desc, desc_len, &variable.meaning());
            give(bind, MPI_T_BIND_NO_OBJECT);
            let (kind, values, who, changes) = match variable {
                Variable::Setting(_) => {
                    let values = MPI_T_enum(FIRST_ENUMERATION + cvar_index as usize);
                    (MPI_INT, values, MPI_T_VERBOSITY_TUNER_BASIC, MPI_T_SCOPE_ALL_EQ)
                }
                Variable::Table(_) => {
                    (MPI_CHAR, MPI_T_ENUM_NULL, MPI_T_VERBOSITY_TUNER_DETAIL, MPI_T_SCOPE_CONSTANT)
                }
            };
            give(verbosity, who);
            give(datatype, kind);
            give(enumtype, values);
            give(scope, changes);
            Ok(())
        })
    }

    /// Section 15.3.6.
    MPI_T_cvar_get_index (name: Text, cvar_index: Out<c_int>) -> c_int {
        let is = |name: &str| {
            (0..COUNT).find(|&index| Variable::at(index as c_int).is_ok_and(|known| known.name() == name))
        };
        call(|_| find(name, cvar_index, is))
    }

    /// Section 15.3.6: variables are bound to no object.
    MPI_T_cvar_handle_alloc (
        cvar_index: c_int, _obj_handle: Memory, handle: Out<MPI_T_cvar_handle>, count: Out<c_int>
    ) -> c_int {
        call(|tools| {
            let variable = Variable::at(cvar_index)?;
            if handle.0.is_null() || count.0.is_null() {
                return Err(MPI_T_ERR_INVALID);
            }
            let key = tools.controls().insert(cvar_index as usize).map_err(|_| MPI_T_ERR_OUT_OF_HANDLES)?;
            give(handle, MPI_T_cvar_handle(parse::handle_of(key)));
            give(count, variable.count());
            Ok(())
        })
    }

    /// Section 15.3.6.
    MPI_T_cvar_handle_free (handle: Out<MPI_T_cvar_handle>) -> c_int {
        call(|tools| {
            let given = handle.get().map_err(|_| MPI_T_ERR_INVALID)?;
            let key = parse::key_of(given.0).ok_or(MPI_T_ERR_INVALID_HANDLE)?;
            tools.controls().remove(key).map_err(|error| error.class)?;
            give(handle, MPI_T_CVAR_HANDLE_NULL);
            Ok(())
        })
    }

    /// Section 15.3.6.
    MPI_T_cvar_read (handle: MPI_T_cvar_handle, buf: Out<c_int>) -> c_int {
        call(|tools| {
            match Variable::of(tools, handle)? {
                Variable::Setting(setting) => buf.set(value_of(setting)),
                Variable::Table(rows) => {
                    let text = rows.text();
                    TextOut(buf.0.cast()).set(&text, text.len() + 1).map(drop)
                }
            }
            .map_err(|_| MPI_T_ERR_INVALID)
        })
    }

    /// Section 15.3.6.
    MPI_T_cvar_write (handle: MPI_T_cvar_handle, buf: Out<c_int>) -> c_int {
        call(|tools| match Variable::of(tools, handle)? {
            Variable::Setting(setting) => write(setting, buf.get().map_err(|_| MPI_T_ERR_INVALID)?),
            Variable::Table(_) => Err(MPI_T_ERR_CVAR_SET_NEVER),
        })
    }

    /// Section 15.3.5.
    MPI_T_enum_get_info (enumtype: MPI_T_enum, num: Out<c_int>, name: TextOut, name_len: Out<c_int>) -> c_int {
        call(|_| {
            let setting = enumeration(enumtype)?;
            give(num, items(setting).len() as c_int);
            give_text(name, name_len, setting.name);
            Ok(())
        })
    }

    /// Section 15.3.5.
    MPI_T_enum_get_item (
        enumtype: MPI_T_enum, indx: c_int, value: Out<c_int>, name: TextOut, name_len: Out<c_int>
    ) -> c_int {
        call(|_| {
            let items = items(enumeration(enumtype)?);
            let item = at(&items, indx)?;
            give(value, indx);
            give_text(name, name_len, item);
            Ok(())
        })
    }
}
