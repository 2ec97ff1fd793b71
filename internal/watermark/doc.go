// Package watermark follows event time: a Merge makes one watermark of those of several
// inputs, a Maker makes one of the records that pass.
//
// Times are event times in Unix milliseconds. A watermark says that nothing that follows is
// expected to be at or before it.
//
// # Idle inputs
//
// An input that has nothing to say for a while is idle: the others do not wait for it. Rules,
// as Flink's but for the last two:
//
//   - An idle input is left out of the minimum.
//   - If all are idle, the merged one is idle too, and its watermark is the highest of theirs: it
//     must not matter in which order they have become so.
//   - Event time ends with the last watermark of all inputs, the idle ones too.
//   - A watermark never falls. An input that is active again and behind the others holds
//     the watermark where it is until it has caught up. (Flink leaves such an input out until then, and
//     lets event time end without the idle: so more of their records would be late.)
//
// The package is pure: no clock, no goroutines, no locks. Nothing is allocated but for new
// inputs.
package watermark
