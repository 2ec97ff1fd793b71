//! The command line.

use std::collections::BTreeMap;

/// What was asked for: a case and its parameters.
#[derive(Clone)]
pub struct Args {
    case: String,
    values: BTreeMap<String, String>,
}

impl Args {
    /// Reads `--case NAME KEY=VALUE ...`.
    pub fn from_env() -> Args {
        let mut args = Args { case: String::new(), values: BTreeMap::new() };
        let mut words = std::env::args().skip(1);
        while let Some(word) = words.next() {
            if word == "--case" {
                args.case = words.next().unwrap_or_default();
            } else if let Some((key, value)) = word.split_once('=') {
                args.values.insert(key.to_string(), value.to_string());
            }
        }
        args
    }

    pub fn case(&self) -> &str {
        &self.case
    }

    /// A number among the parameters, or what it is without one.
    pub fn number(&self, key: &str, default: u64) -> u64 {
        self.values.get(key).and_then(|v| v.parse().ok()).unwrap_or(default)
    }

    pub fn text(&self, key: &str) -> Option<&str> {
        self.values.get(key).map(|v| v.as_str())
    }

    /// The parameters of a copy of this process, with more of them.
    pub fn command_line(&self, more: &[(&str, String)]) -> Vec<String> {
        let mut values = self.values.clone();
        for (key, value) in more {
            values.insert(key.to_string(), value.clone());
        }
        let mut list = vec!["--case".to_string(), self.case.clone()];
        list.extend(values.iter().map(|(k, v)| format!("{k}={v}")));
        list
    }
}
