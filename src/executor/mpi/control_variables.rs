//! MPI's control variables: the settings of an MPI library, by name, while a program runs (MPI 3.1, section 14.3).
//!
//! Which variables there are is the library's own matter. Those of Open MPI are its MCA parameters (`btl_tcp_eager_limit`,
//! `coll_tuned_bcast_algorithm`); MPICH's begin with `MPIR_CVAR_`. Whatever they set is set for this process alone: a
//! variable that all ranks must agree on has to be written by all of them.
//!
//! ```no_run
//! use hypercoll::control_variables::ControlVariables;
//!
//! let universe = mpi::initialize().unwrap();
//! let variables = ControlVariables::open().unwrap();
//! match variables.read("btl_tcp_eager_limit").unwrap() {
//!     Some(bytes) => println!("messages of up to {bytes} bytes are sent at once"),
//!     None => println!("this MPI has no such variable"),
//! }
//! # drop(universe);
//! ```

use super::accept;
use crate::error::{Error, Result};
use mpi::ffi;
use std::ffi::{c_char, c_int, c_void, CStr, CString};
use std::marker::PhantomData;

/// Whether ranks that wait give up their core, as far as Open MPI's settings tell in the environment. `--oversubscribe` implies it where it
/// is needed.
pub fn ranks_yield() -> bool {
    yields(|name| std::env::var(name).ok())
}

/// The same of other variables.
pub(super) fn yields(variable: impl Fn(&str) -> Option<String>) -> bool {
    let set = |name| {
        variable(name).is_some_and(|value| ["1", "true", "yes", "t", "y"].contains(&value.to_lowercase().as_str()))
    };
    set("OMPI_MCA_mpi_yield_when_idle") || set("OMPI_MCA_mpi_oversubscribe")
}

/// What MPI says of a variable that belongs to no object.
///
/// The bindings call a constant of C as its header does, unless it is one of an enumeration with a name, which then goes before: in
/// MPICH 4 it is. The name that they have hides the one declared around it here; had they neither, no variable could be used.
#[allow(non_upper_case_globals, unused_imports, dead_code)] // what is hidden is not used
const NO_OBJECT: c_int = {
    const MPI_T_BIND_NO_OBJECT: c_int = {
        const MPIR_T_bind_t_MPI_T_BIND_NO_OBJECT: c_int = c_int::MIN;
        {
            use ffi::*;
            MPIR_T_bind_t_MPI_T_BIND_NO_OBJECT as c_int
        }
    };
    {
        use ffi::*;
        MPI_T_BIND_NO_OBJECT as c_int
    }
};

/// Bytes of the longest name; longer ones are cut off.
const NAME: usize = 256;

/// Bytes of the longest description, of which more is cut off as well.
const DESCRIPTION: usize = 4096;

/// Access to the control variables of the MPI library.
///
/// Open and use it while MPI is up, that is, between `MPI_Init` and `MPI_Finalize`: at any other time its methods return
/// errors. Any rank may use it for itself; nothing is communicated.
pub struct ControlVariables {
    /// Stays with its thread, as MPI may have been initialised for one thread only.
    _thread: PhantomData<*const ()>,
}

/// How a variable keeps its value.
#[derive(Clone, Copy, PartialEq, Debug)]
enum Form {
    Signed32,
    Unsigned32,
    Unsigned64,
    Bool,
}

/// What MPI tells of a variable.
struct Variable {
    index: c_int,
    name: String,
    /// `None` for what is no single integer (texts, floating-point numbers).
    form: Option<Form>,
    values: ffi::MPI_T_enum,
}

impl ControlVariables {
    /// Opens the control variables.
    ///
    /// # Errors
    /// [`Error::Mpi`] if MPI is not up, or has no such interface.
    pub fn open() -> Result<ControlVariables> {
        up("MPI_T_init_thread")?;
        let (mut level, mut provided): (c_int, c_int) = (0, 0);
        // SAFETY: MPI is up; both are valid out parameters. The level of threads is the one that MPI has: Open MPI would
        // change it for all of MPI if another one were asked for.
        unsafe {
            accept("MPI_Query_thread", ffi::PMPI_Query_thread(&mut level))?;
            accept("MPI_T_init_thread", ffi::PMPI_T_init_thread(level, &mut provided))?;
        }
        Ok(ControlVariables { _thread: PhantomData })
    }

