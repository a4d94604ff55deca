//! The parts of a TOML file, with errors that name the key.

use toml::de::{DeTable, DeValue};

/// A section of a file, or all of it.
pub(super) struct Section<'t> {
    pub(super) name: String,
    pub(super) table: &'t DeTable<'t>,
}

/// A value of a section.
pub(super) struct Entry<'t> {
    /// As in `parameters.tau`.
    key: String,
    value: &'t DeValue<'t>,
}

impl<'t> Section<'t> {
    fn key(&self, key: &str) -> String {
        match &*self.name {
            "" => key.into(),
            name => format!("{name}.{key}"),
        }
    }

    /// There are no other keys than these.
    pub(super) fn knows(&self, keys: &[&str]) -> Result<(), String> {
        let unknown = self.table.keys().map(|key| key.get_ref()).find(|key| !keys.contains(&&***key));
        unknown.map_or(Ok(()), |key| Err(format!("{} is no key of a tuning file", self.key(key))))
    }

    pub(super) fn entry(&self, key: &str) -> Result<Entry<'t>, String> {
        let value = self.table.get(key).ok_or_else(|| format!("{} is missing", self.key(key)))?;
        Ok(Entry { key: self.key(key), value: value.get_ref() })
    }

    /// The value of a key that may be left out.
    pub(super) fn optional(&self, key: &str) -> Result<Option<Entry<'t>>, String> {
        self.has(key).then(|| self.entry(key)).transpose()
    }

    /// The values of all its keys.
    pub(super) fn entries<const N: usize>(&self, keys: [&str; N]) -> Result<[Entry<'t>; N], String> {
        self.knows(&keys)?;
        self.those(keys)
    }

    /// The values of some of its keys.
    pub(super) fn those<const N: usize>(&self, keys: [&str; N]) -> Result<[Entry<'t>; N], String> {
        let entries: Result<Vec<_>, String> = keys.iter().map(|key| self.entry(key)).collect();
        entries?.try_into().map_err(|_| self.name.clone())
    }

    pub(super) fn section(&self, name: &str) -> Result<Section<'t>, String> {
        self.entry(name)?.section()
    }

    pub(super) fn has(&self, key: &str) -> bool {
        self.table.contains_key(key)
    }
}

impl<'t> Entry<'t> {
    /// Its key, before what is wrong with its value.
    pub(super) fn refuse(&self, why: impl std::fmt::Display) -> String {
        format!("{}: {why}", self.key)
    }

    fn section(&self) -> Result<Section<'t>, String> {
        Ok(Section { name: self.key.clone(), table: self.is("a section", self.value.as_table())? })
    }

    /// The sections of a list.
    pub(super) fn sections(&self) -> Result<Vec<Section<'t>>, String> {
        let list = self.is("a list", self.value.as_array())?.iter().enumerate();
        list.map(|(nth, value)| Entry { key: format!("{}[{nth}]", self.key), value: value.get_ref() }.section())
            .collect()
    }

    /// What has been read, if it could be.
    fn is<T>(&self, wanted: &str, read: Option<T>) -> Result<T, String> {
        read.ok_or_else(|| format!("{}: {wanted} is needed, not this {}", self.key, self.value.type_str()))
    }

    pub(super) fn text(&self) -> Result<String, String> {
        self.is("a text", self.value.as_str().map(String::from))
    }

    pub(super) fn truth(&self) -> Result<bool, String> {
        self.is("true or false", self.value.as_bool())
    }

    pub(super) fn count<T: TryFrom<u64>>(&self) -> Result<T, String> {
        let digits = self.value.as_integer().and_then(|n| u64::from_str_radix(n.as_str(), n.radix()).ok());
        self.is("a whole number from 0 on", digits.and_then(|n| T::try_from(n).ok()))
    }

    /// Whole or not.
    pub(super) fn number(&self) -> Result<f64, String> {
        let float = self.value.as_float().and_then(|number| number.as_str().parse().ok());
        let whole = self.value.as_integer().and_then(|number| number.as_str().parse().ok());
        self.is("a number", float.or(whole))
    }
}

/// A TOML string: printable characters as they are, others by number.
pub(super) fn quoted(text: &str) -> String {
    let mut quoted = String::from('"');
    for c in text.chars() {
        match c {
            '"' | '\\' => quoted.extend(['\\', c]),
            c if c.is_control() => quoted.push_str(&format!("\\u{:04X}", c as u32)),
            c => quoted.push(c),
        }
    }
    quoted.push('"');
    quoted
}
