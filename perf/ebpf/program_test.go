package ebpf

import (
	"bytes"
	"debug/elf"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"testing"

	"github.com/overtake-stream/overtake/perf/probe"
)

// The probe points are found in any program, whatever the linker left out.
func TestSites(t *testing.T) {
	tests := map[string]struct {
		args []string
		env  string
	}{
		"plain":                {nil, "GOARCH=amd64"},
		"stripped":             {[]string{"-ldflags=-s -w"}, "GOARCH=amd64"},
		"position-independent": {[]string{"-buildmode=pie", "-ldflags=-s -w"}, "GOARCH=amd64"},
		"arm64":                {[]string{"-ldflags=-s -w"}, "GOARCH=arm64"},

		"C linker":                       {[]string{"-ldflags=-linkmode=external -s -w"}, "CGO_ENABLED=1"},
		"C linker, position-independent": {[]string{"-buildmode=pie", "-ldflags=-linkmode=external -s -w"}, "CGO_ENABLED=1"},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			if testing.Short() && strings.Contains(name, "position") {
				t.Skip("SKIPPED: it compiles the standard library once more")
			}
			if _, err := exec.LookPath("gcc"); strings.HasPrefix(name, "C linker") && (err != nil || runtime.GOARCH != "amd64") {
				t.Skip("SKIPPED: no C linker for this processor")
			}
			t.Parallel()
			file := filepath.Join(t.TempDir(), "program")
			cmd := exec.Command("go", append(append([]string{"build", "-o", file}, tt.args...), "./testdata/program")...)
			cmd.Env = append(os.Environ(), "GOOS=linux", "CGO_ENABLED=0", tt.env)
			if out, err := cmd.CombinedOutput(); err != nil {
				t.Fatalf("%v\n%s", err, out)
			}
			checkSites(t, file)
		})
	}
}

func checkSites(t *testing.T, file string) {
	t.Helper()
	content, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	p, err := openProgram(bytes.NewReader(content))
	if err != nil {
		t.Fatal(err)
	}
	s, err := p.sites()
	if err != nil {
		t.Fatal(err)
	}
	nop, magic := stubCode[p.file.Machine].code, probe.Magic()
	for _, at := range []uint64{s.writeBegin, s.processed} {
		if at -= stubCode[p.file.Machine].nop; !bytes.HasPrefix(content[at:], nop) {
			t.Errorf("at %#x: % x, want % x", at, content[at:at+8], nop)
		}
	}
	if s.writeBegin == s.processed {
		t.Error("one place for both points")
	}
	if !bytes.HasSuffix(content[:s.semaphores], magic[:]) || !bytes.HasPrefix(content[s.semaphores:], make([]byte, 8)) {
		t.Errorf("no semaphores at %#x", s.semaphores)
	}
	if s.semaphores%2 != 0 {
		t.Errorf("semaphores at %#x are not aligned", s.semaphores)
	}
}

func TestProgramsWithoutSites(t *testing.T) {
	if _, err := openProgram(bytes.NewReader([]byte("no program at all"))); err == nil {
		t.Error("a text is taken for a program")
	}
	self, err := os.Open(os.Args[0])
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = self.Close() }()
	p, err := openProgram(self)
	if err != nil {
		t.Skipf("SKIPPED: the test is no ELF file: %v", err)
	}
	if _, _, err := p.stub("runtime.main"); !errors.Is(err, ErrNoProbes) {
		t.Errorf("runtime.main has a probe point: %v", err)
	}
}

// A program that is loaded elsewhere than it is linked for.
func TestBias(t *testing.T) {
	p := &program{file: &elf.File{Progs: []*elf.Prog{
		{ProgHeader: elf.ProgHeader{Type: elf.PT_LOAD, Flags: elf.PF_R, Off: 0, Vaddr: 0, Filesz: 0x1000}},
		{ProgHeader: elf.ProgHeader{Type: elf.PT_LOAD, Flags: elf.PF_R | elf.PF_X, Off: 0x1000, Vaddr: 0x3000, Filesz: 0x5000}},
	}}}
	const maps = "7f0000000000-7f0000001000 r--p 00000000 fe:00 12 /bin/program\n" +
		"7f0000003000-7f0000008000 r-xp 00001000 fe:00 12                         /bin/program\n" +
		"7ffff0000000-7ffff0001000 r-xp 00000000 00:00 0                          [vdso]\n"
	if got := p.bias(maps, "/bin/program"); got != 0x7f0000000000 {
		t.Errorf("bias %#x", got)
	}
}
