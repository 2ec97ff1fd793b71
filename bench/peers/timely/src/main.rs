//! Cases of Timely Dataflow that Overtake is compared with.
//!
//! `--case NAME KEY=VALUE ...` runs one case and prints its figures as JSON lines.

mod args;
mod cluster;
mod count;
mod exchange;
mod measured;
mod output;
mod pingpong;
mod work;

fn main() {
    output::keep();
    let args = args::Args::from_env();
    let done = match args.case() {
        "exchange" => exchange::run(&args),
        "count" => count::run(&args),
        "pingpong" => pingpong::run(&args),
        name => Err(format!("no case {name:?}: there are exchange, count and pingpong")),
    };
    if let Err(why) = done {
        eprintln!("{why}");
        std::process::exit(1);
    }
}
