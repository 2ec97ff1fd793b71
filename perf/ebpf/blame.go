package ebpf

import (
	"fmt"
	"time"
)

// Blame is a sentence on where the time goes, or on why that is not known.
func (r *LatencyReport) Blame() string {
	if e := r.Dominant(); e != nil {
		return e.Blame
	}
	if r.NoMessages {
		return "messages were not looked at"
	}
	return "no message was seen from end to end: " + r.why()
}

// why says why no message was seen, and what to do.
func (r *LatencyReport) why() string {
	took := r.Duration.Round(100 * time.Millisecond)
	switch {
	case r.Tier == TierC && len(r.Refusals) > 0:
		return "the kernel refuses to look: " + r.Refusals[0].Part + ": " + r.Refusals[0].Reason
	case len(r.Gone) > 0:
		return fmt.Sprintf("process %d has ended meanwhile", r.Gone[0])
	case r.OneProcess:
		return "the job runs in one process, whose messages cross no connection: its own account tells how long they wait; to see more, start it with --processes 2 or more"
	case r.Followed == 0 && r.Foreign > 0:
		return fmt.Sprintf("%d messages went to processes that are not looked at: name those too; they must be on this machine, and their connections TCP", r.Foreign)
	case r.Followed == 0:
		return "the processes that are looked at have no TCP connection with each other: the messages of a job in one process cross none, start it with --processes 2 or more"
	case r.InFlight > 0:
		return fmt.Sprintf("%d messages were still on their way after %v: use a longer --duration", r.InFlight, took)
	case r.Early > 0:
		return fmt.Sprintf("%d messages have arrived that had left before, and none that left within %v: use a longer --duration", r.Early, took)
	case r.Unmatched > 0 && len(r.Refusals) > 0:
		return fmt.Sprintf("%d were seen at one end only, since the kernel refuses: %s: %s", r.Unmatched, r.Refusals[0].Part, r.Refusals[0].Reason)
	case r.Unmatched > 0:
		return fmt.Sprintf("%d were seen at one end only", r.Unmatched)
	case r.Faults > 0:
		return fmt.Sprintf("%d could not be read from the programs' memory", r.Faults)
	case r.Moved == 0:
		return fmt.Sprintf("no traffic: nothing was sent over %d connections in %v", r.Followed, took)
	}
	return fmt.Sprintf("none was sampled in %v, in which %d bytes were sent over %d connections: use a longer --duration, or --rate every", took, r.Moved, r.Followed)
}
