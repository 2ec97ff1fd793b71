package task

import (
	"encoding/binary"
	"time"

	"github.com/overtake-stream/overtake/checkpoint"
	"github.com/overtake-stream/overtake/checkpoint/protocol"
	"github.com/overtake-stream/overtake/unaligned"
)

// round is one checkpoint under way in this subtask. What it needs while the subtask stands
// still is made before, by the snapshot writer of the round that came before it: to
// allocate takes longer than all the rest where a span has to be found, or memory touched
// for the first time.
type round struct {
	barrier   protocol.Barrier
	arrived   int64 // of its first barrier
	saved     []Saved
	shots     []shot
	capture   unaligned.Capture
	capturing []bool // by channel
	leaving   bool   // its barrier may still wait in output queues
	cost      Cost
	began     time.Duration // here
	copies    bool          // what is captured is copied
	done      time.Duration // all barriers are in

	message *barrierMessage   // the barrier as it is sent on
	parts   []checkpoint.Part // room for parts of saved
	inline  []byte            // what they have in the manifest, one after the other
}

const (
	partsEach  = 6   // parts of an operator for which there is room ahead
	inlineEach = 128 // bytes of those in the manifest, for an operator or channel
)

// newRound makes room for a checkpoint. Any goroutine may call it while the subtask runs.
func (c *checkpoints) newRound() *round {
	operators := len(c.UIDs) + 1
	r := &round{
		saved: make([]Saved, 0, operators), shots: make([]shot, 0, len(c.Stores.list)),
		capture: unaligned.NewCapture(&c.shared), capturing: make([]bool, len(c.Inputs)),
		message: &barrierMessage{}, parts: make([]checkpoint.Part, operators*partsEach),
		inline: make([]byte, inlineEach*(operators+len(c.Inputs))),
	}
	r.capture.Reserve(len(c.Inputs) + c.subs)
	r.capture.Use(&c.copies)
	// What was never written to may have no memory yet.
	clear(r.saved[:cap(r.saved)])
	clear(r.shots[:cap(r.shots)])
	clear(r.parts)
	clear(r.inline)
	r.inline = r.inline[:0]
	return r
}

// begin returns the round of a checkpoint.
func (c *checkpoints) begin(b protocol.Barrier) *round {
	r := c.blank.Swap(nil)
	if r == nil {
		r = c.newRound()
	}
	r.barrier, r.arrived = b, c.first[b.ID]
	c.underway = b.ID
	c.rounds = append(c.rounds, r)
	return r
}

// add adds parts to what an operator saves.
func (r *round) add(c *checkpoints, uid string, parts ...checkpoint.Part) {
	for i := range r.saved {
		if r.saved[i].UID == uid {
			r.saved[i].Parts = append(r.saved[i].Parts, parts...)
			return
		}
	}
	s := Saved{UID: uid, Finished: c.finished}
	if len(r.parts) > 0 {
		s.Parts, r.parts = r.parts[:0:partsEach], r.parts[partsEach:]
	}
	s.Parts = append(s.Parts, parts...)
	r.saved = append(r.saved, s)
}

// piece adds one more to a list as operators.JoinPieces makes it. It lends b.
func (r *round) piece(b []byte) {
	r.inline = append(binary.AppendUvarint(r.inline, uint64(len(b))), b...)
}

// since is the list that has been made since inline had n bytes.
func (r *round) since(n int) []byte { return r.inline[n:len(r.inline):len(r.inline)] }

func (r *round) release() {
	r.capture.Release()
	for _, s := range r.shots {
		s.snap.Release()
	}
	r.shots = nil
}
