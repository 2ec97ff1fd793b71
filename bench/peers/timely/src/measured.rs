//! A figure, and how the workers' shares of it come together at the first.

use std::cell::RefCell;
use std::rc::Rc;

use timely::dataflow::operators::{Exchange, Input, Inspect, Probe};
use timely::dataflow::InputHandle;
use timely::worker::Worker;

use crate::args::Args;
use crate::output::figure;

/// What one worker did, or all of them together.
#[derive(Clone, Copy, Default)]
pub struct Share {
    pub records: u64,
    pub check: u64,
    /// Processor time of the process, by its first worker only.
    pub cpu: f64,
    /// Of the first worker.
    pub seconds: f64,
}

/// Adds up the shares of all workers at the first one; others get nothing of use.
pub fn gather(worker: &mut Worker, share: Share) -> Share {
    let total = Rc::new(RefCell::new(Share { seconds: share.seconds, ..Share::default() }));
    let sum = total.clone();
    let mut input = InputHandle::new();
    let probe = worker.dataflow::<u64, _, _>(|scope| {
        scope
            .input_from(&mut input)
            .container::<Vec<(u64, u64, f64)>>()
            .exchange(|_| 0)
            .inspect(move |&(records, check, cpu)| {
                let mut t = sum.borrow_mut();
                t.records += records;
                t.check = t.check.wrapping_add(check);
                t.cpu += cpu;
            })
            .probe()
            .0
    });
    input.send((share.records, share.check, share.cpu));
    input.close();
    worker.step_while(|| !probe.done());
    let t = *total.borrow();
    t
}

/// Prints the figures of a throughput case.
pub fn print(args: &Args, t: Share, settings: &str) {
    let case = args.case();
    let n = t.records;
    figure(&format!(
        r#"{{"case":"{case}","metric":"throughput","unit":"records/s","value":{},"records":{n},"check":"{n}:{:016x}","settings":{settings}}}"#,
        n as f64 / t.seconds,
        t.check
    ));
    figure(&format!(
        r#"{{"case":"{case}","metric":"cpu","unit":"s/record","value":{:e},"records":{n}}}"#,
        t.cpu / n as f64
    ));
}
