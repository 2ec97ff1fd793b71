package files_test

import (
	"bufio"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"testing"

	"github.com/overtake-stream/overtake/connectors/files"
)

const childFolder = "FILES_TEST_CHILD_FOLDER" // set in a process that is to be killed

// A process that is killed leaves neither locks nor anything that hinders the next one.
func TestAKilledProcessIsGoneOnFrom(t *testing.T) {
	if dir := os.Getenv(childFolder); dir != "" {
		writeUntilKilled(t, dir)
		return
	}
	dir := t.TempDir()
	child := exec.Command(os.Args[0], "-test.run=^TestAKilledProcessIsGoneOnFrom$")
	child.Env = append(os.Environ(), childFolder+"="+dir)
	child.Stderr = os.Stderr
	stdin, err := child.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	defer stdin.Close()
	stdout, err := child.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := child.Start(); err != nil {
		t.Fatal(err)
	}
	line, err := bufio.NewReader(stdout).ReadString('\n')
	at, prepared, ok := strings.Cut(strings.TrimSpace(line), " ")
	single, many := files.TSV[string](filepath.Join(dir, "single")), filepath.Join(dir, "many")
	_, one := resume(single, 2, unhex(t, at))
	_, two := files.Transactional(many, files.TSV[string]).Open(attempt(2, 0, 1))
	if err := errors.Join(child.Process.Kill(), err); err != nil || !ok {
		t.Fatalf("%q, %v", line, err)
	}
	_ = child.Wait() // killed
	wants(t, one, files.ErrInUse, "single")
	wants(t, two, files.ErrInUse, "many")

	w := mustResume(t, single, 3, unhex(t, at))
	feed(t, w, "b")
	mustClose(t, w, true)
	tw := openTransactionTSV(t, many, 3)
	if err := errors.Join(tw.Commit(unhex(t, prepared)), tw.Recovered()); err != nil {
		t.Fatal(err)
	}
	feed(t, tw, "b")
	if err := tw.Commit(mustPrepare(t, tw)); err != nil {
		t.Fatal(err)
	}
	mustClose(t, tw, true)
	mustHold(t, dir, "many", "single")
	mustRead(t, filepath.Join(dir, "single"), "a\nb\n")
	mustHold(t, many, "part-00000-1-0.tsv", "part-00000-3-0.tsv")
	mustRead(t, filepath.Join(many, "part-00000-1-0.tsv"), "a\n")
	mustRead(t, filepath.Join(many, "part-00000-3-0.tsv"), "b\n")
}

// writeUntilKilled writes a row, says what a checkpoint would have, writes more, and
// waits.
func writeUntilKilled(t *testing.T, dir string) {
	w := mustResume(t, files.TSV[string](filepath.Join(dir, "single")), 1, nil)
	tw := openTransactionTSV(t, filepath.Join(dir, "many"), 1)
	feed(t, w, "a")
	feed(t, tw, "a")
	at, prepared := position(t, w), mustPrepare(t, tw)
	void := strings.Repeat("void", 1<<18)
	feed(t, w, void)
	feed(t, tw, void)
	fmt.Printf("%s %s\n", hex.EncodeToString(at), hex.EncodeToString(prepared))
	_, _ = io.Copy(io.Discard, os.Stdin)
	runtime.KeepAlive(w) // a file that nobody has is closed, and its lock gone
	runtime.KeepAlive(tw)
}

func unhex(t *testing.T, s string) []byte {
	t.Helper()
	b, err := hex.DecodeString(s)
	if err != nil {
		t.Fatal(err)
	}
	return b
}