    /// The names of all variables.
    ///
    /// # Errors
    /// [`Error::Mpi`] if MPI refuses.
    pub fn names(&self) -> Result<Vec<String>> {
        up("MPI_T_cvar_get_num")?;
        let mut number: c_int = 0;
        // SAFETY: the interface is initialised; a valid out parameter.
        accept("MPI_T_cvar_get_num", unsafe { ffi::PMPI_T_cvar_get_num(&mut number) })?;
        // Variables of parts that are not loaded keep their numbers, but have no names.
        Ok((0..number).filter_map(|index| describe(index).ok()).map(|variable| variable.name).collect())
    }

    /// The value of a variable that holds an integer or a truth value (0 or 1); `None` if MPI has no variable of that name.
    ///
    /// # Errors
    /// [`Error::Mpi`] if the variable holds something else, belongs to an object of MPI, or MPI refuses.
    pub fn read(&self, name: &str) -> Result<Option<i64>> {
        let Some(variable) = find(name)? else { return Ok(None) };
        let form = variable.form("MPI_T_cvar_read")?;
        let handle = Handle::of(&variable)?;
        let mut bytes = [0u8; 8];
        // SAFETY: a live handle of a variable with one value of at most 8 bytes.
        accept("MPI_T_cvar_read", unsafe { ffi::PMPI_T_cvar_read(handle.0, bytes.as_mut_ptr().cast::<c_void>()) })?;
        form.decode(bytes).map(Some).ok_or_else(|| variable.refused("MPI_T_cvar_read", "holds a number beyond 2^63"))
    }

    /// Sets a variable that holds an integer or a truth value (0 or 1), in this process.
    ///
    /// # Errors
    /// [`Error::Mpi`] if MPI has no variable of that name, the value does not fit it, or MPI does not let it be set.
    pub fn write(&self, name: &str, value: i64) -> Result<()> {
        const CALL: &str = "MPI_T_cvar_write";
        let unknown = || Error::Mpi { call: CALL, message: format!("{name}: there is no such variable") };
        let variable = find(name)?.ok_or_else(unknown)?;
        let fits = variable.form(CALL)?.encode(value);
        let mut bytes = fits.ok_or_else(|| variable.refused(CALL, &format!("cannot hold {value}")))?;
        let handle = Handle::of(&variable)?;
        // SAFETY: a live handle of a variable with one value of at most 8 bytes, which is read.
        let code = unsafe { ffi::PMPI_T_cvar_write(handle.0, bytes.as_mut_ptr().cast::<c_void>()) };
        accept(CALL, code).map_err(|error| variable.refused(CALL, &format!("cannot be set to {value}: {error}")))
    }

    /// The values that a variable can have, with their names; none if they have no names, or MPI no variable of that name.
    ///
    /// # Errors
    /// [`Error::Mpi`] if MPI refuses.
    pub fn values(&self, name: &str) -> Result<Vec<(i64, String)>> {
        let Some(variable) = find(name)?.filter(|variable| !variable.values.is_null()) else { return Ok(Vec::new()) };
        let (mut number, mut value): (c_int, c_int) = (0, 0);
        let mut text = [0u8; NAME];
        let mut values = Vec::new();
        let mut len = NAME as c_int;
        // SAFETY: an enumeration that belongs to a variable and lives as long as the interface; the text holds `len` bytes.
        unsafe {
            let name = text.as_mut_ptr().cast::<c_char>();
            accept("MPI_T_enum_get_info", ffi::PMPI_T_enum_get_info(variable.values, &mut number, name, &mut len))?;
            for item in 0..number {
                len = NAME as c_int;
                let code = ffi::PMPI_T_enum_get_item(variable.values, item, &mut value, name, &mut len);
                accept("MPI_T_enum_get_item", code)?;
                values.push((i64::from(value), until_zero(&text)));
            }
        }
        Ok(values)
    }
}

