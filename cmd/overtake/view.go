package main

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strconv"

	"github.com/overtake-stream/overtake/checkpoint"
)

// view reads a folder of checkpoints, or of a savepoint, without locking it: a job may
// be using it.
type view struct {
	dir       string
	savepoint bool
	blobs     checkpoint.Blobs
	ids       []checkpoint.ID // newest first
}

// openView opens a folder. It creates nothing.
func openView(dir string) (*view, error) {
	entries, err := os.ReadDir(filepath.Join(dir, "manifests"))
	if errors.Is(err, fs.ErrNotExist) {
		return openSavepointView(dir)
	}
	if err != nil {
		return nil, err
	}
	if _, err := os.Stat(filepath.Join(dir, "blobs")); err != nil {
		return nil, notAStore(dir)
	}
	v := &view{dir: dir}
	for _, e := range entries {
		if id, ok := checkpoint.ParseManifestName(e.Name()); ok {
			v.ids = append(v.ids, id)
		}
	}
	slices.SortFunc(v.ids, func(a, b checkpoint.ID) int { return int(int64(b) - int64(a)) })
	v.blobs, err = checkpoint.OpenBlobs(dir, checkpoint.Options{})
	return v, err
}

func openSavepointView(dir string) (*view, error) {
	if _, err := os.Stat(filepath.Join(dir, "savepoint.manifest")); errors.Is(err, fs.ErrNotExist) {
		return nil, notAStore(dir)
	}
	blobs, m, err := checkpoint.OpenSavepoint(dir, checkpoint.Options{})
	if err != nil {
		return nil, err
	}
	return &view{dir: dir, savepoint: true, blobs: blobs, ids: []checkpoint.ID{m.ID}}, nil
}

func notAStore(dir string) error {
	if _, err := os.Stat(dir); err != nil {
		return err
	}
	return fmt.Errorf("%s has neither checkpoints nor a savepoint in it: name the folder that --checkpoint-dir or a savepoint was given", dir)
}

// manifest reads the manifest with an ID, or the newest if that is "".
func (v *view) manifest(id string) (*checkpoint.Manifest, error) {
	if len(v.ids) == 0 {
		return nil, fmt.Errorf("%s has no checkpoint in it yet", v.dir)
	}
	if id == "" {
		return v.blobs.Manifest(context.Background(), v.ids[0])
	}
	n, err := parseID(id)
	if err != nil {
		return nil, err
	}
	if !slices.Contains(v.ids, n) {
		return nil, fmt.Errorf("%s has no checkpoint %d: it has %s", v.dir, n, idList(v.ids))
	}
	return v.blobs.Manifest(context.Background(), n)
}

// gone reports whether a checkpoint is not there any more.
func (v *view) gone(id checkpoint.ID) bool {
	_, err := v.blobs.Manifest(context.Background(), id)
	return errors.Is(err, checkpoint.ErrNotFound)
}

func parseID(text string) (checkpoint.ID, error) {
	n, err := strconv.ParseUint(text, 10, 64)
	if err != nil || n == 0 {
		return 0, fmt.Errorf("%q is not the ID of a checkpoint: use a number from the list", text)
	}
	return checkpoint.ID(n), nil
}

// idList names some.
func idList(ids []checkpoint.ID) string {
	const most = 10
	text := fmt.Sprint(ids[:min(len(ids), most)])
	if len(ids) > most {
		text += fmt.Sprintf(" and %d more", len(ids)-most)
	}
	return text
}
