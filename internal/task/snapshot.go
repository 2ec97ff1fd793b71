package task

import (
	"bytes"
	"encoding/binary"
	"errors"
	"io"

	"github.com/overtake-stream/overtake/checkpoint"
	"github.com/overtake-stream/overtake/checkpoint/protocol"
	"github.com/overtake-stream/overtake/operators"
	"github.com/overtake-stream/overtake/statecow"
	"github.com/overtake-stream/overtake/unaligned"
)

// Names of parts.
const (
	pieceState = "pieces"
	// LayoutState begins the name of the part that describes keyed state.
	LayoutState  = "layout " // of the keyed state with the name that follows
	flightState  = "in flight"
	smallFlight  = "in flight, small"  // index and records are in the manifest
	sharedFlight = "in flight, shared" // the index comes after the offset in the blob
)

// snapshot is the synchronous part of a checkpoint.
func (t *Task) snapshot(r *round) (err error) {
	c := t.checkpoints
	if t.cfg.Source != nil {
		if c.splits, err = t.cfg.Source.Splits(c.splits[:0]); err != nil {
			return err
		}
		for _, s := range c.splits {
			r.piece(s)
		}
		clear(c.splits)
		r.add(c, c.Source, checkpoint.Part{Kind: checkpoint.Splits, State: pieceState, Inline: r.since(0)})
	}
	for i, op := range t.cfg.Ops {
		t.ctx.Enter(c.UIDs[i])
		r.add(c, c.UIDs[i])
		cp, ok := op.(operators.Checkpointer)
		if !ok {
			continue
		}
		piece, err := cp.Snapshot(uint64(r.barrier.ID), c.scratch[:0])
		if err != nil {
			return err
		}
		if at := len(r.inline); len(piece) > 0 {
			r.piece(piece)
			r.add(c, c.UIDs[i], checkpoint.Part{Kind: checkpoint.OperatorState, State: pieceState, Inline: r.since(at)})
		}
	}
	t.saveMarks(r)
	r.shots, err = c.Stores.snapshot(r.shots, r.barrier)
	return err
}

// upload makes the rest durable while the subtask goes on, and acknowledges.
func (t *Task) upload(r *round) {
	c := t.checkpoints
	c.remove(r)
	r.done = t.clock.Now()
	r.cost.InBytes, r.cost.OutBytes = r.capture.Bytes(false), r.capture.Bytes(true)
	write := func() {
		defer r.release()
		w := &blobWriter{c: c, r: r}
		if err := w.all(); err != nil {
			c.Tell(Notice{Kind: Declined, ID: r.barrier.ID, Err: err})
			return
		}
		r.cost.Async = t.clock.Now() - r.done
		c.Tell(Notice{Kind: Acked, ID: r.barrier.ID, Saved: r.saved, Cost: r.cost})
		if c.blank.Load() == nil {
			c.blank.Store(c.newRound())
		}
		c.prune(r.barrier.Base)
	}
	if c.Defer != nil {
		c.Defer(write)
		return
	}
	c.writers.Add(1)
	go func() {
		defer c.writers.Done()
		write()
	}()
}

// prune removes the subtask's local copies that nothing can go on from any more: they are
// older than the newest complete checkpoint, and no increment builds on them. A copy
// that cannot be removed does no harm.
func (c *checkpoints) prune(complete protocol.ID) {
	if c.Prune == nil {
		return
	}
	needed := c.Stores.names()
	_ = c.Prune(func(n checkpoint.BlobName) bool {
		return n.Subtask != c.Subtask || n.Checkpoint >= checkpoint.ID(complete) || needed[n]
	})
}

// blobWriter writes what one subtask has in a checkpoint.
type blobWriter struct {
	c   *checkpoints
	r   *round
	seq uint32
}

func (w *blobWriter) all() error {
	for i := range w.r.saved {
		for j := range w.r.saved[i].Parts {
			if err := w.shrink(&w.r.saved[i].Parts[j]); err != nil {
				return err
			}
		}
	}
	for _, s := range w.r.shots {
		if err := w.keyed(s); err != nil {
			return err
		}
	}
	return w.inFlight()
}

// maxInline is how many bytes of a part are left in the manifest, which is read and
// written as a whole.
const maxInline = 64 << 10

// shrink moves what is too large for the manifest to a blob.
func (w *blobWriter) shrink(p *checkpoint.Part) error {
	if len(p.Inline) <= maxInline {
		return nil
	}
	ref, err := w.blob(func(to io.Writer) error { _, err := to.Write(p.Inline); return err })
	p.Chain, p.Inline = []checkpoint.BlobRef{ref}, nil
	return err
}

// blob writes a blob.
func (w *blobWriter) blob(fill func(io.Writer) error) (checkpoint.BlobRef, error) {
	name := checkpoint.BlobName{
		Epoch: w.c.Epoch, Checkpoint: checkpoint.ID(w.r.barrier.ID), Subtask: w.c.Subtask, Seq: w.seq,
	}
	w.seq++
	b, err := w.c.Blobs.Create(w.c.Context, name)
	if err != nil {
		return checkpoint.BlobRef{}, err
	}
	defer b.Abort()
	if err := fill(b); err != nil {
		return checkpoint.BlobRef{}, err
	}
	ref, err := b.Commit()
	w.r.cost.Bytes += ref.Stored
	return ref, err
}

