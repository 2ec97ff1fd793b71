package ebpf

import (
	"bytes"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// The compiled programs that are committed are those of the sources.
func TestProgramsAreCurrent(t *testing.T) {
	const clang = "clang-14"
	if out, err := exec.Command(clang, "--version").Output(); err != nil {
		t.Skipf("SKIPPED: %s, which the programs are compiled with: %v", clang, err)
	} else if !bytes.Contains(out, []byte("version 14.")) {
		t.Skipf("SKIPPED: %s is another version: %s", clang, out)
	}
	source, err := os.ReadFile("generate.go")
	if err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	for line := range strings.Lines(string(source)) {
		if _, command, ok := strings.Cut(line, "//go:generate "); ok {
			generate(t, dir, strings.Fields(command))
		}
	}
	files, err := filepath.Glob(filepath.Join(dir, "*_bpfel.*"))
	if err != nil || len(files) != 8 {
		t.Fatalf("generated %q, %v", files, err)
	}
	for _, file := range files {
		want, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		if got, err := os.ReadFile(filepath.Base(file)); err != nil || !bytes.Equal(got, want) {
			t.Errorf("%s is not what the source makes (%v): go generate ./perf/ebpf", filepath.Base(file), err)
		}
	}
}

// generate runs a generator with its output in dir.
func generate(t *testing.T, dir string, args []string) {
	t.Helper()
	for i, arg := range args {
		if arg == "-go-package" {
			args = append(args[:i:i], append([]string{"-output-dir", dir}, args[i:]...)...)
			break
		}
	}
	cmd := exec.Command(args[0], args[1:]...)
	cmd.Env = append(os.Environ(), "GOPACKAGE=ebpf")
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Skipf("SKIPPED: the generator does not run: %v\n%s", err, out)
	}
}
