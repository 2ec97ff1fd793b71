package perfcost

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"

	"github.com/overtake-stream/overtake/bench"
)

// Subject is the main function of the programs that are compared: it does the work that
// in says, and tells out what became of it, an error too. The steady job goes on until in
// ends, and tells out how far it is for each value that in has.
func Subject(ctx context.Context, in io.Reader, out io.Writer) error {
	var w Work
	var o Outcome
	from, to := json.NewDecoder(in), json.NewEncoder(out)
	err := from.Decode(&w)
	switch {
	case err != nil:
	case w.Job == steadyJob:
		if err = w.serve(ctx, from, to); err == nil {
			return nil
		}
	default:
		o, err = w.Do(ctx)
	}
	if err != nil {
		o.Err = err.Error()
	}
	return to.Encode(o)
}

// programs are the paths of the two programs.
type programs struct{ with, without string }

// build builds both into a folder. module is the folder of the module's source.
func build(ctx context.Context, tool, module, folder string) (p programs, err error) {
	if _, err := exec.LookPath(tool); err != nil {
		return p, fmt.Errorf("there is no go command to build it with: %w", err)
	}
	source := filepath.Join(module, "bench", "perfcost", "subject")
	if _, err := os.Stat(source); err != nil {
		return p, fmt.Errorf("the module's source is not in %s: %w", module, err)
	}
	p = programs{with: filepath.Join(folder, "with"), without: filepath.Join(folder, "without")}
	return p, errors.Join(
		compile(ctx, tool, source, p.with, ""),
		compile(ctx, tool, source, p.without, "noperf"))
}

func compile(ctx context.Context, tool, source, to, tags string) error {
	cmd := exec.CommandContext(ctx, tool, "build", "-tags", tags, "-o", to, ".")
	cmd.Dir = source
	if out, err := cmd.CombinedOutput(); err != nil {
		return fmt.Errorf("go build -tags %q: %w: %s", tags, err, bytes.TrimSpace(out))
	}
	return nil
}

// in does the work in another program, or in this process if program is empty.
func (w Work) in(ctx context.Context, program string) (o Outcome, err error) {
	if program == "" {
		return w.Do(ctx)
	}
	task, err := json.Marshal(w)
	if err != nil {
		return o, err
	}
	var errs bytes.Buffer
	cmd := exec.CommandContext(ctx, program)
	cmd.SysProcAttr = bench.Offspring()
	cmd.Stdin, cmd.Stderr = bytes.NewReader(task), &errs
	out, err := cmd.Output()
	if err != nil {
		return o, fmt.Errorf("perfcost: %s: %w: %s", filepath.Base(program), err, bytes.TrimSpace(errs.Bytes()))
	}
	err = json.Unmarshal(out, &o)
	if err == nil && o.Err != "" {
		err = errors.New(o.Err)
	}
	return o, err
}