// keyed writes the snapshot of one store.
func (w *blobWriter) keyed(s shot) error {
	p := checkpoint.Part{Kind: checkpoint.Keyed, State: s.store.name, FirstGroup: s.store.groups.First, EndGroup: s.store.groups.End}
	c, err := w.keyedTo(&p, s)
	if errors.Is(err, statecow.ErrBase) { // what it would build on is no base any more
		s.since, s.chain = 0, nil
		c, err = w.keyedTo(&p, s)
	}
	if err != nil {
		return err
	}
	s.store.wrote(w.r.barrier.ID, s.snap.Mark(), c)
	layout := checkpoint.Part{Kind: checkpoint.OperatorState, State: LayoutState + s.store.name, Inline: []byte(s.store.keyed.Layout)}
	w.r.add(w.c, s.store.uid, p, layout)
	return nil
}

func (w *blobWriter) keyedTo(p *checkpoint.Part, s shot) (c chain, err error) {
	if s.small && s.since == 0 {
		var b bytes.Buffer
		_, err := s.snap.Write(&b, 0)
		p.Inline = b.Bytes()
		return nil, err
	}
	ref, err := w.blob(func(to io.Writer) error { _, err := s.snap.Write(to, s.since); return err })
	if err != nil {
		return nil, err
	}
	c = s.chain.with(ref, s.snap)
	p.Chain = c.refs()
	return c, nil
}

// inFlight writes the captured records.
func (w *blobWriter) inFlight() error {
	if w.r.capture.Empty() {
		return nil
	}
	index := w.r.capture.Index()
	p := checkpoint.Part{Kind: checkpoint.Channels, State: flightState, Inline: index}
	if total := w.r.capture.Bytes(false) + w.r.capture.Bytes(true); total <= smallState {
		b := bytes.NewBuffer(operators.JoinPieces([][]byte{index}))
		if err := w.r.capture.Write(b); err != nil {
			return err
		}
		p.State, p.Inline = smallFlight, b.Bytes()
	} else {
		ref, offset, err := w.flightBlob()
		if err != nil {
			return err
		}
		p.Chain = []checkpoint.BlobRef{ref}
		if offset > 0 {
			p.State, p.Inline = sharedFlight, append(binary.LittleEndian.AppendUint64(nil, uint64(offset)), index...)
		}
	}
	w.r.add(w.c, w.head(), p)
	return nil
}

// flightBlob writes the captured records into a blob that subtasks share, or if that
// fails, for whatever reason, into one of its own.
func (w *blobWriter) flightBlob() (ref checkpoint.BlobRef, offset int64, err error) {
	if w.c.Combiner != nil {
		name := checkpoint.BlobName{
			Epoch: w.c.Epoch, Checkpoint: checkpoint.ID(w.r.barrier.ID), Subtask: w.c.Subtask, Seq: w.seq,
		}
		w.seq++
		ref, offset, err = w.c.Combiner.Write(w.c.Context, w.r.barrier.ID, name, w.r.cost.InBytes+w.r.cost.OutBytes, w.r.capture.Write)
		if err == nil {
			w.r.cost.Bytes += w.r.cost.InBytes + w.r.cost.OutBytes
			return ref, offset, nil
		}
	}
	ref, err = w.blob(w.r.capture.Write)
	return ref, 0, err
}

// Flight is a part with records in flight, taken apart.
type Flight struct {
	Runs    []unaligned.Run
	Records []byte             // those of all runs, if they are in the manifest
	Blob    checkpoint.BlobRef // else where they are
	Offset  int64              // in the blob
}

// Size is the bytes of all records.
func (f *Flight) Size() (n int64) {
	for _, r := range f.Runs {
		n += r.Bytes
	}
	return n
}

// ParseFlight takes a part of kind Channels apart.
func ParseFlight(p checkpoint.Part) (f Flight, err error) {
	index := p.Inline
	switch {
	case len(p.Chain) == 0:
		index, f.Records, err = SplitSmallFlight(p.Inline)
	case p.State != sharedFlight:
		f.Blob = p.Chain[0]
	case len(p.Inline) < 8:
		err = unaligned.ErrRuns
	default:
		f.Blob, f.Offset, index = p.Chain[0], int64(binary.LittleEndian.Uint64(p.Inline)), p.Inline[8:]
	}
	if err != nil {
		return f, err
	}
	f.Runs, err = unaligned.ParseRuns(index)
	if err == nil && len(p.Chain) == 0 && f.Size() > int64(len(f.Records)) {
		err = unaligned.ErrRuns
	}
	return f, err
}

// head is the operator that the subtask's chain begins with.
func (w *blobWriter) head() string {
	if w.c.Source != "" {
		return w.c.Source
	}
	return w.c.UIDs[0]
}

// SplitSmallFlight takes apart what a small capture has in the manifest.
func SplitSmallFlight(inline []byte) (index, records []byte, err error) {
	n, k := binary.Uvarint(inline)
	if k <= 0 || n > uint64(len(inline)-k) {
		return nil, nil, unaligned.ErrRuns
	}
	return inline[k : k+int(n)], inline[k+int(n):], nil
}