impl ControlVariables {
    /// What MPI says of a variable, in words; empty if MPI has no variable of that name, or says nothing.
    ///
    /// # Errors
    /// [`Error::Mpi`] if MPI refuses.
    pub fn description(&self, name: &str) -> Result<String> {
        let mut text = vec![0u8; DESCRIPTION];
        Ok(match find(name)? {
            Some(variable) => describe_in_words(variable.index, &mut text).map(|_| until_zero(&text))?,
            None => String::new(),
        })
    }
}

impl Drop for ControlVariables {
    fn drop(&mut self) {
        // After MPI_Finalize nothing is left to close: Open MPI 4.1 crashes if it is tried.
        if up("MPI_T_finalize").is_ok() {
            // SAFETY: the interface was initialised once for this object, and MPI is up.
            unsafe { ffi::PMPI_T_finalize() };
        }
    }
}

/// An error unless MPI is up: names of types and texts of errors are to be had only then.
fn up(call: &'static str) -> Result<()> {
    let (mut initialized, mut finalized): (c_int, c_int) = (0, 0);
    // SAFETY: these may be called at any time; valid out parameters.
    unsafe {
        ffi::PMPI_Initialized(&mut initialized);
        ffi::PMPI_Finalized(&mut finalized);
    }
    match initialized != 0 && finalized == 0 {
        true => Ok(()),
        false => Err(Error::Mpi { call, message: "MPI is not up".into() }),
    }
}

/// The variable of a name.
fn find(name: &str) -> Result<Option<Variable>> {
    up("MPI_T_cvar_get_index")?;
    let Ok(text) = CString::new(name) else { return Ok(None) };
    let mut index: c_int = 0;
    // SAFETY: a text that ends with zero, a valid out parameter.
    let code = unsafe { ffi::PMPI_T_cvar_get_index(text.as_ptr(), &mut index) };
    // Open MPI also answers with other codes than that of an unknown name.
    match code == ffi::MPI_SUCCESS as c_int {
        true => describe(index).map(Some),
        false => Ok(None),
    }
}

fn describe(index: c_int) -> Result<Variable> {
    describe_in_words(index, &mut [])
}

/// The same, with what MPI says of it in words, where there is room for any.
fn describe_in_words(index: c_int, words: &mut [u8]) -> Result<Variable> {
    let mut name = [0u8; NAME];
    let (mut len, mut room): (c_int, c_int) = (NAME as c_int, words.len() as c_int);
    let words = if words.is_empty() { std::ptr::null_mut() } else { words.as_mut_ptr().cast::<c_char>() };
    let (mut verbosity, mut bind, mut scope): (c_int, c_int, c_int) = (0, 0, 0);
    let mut values: ffi::MPI_T_enum = std::ptr::null_mut();
    let mut type_name = [0u8; ffi::MPI_MAX_OBJECT_NAME as usize + 1];
    let mut type_len: c_int = 0;
    // SAFETY: out parameters as MPI wants them: the name and the description with their lengths, and a type that MPI has defined,
    // of which the name is asked for into a text of MPI_MAX_OBJECT_NAME bytes.
    unsafe {
        let mut kind = ffi::RSMPI_DATATYPE_NULL;
        let code = ffi::PMPI_T_cvar_get_info(
            index,
            name.as_mut_ptr().cast::<c_char>(),
            &mut len,
            &mut verbosity,
            &mut kind,
            &mut values,
            words,
            &mut room,
            &mut bind,
            &mut scope,
        );
        accept("MPI_T_cvar_get_info", code)?;
        let text = type_name.as_mut_ptr().cast::<c_char>();
        accept("MPI_Type_get_name", ffi::PMPI_Type_get_name(kind, text, &mut type_len))?;
    }
    // The handle of a variable that belongs to an object would need that object.
    let alone = bind == NO_OBJECT;
    Ok(Variable { index, name: until_zero(&name), form: Form::of(&until_zero(&type_name)).filter(|_| alone), values })
}

/// What MPI wrote into a text.
fn until_zero(text: &[u8]) -> String {
    CStr::from_bytes_until_nul(text).map_or_else(|_| String::new(), |text| text.to_string_lossy().into_owned())
}

impl Variable {
    fn form(&self, call: &'static str) -> Result<Form> {
        self.form.ok_or_else(|| self.refused(call, "holds no integer of the whole process"))
    }

