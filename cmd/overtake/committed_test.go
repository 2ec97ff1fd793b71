package main

import (
	"bytes"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// committed reads all output below a folder, sorted, and the names of what is not output.
func committed(t *testing.T, dir string) (lines, left []string) {
	t.Helper()
	err := filepath.WalkDir(dir, func(path string, d os.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		if strings.HasPrefix(d.Name(), ".") {
			left = append(left, path)
			return nil
		}
		b, err := os.ReadFile(path)
		for line := range bytes.Lines(b) {
			lines = append(lines, string(line))
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	slices.Sort(lines)
	return lines, left
}
