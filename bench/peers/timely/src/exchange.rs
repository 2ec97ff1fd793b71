//! Records of 8 bytes, exchanged between workers by their value.

use std::cell::Cell;
use std::rc::Rc;
use std::time::Instant;

use timely::dataflow::operators::{Exchange, Input, Inspect, Probe};
use timely::dataflow::InputHandle;
use timely::worker::Worker;

use crate::args::Args;
use crate::cluster::Cluster;
use crate::measured::{gather, print, Share};
use crate::work::{cpu_seconds, spread};

pub fn run(args: &Args) -> Result<(), String> {
    let cluster = Cluster::new(args)?;
    let (first, config) = (cluster.first, cluster.config.clone());
    let a = args.clone();
    timely::execute(config, move |worker| {
        let n = a.number("records", 10_000_000);
        once(worker, &a, n / 4); // warms up
        let share = once(worker, &a, n);
        let total = gather(worker, share);
        if first && worker.index() == 0 {
            print(&a, total, &settings(&a));
        }
    })?;
    cluster.end()
}

pub fn settings(a: &Args) -> String {
    format!(
        r#"{{"timely":"0.32.0","workers":{},"processes":{},"batch":{},"lag":{},"zerocopy":{},"build":"release, thin LTO"}}"#,
        a.number("workers", 2),
        a.number("processes", 1),
        batch(a),
        lag(a),
        a.number("zerocopy", 0)
    )
}

/// Records that a worker feeds before it lets the dataflow run.
pub fn batch(a: &Args) -> u64 {
    a.number("batch", 16_384)
}

/// Batches that may be on their way: timely has no flow control of its own.
pub fn lag(a: &Args) -> u64 {
    a.number("lag", 4)
}

fn once(worker: &mut Worker, a: &Args, n: u64) -> Share {
    let (start, cpu) = (Instant::now(), cpu_seconds());
    let seen = Rc::new(Cell::new((0u64, 0u64)));
    let sum = seen.clone();
    let mut input = InputHandle::new();
    let probe = worker.dataflow::<u64, _, _>(|scope| {
        scope
            .input_from(&mut input)
            .container::<Vec<u64>>()
            .exchange(|&v| v)
            .inspect_core(move |event| {
                if let Ok((_, data)) = event {
                    let (mut count, mut check) = sum.get();
                    for &v in data.iter() {
                        check = check.wrapping_add(v);
                    }
                    count += data.len() as u64;
                    sum.set((count, check));
                }
            })
            .probe()
            .0
    });
    feed(worker, a, n, input, |i| spread(i), |w, at| w.step_while(|| probe.less_than(&at)));
    worker.step_while(|| !probe.done());
    let (records, check) = seen.get();
    let cpu = if worker.index() % a.number("workers", 2) as usize == 0 { cpu_seconds() - cpu } else { 0.0 };
    Share { records, check, cpu, seconds: start.elapsed().as_secs_f64() }
}

/// Feeds this worker's share of n records in batches; `wait` holds it back until an
/// earlier batch is done.
pub fn feed<D: Clone + 'static>(
    worker: &mut Worker,
    a: &Args,
    n: u64,
    mut input: InputHandle<u64, timely::container::CapacityContainerBuilder<Vec<D>>>,
    make: impl Fn(u64) -> D,
    wait: impl Fn(&mut Worker, u64),
) {
    let (batch, lag) = (batch(a), lag(a));
    let (step, mut i) = (worker.peers() as u64, worker.index() as u64);
    let mut epoch = 0;
    while i < n {
        for _ in 0..batch {
            if i >= n {
                break;
            }
            input.send(make(i));
            i += step;
        }
        epoch += 1;
        input.advance_to(epoch);
        worker.step();
        if epoch > lag {
            wait(worker, epoch - lag);
        }
    }
}
