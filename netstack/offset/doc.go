// Package offset estimates how far a peer's clock is ahead of the own one, from
// questions and answers between the two, as NTP does. It is pure: it has no clock, no
// I/O, and does not know how the messages travel.
//
//	own clock    asked ──────────────┐            ┌────▶ answered
//	peer's              └───▶ received ── replied ┘
//
// # What is known
//
// The question was received after it was asked, and the answer came after it was sent.
// So the peer's clock is ahead of the own one by no less than replied - answered, and by
// no more than received - asked: an interval as wide as the round trip, whatever the two
// ways have taken. The estimate is the middle of what all intervals have in common, its
// error half of the width. Slow round trips, and those that are slow one way only, so
// take nothing away from what a fast one has shown.
//
// Clocks drift apart: what was known grows wider by MaxDrift as time passes, until
// another answer narrows it. If an answer does not fit what is known, one of the clocks
// has jumped (or drifts faster): then the answer alone counts.
//
// # Times
//
// All times are nanoseconds on one of two clocks, which may have begun anywhere. Only
// differences between times are ever compared, so clocks may run over the end of int64.
package offset
