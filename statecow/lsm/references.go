package lsm

// References count which checkpoints need which files of a remote place, so that
// each content is sent once and deleted when the last checkpoint that has it is
// gone. Not for concurrent use.
type References struct {
	refs map[string]*reference // by File.Object
}

type reference struct {
	checkpoints int
	sent        bool
}

// NewReferences returns an empty count.
func NewReferences() *References { return &References{refs: map[string]*reference{}} }

// Add counts a checkpoint's files and returns those that have to be sent: all that
// Sent was not called for. A file that is just being sent for another checkpoint is
// among them, as that may still fail.
func (r *References) Add(c Checkpoint) (send []File) {
	for object, f := range c.objects() {
		ref := r.refs[object]
		if ref == nil {
			ref = &reference{}
			r.refs[object] = ref
		}
		ref.checkpoints++
		if !ref.sent {
			send = append(send, f)
		}
	}
	return send
}

// Sent says that the file has arrived and is durable.
func (r *References) Sent(f File) {
	if ref := r.refs[f.Object()]; ref != nil {
		ref.sent = true
	}
}

// Remove takes back Add, for a checkpoint that failed or is of no more use, and
// returns the files that no checkpoint needs: delete them.
func (r *References) Remove(c Checkpoint) (drop []File) {
	for object, f := range c.objects() {
		ref := r.refs[object]
		if ref == nil {
			continue
		}
		if ref.checkpoints--; ref.checkpoints == 0 {
			delete(r.refs, object)
			drop = append(drop, f)
		}
	}
	return drop
}

// Len is the number of contents that are needed.
func (r *References) Len() int { return len(r.refs) }

// objects are the contents of a checkpoint's files.
func (c Checkpoint) objects() map[string]File {
	m := make(map[string]File, len(c.Files))
	for _, f := range c.Files {
		m[f.Object()] = f
	}
	return m
}
