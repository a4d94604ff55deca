//! What ranks on different hosts tell each other beside their messages, and as which bytes.

/// What a rank tells another one on another host.
#[derive(Clone, PartialEq, Debug)]
pub(super) enum Note {
    /// Something is wrong.
    Finding(String),
    /// What did you call under this number? These are the signatures of my last calls.
    Question { number: u64, known: Vec<(u64, u64)> },
    /// Calls begun and ended, the first one in which we differ, the words and the signature of that one or the one asked for, and what
    /// I am doing.
    Answer { begun: u64, differs: u64, number: u64, signature: u64, words: String, doing: String },
    /// I make no more calls: how I have gone, the words of my last call, and the signatures of my last calls.
    Parting { how: String, words: String, known: Vec<(u64, u64)> },
}

impl Note {
    pub fn encode(&self) -> Vec<u8> {
        let mut bytes = Vec::new();
        let text = |bytes: &mut Vec<u8>, text: &str| {
            bytes.extend((text.len() as u64).to_le_bytes());
            bytes.extend(text.as_bytes());
        };
        let signatures = |bytes: &mut Vec<u8>, known: &[(u64, u64)]| {
            known.iter().flat_map(|&(a, b)| [a, b]).for_each(|word| bytes.extend(word.to_le_bytes()));
        };
        match self {
            Note::Finding(finding) => {
                bytes.push(0);
                text(&mut bytes, finding);
            }
            Note::Question { number, known } => {
                bytes.push(1);
                bytes.extend(number.to_le_bytes());
                signatures(&mut bytes, known);
            }
            Note::Answer { begun, differs, number, signature, words, doing } => {
                bytes.push(2);
                [begun, differs, number, signature].into_iter().for_each(|value| bytes.extend(value.to_le_bytes()));
                text(&mut bytes, words);
                text(&mut bytes, doing);
            }
            Note::Parting { how, words, known } => {
                bytes.push(3);
                text(&mut bytes, how);
                text(&mut bytes, words);
                signatures(&mut bytes, known);
            }
        }
        bytes
    }

    /// `None` for what is no note.
    pub fn decode(bytes: &[u8]) -> Option<Note> {
        fn number(bytes: &mut &[u8]) -> Option<u64> {
            let (value, rest) = bytes.split_first_chunk()?;
            *bytes = rest;
            Some(u64::from_le_bytes(*value))
        }
        fn text(bytes: &mut &[u8]) -> Option<String> {
            let len = number(bytes)? as usize;
            let (text, rest) = bytes.split_at_checked(len)?;
            *bytes = rest;
            Some(String::from_utf8_lossy(text).into_owned())
        }
        fn signatures(bytes: &mut &[u8]) -> Option<Vec<(u64, u64)>> {
            let mut known = Vec::new();
            while !bytes.is_empty() {
                known.push((number(bytes)?, number(bytes)?));
            }
            Some(known)
        }
        let (kind, mut rest) = bytes.split_first()?;
        let rest = &mut rest;
        match kind {
            0 => Some(Note::Finding(text(rest)?)),
            1 => {
                let asked = number(rest)?;
                Some(Note::Question { number: asked, known: signatures(rest)? })
            }
            2 => {
                let (begun, differs) = (number(rest)?, number(rest)?);
                let (number, signature) = (number(rest)?, number(rest)?);
                Some(Note::Answer { begun, differs, number, signature, words: text(rest)?, doing: text(rest)? })
            }
            3 => {
                let (how, words) = (text(rest)?, text(rest)?);
                Some(Note::Parting { how, words, known: signatures(rest)? })
            }
            _ => None,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn notes_come_back_and_what_is_none_is_refused() {
        for note in [
            Note::Finding("lost\n3\nrank 3 has ended \u{2014}".into()),
            Note::Question { number: 7, known: vec![] },
            Note::Question { number: 7, known: vec![(6, u64::MAX), (7, 0)] },
            Note::Answer { begun: 9, differs: 0, number: 9, signature: 5, words: "a".into(), doing: String::new() },
            Note::Parting { how: "left".into(), words: String::new(), known: vec![(6, 1), (7, 2)] },
        ] {
            let bytes = note.encode();
            assert_eq!(Note::decode(&bytes), Some(note.clone()));
            assert_ne!(Note::decode(&bytes[..bytes.len() - 1]), Some(note));
        }
        assert_eq!(
            [&[][..], &[3], &[0, 255, 255, 255, 255, 255, 255, 255, 255]].map(Note::decode),
            [const { None }; 3]
        );
    }
}
