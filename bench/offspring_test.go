package bench_test

import (
	"io"
	"os"
	"os/exec"
	"runtime"
	"testing"
	"time"

	"github.com/overtake-stream/overtake/bench"
)

// envKin says which of a family of processes this one is: a parent, which starts a child
// and waits for it, or the child.
const envKin = "OVERTAKE_BENCH_TEST_KIN"

// kin is what a member of the family does.
func kin() (is bool) {
	switch os.Getenv(envKin) {
	case "parent":
		cmd := exec.Command(os.Args[0])
		cmd.Env, cmd.Stdout, cmd.SysProcAttr = append(os.Environ(), envKin+"=child"), os.Stdout, bench.Offspring()
		_ = cmd.Run() // it is killed
	case "child":
		_, _ = os.Stdout.WriteString("child\n")
		time.Sleep(time.Minute)
	default:
		return false
	}
	return true
}

// A pipe that both have open for writing ends when both are gone.
func TestOffspringDieWithTheirParent(t *testing.T) {
	if runtime.GOOS != "linux" {
		t.Skip("they do so on Linux")
	}
	parent := exec.Command(os.Args[0])
	parent.Env = append(os.Environ(), envKin+"=parent")
	out, err := parent.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := parent.Start(); err != nil {
		t.Fatal(err)
	}
	said := make([]byte, len("child\n"))
	if _, err := io.ReadFull(out, said); err != nil {
		t.Fatal(err)
	}
	began := time.Now()
	if err := parent.Process.Kill(); err != nil {
		t.Fatal(err)
	}
	if _, err := io.ReadAll(out); err != nil || time.Since(began) > 30*time.Second {
		t.Errorf("%v, after %v", err, time.Since(began))
	}
	_ = parent.Wait() // it was killed
}
