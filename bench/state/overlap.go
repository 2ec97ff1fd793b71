package state

// overlap takes Count snapshots, each followed by a tenth as many updates as there are
// keys, and returns the most memory, in bytes for a key, that the map used. With Keep,
// each is released only after the next was taken; else halfway to the next.
func (s *server) overlap(q request, c cow) (reply, error) {
	d, keys, last := s.draw(q.Seed), make([]uint64, block), func() {}
	peak := int64(0)
	some := func() error {
		for left := max(1, s.spec.N/20); left > 0; left -= int64(len(keys)) {
			keys = keys[:min(int64(len(keys)), left)]
			d.fill(keys)
			if err := c.update(keys); err != nil {
				return err
			}
		}
		keys = keys[:cap(keys)]
		peak = max(peak, c.state().Stats().MemoryBytes)
		return nil
	}
	for range q.Count {
		held := hold(c.state())
		if q.Keep > 0 {
			last()
		}
		last = held
		if err := some(); err != nil {
			return reply{}, err
		}
		if q.Keep == 0 {
			last()
		}
		if err := some(); err != nil {
			return reply{}, err
		}
	}
	last()
	return reply{Value: float64(peak) / float64(s.spec.N)}, s.maintain()
}