    fn refused(&self, call: &'static str, why: &str) -> Error {
        Error::Mpi { call, message: format!("{} {why}", self.name) }
    }
}

/// Access to the value of a variable.
struct Handle(ffi::MPI_T_cvar_handle);

impl Handle {
    fn of(variable: &Variable) -> Result<Handle> {
        let (mut handle, mut count): (ffi::MPI_T_cvar_handle, c_int) = (std::ptr::null_mut(), 0);
        // SAFETY: the variable belongs to no object; valid out parameters.
        let code =
            unsafe { ffi::PMPI_T_cvar_handle_alloc(variable.index, std::ptr::null_mut(), &mut handle, &mut count) };
        accept("MPI_T_cvar_handle_alloc", code)?;
        let handle = Handle(handle);
        match count {
            1 => Ok(handle),
            _ => Err(variable.refused("MPI_T_cvar_handle_alloc", &format!("holds {count} values"))),
        }
    }
}

impl Drop for Handle {
    fn drop(&mut self) {
        // SAFETY: a live handle of ours, freed once.
        unsafe { ffi::PMPI_T_cvar_handle_free(&mut self.0) };
    }
}

impl Form {
    /// By the name of the MPI type. (Handles of types are not comparable with Rust's constants: `MPI_INT` is none of rsmpi's.)
    fn of(type_name: &str) -> Option<Form> {
        match type_name {
            "MPI_INT" | "MPI_INT32_T" => Some(Form::Signed32),
            "MPI_UNSIGNED" | "MPI_UINT32_T" => Some(Form::Unsigned32),
            "MPI_UNSIGNED_LONG" if size_of::<std::ffi::c_ulong>() == 4 => Some(Form::Unsigned32),
            "MPI_UNSIGNED_LONG" | "MPI_UNSIGNED_LONG_LONG" | "MPI_UINT64_T" => Some(Form::Unsigned64),
            "MPI_C_BOOL" => Some(Form::Bool),
            _ => None,
        }
    }

    /// The value in the first bytes; `None` if it is beyond 2^63.
    fn decode(self, bytes: [u8; 8]) -> Option<i64> {
        let [a, b, c, d, ..] = bytes;
        match self {
            Form::Signed32 => Some(i32::from_ne_bytes([a, b, c, d]).into()),
            Form::Unsigned32 => Some(u32::from_ne_bytes([a, b, c, d]).into()),
            Form::Unsigned64 => u64::from_ne_bytes(bytes).try_into().ok(),
            Form::Bool => Some(i64::from(a != 0)),
        }
    }

    /// The bytes of a value, from the first on; `None` if it does not fit.
    fn encode(self, value: i64) -> Option<[u8; 8]> {
        let mut bytes = [0u8; 8];
        match self {
            Form::Signed32 => bytes[..4].copy_from_slice(&i32::try_from(value).ok()?.to_ne_bytes()),
            Form::Unsigned32 => bytes[..4].copy_from_slice(&u32::try_from(value).ok()?.to_ne_bytes()),
            Form::Unsigned64 => bytes = u64::try_from(value).ok()?.to_ne_bytes(),
            Form::Bool => bytes[0] = u8::try_from(value).ok().filter(|value| *value <= 1)?,
        }
        Some(bytes)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn values_come_back_if_they_fit() {
        for (form, fits, too_large) in [
            (Form::Signed32, [-(1 << 31), (1 << 31) - 1], 1 << 31),
            (Form::Unsigned32, [0, (1 << 32) - 1], 1 << 32),
            (Form::Unsigned64, [0, i64::MAX], -1),
            (Form::Bool, [0, 1], 2),
        ] {
            for value in fits {
                assert_eq!(form.encode(value).and_then(|bytes| form.decode(bytes)), Some(value), "{form:?}");
            }
            assert_eq!(form.encode(too_large), None, "{form:?}");
        }
        assert_eq!(Form::Unsigned64.decode([255; 8]), None);
        assert_eq!(Form::Signed32.decode(Form::Unsigned32.encode(4_294_967_295).unwrap()), Some(-1));
    }

    #[test]
    fn without_mpi_there_is_an_error() {
        // Tests run without MPI_Init.
        assert!(ControlVariables::open().is_err());
    }
}
