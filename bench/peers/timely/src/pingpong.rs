//! One record that goes round a loop, from one worker to the next each time.

use std::cell::Cell;
use std::rc::Rc;
use std::time::Instant;

use timely::dataflow::operators::vec::{Filter, Map};
use timely::dataflow::operators::{Concat, ConnectLoop, Exchange, Feedback, Probe, ToStream};
use timely::worker::Worker;

use crate::args::Args;
use crate::cluster::Cluster;

pub fn run(args: &Args) -> Result<(), String> {
    let cluster = Cluster::new(args)?;
    let (first, config) = (cluster.first, cluster.config.clone());
    let a = args.clone();
    timely::execute(config, move |worker| {
        let n = a.number("iterations", 100_000);
        once(worker, n / 4); // warms up
        let (seconds, hops) = once(worker, n);
        if first && worker.index() == 0 {
            println!(
                r#"{{"case":"pingpong","metric":"iteration","unit":"s","value":{:e},"records":{n},"check":"{hops}","settings":{{"timely":"0.32.0","workers":{},"processes":{},"build":"release, fat LTO"}}}}"#,
                seconds / n as f64,
                a.number("workers", 2),
                a.number("processes", 1),
            );
        }
    })?;
    cluster.end()
}

/// Returns the time and how many hops ended at this worker, times the number of workers.
fn once(worker: &mut Worker, n: u64) -> (f64, u64) {
    let start = Instant::now();
    let (index, peers) = (worker.index(), worker.peers());
    let hops = Rc::new(Cell::new(0u64));
    let seen = hops.clone();
    let probe = worker.dataflow::<u64, _, _>(move |scope| {
        let (helper, cycle) = scope.feedback(1);
        let looped = (0..1u64)
            .filter(move |_| index == 0)
            .to_stream(scope)
            .concat(cycle)
            .exchange(|&x| x)
            .map_in_place(move |x| {
                *x += 1;
                seen.set(seen.get() + 1);
            })
            .filter(move |&x| x < n);
        let (probe, looped) = looped.probe();
        looped.connect_loop(helper);
        probe
    });
    worker.step_while(|| !probe.done());
    (start.elapsed().as_secs_f64(), hops.get() * peers as u64)
}
