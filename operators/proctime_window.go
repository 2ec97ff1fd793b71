package operators

// ProcessingTime returns windows of the same kind, of processing time.
func (w Windows) ProcessingTime() Windows {
	w.Processing = true
	return w
}

// processingWindows is the Processor behind WindowAggregate for windows of processing time
// that do not merge.
type processingWindows[K comparable, T, A, O any] struct {
	of *windows[K, T, A, O]
}

// Open implements Processor.
func (w *processingWindows[K, T, A, O]) Open(ctx *KeyedContext) error { return w.of.Open(ctx) }

// Process implements Processor. No record is late.
func (w *processingWindows[K, T, A, O]) Process(_ K, v T, _ Collector[Windowed[K, O]]) error {
	t, size := w.of.ctx.ProcessingTime(), w.of.cut.Size
	for start := w.of.cut.last(t); start > t-size; start -= w.of.cut.Slide {
		w.of.enter(start)
		first, err := w.of.gather(v)
		if err != nil {
			return err
		}
		if first { // until the last millisecond is over, records may come in it
			if err := w.of.ctx.SetProcessingTimer(start + size); err != nil {
				return err
			}
		}
	}
	return nil
}

// OnProcessingTimer implements ProcessingTimerProcessor.
func (w *processingWindows[K, T, A, O]) OnProcessingTimer(key K, at int64, out Collector[Windowed[K, O]]) error {
	w.of.ctx.Time, w.of.ctx.HasTime = at-1, true
	return w.of.OnTimer(key, at-1, out)
}
