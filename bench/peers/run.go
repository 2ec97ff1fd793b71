package peers

import (
	"context"
	"errors"
	"fmt"
	"os"

	"github.com/overtake-stream/overtake/bench"
)

// Suite is the name of the suite in documents.
const Suite = "peers"

// Run compares with the peers. A case that fails is reported in the error, and the others
// go on; the document has what was measured.
func Run(ctx context.Context, cfg Config) (*bench.Document, error) {
	if err := cfg.Validate(); err != nil {
		return nil, err
	}
	cfg, err := cfg.withDefaults()
	if err != nil {
		return nil, err
	}
	var d *bench.Document
	var errs []error
	for _, p := range cfg.Known {
		cases := cfg.wanted(p)
		if len(cases) == 0 {
			continue
		}
		b, skip := p.build(ctx, cfg)
		if skip != nil {
			cfg.Progress(fmt.Sprintf("%s is skipped: %v", p.Title, skip))
		}
		for _, c := range cases {
			if err := ctx.Err(); err != nil {
				return d, errors.Join(append(errs, err)...)
			}
			part, err := comparison{cfg: cfg, peer: p, built: b, skip: skip, Case: c}.run(ctx)
			if err != nil {
				err = fmt.Errorf("peers: %s/%s: %w", p.Name, c.Name, err)
				cfg.Progress(err.Error())
				errs = append(errs, err)
			}
			if d == nil {
				d = part
			} else if part != nil {
				d.Cases = append(d.Cases, part.Cases...)
			}
		}
	}
	if d == nil && len(errs) == 0 {
		errs = append(errs, errors.New("peers: no case matches"))
	}
	return d, errors.Join(errs...)
}

// comparison is a case while it is measured.
type comparison struct {
	Case
	cfg   Config
	peer  Peer
	built built
	skip  error // why the peer cannot run; nil: it can

	ours, theirs []outcome
}

// run measures all pairs.
func (c comparison) run(ctx context.Context) (d *bench.Document, err error) {
	if c.Shared {
		dir, e := os.MkdirTemp(c.cfg.Folder, "overtake-peers-shared-")
		if e != nil {
			return nil, e
		}
		defer func() { err = errors.Join(err, os.RemoveAll(dir)) }()
		c.Params = c.Params.with("folder", dir)
	}
	if c.Prepare != nil && c.skip == nil {
		c.Params, err = c.Prepare(ctx, c.Params, func(name string, p Params) ([]Line, error) {
			out, err := c.start(ctx, c.theirProgram(name, p))
			return out.lines, err
		})
		if err != nil {
			return nil, fmt.Errorf("%s: %w", c.peer.Title, err)
		}
	}
	for pair := range c.cfg.Pairs {
		c.cfg.Progress(fmt.Sprintf("%s/%s: pair %d of %d", c.peer.Name, c.Name, pair+1, c.cfg.Pairs))
		prog, err := task{Peer: c.peer.Name, Case: c.Name, Quick: c.cfg.Quick, Params: c.Params}.program()
		if err != nil {
			return nil, err
		}
		ours, err := c.measure(ctx, prog)
		if err != nil {
			return nil, fmt.Errorf("ours: %w", err)
		}
		c.ours = append(c.ours, ours)
		if c.skip != nil {
			continue
		}
		theirs, err := c.measure(ctx, c.theirProgram(c.theirName(), c.Params))
		if err != nil {
			return nil, fmt.Errorf("%s: %w", c.peer.Title, err)
		}
		c.theirs = append(c.theirs, theirs)
		if err := c.agree(ours, theirs); err != nil {
			return nil, err
		}
	}
	return c.document(ctx)
}

// start runs one process, in a folder of its own.
func (c comparison) start(ctx context.Context, prog program) (out outcome, err error) {
	if prog.dir, err = os.MkdirTemp(c.cfg.Folder, "overtake-peers-"); err != nil {
		return out, err
	}
	defer func() { err = errors.Join(err, os.RemoveAll(prog.dir)) }()
	ctx, cancel := context.WithTimeout(ctx, c.cfg.Limit)
	defer cancel()
	return prog.run(ctx)
}

// measure runs one process of a side, which is to print the figures of the case.
func (c comparison) measure(ctx context.Context, prog program) (out outcome, err error) {
	if out, err = c.start(ctx, prog); err != nil {
		return out, err
	}
	for _, f := range c.figures() {
		l, ok := out.find(f.Metric)
		if !ok {
			err = errors.Join(err, fmt.Errorf("no figure %q was printed", f.Metric))
		} else if l.Unit != f.Unit {
			err = errors.Join(err, fmt.Errorf("figure %q is in %q, not %q", f.Metric, l.Unit, f.Unit))
		}
	}
	return out, err
}

func (c comparison) theirProgram(name string, p Params) program {
	argv := append([]string(nil), c.peer.Command(c.built.dir, p)...)
	return program{argv: append(append(argv, "--case", name), p.args()...)}
}

func (c Case) theirName() string {
	if c.Theirs == "" {
		return c.Name
	}
	return c.Theirs
}

// agree compares the outputs of both sides.
func (c comparison) agree(ours, theirs outcome) (err error) {
	for _, f := range c.Figures {
		a, _ := ours.find(f.Metric)
		b, _ := theirs.find(f.Metric)
		if f.Check && (a.Check == "" || a.Check != b.Check || a.Records != b.Records) {
			err = errors.Join(err, fmt.Errorf("the outputs differ (%s): ours %d records, hash %q; %s %d records, hash %q",
				f.Metric, a.Records, a.Check, c.peer.Title, b.Records, b.Check))
		}
	}
	return err
}
