package ebpf

import (
	"testing"
	"time"
)

// Whoever sees nothing learns why, and what to do.
func TestWhyNoMessageWasSeen(t *testing.T) {
	refused := []Refusal{{Part: "uprobes in process 7", Reason: "operation not permitted"}}
	const none = "no message was seen from end to end: "
	for want, r := range map[string]LatencyReport{
		none + "the kernel refuses to look: uprobes in process 7: operation not permitted": {Tier: TierC, Refusals: refused},
		none + "process 7 has ended meanwhile":                                             {Tier: TierA, Followed: 1, Gone: []int{7}},
		none + "3 messages went to processes that are not looked at: name those too; they must be on this machine, and their connections TCP": {
			Tier: TierA, MatchCounts: MatchCounts{Foreign: 3},
		},
		none + "the processes that are looked at have no TCP connection with each other: the messages of a job in one process cross none, start it with --processes 2 or more": {Tier: TierA},
		none + "the job runs in one process, whose messages cross no connection: its own account tells how long they wait; to see more, start it with --processes 2 or more": {
			Tier: TierA, Followed: 1, Moved: 9, OneProcess: true,
		},
		none + "12 messages were still on their way after 10s: use a longer --duration":                               {Followed: 1, Moved: 9, MatchCounts: MatchCounts{InFlight: 12}},
		none + "2 messages have arrived that had left before, and none that left within 10s: use a longer --duration": {Followed: 1, Moved: 9, MatchCounts: MatchCounts{Early: 2}},
		none + "4 were seen at one end only": {Followed: 1, MatchCounts: MatchCounts{Unmatched: 4}},
		none + "4 were seen at one end only, since the kernel refuses: uprobes in process 7: operation not permitted":               {Followed: 1, Refusals: refused, Tier: TierA, MatchCounts: MatchCounts{Unmatched: 4}},
		none + "5 could not be read from the programs' memory":                                                                      {Followed: 1, Faults: 5},
		none + "no traffic: nothing was sent over 2 connections in 10s":                                                             {Followed: 2},
		none + "none was sampled in 10s, in which 900 bytes were sent over 2 connections: use a longer --duration, or --rate every": {Followed: 2, Moved: 900},
		"messages were not looked at": {Followed: 2, NoMessages: true},
	} {
		r.Duration = 10*time.Second + 3*time.Millisecond
		if got := r.Blame(); got != want {
			t.Errorf("got  %s\nwant %s", got, want)
		}
	}
}
