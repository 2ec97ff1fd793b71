//! One record that goes round a loop, from one worker to the next each time.

use std::cell::Cell;
use std::rc::Rc;
use std::time::{Duration, Instant};

use timely::dataflow::operators::vec::{Filter, Map};
use timely::dataflow::operators::{Concat, ConnectLoop, Exchange, Feedback, Probe, ToStream};
use timely::worker::Worker;

use crate::args::Args;

use crate::cluster::Cluster;
use crate::measured::{gather, Share};
use crate::output::figure;

pub fn run(args: &Args) -> Result<(), String> {
    let cluster = Cluster::new(args)?;
    let (first, config) = (cluster.first, cluster.config.clone());
    let a = args.clone();
    timely::execute(config, move |worker| {
        let millis = a.number("millis", 1000);
        once(worker, millis / 4); // warms up
        let share = once(worker, millis);
        let total = gather(worker, share);
        if first && worker.index() == 0 {
            figure(&format!(
                r#"{{"case":"pingpong","metric":"iteration","unit":"s","value":{:e},"records":{},"settings":{{"timely":"0.32.0","workers":{},"processes":{},"build":"release, thin LTO"}}}}"#,
                total.seconds / total.records as f64,
                total.records,
                a.number("workers", 2),
                a.number("processes", 1),
            ));
        }
    })?;
    cluster.end()
}

/// Lets the record go round for some time.
fn once(worker: &mut Worker, millis: u64) -> Share {
    let (start, limit) = (Instant::now(), Duration::from_millis(millis));
    let index = worker.index();
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
            .filter(move |_| start.elapsed() < limit);
        let (probe, looped) = looped.probe();
        looped.connect_loop(helper);
        probe
    });
    worker.step_while(|| !probe.done());
    Share { records: hops.get(), seconds: start.elapsed().as_secs_f64(), ..Share::default() }
}
