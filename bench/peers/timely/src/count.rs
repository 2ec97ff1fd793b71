//! A rolling count of every key: a HashMap for each worker.

use std::cell::Cell;
use std::collections::HashMap;
use std::hash::{BuildHasherDefault, Hasher};
use std::rc::Rc;
use std::time::Instant;

use timely::dataflow::channels::pact::Exchange;
use timely::dataflow::operators::{Input, Inspect, Operator, Probe};
use timely::dataflow::InputHandle;
use timely::worker::Worker;

use crate::args::Args;
use crate::cluster::Cluster;
use crate::exchange::{feed, settings};
use crate::measured::{gather, print, Share};
use crate::work::{checked, cpu_seconds, spread};

/// A cheap hash for whole numbers: the standard one guards against attacks, which would
/// cost more than the rest.
#[derive(Default)]
struct Multiply(u64);

impl Hasher for Multiply {
    fn write(&mut self, bytes: &[u8]) {
        for &b in bytes {
            self.write_u64(b as u64);
        }
    }
    #[inline(always)]
    fn write_u64(&mut self, n: u64) {
        self.0 = (self.0 ^ n).wrapping_mul(0xF135_7AEA_2E62_A9C5);
    }
    #[inline(always)]
    fn finish(&self) -> u64 {
        self.0.rotate_left(26)
    }
}

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

fn once(worker: &mut Worker, a: &Args, n: u64) -> Share {
    let (start, cpu) = (Instant::now(), cpu_seconds());
    let keys = a.number("keys", 100_000);
    let seen = Rc::new(Cell::new((0u64, 0u64)));
    let sum = seen.clone();
    let mut input = InputHandle::new();
    let probe = worker.dataflow::<u64, _, _>(|scope| {
        scope
            .input_from(&mut input)
            .container::<Vec<u64>>()
            .unary(Exchange::new(|&key: &u64| spread(key + 1)), "count", |_, _| {
                let mut counts: HashMap<u64, u64, BuildHasherDefault<Multiply>> = HashMap::default();
                move |input, output| {
                    input.for_each_stamp(|cap, data| {
                        let mut session = output.session(&cap);
                        for keys in data {
                            for key in keys.drain(..) {
                                let count = counts.entry(key).or_insert(0);
                                *count += 1;
                                session.give((key, *count));
                            }
                        }
                    });
                }
            })
            .container::<Vec<(u64, u64)>>()
            .inspect_core(move |event| {
                if let Ok((_, data)) = event {
                    let (mut count, mut check) = sum.get();
                    for &(key, n) in data.iter() {
                        check = check.wrapping_add(checked(key, n));
                    }
                    count += data.len() as u64;
                    sum.set((count, check));
                }
            })
            .probe()
            .0
    });
    feed(worker, a, n, input, |i| spread(i) % keys, |w, at| w.step_while(|| probe.less_than(&at)));
    worker.step_while(|| !probe.done());
    let (records, check) = seen.get();
    let cpu = if worker.index() % a.number("workers", 2) as usize == 0 { cpu_seconds() - cpu } else { 0.0 };
    Share { records, check, cpu, seconds: start.elapsed().as_secs_f64() }
}
