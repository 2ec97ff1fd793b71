package state

// nothing is a subject that stores nothing.
type nothing struct{ sum uint64 }

func (n *nothing) put(key uint64) error {
	n.sum += key
	return nil
}

func (n *nothing) update(keys []uint64) error {
	for _, k := range keys {
		n.sum += k
	}
	return nil
}

func (n *nothing) get(keys []uint64) uint64 { return uint64(len(keys)) }
func (n *nothing) snapshot() func()         { return func() {} }
func (n *nothing) close() error             { return nil }
