package files

import "github.com/overtake-stream/overtake/operators"

// Lines is a source of the lines of files. A line is a view: it is valid until the
// callback that received it returns.
func Lines(o Options) operators.Source[string] { return &source{opts: o.withDefaults(), single: true} }

// Blocks is a source of whole lines, many at a time: up to 64 KiB, or one longer line,
// with \n between them. For work that need not see lines one by one it is several
// times faster. A block is a view.
func Blocks(o Options) operators.Source[string] { return &source{opts: o.withDefaults()} }

type source struct {
	opts    Options
	single  bool
	listing listing
}

// Open implements operators.Source.
func (s *source) Open(ctx operators.SourceContext) (operators.Reader[string], error) {
	if err := s.opts.Validate(); err != nil {
		return nil, err
	}
	r := &reader{single: s.single, scan: scanner{maxLine: s.opts.MaxLine}}
	if !ctx.Restored {
		all, err := s.listing.of(s.opts, ctx.Context)
		if err != nil {
			return nil, err
		}
		r.todo = share(all, ctx.Subtask, ctx.Parallelism)
		for i := range r.todo {
			r.todo[i].number = i
		}
		return r, nil
	}
	for i, b := range ctx.Splits {
		split, err := decodeSplit(b)
		if err != nil {
			return nil, err
		}
		split.number = i
		r.todo = append(r.todo, split)
	}
	return r, nil
}

// reader reads one split after the other.
type reader struct {
	single bool
	scan   scanner
	todo   []split
}

// Read implements operators.Reader.
func (r *reader) Read(out *operators.Output[string]) (operators.Status, error) {
	for out.Ready() {
		if r.single && r.scan.file != nil {
			if line, ok := r.scan.line(); ok {
				out.Collect(view(line))
				continue
			}
		}
		if r.scan.file == nil {
			if len(r.todo) == 0 {
				return operators.Ended, nil
			}
			if err := r.scan.begin(r.todo[0]); err != nil {
				return operators.Ended, err
			}
			r.todo = r.todo[1:]
			out.Split(r.scan.split.number)
		}
		lines, err := r.scan.next(r.single)
		if err != nil {
			return operators.Ended, err
		}
		if lines == nil {
			out.EndSplit(r.scan.split.number)
			if err := r.scan.close(); err != nil {
				return operators.Ended, err
			}
			continue
		}
		out.Collect(view(lines))
	}
	return operators.More, nil
}

// Splits implements operators.Reader.
func (r *reader) Splits(dst [][]byte) ([][]byte, error) {
	if r.scan.file != nil && r.scan.split.next < r.scan.split.end {
		dst = append(dst, r.scan.split.encode())
	}
	for _, s := range r.todo {
		dst = append(dst, s.encode())
	}
	return dst, nil
}

// SplitNumbers implements operators.SplitReader.
func (r *reader) SplitNumbers(dst []int) []int {
	if r.scan.file != nil && r.scan.split.next < r.scan.split.end {
		dst = append(dst, r.scan.split.number)
	}
	for _, s := range r.todo {
		dst = append(dst, s.number)
	}
	return dst
}

// Close implements operators.Reader.
func (r *reader) Close() error { return r.scan.close() }
