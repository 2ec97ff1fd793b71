package peers

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
)

// built is a peer that is ready to run.
type built struct {
	dir   string
	tools map[string]string // their versions
}

// build returns the peer's program: the one in the cache if there is one of the same
// sources and tools, else a new one.
func (p Peer) build(ctx context.Context, cfg Config) (b built, err error) {
	if b.tools, err = p.tools(ctx); err != nil {
		return b, err
	}
	sum, err := p.hash(b.tools)
	if err != nil {
		return b, err
	}
	dir := filepath.Join(cfg.Cache, p.Name+"-"+sum[:16])
	if _, err := os.Stat(dir); err != nil {
		cfg.Progress(fmt.Sprintf("building %s in %s", p.Title, dir))
		if err := p.make(ctx, dir); err != nil {
			return b, err
		}
	}
	b.dir = dir
	return b, nil
}

// tools looks for all that the peer needs.
func (p Peer) tools(ctx context.Context) (map[string]string, error) {
	versions, errs := map[string]string{}, []error(nil)
	for _, t := range p.Needs {
		v, err := t.look(ctx)
		versions[t.Name] = v
		errs = append(errs, err)
	}
	return versions, errors.Join(errs...)
}

// hash is one of the sources and of the versions of the tools.
func (p Peer) hash(tools map[string]string) (string, error) {
	h := sha256.New()
	for _, t := range p.Needs {
		fmt.Fprintf(h, "%s %q\n", t.Name, tools[t.Name])
	}
	err := fs.WalkDir(p.Source, ".", func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		b, err := fs.ReadFile(p.Source, path)
		fmt.Fprintf(h, "%q %d\n%s", path, len(b), b)
		return err
	})
	return hex.EncodeToString(h.Sum(nil)), err
}

// make builds the peer beside dir, and calls it dir when that is done: so a dir that is
// there is whole.
func (p Peer) make(ctx context.Context, dir string) (err error) {
	if err := os.MkdirAll(filepath.Dir(dir), 0o755); err != nil {
		return err
	}
	work, err := os.MkdirTemp(filepath.Dir(dir), p.Name+"-building-")
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, os.RemoveAll(work)) }()
	if err := os.CopyFS(work, p.Source); err != nil {
		return err
	}
	var said bytes.Buffer
	log, err := os.Create(dir + ".log")
	if err != nil {
		return err
	}
	err = p.Build(ctx, work, io.MultiWriter(&said, log))
	if err = errors.Join(err, log.Close()); err != nil {
		return fmt.Errorf("the build failed: %w: %s (all of it: %s)", err, tail(said.String(), 5), log.Name())
	}
	if err := os.Rename(work, dir); err != nil {
		if _, other := os.Stat(dir); other == nil {
			return nil // somebody else was quicker
		}
		return err
	}
	return nil
}
