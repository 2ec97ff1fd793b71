//! Workers: threads of one process, or processes that talk over loopback TCP.

use std::net::TcpListener;
use std::process::{Child, Command, Stdio};

use timely::communication::Config as Communication;
use timely::{Config, WorkerConfig};

use crate::args::Args;

/// What the workers of a case are.
pub struct Cluster {
    pub config: Config,
    /// This process prints the figures.
    pub first: bool,
    other: Option<Child>,
}

impl Cluster {
    /// `processes` of `workers` threads each; starts the second process.
    pub fn new(args: &Args) -> Result<Cluster, String> {
        let workers = args.number("workers", 2) as usize;
        let zerocopy = args.number("zerocopy", 0) == 1;
        if args.number("processes", 1) == 1 {
            let communication = match (workers, zerocopy) {
                (1, _) => Communication::Thread,
                (n, false) => Communication::Process(n),
                (n, true) => Communication::ProcessBinary(n),
            };
            return Ok(Cluster { config: with(communication), first: true, other: None });
        }
        let (addresses, first) = match args.text("addresses") {
            Some(text) => (text.to_string(), false),
            None => (free_addresses(2)?.join(","), true),
        };
        let mut other = None;
        if first {
            let program = std::env::current_exe().map_err(|e| e.to_string())?;
            let line = args.command_line(&[("addresses", addresses.clone())]);
            let child = Command::new(program).args(line).stdin(Stdio::null()).stdout(Stdio::null()).spawn();
            other = Some(child.map_err(|e| e.to_string())?);
        }
        let communication = Communication::Cluster {
            threads: workers,
            process: if first { 0 } else { 1 },
            addresses: addresses.split(',').map(str::to_string).collect(),
            report: false,
            zerocopy,
        };
        Ok(Cluster { config: with(communication), first, other })
    }

    /// Waits for the other process, if there is one.
    pub fn end(self) -> Result<(), String> {
        let Some(mut child) = self.other else { return Ok(()) };
        match child.wait() {
            Ok(status) if status.success() => Ok(()),
            Ok(status) => Err(format!("the second process ended with {status}")),
            Err(e) => Err(e.to_string()),
        }
    }
}

fn with(communication: Communication) -> Config {
    Config { communication, worker: WorkerConfig::default() }
}

fn free_addresses(n: usize) -> Result<Vec<String>, String> {
    let mut held = Vec::new();
    let mut list = Vec::new();
    for _ in 0..n {
        let l = TcpListener::bind("127.0.0.1:0").map_err(|e| e.to_string())?;
        list.push(l.local_addr().map_err(|e| e.to_string())?.to_string());
        held.push(l);
    }
    Ok(list)
}
